//! `gpubench plan`: decide from measured costs before a long computation begins.

use super::show::print;
use crate::error::{Error, Result};
use crate::model::checkpoint::{Failures, Work};
use crate::units::seconds;
use serde::Serialize;
use std::fmt::Write;
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
    /// Seconds that a checkpoint costs, as measured
    #[arg(long, value_name = "SECONDS", value_parser = number)]
    cost: f64,
    /// Seconds that a recovery costs
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, value_parser = number)]
    recovery: f64,
    /// Share of the time since the last checkpoint that a failure loses, on average
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, value_parser = number)]
    lost: f64,
    /// Nodes; without it, those on which the computation survives most probably
    #[arg(long, value_name = "NODES", value_parser = clap::value_parser!(u32).range(1..))]
    nodes: Option<u32>,
    /// Print JSON: {nodes, seconds, survival, recomputed, waste, checkpoints}
    #[arg(long)]
    json: bool,
}

fn number(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
        _ => Err("a number of at least 0 is expected".into()),
    }
}

/// Most checkpoints that are placed.
const MOST: usize = 10_000;
/// Checkpoints that a person is shown.
const SHOWN: usize = 8;

#[derive(Debug, Serialize)]
struct Plan {
    /// Nodes.
    nodes: u32,
    /// Seconds of the computation on them, without checkpoints.
    seconds: f64,
    /// Probability that none of them fails meanwhile.
    survival: f64,
    /// Seconds computed again after a failure, in expectation, without checkpoints.
    recomputed: f64,
    /// Seconds wasted until a failure, in expectation, with these checkpoints.
    waste: f64,
    /// When to save, in seconds from the start.
    checkpoints: Vec<f64>,
}

/// Runs the command.
pub fn run(args: Args) -> Result<ExitCode> {
    let What::Checkpoint(args) = args.what;
    let plan = plan(&args)?;
    if args.json {
        let json = serde_json::to_string(&plan);
        print(&(json.map_err(|error| Error::io("stdout", error.into()))? + "\n"))?;
    } else {
        print(&text(&plan))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn plan(args: &Checkpoint) -> Result<Plan> {
    let failures = Failures::new(args.failure_rate, args.shape)?;
    let work = Work { parallel: args.parallel, serial: args.serial };
    let nodes = match args.nodes {
        Some(nodes) => nodes,
        None => best_nodes(failures, work)?,
    };
    for (value, name) in [(args.cost, "cost of a checkpoint"), (args.lost, "share that is lost")] {
        if value <= 0.0 {
            let why = format!("the {name} must be above 0: else there is no best time to save");
            return Err(Error::Usage(why));
        }
    }
    let count = f64::from(nodes);
    let seconds = work.seconds(count);
    let placements = (1..).map(|m| failures.placement(count, args.cost, args.lost, m));
    let checkpoints: Vec<f64> = placements.take_while(|&t| t < seconds).take(MOST + 1).collect();
    if checkpoints.len() > MOST {
        return Err(Error::Usage(format!(
            "more than {MOST} checkpoints of {} in {}: at such a failure rate the computation cannot be \
             finished sensibly",
            crate::units::seconds(args.cost),
            crate::units::seconds(seconds)
        )));
    }
    Ok(Plan {
        nodes,
        seconds,
        survival: failures.survival(count, seconds),
        recomputed: failures.expected_recomputation(count, seconds),
        waste: failures.expected_waste(count, args.cost, args.lost, args.recovery),
        checkpoints,
    })
}

fn best_nodes(failures: Failures, work: Work) -> Result<u32> {
    let best = failures.best_nodes(work);
    if best.is_finite() && best <= f64::from(u32::MAX) {
        return Ok((best.round() as u32).max(1));
    }
    let why = "without a serial part more nodes are always better: say how many with --nodes";
    Err(Error::Usage(why.into()))
}

fn text(plan: &Plan) -> String {
    let mut out = String::new();
    let nodes = if plan.nodes == 1 { "node" } else { "nodes" };
    let _ = writeln!(
        out,
        "{} {nodes}: {} of computing, in which none fails with probability {:.4}",
        plan.nodes,
        seconds(plan.seconds),
        plan.survival
    );
    let _ = writeln!(
        out,
        "without checkpoints a failure costs {} of computing again, in expectation",
        seconds(plan.recomputed)
    );
    let shown = plan.checkpoints.iter().take(SHOWN).map(|&t| seconds(t)).collect::<Vec<_>>();
    let more = plan.checkpoints.len().saturating_sub(SHOWN);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    match shown.is_empty() {
        true => {
            out.push_str("no checkpoint is worth its cost: the first would come after the end\n")
        }
        false => {
            let _ = writeln!(out, "save at {}{rest}", shown.join(", "));
            let waste = seconds(plan.waste);
            let _ = writeln!(
                out,
                "with checkpoints {waste} are wasted until a failure, in expectation"
            );
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
            cost: 0.05,
            recovery: 0.0,
            lost: 0.5,
            nodes: Some(64),
            json: false,
        }
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
        assert!(plan.checkpoints.is_sorted() && plan.checkpoints.iter().all(|&t| t < 300.0));
        assert!(text(&plan).starts_with("64 nodes: 300 s of computing"), "{}", text(&plan));
    }

    #[test]
    fn nodes_for_the_best_survival() {
        let shares = Checkpoint { parallel: 0.95, serial: 0.04, nodes: None, ..args() };
        // (c − 1)p/s = 11.875
        assert_eq!(plan(&shares).unwrap().nodes, 12);
        let alone = plan(&Checkpoint { nodes: None, ..args() }).unwrap_err().to_string();
        assert!(alone.contains("--nodes"), "{alone}");
    }

    #[test]
    fn what_has_no_best_time_says_why() {
        let told = |args: Checkpoint| plan(&args).unwrap_err().to_string();
        assert!(
            told(Checkpoint { shape: 1.0, ..args() }).contains("a Weibull shape must be above 1")
        );
        assert!(
            told(Checkpoint { failure_rate: 0.0, ..args() }).contains("a failure rate must be")
        );
        assert!(told(Checkpoint { cost: 0.0, ..args() }).contains("no best time to save"));
        assert!(told(Checkpoint { failure_rate: 1e6, ..args() }).contains("more than 10000"));
        assert!(number("-1").is_err() && number("nan").is_err() && number("2e3") == Ok(2e3));
    }
}
