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
    let cases = |run: &Run| run.records.iter().map(|r| &r.key).collect::<BTreeSet<_>>().len();
    let table = Table::of("baselines", "Baselines", runs)
        .column(Column::text("baseline", "baseline"), |run| run.name())
        .column(Column::text("kind", "kind"), |run| run.header.devices.first().map(kind_label))
        .column(Column::text("driver", "driver"), |run| {
            run.header.devices.first().map(|device| device.driver.clone())
        })
        .column(Column::new("cases", "cases", Unit::Count), |run| cases(run) as u64)
        .column(Column::new("rounds", "rounds", Unit::Count), |run| u64::from(run.header.rounds))
        .column(Column::new("runs", "runs", Unit::Count), |run| {
            run.noise.as_ref().map_or(1, |noise| u64::from(noise.runs))
        })
        .column(Column::text("made", "made"), |run| {
            run.header.started.chars().take(10).collect::<String>()
        })
        .table();
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
    let table = Table::of("cases", "Cases", aggregate(&run.records))
        .column(Column::names("case", "case"), |case| case_name(case.key))
        .column(Column::new("time", "time", Unit::Seconds), |case| case.time.map(|time| time.value))
        .column(Column::new("rounds", "rounds", Unit::Count), |case| case.rounds().count() as u64)
        .column(Column::new("noise floor", "noise floor", Unit::Fraction), |case| {
            floors.get(case.key).copied()
        })
        .column(Column::text("outcome", "outcome"), |case| case.outcome.label())
        .table();
    out + &text::table(&table, width)
}
