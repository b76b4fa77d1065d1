//! Baselines for a terminal.

use crate::store::Run;
use gpubench_analysis::aggregate;
use gpubench_core::text::printable;
use gpubench_document::{Column, Table, Unit};
use gpubench_report::labels::{case_name, kind_label};
use gpubench_report::render::text;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// One line a baseline.
pub fn list(runs: &[Run], width: Option<usize>) -> String {
    let columns = [
        Column::text("baseline", "baseline"),
        Column::text("kind", "kind"),
        Column::text("driver", "driver"),
        Column::new("cases", "cases", Unit::Count),
        Column::new("rounds", "rounds", Unit::Count),
        Column::new("runs", "runs", Unit::Count),
        Column::text("made", "made"),
    ];
    let mut table = Table::new("baselines", "Baselines", columns);
    for run in runs {
        let stem = run.path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let device = run.header.devices.first();
        let cases: BTreeSet<_> = run.records.iter().map(|r| &r.key).collect();
        table.row([
            stem.into(),
            device.map(kind_label).into(),
            device.map(|device| device.driver.clone()).into(),
            (cases.len() as u64).into(),
            u64::from(run.header.rounds).into(),
            run.noise.as_ref().map_or(1, |noise| u64::from(noise.runs)).into(),
            run.header.started.chars().take(10).collect::<String>().into(),
        ]);
    }
    text::table(&table, width)
}

/// A baseline's cases.
pub fn show(run: &Run, width: Option<usize>) -> String {
    let mut out = String::new();
    let header = &run.header;
    for device in &header.devices {
        let name = printable(&device.name, 60);
        let (api, driver) = (printable(&device.api, 40), printable(&device.driver, 60));
        let (kind, backend) = (kind_label(device), printable(&device.backend, 12));
        let _ = writeln!(out, "{name} ({kind}; {backend}; {api}; {driver})");
    }
    let (suite, host) = (printable(&header.suite, 40), printable(&header.host.name, 40));
    let (made, version) = (printable(&header.started, 40), printable(&header.gpubench, 40));
    let _ = writeln!(out, "suite {suite}, {made} on {host}, by gpubench {version}\n");
    let floors: BTreeMap<_, _> =
        run.noise.iter().flat_map(|noise| &noise.floors).map(|(key, x)| (key, *x)).collect();
    let columns = [
        Column::names("case", "case"),
        Column::new("time", "time", Unit::Seconds),
        Column::new("rounds", "rounds", Unit::Count),
        Column::new("noise floor", "noise floor", Unit::Fraction),
        Column::text("outcome", "outcome"),
    ];
    let mut table = Table::new("cases", "Cases", columns);
    for case in aggregate(&run.records) {
        table.row([
            case_name(case.key).into(),
            case.time.map(|time| time.value).into(),
            (case.rounds().count() as u64).into(),
            floors.get(case.key).copied().into(),
            case.outcome.label().into(),
        ]);
    }
    out + &text::table(&table, width)
}
