//! `gpubench compare`: a run against a baseline or another run, case by case.

use super::choice::{Choice, one_of};
use super::known::same_view;
use super::results;
use super::show::{markdown, print, text};
use crate::store::{Run, baseline, is_same_start};
use gpubench_analysis::{
    DeviceCases, DeviceSpeed, Failure, Gate, Judgement, Options, collect, compare,
};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::{Record, measured_rounds};
use gpubench_core::text::printable;
use gpubench_core::units::quoted;
use gpubench_core::workload::CaseKey;
use gpubench_experiments::plan::Filter;
use gpubench_report::comparison::{self, Compared, Side};
use gpubench_report::progress::say;
use gpubench_report::{gate, junit};
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
    #[arg(long, value_name = "FOLDER", default_value_os_t = baseline::readable_folder())]
    folder: PathBuf,
    #[command(flatten)]
    terms: Terms,
    /// Begin with PASS or FAIL, and leave with a code of its own, where a case is slower (by more than this),
    /// was verified and is wrong now (unverified) or has no verdict now (missing), or is unsure
    #[arg(long, value_name = "slower[:PERCENT],unverified,missing,unsure", value_parser = fail_on,
          value_delimiter = ',', num_args = 0..=1, default_missing_value = DEFAULT_GATE)]
    fail_on: Option<Vec<Gate>>,
    /// How to write the comparison
    #[arg(long, value_parser = one_of(FORMATS), default_value = FORMATS[0].0)]
    format: Render,
}

/// What `--fail-on` is where it says nothing.
const DEFAULT_GATE: &str = "slower,unverified,missing";

/// A comparison as text. The last argument gives the gate's line between two of these marks, for what people read; it
/// is empty without a gate.
type Render = fn(&[Compared], &Gate, &dyn Fn(&str) -> String) -> String;

/// Formats of a comparison, and what writes them.
const FORMATS: [Choice<Render>; 5] = [
    ("text", "Tables for a terminal", |all, _, line| line("") + &text(&comparison::section(all))),
    ("md|markdown", "A comment for a pull request", |all, _, line| {
        line("**") + &markdown(&comparison::section(all))
    }),
    ("csv", "One line a case", |all, _, _| comparison::spreadsheet(all)),
    ("json", "Everything, for programs", |all, gate, _| comparison::json(all, gate)),
    ("junit", "Tests, for continuous integration", |all, gate, _| junit::junit(all, gate)),
];

/// The options of a comparison.
#[derive(Clone, Debug, PartialEq, clap::Args)]
struct Terms {
    /// Differences below this are the same, unless a case's own noise is larger
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = percent)]
    tolerance: f64,
    /// Planned comparison: cases with this in their name, or of this size (`'n>=512'`), which you chose
    /// before you saw their times; several must all hold. They are not corrected for the number of the rest
    #[arg(long, value_name = "FILTER", value_parser = Filter::parse)]
    planned: Vec<Filter>,
    /// Compare although devices or bounds checks differ
    #[arg(long)]
    allow_mismatch: bool,
}

/// `5%`, `5 %` or `5`; a bare number below 1 may be meant either way.
fn percent(text: &str) -> Result<f64, String> {
    let (number, bare) = match text.strip_suffix('%') {
        Some(number) => (number, false),
        None => (text, true),
    };
    match number.trim().parse::<f64>() {
        Ok(x) if bare && x > 0.0 && x < 1.0 => {
            Err(format!("say {}% or {}%, whichever is meant", quoted(100.0 * x), quoted(x)))
        }
        Ok(x) if (0.0..100.0).contains(&x) => Ok(x / 100.0),
        _ => Err("expected a percentage such as 5%, from 0 to below 100".into()),
    }
}

/// Those of `cases` that are planned. The records have no tags to select by that a suite would know.
fn planned_cases(cases: &DeviceCases, filters: &[Filter]) -> BTreeSet<CaseKey> {
    let is_planned = |key: &&CaseKey| {
        !filters.is_empty() && filters.iter().all(|filter| filter.matches(key, &[], ""))
    };
    cases.cases.keys().filter(is_planned).cloned().collect()
}

/// A gate that fails on one thing: a relative slowdown of more than so much, or what else it names.
fn fail_on(text: &str) -> Result<Gate, String> {
    Ok(match text.trim() {
        "slower" => Gate { slower: Some(0.0), ..Gate::OPEN },
        "unverified" => Gate { unverified: true, ..Gate::OPEN },
        "missing" => Gate { missing: true, ..Gate::OPEN },
        "unsure" => Gate { unsure: true, ..Gate::OPEN },
        other => match other.split_once(':') {
            Some(("slower", share)) => Gate { slower: Some(percent(share)?), ..Gate::OPEN },
            _ => {
                return Err(format!(
                    "expected some of {DEFAULT_GATE},unsure, or such as slower:5%"
                ));
            }
        },
    })
}

/// The gate that fails on what any of these fails on, by the last slowdown that is said.
fn gate_of(all: &[Gate]) -> Gate {
    all.iter().fold(Gate::OPEN, |gate, one| Gate {
        slower: one.slower.or(gate.slower),
        unverified: gate.unverified || one.unverified,
        missing: gate.missing || one.missing,
        unsure: gate.unsure || one.unsure,
    })
}

/// Runs the command.
pub fn run(args: Args) -> Result<ExitCode> {
    let new = open(&args.run)?;
    let compared = match args.old.as_ref().or(args.baseline.as_ref()) {
        Some(path) => with(&open(path)?, &new, &args.terms)?,
        None => with_baselines(&new, &args.folder, &args.terms)?,
    };
    let wanted = args.fail_on.as_deref().map(gate_of);
    let gate = wanted.unwrap_or_default();
    let judgement = gate::evaluate(&compared, &gate);
    let line = wanted.map(|gate| gate::line(&judgement, &gate));
    let settling = gate::settling(&compared).map_or_else(String::new, |said| said + "\n\n");
    let before = |mark: &str| {
        line.as_ref().map_or_else(String::new, |line| format!("{mark}{line}{mark}\n\n{settling}"))
    };
    print(&(args.format)(&compared, &gate, &before))?;
    Ok(exit_code(&judgement, wanted.is_some()))
}

/// Exit codes, the gravest reason's: 4 unverified, 1 slower, 5 missing, 6 unsure; 7 where nothing could be
/// compared, with a gate or without.
fn exit_code(judgement: &Judgement, has_gate: bool) -> ExitCode {
    if judgement.failures.contains(&Failure::NothingCompared) {
        say("no case could be compared: see the reasons above");
    }
    let counts = |failure: &&Failure| has_gate || **failure == Failure::NothingCompared;
    ExitCode::from(match judgement.failures.iter().find(counts) {
        None => 0,
        Some(Failure::Unverified) => 4,
        Some(Failure::Slower) => 1,
        Some(Failure::Missing) => 5,
        Some(Failure::Unsure) => 6,
        Some(Failure::NothingCompared) => NOTHING_COMPARED,
    })
}

/// The exit code where nothing could be compared.
pub(super) const NOTHING_COMPARED: u8 = 7;

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
    let tolerance = Options::default().tolerance;
    with(&open(path)?, new, &Terms { tolerance, planned: vec![], allow_mismatch: false })
}

/// Each device of the run against its own baseline.
fn with_baselines(new: &Run, folder: &Path, terms: &Terms) -> Result<Vec<Compared>> {
    let mut compared = vec![];
    for cases in collect(&new.header, &new.records) {
        let key = baseline::Key { device: &cases.device, host: &new.header.host };
        if let Some(path) = baseline::find(folder, &key) {
            let old = open(&path)?;
            elsewhere(&old, &key);
            say_doubts(&old, new);
            let before = collect(&old.header, &old.records).into_iter().next();
            let Some(before) = before else { continue };
            compared.push(pair(&old, &before, new, &cases, terms)?);
        } else {
            let (name, folder) = (printable(&cases.device.name, 60), folder.display());
            say(&format!("no baseline of {name} in {folder} (gpubench baseline save)"));
        }
    }
    if compared.is_empty() {
        let why = "nothing to compare with: no device has a baseline";
        return Err(Error::NothingCompared(why.into()));
    }
    Ok(compared)
}

/// Says where a baseline is of another driver or another class of hosts.
fn elsewhere(old: &Run, key: &baseline::Key) {
    let then = old.header.devices.first().map_or("", |device| &device.driver);
    let hosts = [old.header.host.class(), key.host.class()];
    for (what, [then, now]) in
        [("driver", [then, &key.device.driver]), ("host", hosts.each_ref().map(String::as_str))]
    {
        if then != now {
            let (then, now) = (printable(then, 80), printable(now, 80));
            say(&format!("the baseline is of another {what}: {then}, not {now}"));
        }
    }
}

/// The devices that both runs have; where they have none in common, and one each, those two if
/// that is requested.
fn with(old: &Run, new: &Run, terms: &Terms) -> Result<Vec<Compared>> {
    let (before, now) = (collect(&old.header, &old.records), collect(&new.header, &new.records));
    if in_turn(old, new) && new.header.in_turn.as_ref().is_some_and(|new| new.is_old) {
        let why = "is the old state of the two that were measured in turn: name it second";
        return Err(Error::Usage(format!("{}: it {why}", new.path.display())));
    }
    say_doubts(old, new);
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
                say(&format!("{} is not in the old run", named(&cases.device)));
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
        return Err(differ(&before, &now));
    }
    // A device that is gone takes its cases with it.
    for old_cases in &before {
        let is_here = |cases: &DeviceCases| same_view(&old_cases.device, &cases.device);
        if !terms.allow_mismatch && !now.iter().any(is_here) {
            let (device, none) = (old_cases.device.clone(), DeviceSpeed::default());
            let gone = DeviceCases { device, cases: [].into(), speed: none };
            compared.push(pair(old, old_cases, new, &gone, terms)?);
        }
    }
    Ok(compared)
}

/// Whether the times of two runs were taken by different rules.
fn other_method(old: &Run, new: &Run) -> bool {
    old.header.method != new.header.method
}

/// Says why the old run may be none to compare the new one with.
fn say_doubts(old: &Run, new: &Run) {
    if other_method(old, new) {
        say(&format!(
            "{}: timed by other rules than the new run; measure the old state again",
            old.path.display()
        ));
    }
    let (before, now) = (&old.header, &new.header);
    let is_same = (&before.suite, &before.suite_hash) == (&now.suite, &now.suite_hash)
        && is_same_start(&before.started, &now.started);
    if is_same && !in_turn(old, new) {
        let old = old.path.display();
        say(&format!("{old}: it holds the new run itself, which cannot differ from itself"));
    }
}

/// Whether two runs were measured in turn.
fn in_turn(old: &Run, new: &Run) -> bool {
    let pair = |run: &Run| run.header.in_turn.as_ref().map(|of| of.pair.clone());
    pair(new).is_some() && pair(old) == pair(new)
}

/// A device with its API.
fn named(device: &DeviceInfo) -> String {
    format!("{} ({})", printable(&device.name, 60), device.backend)
}

fn differ(before: &[DeviceCases], now: &[DeviceCases]) -> Error {
    let names = |all: &[DeviceCases]| {
        all.iter().map(|cases| named(&cases.device)).collect::<Vec<_>>().join(", ")
    };
    Error::NothingCompared(format!(
        "the devices differ: {} before, {} now (--allow-mismatch compares one with one)",
        names(before),
        names(now)
    ))
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
            "{} is of {}, the run of {}: --allow-mismatch compares them all the same",
            old.path.display(),
            named(&before.device),
            named(&now.device)
        )));
    }
    let options = Options {
        tolerance: terms.tolerance,
        noise: old.noise.iter().flat_map(|noise| noise.floors.iter().cloned()).collect(),
        planned: planned_cases(now, &terms.planned),
        allow_mismatch: terms.allow_mismatch,
        in_turn: in_turn(old, new),
        other_method: other_method(old, new),
    };
    if options.planned.is_empty() && !terms.planned.is_empty() {
        say("no case is planned: none passes --planned");
    }
    let side = |run: &Run, cases: &DeviceCases| {
        let is_its = |record: &&Record| {
            run.header.devices.get(record.device).is_some_and(|device| *device == cases.device)
        };
        Side {
            file: run.path.display().to_string(),
            started: run.header.started.clone(),
            host: run.header.host.clone(),
            device: cases.device.clone(),
            rounds: run.header.rounds,
            measured_rounds: measured_rounds(run.records.iter().filter(is_its)),
        }
    };
    Ok(Compared {
        old: side(old, before),
        new: side(new, now),
        comparison: compare(before, now, &options),
    })
}

#[cfg(test)]
mod tests;
