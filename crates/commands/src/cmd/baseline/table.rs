//! Baselines for a terminal.

use crate::store::Run;
use gpubench_analysis::collect;
use gpubench_core::text::printable;
use gpubench_core::units;
use gpubench_report::grid::Grid;
use gpubench_report::labels::case_name;
use gpubench_report::labels::kind_label;
use std::collections::BTreeMap;
use std::fmt::Write;

/// One line a baseline.
pub fn list(runs: &[Run], width: u16) -> String {
    let mut grid = Grid::new(&["baseline", "kind", "driver", ">cases", ">rounds", ">runs", "made"]);
    for run in runs {
        let stem = run.path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let device = run.header.devices.first();
        let cases: std::collections::BTreeSet<_> = run.records.iter().map(|r| &r.key).collect();
        grid.row([
            printable(&stem.unwrap_or_default(), 96),
            device.map_or_else(String::new, |d| kind_label(d).to_owned()),
            device.map_or_else(String::new, |d| printable(&d.driver, 40)),
            cases.len().to_string(),
            run.header.rounds.to_string(),
            run.noise.as_ref().map_or(1, |noise| noise.runs).to_string(),
            run.header.started.chars().take(10).filter(char::is_ascii).collect(),
        ]);
    }
    grid.text(width)
}

/// A baseline's cases.
pub fn show(run: &Run, width: u16) -> String {
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
    let mut grid = Grid::new(&["case", ">time", ">rounds", ">noise floor", "outcome"]);
    for device in collect(header, &run.records) {
        for (key, case) in &device.cases {
            grid.row([
                case_name(key),
                case.overall.map_or_else(String::new, |o| units::seconds(o.value)),
                case.medians.len().to_string(),
                floors.get(key).map_or_else(String::new, |x| format!("{:.1} %", 100.0 * x)),
                case.outcome.label().to_owned(),
            ]);
        }
    }
    out += &grid.text(width);
    out
}
