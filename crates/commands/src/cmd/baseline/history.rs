//! `gpubench baseline history`: how each case went over many runs.

use crate::cmd::known::same_view;
use crate::cmd::results;
use crate::cmd::show::{print, text};
use crate::store::{Run, baseline, is_same_start};
use gpubench_analysis::{History, HistoryOf, MIN_RUNS, Step, Trajectory, collect, histories, past};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::Past;
use gpubench_core::text::printable;
use gpubench_document::{Column, Section, Sentence, Table, Unit};
use gpubench_report::labels::{case_name, device};
use gpubench_report::progress::say;
use jiff::Timestamp;
use std::path::{Path, PathBuf};

const SECONDS_A_DAY: f64 = 86_400.0;

/// Arguments of `gpubench baseline history`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Result files, baselines, or folders of them (default: the folder of baselines)
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Show what stayed the same, too
    #[arg(long)]
    all: bool,
}

/// A device on one class of hosts, with its runs.
struct DeviceRuns<'a> {
    device: &'a DeviceInfo,
    host: String,
    runs: Vec<(Timestamp, Past)>,
}

pub(super) fn run(args: &Args, folder: &Path) -> Result<()> {
    let runs = match args.paths.as_slice() {
        [] => baseline::list(folder)?.0,
        paths => results::open_all_and_baselines(paths)?,
    };
    let mut found: Vec<DeviceRuns> = vec![];
    for run in &runs {
        add(run, &mut found);
    }
    if found.is_empty() {
        return Err(Error::Usage(
            "no run with a verified case, and no history in a baseline".into(),
        ));
    }
    let section = Section::new("history", "History").text(
        "A step is a change of the mean between two runs (PELT), a slide a line through all of them (Theil and \
         Sen) that Mann and Kendall's test allows and that fits better than steps. The reference kernels show \
         the machine's own speed: what changes when they do is the machine.",
    );
    let section = found.iter().fold(section, |section, one| section.section(shown(one, args.all)));
    print(&text(&section))
}

/// Takes in a run, or the runs that a baseline remembers.
fn add<'a>(run: &'a Run, found: &mut Vec<DeviceRuns<'a>>) {
    let host = run.header.host.class();
    let known = run.noise.as_ref().map_or(&[][..], |noise| &noise.history);
    for cases in collect(&run.header, &run.records) {
        let Some(device) = run.header.devices.iter().find(|d| **d == cases.device) else {
            continue;
        };
        let own = [past(&run.header.started, &cases)];
        let pasts = if known.is_empty() { &own[..] } else { known };
        let dated = pasts.iter().filter(|past| !past.cases.is_empty()).filter_map(|past| {
            let time = past.started.parse::<Timestamp>();
            if time.is_err() {
                say(&format!(
                    "{}: `{}` is no time",
                    run.path.display(),
                    printable(&past.started, 40)
                ));
            }
            Some((time.ok()?, past.clone()))
        });
        let dated: Vec<(Timestamp, Past)> = dated.collect();
        if dated.is_empty() {
            continue;
        }
        let same = |one: &&mut DeviceRuns| same_view(one.device, device) && one.host == host;
        match found.iter_mut().find(same) {
            Some(one) => one.runs.extend(dated),
            None => found.push(DeviceRuns { device, host: host.clone(), runs: dated }),
        }
    }
    for one in found.iter_mut() {
        one.runs.sort_by_key(|(time, _)| *time);
        // A run and the baseline that was made of it are one.
        one.runs.dedup_by(|a, b| is_same_start(&a.1.started, &b.1.started));
    }
}

fn shown(one: &DeviceRuns, all: bool) -> Section {
    let first = one.runs[0].0;
    let days = |time: Timestamp| (time.as_second() - first.as_second()) as f64 / SECONDS_A_DAY;
    let dated: Vec<(f64, &Past)> =
        one.runs.iter().map(|(time, past)| (days(*time), past)).collect();
    let histories = histories(&dated);
    let last = &one.runs[one.runs.len() - 1];
    let span = Sentence::new().counted(one.runs.len() as u64, "run").text(", ");
    let span = span.name(day(&one.runs[0].1)).text(" to ").name(day(&last.1));
    let section = Section::new(&one.device.name, device(one.device))
        .fact("host", "host", Sentence::new().name(printable(&one.host, 80)))
        .fact("runs", "runs", span);
    let wanted = |history: &&History| {
        all || !matches!(history.trajectory, Trajectory::Steady | Trajectory::Unknown)
    };
    let listed: Vec<&History> = histories.iter().filter(wanted).collect();
    let count =
        |is: fn(&Trajectory) -> bool| histories.iter().filter(|h| is(&h.trajectory)).count() as u64;
    let steady =
        Sentence::new().counted(count(|trajectory| *trajectory == Trajectory::Steady), "case");
    let section = section.text(steady.text(" without a change."));
    let section = match count(|trajectory| *trajectory == Trajectory::Unknown) {
        0 => section,
        few => section.text(
            Sentence::new()
                .counted(few, "case")
                .text(" in fewer than ")
                .counted(MIN_RUNS as u64, "run")
                .text(": too few to say."),
        ),
    };
    section.table(table(&listed, &one.runs))
}

fn table(histories: &[&History], runs: &[(Timestamp, Past)]) -> Table {
    Table::of("history", "What changed", histories)
        .column(Column::names("case", "case"), |of| match &of.of_what {
            HistoryOf::Compute => "reference kernel, arithmetic".to_owned(),
            HistoryOf::Memory => "reference kernel, memory".to_owned(),
            HistoryOf::Case(key) => case_name(key),
        })
        .column(Column::new("runs", "runs", Unit::Count), |of| of.runs as u64)
        .column(Column::new("first", "first", Unit::Seconds), |of| of.seconds[0])
        .column(Column::new("last", "last", Unit::Seconds), |of| of.seconds[1])
        .column(Column::text("trajectory", "trajectory"), |of| trajectory(&of.trajectory, runs))
        .table()
}

fn trajectory(trajectory: &Trajectory, runs: &[(Timestamp, Past)]) -> Sentence {
    match trajectory {
        Trajectory::Unknown => "too few runs".into(),
        Trajectory::Steady => "steady".into(),
        Trajectory::Slide(by) => Sentence::from("slides ").value(*by, Unit::Change).text(" a week"),
        Trajectory::Steps(steps) => {
            Sentence::from("steps: ").list(", ", steps.iter().map(|s| step(s, runs)))
        }
    }
}

/// `2026-03-02 1.08 × (driver 2.0)`.
fn step(step: &Step, runs: &[(Timestamp, Past)]) -> Sentence {
    let now = &runs[step.run].1;
    let before = step.run.checked_sub(1).map(|place| &runs[place].1);
    let shown = Sentence::new().name(day(now)).text(" ").value(step.ratio, Unit::Ratio);
    match before {
        Some(before) if before.driver != now.driver => {
            shown.text(" (new driver ").name(printable(&now.driver, 40)).text(")")
        }
        _ => shown,
    }
}

fn day(past: &Past) -> String {
    past.started.chars().take(10).filter(char::is_ascii).collect()
}
