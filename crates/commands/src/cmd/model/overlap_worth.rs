//! `gpubench model overlap-worth`: model 2 from three times.

use super::prediction::Prediction;
use crate::cmd::number::{at_least_zero, share};
use gpubench_core::error::{Error, Result};
use gpubench_model::overlap_worth::{Strategy, gain, potential, runs_to_pay};

/// Arguments of `gpubench model overlap-worth`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Computation
    #[arg(long, value_name = "SECONDS", value_parser = at_least_zero)]
    computation: f64,
    /// Communication between nodes
    #[arg(long, value_name = "SECONDS", value_parser = at_least_zero)]
    communication: f64,
    /// Transfer between host and device
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, value_parser = at_least_zero)]
    transfer: f64,
    /// All of it, where other work adds to the three
    #[arg(long, value_name = "SECONDS", value_parser = at_least_zero)]
    total: Option<f64>,
    /// The share of the shorter activity that can really be hidden
    #[arg(long, value_name = "SHARE", default_value_t = 1.0, value_parser = share)]
    quality: f64,
    /// What developing the overlap costs, in seconds of the machine
    #[arg(long, value_name = "SECONDS", value_parser = at_least_zero)]
    development: Option<f64>,
    /// How often the program will run
    #[arg(long, value_name = "RUNS", requires = "development", value_parser = at_least_zero)]
    runs: Option<f64>,
    /// Print JSON: {model, parts}
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<()> {
    let &Args { computation, communication, transfer, quality, .. } = args;
    let serial = Strategy::Synchronous.seconds(computation, transfer, communication);
    let total = args.total.unwrap_or(serial);
    if total < serial {
        let why = "--total is less than computation, transfer and communication one after another";
        return Err(Error::Usage(why.into()));
    }
    let potential = potential(computation, communication, total);
    let seconds = |strategy: Strategy| strategy.seconds(computation, transfer, communication);
    let gain = gain(potential, quality);
    let prediction = Prediction::of("2 overlap worth, V13 §5.2.1, §5.4.3")
        .part("potential", potential, "", "§5.2.1: min(T_comp, T_comm)/T_total")
        .part("gain", gain, "", "§5.4.3: potential × quality")
        .seconds("synchronous", serial, "T_comp + T_trans + T_comm")
        .seconds("native", seconds(Strategy::Native), "T_trans + max(T_comp, T_comm)")
        .seconds("total", seconds(Strategy::Total), "max(T_comp, T_trans + T_comm)");
    decision(args, gain * total, prediction).show(args.json)
}

/// Whether the development is worth it, where its cost is known.
fn decision(args: &Args, gained: f64, prediction: Prediction) -> Prediction {
    let Some(cost) = args.development else { return prediction };
    let runs = runs_to_pay(cost, gained);
    let equation = "ours: ceil(development / gained)";
    let prediction = prediction.seconds("gained", gained, "gain × T_total");
    let prediction = prediction.part("runs_to_pay", runs, "runs", equation);
    let Some(planned) = args.runs else { return prediction };
    let (net, equation) = (planned * gained - cost, "ours: runs × gained − development");
    let worth = if planned >= runs { "yes" } else { "no" };
    prediction.seconds("net", net, equation).part("worth", worth, "", "ours: runs ≥ runs_to_pay")
}
