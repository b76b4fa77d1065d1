//! `gpubench plan`: decide from measured costs before a long computation begins.

use super::results;
use super::show::{print, print_json};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::text::printable;
use gpubench_core::units::seconds;
use gpubench_experiments::registry::{SaveSummary, cheapest_save};
use gpubench_model::checkpoint::{Failures, Work};
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Arguments of `gpubench plan`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// On how many nodes, and when to save, so that failures cost least (model 12)
    Checkpoint(Checkpoint),
}

/// Arguments of `gpubench plan checkpoint`.
#[derive(Debug, clap::Args)]
struct Checkpoint {
    /// Failures of a node: it survives t seconds with probability exp(-RATE * t^SHAPE)
    #[arg(long, value_name = "RATE", value_parser = number)]
    failure_rate: f64,
    /// Shape of the failures; above 1: nodes wear out
    #[arg(long, value_name = "SHAPE", value_parser = number)]
    shape: f64,
    /// Seconds of the computation that divide by the nodes
    #[arg(long, value_name = "SECONDS", value_parser = number)]
    parallel: f64,
    /// Seconds that do not
    #[arg(long, value_name = "SECONDS", value_parser = number)]
    serial: f64,
    /// Seconds that a checkpoint costs
    #[arg(long, value_name = "SECONDS", value_parser = number, required_unless_present = "from")]
    cost: Option<f64>,
    /// Seconds that a recovery costs (default: as measured, else 0)
    #[arg(long, value_name = "SECONDS", value_parser = number)]
    recovery: Option<f64>,
    /// A result file: what `measure: checkpoint` measured, to a file where it did, on as many queues as
    /// cost least
    #[arg(long, value_name = "RUN")]
    from: Option<PathBuf>,
    /// Of that run, the case and device whose names have these words; not needed where there is one
    #[arg(long, value_name = "WORDS", requires = "from")]
    case: Option<String>,
    /// Share of the time since the last checkpoint that a failure loses, on average
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, value_parser = share)]
    lost: f64,
    /// Nodes; without it, those on which the computation survives most probably
    #[arg(long, value_name = "NODES", value_parser = clap::value_parser!(u32).range(1..))]
    nodes: Option<u32>,
    /// Print JSON: {cost, recovery, nodes, seconds, survival, recomputed, waste, checkpoints}
    #[arg(long)]
    json: bool,
}

fn number(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
        _ => Err("a number of at least 0 is expected".into()),
    }
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= 1.0 => Ok(value),
        _ => Err("a share above 0 and of at most 1 is expected".into()),
    }
}

/// Most checkpoints that are placed.
const MAX_CHECKPOINTS: usize = 10_000;
/// Characters of a case's and its device's name.
const NAME: usize = 200;
/// Checkpoints that a person is shown.
const SHOWN: usize = 8;

#[derive(Debug, Serialize)]
struct Plan {
    /// Seconds of a checkpoint.
    cost: f64,
    /// Seconds of a recovery.
    recovery: f64,
    /// Nodes.
    nodes: u32,
    /// Seconds of the computation on them, without checkpoints.
    seconds: f64,
    /// Probability that none of them fails meanwhile.
    survival: f64,
    /// Seconds computed again after a failure, in expectation, without checkpoints.
    recomputed: f64,
    /// Seconds wasted until a failure, in expectation, with these checkpoints and more of them if the
    /// computation went on; nothing where there are none.
    waste: Option<f64>,
    /// When to save, in seconds from the start.
    checkpoints: Vec<f64>,
}

/// Runs the command.
pub fn run(args: Args) -> Result<ExitCode> {
    let What::Checkpoint(args) = args.what;
    let of = |file| measured(file, args.case.as_deref(), args.cost.is_none());
    let measured = args.from.as_deref().map(of).transpose()?;
    let cost = args.cost.or(measured.as_ref().map(|measured| measured.cost));
    let recovery = args.recovery.or(measured.as_ref().map(|measured| measured.recovery));
    let plan = plan(&args, cost.unwrap_or(0.0), recovery.unwrap_or(0.0))?;
    if let (Some(Measured { of, .. }), false) = (&measured, args.json) {
        let (cost, recovery) = (seconds(plan.cost), seconds(plan.recovery));
        let whose = |given: Option<f64>| if given.is_some() { " (as given)" } else { "" };
        print(&format!(
            "a save costs {cost}{}, recovery {recovery}{}: {of}\n",
            whose(args.cost),
            whose(args.recovery)
        ))?;
    }
    if args.json {
        print_json(&plan)?;
    } else {
        print(&text(&plan))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What a run measured of checkpoints.
#[derive(Debug)]
struct Measured {
    /// Seconds that a save costs.
    cost: f64,
    /// Seconds of going on from one.
    recovery: f64,
    /// Of what, in words.
    of: String,
}

/// What the run in `file` measured of the only case whose name and device have all of `terms`; of
/// several rounds, the first. Where it says what a save costs (`counts`), that must be significantly different from zero.
fn measured(file: &Path, terms: Option<&str>, counts: bool) -> Result<Measured> {
    let run = results::open(file)?;
    let terms = terms.unwrap_or_default().to_lowercase();
    let mut found: Vec<(String, SaveSummary)> = vec![];
    for record in &run.records {
        let Some(cheapest) = record.detail.as_ref().and_then(cheapest_save) else { continue };
        let device =
            run.header.devices.get(record.device).map_or_else(String::new, DeviceInfo::label);
        let name = printable(&format!("{} on {device}", record.key), NAME);
        let matches = terms.split_whitespace().all(|term| name.to_lowercase().contains(term));
        if matches && !found.iter().any(|(known, _)| *known == name) {
            found.push((name, cheapest));
        }
    }
    let [(name, run)] = found.as_slice() else {
        let names: String = found.iter().map(|(name, _)| format!("\n  {name}")).collect();
        let file = file.display();
        return Err(Error::Usage(match names.is_empty() {
            true => {
                format!("{file} has no such case with measured checkpoints (`measure: checkpoint`)")
            }
            false => format!("{file} has several: say which with --case{names}"),
        }));
    };
    // Also where either is not a number.
    let significant = run.cost.is_finite() && run.cost > run.margin;
    if counts && !significant {
        return Err(Error::Usage(format!(
            "{name}: saving cost less than the run's samples scatter ({} ± {}); give an upper bound \
             with --cost",
            seconds(run.cost),
            seconds(run.margin)
        )));
    }
    let place = if run.to_file { "a file" } else { "memory" };
    let queues = if run.queues == 1 { "queue" } else { "queues" };
    let of = format!("{name}, {} {queues}, to {place}", run.queues);
    Ok(Measured { cost: run.cost, recovery: run.restoring, of })
}

fn plan(args: &Checkpoint, cost: f64, recovery: f64) -> Result<Plan> {
    let failures = Failures::new(args.failure_rate, args.shape)?;
    let work = Work { parallel: args.parallel, serial: args.serial };
    let nodes = match args.nodes {
        Some(nodes) => nodes,
        None => best_nodes(failures, work)?,
    };
    if cost <= 0.0 {
        let why = "the cost of a checkpoint must be above 0: else there is no best time to save";
        return Err(Error::Usage(why.into()));
    }
    let count = f64::from(nodes);
    let seconds = work.seconds(count);
    let placements = (1..).map(|m| failures.placement(count, cost, args.lost, m));
    let checkpoints: Vec<f64> =
        placements.take_while(|&t| t < seconds).take(MAX_CHECKPOINTS + 1).collect();
    if checkpoints.len() > MAX_CHECKPOINTS {
        return Err(Error::Usage(format!(
            "more than {MAX_CHECKPOINTS} checkpoints of {} in {}: at such a failure rate the computation cannot be \
             finished sensibly",
            gpubench_core::units::seconds(cost),
            gpubench_core::units::seconds(seconds)
        )));
    }
    let waste = || failures.expected_waste(count, cost, args.lost, recovery);
    Ok(Plan {
        cost,
        recovery,
        nodes,
        seconds,
        survival: failures.survival(count, seconds),
        recomputed: failures.expected_recomputation(count, seconds),
        waste: (!checkpoints.is_empty()).then(waste),
        checkpoints,
    })
}

fn best_nodes(failures: Failures, work: Work) -> Result<u32> {
    let rejected = |why: String| Err(Error::Usage(format!("{why}: say how many with --nodes")));
    if work.parallel + work.serial <= 0.0 {
        return Err(Error::Usage("a computation takes more than 0 seconds".into()));
    }
    let best = failures.best_nodes(work);
    if !best.is_finite() {
        return rejected("without a serial part more nodes are always better".into());
    }
    if best > f64::from(u32::MAX) {
        return rejected(format!("the best number of nodes is above {}", u32::MAX));
    }
    Ok((best.round() as u32).max(1))
}

fn text(plan: &Plan) -> String {
    let mut out = String::new();
    let nodes = if plan.nodes == 1 { "node" } else { "nodes" };
    let survival = match plan.survival {
        p if p < 1e-4 => "less than 0.0001".into(),
        p => format!("{p:.4}"),
    };
    let _ = writeln!(
        out,
        "{} {nodes}: {} of computing, in which none fails with probability {survival}",
        plan.nodes,
        seconds(plan.seconds),
    );
    let _ = writeln!(
        out,
        "without checkpoints a failure costs {} of computing again, in expectation",
        seconds(plan.recomputed)
    );
    let shown = plan.checkpoints.iter().take(SHOWN).map(|&t| seconds(t)).collect::<Vec<_>>();
    let more = plan.checkpoints.len().saturating_sub(SHOWN);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    match plan.waste {
        None => {
            out.push_str("no checkpoint is worth its cost: the first would come after the end\n")
        }
        Some(waste) => {
            let _ = writeln!(out, "save at {}{rest}", shown.join(", "));
            let wasted = seconds(waste);
            let _ = writeln!(
                out,
                "with checkpoints {wasted} are wasted until a failure, in expectation"
            );
            if waste > plan.recomputed {
                out.push_str(
                    "saving costs more than it spares here: better without, or on fewer nodes\n",
                );
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args() -> Checkpoint {
        Checkpoint {
            failure_rate: 1e-6,
            shape: 1.5,
            parallel: 19_200.0,
            serial: 0.0,
            cost: Some(0.05),
            recovery: None,
            from: None,
            case: None,
            lost: 0.5,
            nodes: Some(64),
            json: false,
        }
    }

    fn plan(args: &Checkpoint) -> Result<Plan> {
        super::plan(args, args.cost.unwrap(), 0.0)
    }

    /// The check numbers of model 12.
    #[test]
    fn the_papers_example_is_planned() {
        let plan = plan(&args()).unwrap();
        assert_eq!(plan.seconds, 300.0);
        assert!((plan.recomputed - 172.49).abs() < 5e-3);
        for (at, wanted) in plan.checkpoints.iter().zip([19.258, 33.531, 46.378]) {
            assert!((at - wanted).abs() < 5e-4, "{at} {wanted}");
        }
        assert!((plan.waste.unwrap() - 7.286).abs() < 5e-4, "{:?}", plan.waste);
        assert!(plan.checkpoints.is_sorted() && plan.checkpoints.iter().all(|&t| t < 300.0));
        assert!(text(&plan).starts_with("64 nodes: 300 s of computing"), "{}", text(&plan));
    }

    #[test]
    fn nodes_for_the_best_survival() {
        let shares = Checkpoint { parallel: 0.95, serial: 0.04, nodes: None, ..args() };
        // (c − 1)p/s = 11.875
        assert_eq!(plan(&shares).unwrap().nodes, 12);
        let alone = plan(&Checkpoint { nodes: None, ..args() }).unwrap_err().to_string();
        assert!(alone.contains("without a serial part"), "{alone}");
        let message = |parallel: f64, serial: f64| {
            let none = Checkpoint { parallel, serial, nodes: None, ..args() };
            plan(&none).unwrap_err().to_string()
        };
        assert!(message(0.0, 0.0).contains("more than 0 seconds"));
        assert!(message(1e12, 1e-3).contains("above 4294967295"));
    }

    #[test]
    fn without_checkpoints_there_is_no_waste_of_them() {
        let plan = plan(&Checkpoint { parallel: 64.0, ..args() }).unwrap();
        assert!(plan.checkpoints.is_empty() && plan.waste.is_none());
        assert!(text(&plan).ends_with("after the end\n"));
    }

    #[test]
    fn what_has_no_best_time_says_why() {
        let message = |args: Checkpoint| plan(&args).unwrap_err().to_string();
        assert!(
            message(Checkpoint { shape: 1.0, ..args() })
                .contains("a Weibull shape must be above 1")
        );
        assert!(
            message(Checkpoint { failure_rate: 0.0, ..args() }).contains("a failure rate must be")
        );
        assert!(message(Checkpoint { cost: Some(0.0), ..args() }).contains("no best time to save"));
        assert!(message(Checkpoint { failure_rate: 1e6, ..args() }).contains("more than 10000"));
        for wrong in ["0", "5", "1e300", "nan"] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
        assert_eq!(share("1"), Ok(1.0));
        assert!(number("-1").is_err() && number("nan").is_err() && number("2e3") == Ok(2e3));
    }
}
