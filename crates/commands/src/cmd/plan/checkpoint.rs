//! `gpubench plan checkpoint`: on how many nodes to compute and when to save, model 12.

use super::cost::SaveParts;
use super::measured::{Measured, measured};
use super::simulated::{self, Simulation};
use crate::cmd::number::{at_least_zero, share};
use crate::cmd::show::{print, wrapped};
use clap::ArgGroup;
use gpubench_core::error::{Error, Result};
use gpubench_core::text::{counted, listed};
use gpubench_core::units::seconds;
use gpubench_model::checkpoint::{Failures, Work};
use gpubench_model::failure_simulation::Computation;
use gpubench_report::render::json;
use serde::Serialize;
use std::path::PathBuf;

/// Arguments of `gpubench plan checkpoint`.
#[derive(Debug, clap::Args)]
#[command(group = ArgGroup::new("save").args(["cost", "from", "save_download"]).required(true).multiple(true))]
pub struct Checkpoint {
    /// Failures of a node: it survives t seconds with probability exp(-RATE * t^SHAPE)
    #[arg(long, value_name = "RATE", value_parser = at_least_zero)]
    failure_rate: f64,
    /// Shape of the failures; above 1: nodes wear out
    #[arg(long, value_name = "SHAPE", value_parser = at_least_zero)]
    shape: f64,
    /// Seconds of the computation that divide by the nodes
    #[arg(long, value_name = "SECONDS", value_parser = at_least_zero)]
    parallel: f64,
    /// Seconds that do not
    #[arg(long, value_name = "SECONDS", value_parser = at_least_zero)]
    serial: f64,
    /// Seconds that a checkpoint costs
    #[arg(long, value_name = "SECONDS", value_parser = at_least_zero)]
    cost: Option<f64>,
    #[command(flatten)]
    parts: SaveParts,
    /// Seconds that a recovery costs (default: as measured, else 0)
    #[arg(long, value_name = "SECONDS", value_parser = at_least_zero)]
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
    /// Instead, those on which the computation takes this share less than on one node
    #[arg(long, value_name = "SHARE", value_parser = share, conflicts_with = "nodes")]
    gain: Option<f64>,
    /// With --gain: the problem grows with the nodes, and dividing it costs so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = at_least_zero, requires = "gain")]
    scaled: Option<f64>,
    /// Seconds that the nodes have run already (ours, from the paper's survival)
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, value_parser = at_least_zero)]
    age: f64,
    #[command(flatten)]
    simulation: Simulation,
    /// Print JSON: {cost, recovery, nodes, seconds, survival, recomputed, waste, checkpoints, simulated}
    #[arg(long)]
    json: bool,
}

/// Most checkpoints that are placed.
const MAX_CHECKPOINTS: usize = 10_000;
/// Checkpoints that a person is shown.
const SHOWN: usize = 8;
/// Of a number of nodes, what is rounding: 1 − 0.9 is a little less than 0.1.
const ROUNDING: f64 = 1e-12;

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
    /// The same by simulation, where that was wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    simulated: Option<simulated::Summary>,
}

/// Runs the command.
pub fn run(args: &Checkpoint) -> Result<()> {
    let given = args.cost.or(args.parts.cost());
    let of = |file| measured(file, args.case.as_deref(), given.is_none());
    let measured = args.from.as_deref().map(of).transpose()?;
    let cost = given.or(measured.as_ref().map(|measured| measured.cost));
    let recovery = args.recovery.or(measured.as_ref().map(|measured| measured.recovery));
    let plan = plan(args, cost.unwrap_or(0.0), recovery.unwrap_or(0.0))?;
    if let (Some(Measured { of, .. }), false) = (&measured, args.json) {
        let (cost, recovery) = (seconds(plan.cost), seconds(plan.recovery));
        let whose = |given: Option<f64>| if given.is_some() { " (as given)" } else { "" };
        let (given, recovered) = (whose(given), whose(args.recovery));
        let text = format!("a save costs {cost}{given}, recovery {recovery}{recovered}: {of}");
        print(&wrapped(&text, ["", "  "], false))?;
    }
    print(&if args.json { json::line(&plan) } else { text(&plan) })
}

fn plan(args: &Checkpoint, cost: f64, recovery: f64) -> Result<Plan> {
    let failures = Failures::new(args.failure_rate, args.shape)?;
    let work = Work { parallel: args.parallel, serial: args.serial };
    let nodes = match args.nodes {
        Some(nodes) => nodes,
        None => chosen_nodes(args, failures, work)?,
    };
    let aged = failures.aged(args.age);
    if cost <= 0.0 {
        let why = "the cost of a checkpoint must be above 0: else there is no best time to save";
        return Err(Error::Usage(why.into()));
    }
    let count = f64::from(nodes);
    let seconds = work.seconds(count);
    let placements = (1..).map(|m| aged.placement(count, cost, args.lost, m));
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
    let waste = || aged.expected_waste(count, cost, args.lost, recovery);
    let computation = Computation { nodes, seconds, cost, phi: args.lost, recovery };
    Ok(Plan {
        simulated: args.simulation.run(aged, computation)?,
        cost,
        recovery,
        nodes,
        seconds,
        survival: aged.survival(count, seconds),
        recomputed: aged.expected_recomputation(count, seconds),
        waste: (!checkpoints.is_empty()).then(waste),
        checkpoints,
    })
}

fn chosen_nodes(args: &Checkpoint, failures: Failures, work: Work) -> Result<u32> {
    let rejected = |why: String| Err(Error::Usage(format!("{why}: say how many with --nodes")));
    if work.parallel + work.serial <= 0.0 {
        return Err(Error::Usage("a computation takes more than 0 seconds".into()));
    }
    let best = match (args.gain, args.scaled) {
        (None, _) => failures.best_nodes(work),
        (Some(gain), None) => work.nodes_for_gain(gain).unwrap_or(f64::INFINITY),
        (Some(gain), Some(overhead)) => work.nodes_for_scaled_gain(gain, overhead),
    };
    if !best.is_finite() {
        return rejected(match args.gain {
            None => "without a serial part more nodes are always better".into(),
            Some(_) => "no number of nodes gains as much".to_owned(),
        });
    }
    if best > f64::from(u32::MAX) {
        return rejected(format!("the best number of nodes is above {}", u32::MAX));
    }
    // A gain is reached on at least so many, where the best survival is on the nearest number.
    let whole = if args.gain.is_some() { (best * (1.0 - ROUNDING)).ceil() } else { best.round() };
    Ok((whole as u32).max(1))
}

fn text(plan: &Plan) -> String {
    let nodes = counted(plan.nodes as usize, "node");
    let survival = match plan.survival {
        p if p < 1e-4 => "less than 0.0001".into(),
        p => format!("{p:.4}"),
    };
    let (computing, again) = (seconds(plan.seconds), seconds(plan.recomputed));
    let mut out = format!(
        "{nodes}: {computing} of computing, in which none fails with probability {survival}\n\
         without checkpoints a failure costs {again} of computing again, in expectation\n"
    );
    let checkpoints = listed(plan.checkpoints.iter().map(|&t| seconds(t)), SHOWN);
    match plan.waste.map(|waste| (waste, seconds(waste))) {
        None => out += "no checkpoint is worth its cost: the first would come after the end\n",
        Some((waste, wasted)) => {
            out += &wrapped(&format!("save at {checkpoints}"), ["", "  "], false);
            out +=
                &format!("with checkpoints {wasted} are wasted until a failure, in expectation\n");
            if waste > plan.recomputed {
                out += "saving costs more than it spares here: better without, or on fewer nodes\n";
            }
        }
    }
    out + &plan.simulated.as_ref().map_or_else(String::new, simulated::Summary::text)
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
            gain: None,
            scaled: None,
            age: 0.0,
            parts: SaveParts::default(),
            simulation: Simulation::default(),
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
    fn nodes_for_a_gain_are_enough_and_no_more() {
        let gain = |gain, scaled| Checkpoint {
            parallel: 95.0,
            serial: 5.0,
            nodes: None,
            gain: Some(gain),
            scaled,
            ..args()
        };
        assert_eq!(plan(&gain(0.8, None)).unwrap().nodes, 7, "5.9: 95/15 = 6.33");
        assert_eq!(plan(&gain(0.8, Some(10.0))).unwrap().nodes, 6, "5.10: 505/95 = 5.3");
        let parallel = Checkpoint { parallel: 95.0, serial: 0.0, ..gain(0.9, None) };
        assert_eq!(plan(&parallel).unwrap().nodes, 10, "a tenth of the time");
        let message = plan(&gain(0.95, None)).unwrap_err().to_string();
        assert!(message.contains("no number of nodes gains as much"), "{message}");
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
    }
}
