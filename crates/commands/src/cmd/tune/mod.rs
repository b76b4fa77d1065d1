//! `gpubench tune`: search for a workload's fastest variant; so far on recorded spaces.

mod kernel_tuner;
mod measurements;
pub mod recorded;
mod show;

use super::show::{print, print_pretty_json};
use gpubench_core::error::{Error, Result};
use gpubench_tune::{Kind, summarise};
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `gpubench tune`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Search a recorded space instead of a device: CSV, also gzipped, or Kernel Tuner's JSON (T4 results, cache)
    #[arg(long, required = true, value_name = "FILE")]
    replay: PathBuf,
    /// How many variants a search may try
    #[arg(long, default_value_t = 50, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    variants: u32,
    /// How many searches, from seeds 0, 1, …
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    seeds: u32,
    /// How to choose the next variant
    #[arg(long, value_enum, default_value_t = StrategyName::Model, value_name = "NAME")]
    strategy: StrategyName,
    /// Print JSON: {variants, seeds, strategy, file, mean_ratio, p90_ratio, curve, …}
    #[arg(long)]
    json: bool,
    /// Write what the first search tried as Kernel Tuner's T4 results
    #[arg(long, value_name = "FILE")]
    t4: Option<PathBuf>,
}

/// The strategies on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum StrategyName {
    /// Every variant, in the order of the file
    Exhaustive,
    /// Variants at random
    Random,
    /// A prior orders the first, a fitted surrogate chooses the others
    Model,
}

impl From<StrategyName> for Kind {
    fn from(name: StrategyName) -> Self {
        match name {
            StrategyName::Exhaustive => Self::Exhaustive,
            StrategyName::Random => Self::Random,
            StrategyName::Model => Self::Model,
        }
    }
}

/// Runs the command.
pub fn run(args: Args) -> Result<ExitCode> {
    let recorded = recorded::read(&args.replay)?;
    let file = args.replay.display().to_string();
    let (all, variants) = (recorded.space().len(), args.variants as usize);
    if variants > all {
        return Err(Error::Usage(format!(
            "{file} has {all} variants, so {variants} cannot be tried: --variants {all} at most"
        )));
    }
    let kind = Kind::from(args.strategy);
    let summary = summarise(&recorded, kind, variants, u64::from(args.seeds))
        .ok_or_else(|| Error::Usage("nothing to try: no seeds".into()))?;
    if let Some(path) = &args.t4 {
        let text = kernel_tuner::write(&recorded, &summary.first.tried);
        std::fs::write(path, text).map_err(|error| Error::io(path, error))?;
    }
    let report =
        show::Report { file, kind, seeds: args.seeds, recorded: &recorded, summary: &summary };
    match args.json {
        true => print_pretty_json(&report.data())?,
        false => print(&super::show::text(&report.section()))?,
    }
    Ok(ExitCode::SUCCESS)
}
