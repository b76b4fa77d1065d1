//! `gpubench evaluate`: models held against a recorded space of a kernel that gpubench has, on a device of which the
//! data sheet is known.

mod counting;
mod kernels;
mod models;
#[cfg(test)]
mod prices;
mod score;

use super::choice::one_of;
use super::show::print;
use super::tune::recorded;
use crate::cmd::require_threads;
use gpubench_analysis::fit::DataSheet;
use gpubench_core::error::Result;
use gpubench_core::text::parsed;
use gpubench_document::{Unit, number};
use gpubench_report::render::json::json;
use kernels::{CONVOLUTION, DEDISPERSION, Workload};
use models::{Evaluations, SearchScore, Spaced};
use score::{Evaluated, Score};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

/// Arguments of `gpubench evaluate`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The recorded space: CSV, also gzipped, or Kernel Tuner's JSON (T4 results, cache)
    #[arg(long, value_name = "FILE")]
    space: PathBuf,
    /// The kernel whose space it is
    #[arg(long, value_name = "NAME",
        value_parser = one_of([&CONVOLUTION, &DEDISPERSION].map(|it| (it.name, it.about, it))))]
    workload: &'static Workload,
    /// The device's data sheet, YAML
    #[arg(long, value_name = "FILE")]
    device: PathBuf,
    /// How many variants, drawn at random, the models are fitted to; 0: none, by the data sheet alone
    #[arg(long, default_value_t = 0, value_name = "N")]
    fit: usize,
    /// How often variants are drawn, from seeds 0, 1, …
    #[arg(long, default_value_t = 12, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    draws: u32,
    /// Search the space, too, from seeds 0, 1, …: by `tune`'s strategy, ordered by what the data sheet predicts
    #[arg(long, value_name = "SEEDS", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    search: Option<u32>,
    /// How many variants each search may try
    #[arg(long, default_value_t = 50, value_name = "N", requires = "search", value_parser = clap::value_parser!(u32).range(1..))]
    variants: u32,
    /// Another device's recorded space, whose best variant is carried over
    #[arg(long, value_name = "FILE")]
    carry: Vec<PathBuf>,
    /// Print JSON: {models: {NAME: {spearman, pick, error, …}}, baselines, without, …}
    #[arg(long)]
    json: bool,
}

/// The largest data sheet: an honest one has some lines.
const LARGEST: u64 = 1 << 20;

/// What `--json` prints.
#[derive(Serialize)]
struct Report {
    workload: &'static str,
    device: String,
    variants: usize,
    fit: usize,
    models: Evaluations,
    baselines: Evaluations,
    /// The data sheet's prediction without each effect.
    without: BTreeMap<&'static str, Score>,
    /// Time of another device's best variant over the best here, by file.
    carried: BTreeMap<String, Option<f64>>,
    /// Best time found by a search over the best, by what orders its variants before anything is measured; where asked for.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    search: BTreeMap<&'static str, SearchScore>,
    /// The best measured time and the best predicted one, seconds.
    best: [f64; 2],
}

/// Runs the command.
pub fn run(args: Args) -> Result<()> {
    require_threads()?;
    let recorded = recorded::read(&args.space)?;
    let sheet = parsed(&args.device, LARGEST, DataSheet::parse)?;
    let device = sheet.name.clone();
    let spaced = Spaced::new(args.workload, &recorded, sheet)?;
    let (models, baselines) = spaced.evaluate(args.fit, u64::from(args.draws))?;
    let mut carried = BTreeMap::new();
    for path in &args.carry {
        carried.insert(path.display().to_string(), spaced.carried(&recorded::read(path)?));
    }
    let report = Report {
        workload: args.workload.name,
        device,
        variants: spaced.len(),
        fit: args.fit,
        models,
        baselines,
        without: spaced.without_effects(),
        carried,
        search: args.search.map_or_else(BTreeMap::new, |seeds| {
            spaced.search(&recorded, args.variants as usize, u64::from(seeds))
        }),
        best: spaced.best(),
    };
    print(&if args.json { json(&report) } else { text_of(&report) })
}

fn text_of(report: &Report) -> String {
    let Report { workload, device, variants, fit, .. } = report;
    let mut text = format!("{workload} on {device}: {variants} variants, fitted to {fit}\n");
    let mut line = |name: &str, evaluated: &Evaluated| {
        let Score { spearman, pick, error } = evaluated.mean;
        let error = number(error, Unit::Fraction);
        // A string takes every write.
        let _ = writeln!(
            text,
            "{name:<16} Spearman's ρ {spearman:>5.2}   pick {pick:>5.2} × best   error {error:>6}"
        );
    };
    report
        .models
        .iter()
        .chain(&report.baselines)
        .for_each(|(name, evaluated)| line(name, evaluated));
    for (name, found) in &report.search {
        // As above.
        let _ = writeln!(
            text,
            "search by {name:<16} {:.3} × best, {:.3} in nine of ten",
            found.mean_ratio, found.p90_ratio
        );
    }
    text
}
