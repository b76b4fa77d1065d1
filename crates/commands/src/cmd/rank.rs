//! `gpubench rank`: devices and APIs in order of speed over the cases that all got right.

use super::choice::{Choice, one_of};
use super::known::{Profiles, likely};
use super::predicted_ranking::Sources;
use super::require_threads;
use super::results;
use super::show::{markdown, print, text, warnings};
use crate::store::RunFile;
use crate::store::runs::{self, CharacterisedIn};
use gpubench_analysis::ResultMatrix;
use gpubench_analysis::rank::{Options, Ranking, Share, rank};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::DeviceInfo;
use gpubench_report::{page, ranking};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Arguments of `gpubench rank`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Result files, baselines, or folders of them
    #[arg(value_name = "PATH", default_value = "results")]
    paths: Vec<PathBuf>,
    /// The device whose speed is 1: part of its API, name, vendor and driver (default: the fastest)
    #[arg(long, value_name = "DEVICE")]
    reference: Option<String>,
    /// What a family weighs in the overall ranking, such as `transfer=0` or `compute=2` (default: 1 each)
    #[arg(long = "weight", value_name = "FAMILY=NUMBER", value_parser = weight, value_delimiter = ',')]
    weights: Vec<(String, f64)>,
    #[command(flatten)]
    sources: Sources,
    /// How to write the ranking
    #[arg(long, value_parser = one_of(FORMATS), default_value = FORMATS[0].0)]
    format: Render,
}

/// Writes a ranking.
type Render = fn(&Ranking) -> String;

/// Formats of a ranking, and what writes them.
const FORMATS: [Choice<Render>; 5] = [
    ("text", "Tables for a terminal", |all| text(&ranking::section(all))),
    ("md|markdown", "Tables for a pull request", |all| markdown(&ranking::section(all))),
    ("csv", "One line a row of the tables", ranking::spreadsheet),
    ("html", "One page with plots, for a browser or a printer", |all| {
        page::of_section("gpubench ranking", &ranking::section(all))
    }),
    ("json", "Everything, for programs", ranking::json),
];

/// Runs the command.
pub fn run(args: Args) -> Result<()> {
    require_threads()?;
    let all = runs::load(&results::files(&args.paths)?)?;
    warnings(&all.warnings);
    let weights = weights(args.weights)?;
    let options = Options { reference: args.reference, weights, ..args.sources.options() };
    check_families(&options, &all.matrix)?;
    let mut ranking = rank(&all.matrix, &options)?;
    check_weights(&options, &ranking)?;
    let own = |wanted: &[&DeviceInfo]| own_profiles(&all.characterised, wanted);
    ranking.prediction = args.sources.predict(&all.matrix, &ranking, own)?;
    print(&(args.format)(&ranking))?;
    let suites: BTreeSet<&str> = all.matrix.suites.iter().map(|(name, _)| name.as_str()).collect();
    nothing_ranked(&ranking, suites.len())
}

/// `FAMILY=NUMBER`.
fn weight(text: &str) -> Result<(String, f64), String> {
    let (family, number) = text.split_once('=').ok_or("expected FAMILY=NUMBER")?;
    match number.trim().parse::<f64>() {
        Ok(weight) if (0.0..=1e6).contains(&weight) => Ok((family.trim().to_owned(), weight)),
        _ => Err(format!("`{number}` is no weight: expected a number from 0 to 1000000")),
    }
}

/// The weight of each family.
fn weights(given: Vec<(String, f64)>) -> Result<BTreeMap<String, f64>> {
    let mut weights = BTreeMap::new();
    for (family, weight) in given {
        if let Some(other) = weights.insert(family.clone(), weight) {
            let message = format!("`{family}` is given two weights, {other} and {weight}");
            return Err(Error::Usage(message));
        }
    }
    Ok(weights)
}

/// Some family of the common set must weigh something.
fn check_weights(options: &Options, ranking: &Ranking) -> Result<()> {
    let shares = ranking.families.first().map_or(&[][..], |overall| &overall.shares);
    let weighs = |share: &Share| options.weights.get(&share.family).is_none_or(|w| *w > 0.0);
    if shares.is_empty() || shares.iter().any(weighs) {
        return Ok(());
    }
    let names: Vec<&str> = shares.iter().map(|share| share.family.as_str()).collect();
    Err(Error::Usage(format!(
        "no family weighs anything: leave one of {} at more than 0",
        names.join(", ")
    )))
}

/// A weight of a family that nobody ran is a typing mistake.
fn check_families(options: &Options, matrix: &ResultMatrix) -> Result<()> {
    let families: BTreeSet<&str> = matrix.cases.iter().map(|case| case.family.as_str()).collect();
    match options.weights.keys().find(|family| !families.contains(family.as_str())) {
        None => Ok(()),
        Some(family) => Err(Error::Usage(format!(
            "no case is of the family `{family}`; there are: {}",
            families.into_iter().collect::<Vec<_>>().join(", ")
        ))),
    }
}

/// Profiles of `wanted` devices, each from the latest ranked run that characterises it: read again,
/// since a ranking keeps none of the raw times that they are inferred from.
fn own_profiles(characterised: &[CharacterisedIn], wanted: &[&DeviceInfo]) -> Result<Profiles> {
    let mut latest: Vec<&CharacterisedIn> = characterised.iter().collect();
    latest.sort_by(|a, b| b.started.cmp(&a.started));
    let file =
        |device: &&DeviceInfo| likely(latest.iter().map(|one| (&one.device, &one.file)), device);
    let mut profiles = Profiles::default();
    for file in wanted.iter().filter_map(file).collect::<BTreeSet<&RunFile>>() {
        let run = crate::store::read(file)?;
        profiles.add(&run.header, &run.records);
    }
    Ok(profiles)
}

/// A ranking without rows is no success: why there is none, and what to do.
fn nothing_ranked(ranking: &Ranking, suites: usize) -> Result<()> {
    let overall = &ranking.families[0];
    if !overall.rows.is_empty() {
        return Ok(());
    }
    let ranked = ranking.devices.len() - ranking.excluded.len() - overall.absent.len();
    Err(Error::Usage(match ranked {
        0 if ranking.devices.is_empty() => "nothing to rank: the files name no device".into(),
        0 if ranking.excluded.is_empty() => "nothing to rank: no case is verified".into(),
        0 => "nothing to rank: no GPU with a verified case (--include-cpu, --include-simulated, --include-imported)"
            .into(),
        n if suites > 1 => {
            format!("no case is verified on all {n} devices: the runs are of {suites} suites")
        }
        n => format!("no case is verified on all {n} devices: rank fewer of them at a time"),
    }))
}
