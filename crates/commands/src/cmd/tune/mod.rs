//! `gpubench tune`: search for a workload's fastest variant, on devices or on recorded spaces.

mod expected;
mod found;
pub mod kernel_tuner;
mod lab;
mod live;
mod measurements;
pub mod recorded;
mod replay;
mod search;
mod show;
mod target;

use super::choice::{Choice, one_of};
use super::run::limit;
use crate::worker::host;
use gpubench_core::error::{Error, Result};
use gpubench_device::device_choice::Selector;
use gpubench_experiments::plan::Limits;
use gpubench_tune::Kind;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `gpubench tune`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A suite file, or the name of an embedded suite: its workloads with a `search:` are tuned
    #[arg(value_name = "SUITE", required_unless_present = "replay")]
    suite: Option<String>,
    #[command(flatten)]
    selector: Selector,
    /// Only this workload (repeat for more)
    #[arg(long, value_name = "NAME", conflicts_with = "replay")]
    workload: Vec<String>,
    /// Only cases with this in their name, this tag, or this size (`'n=1024'`); several must all hold
    #[arg(long, value_name = "FILTER", conflicts_with = "replay")]
    filter: Vec<String>,
    /// Search a recorded space instead of a device: CSV, also gzipped, or Kernel Tuner's JSON (T4 results, cache)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["suite", "device", "backend", "sim"])]
    replay: Option<PathBuf>,
    /// How many variants each search may try (default: 50; any number where --budget is given)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    variants: Option<u32>,
    /// Seconds that each search may take
    #[arg(long, value_name = "SECONDS", value_parser = limit, conflicts_with = "replay")]
    budget: Option<f64>,
    /// How many searches of a recorded space, from seeds 0, 1, … (default: 100)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    seeds: Option<u32>,
    /// Seed of the search on devices, and of the inputs
    #[arg(long, default_value_t = 0, value_name = "SEED", conflicts_with = "replay")]
    seed: u64,
    /// Profiles of the devices (of `gpubench profile --json`, or runs of the suite `characterise`): with the
    /// emulator's counts they order the variants before any is measured
    #[arg(long = "profile", value_name = "PROFILE", num_args = 1.., conflicts_with = "replay")]
    profiles: Vec<PathBuf>,
    /// How to choose the next variant
    #[arg(long, value_parser = one_of(STRATEGIES), default_value = "model", value_name = "NAME")]
    strategy: Kind,
    /// What was tried on devices is kept here, for `run --tuned`; where it exists, the search goes on from it
    #[arg(long, value_name = "FILE", default_value = "tuned.jsonl", conflicts_with = "replay")]
    tuned: PathBuf,
    /// Print JSON: {suite, strategy, searches: [{device, workload, size, best, own, curve, …}]}; of a
    /// replay {variants, seeds, strategy, file, mean_ratio, p90_ratio, curve, …}
    #[arg(long)]
    json: bool,
    /// Write what the search tried (of a replay, the first) as Kernel Tuner's T4 results
    #[arg(long, value_name = "FILE")]
    t4: Option<PathBuf>,
    /// Write what the search tried as Kernel Tuner's cache file
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    cache: Option<PathBuf>,
    /// Run the kernels that came with the suite, and remember that you trust them as they are now
    #[arg(long, conflicts_with = "replay")]
    trust: bool,
    /// Longest that one stage of a variant may take before its worker is killed (default: by stage)
    #[arg(long, value_name = "SECONDS", value_parser = limit, conflicts_with = "replay")]
    timeout: Option<f64>,
    /// Longest that one launch may take (default: 2)
    #[arg(long, value_name = "SECONDS", value_parser = limit, conflicts_with = "replay")]
    longest_launch: Option<f64>,
    /// Measure even while another run measures the same device
    #[arg(long, conflicts_with = "replay")]
    no_lock: bool,
    /// Leave rather than wait while another run measures the same device
    #[arg(long, conflicts_with = "replay")]
    no_wait: bool,
    /// Do not name each new best
    #[arg(long, short, conflicts_with = "replay")]
    quiet: bool,
}

impl Args {
    /// Numbers that plans need.
    fn limits(&self) -> Limits {
        Limits::unbounded(self.seed, host().cores)
    }

    /// Whether a file for Kernel Tuner is asked for.
    fn exports(&self) -> bool {
        self.t4.is_some() || self.cache.is_some()
    }
}

/// The strategies on the command line.
const STRATEGIES: [Choice<Kind>; 3] = [
    ("exhaustive", "Every variant, in the order of the file or of the axes", Kind::Exhaustive),
    ("random", "Variants at random", Kind::Random),
    ("model", "A prior orders the first, a fitted surrogate chooses the others", Kind::Model),
];

/// Runs the command.
pub fn run(args: Args) -> Result<ExitCode> {
    match (&args.replay, &args.suite) {
        (Some(file), _) => replay::run(&args, file).map(|()| ExitCode::SUCCESS),
        (None, Some(_)) if args.seeds.is_some() => {
            let why =
                "--seeds counts searches of a recorded space; on devices there is one, from --seed";
            Err(Error::Usage(why.into()))
        }
        (None, Some(suite)) => live::run(&args, suite),
        (None, None) => Err(Error::Usage("tune needs a suite, or --replay FILE".into())),
    }
}
