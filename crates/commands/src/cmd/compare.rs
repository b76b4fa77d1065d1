//! `gpubench compare`: a run against a baseline or another run, case by case.

use super::known::same_view;
use super::results;
use super::show::{TableFormat, markdown, print, text};
use crate::store::{Run, baseline};
use gpubench_analysis::{DeviceCases, Options, Verdict, collect, compare};
use gpubench_core::error::{Error, Result};
use gpubench_core::text::printable;
use gpubench_core::workload::CaseKey;
use gpubench_document::{Unit, number};
use gpubench_experiments::plan::Filter;
use gpubench_report::comparison::{self, Compared, Side};
use gpubench_report::progress::say;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Arguments of `gpubench compare`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The new run
    run: PathBuf,
    /// The old run (default: the baseline of each of the run's devices)
    #[arg(conflicts_with = "baseline")]
    old: Option<PathBuf>,
    /// The baseline to compare with
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// The folder of baselines
    #[arg(long, value_name = "FOLDER", default_value = baseline::FOLDER)]
    folder: PathBuf,
    /// Differences below this are the same, unless a case's own noise is larger
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = percent)]
    tolerance: f64,
    /// Planned comparison: cases with this in their name, or of this size (`'n>=512'`), which you chose
    /// before you saw their times; several must all hold. They are not corrected for the number of the rest
    #[arg(long, value_name = "FILTER", value_parser = planned)]
    planned: Vec<Filter>,
    /// Compare although devices or bounds checks differ
    #[arg(long)]
    allow_mismatch: bool,
    /// Leave with 1, after the report, when a case is slower (by more than this)
    #[arg(long, value_name = "slower[:PERCENT]", value_parser = fail_on)]
    fail_on: Option<FailOn>,
    /// How to write the comparison
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    format: TableFormat,
}

/// The options of a comparison.
#[derive(Clone, Debug, PartialEq)]
struct Terms {
    /// Relative difference that matters.
    tolerance: f64,
    /// What planned comparisons pass; none is planned where there is nothing.
    planned: Vec<Filter>,
    /// Compare although devices or bounds checks differ.
    allow_mismatch: bool,
}

/// When a comparison fails.
#[derive(Clone, Copy, Debug, PartialEq)]
struct FailOn {
    /// Relative slowdown that is still let through.
    allowed: f64,
}

/// `1%`, `1 %` or `0.01`.
fn percent(text: &str) -> Result<f64, String> {
    let value = match text.strip_suffix('%') {
        Some(number) => number.trim().parse::<f64>().map(|x| x / 100.0),
        None => text.trim().parse(),
    };
    match value {
        Ok(x) if (0.0..1.0).contains(&x) => Ok(x),
        _ => Err("expected a share such as 5% or 0.05, from 0 to below 100%".into()),
    }
}

/// What `--planned` takes: the records have no tags to select by that a suite would know.
fn planned(text: &str) -> Result<Filter, String> {
    Filter::parse(text).map_err(|error| error.to_string())
}

/// Those of `cases` that are planned.
fn planned_cases(cases: &DeviceCases, filters: &[Filter]) -> BTreeSet<CaseKey> {
    let is_planned = |key: &&CaseKey| {
        !filters.is_empty() && filters.iter().all(|filter| filter.matches(key, &[], ""))
    };
    cases.cases.keys().filter(is_planned).cloned().collect()
}

fn fail_on(text: &str) -> Result<FailOn, String> {
    match text.split_once(':') {
        None if text == "slower" => Ok(FailOn { allowed: 0.0 }),
        Some(("slower", share)) => Ok(FailOn { allowed: percent(share)? }),
        _ => Err("expected `slower` or such as `slower:5%`".into()),
    }
}

/// Runs the command.
pub fn run(args: Args) -> Result<ExitCode> {
    let new = open(&args.run)?;
    let terms = Terms {
        tolerance: args.tolerance,
        planned: args.planned.clone(),
        allow_mismatch: args.allow_mismatch,
    };
    let compared = match args.old.as_ref().or(args.baseline.as_ref()) {
        Some(path) => with(&open(path)?, &new, &terms)?,
        None => with_baselines(&new, &args.folder, &terms)?,
    };
    print(&match args.format {
        TableFormat::Text => text(&comparison::section(&compared)),
        TableFormat::Md => markdown(&comparison::section(&compared)),
        TableFormat::Csv => comparison::spreadsheet(&compared),
        TableFormat::Json => comparison::json(&compared),
    })?;
    verdict(&compared, &args)
}

fn open(path: &Path) -> Result<Run> {
    let run = results::open(path)?;
    if run.records.is_empty() {
        return Err(Error::Usage(format!("{}: no record in it", path.display())));
    }
    Ok(run)
}

/// A run's devices against those of the run or baseline at `path`, as a report shows them.
///
/// # Errors
/// As the command: an unreadable file, or no device in common.
pub(super) fn against(path: &Path, new: &Run) -> Result<Vec<Compared>> {
    let usual = Options::default();
    with(
        &open(path)?,
        new,
        &Terms { tolerance: usual.tolerance, planned: vec![], allow_mismatch: false },
    )
}

/// Each device of the run against its own baseline.
fn with_baselines(new: &Run, folder: &Path, terms: &Terms) -> Result<Vec<Compared>> {
    let mut compared = vec![];
    for cases in collect(&new.header, &new.records) {
        let path = baseline::path(folder, &cases.device);
        if path.exists() {
            let old = open(&path)?;
            let before = collect(&old.header, &old.records).into_iter().next();
            let Some(before) = before else { continue };
            compared.push(pair(&old, &before, new, &cases, terms)?);
        } else {
            let (name, path) = (printable(&cases.device.name, 60), path.display());
            say(&format!("no baseline of {name}: {path} is not there (gpubench baseline save)"));
        }
    }
    if compared.is_empty() {
        return Err(Error::Usage("nothing to compare with: no device has a baseline".into()));
    }
    Ok(compared)
}

/// The devices that both runs have; where they have none in common, and one each, those two if
/// that is requested.
fn with(old: &Run, new: &Run, terms: &Terms) -> Result<Vec<Compared>> {
    let (before, now) = (collect(&old.header, &old.records), collect(&new.header, &new.records));
    if old.header.started > new.header.started {
        say("the old run was made after the new one");
    }
    if old.header.suite != new.header.suite {
        let (old, new) = (printable(&old.header.suite, 40), printable(&new.header.suite, 40));
        say(&format!(
            "the runs are of two suites, {old} and {new}: their common cases are compared"
        ));
    }
    let mut compared = vec![];
    for cases in &now {
        match before.iter().find(|old| same_view(&old.device, &cases.device)) {
            Some(old_cases) => compared.push(pair(old, old_cases, new, cases, terms)?),
            None if now.len() > 1 => {
                let name = printable(&cases.device.name, 60);
                say(&format!("{name} ({}) is not in the old run", cases.device.backend));
            }
            None => {}
        }
    }
    if let ([], [old_cases], [cases], true) =
        (&compared[..], &before[..], &now[..], terms.allow_mismatch)
    {
        compared.push(pair(old, old_cases, new, cases, terms)?);
    }
    if compared.is_empty() {
        let names = |all: &[DeviceCases]| {
            let one = |c: &DeviceCases| {
                format!("{} ({})", printable(&c.device.name, 60), c.device.backend)
            };
            all.iter().map(one).collect::<Vec<_>>().join(", ")
        };
        return Err(Error::Usage(format!(
            "the devices differ: {} before, {} now (--allow-mismatch compares one with one)",
            names(&before),
            names(&now)
        )));
    }
    Ok(compared)
}

fn pair(
    old: &Run,
    before: &DeviceCases,
    new: &Run,
    now: &DeviceCases,
    terms: &Terms,
) -> Result<Compared> {
    if !same_view(&before.device, &now.device) && !terms.allow_mismatch {
        return Err(Error::Usage(format!(
            "{} is of {} ({}), the run of {} ({}): --allow-mismatch compares them all the same",
            old.path.display(),
            printable(&before.device.name, 60),
            before.device.backend,
            printable(&now.device.name, 60),
            now.device.backend
        )));
    }
    let options = Options {
        tolerance: terms.tolerance,
        noise: old.noise.iter().flat_map(|noise| noise.floors.iter().cloned()).collect(),
        planned: planned_cases(now, &terms.planned),
        allow_mismatch: terms.allow_mismatch,
    };
    if options.planned.is_empty() && !terms.planned.is_empty() {
        say("no case is planned: none passes --planned");
    }
    let side = |run: &Run, cases: &DeviceCases| Side {
        file: run.path.display().to_string(),
        started: run.header.started.clone(),
        device: cases.device.clone(),
        rounds: run.header.rounds,
    };
    Ok(Compared {
        old: side(old, before),
        new: side(new, now),
        comparison: compare(before, now, &options),
    })
}

/// The exit code: 1 for a slowdown that was asked about, 2 where nothing could be compared.
fn verdict(compared: &[Compared], args: &Args) -> Result<ExitCode> {
    let rows = || compared.iter().flat_map(|compared| &compared.comparison.rows);
    if rows().next().is_none() {
        return Err(Error::Usage("no case could be compared: see the reasons above".into()));
    }
    let Some(fail) = args.fail_on else { return Ok(ExitCode::SUCCESS) };
    let slower = |row: &&gpubench_analysis::Row| {
        row.verdict == Verdict::Slower && row.ratio > 1.0 + fail.allowed
    };
    match rows().filter(slower).count() {
        0 => Ok(ExitCode::SUCCESS),
        n => {
            let allowed = number(fail.allowed, Unit::Fraction);
            say(&format!("{n} slower by more than {allowed}"));
            Ok(ExitCode::from(1))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planned_comparisons_are_chosen_by_name_and_size() {
        use gpubench_core::record::sample::{device, header, key, record};
        let records =
            [record(key("a", 1), 1.0), record(key("a", 2), 1.0), record(key("b", 2), 1.0)];
        let cases = collect(&header(vec![device("opencl")]), &records).remove(0);
        let of = |filters: &[&str]| -> Vec<CaseKey> {
            let filters: Vec<Filter> = filters.iter().map(|f| planned(f).unwrap()).collect();
            planned_cases(&cases, &filters).into_iter().collect()
        };
        assert_eq!(of(&["a", "n=2"]), [key("a", 2)]);
        assert_eq!(of(&["a"]).len(), 2);
        assert!(of(&[]).is_empty() && planned("n>=").is_err());
    }

    #[test]
    fn shares_are_read_in_either_format() {
        assert_eq!(percent("5%"), Ok(0.05));
        assert_eq!(percent("0.5 %"), Ok(0.005));
        assert_eq!(percent("0.05"), Ok(0.05));
        for bad in ["", "x", "-1%", "100%", "5", "nan"] {
            assert!(percent(bad).is_err(), "{bad}");
        }
        assert_eq!(fail_on("slower"), Ok(FailOn { allowed: 0.0 }));
        assert_eq!(fail_on("slower:5%"), Ok(FailOn { allowed: 0.05 }));
        assert!(fail_on("faster").is_err() && fail_on("slower:").is_err());
    }
}
