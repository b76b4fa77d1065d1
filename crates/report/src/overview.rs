//! One line a workload: its largest common size, and who needs how long.

use gpubench_analysis::Aggregate;
use gpubench_analysis::ReportInput;
use gpubench_core::workload::{CaseKey, Kind};
use std::collections::BTreeMap;

/// The rows of one workload and measure.
#[derive(Clone, Debug)]
pub struct Workload<'m, 'a> {
    /// Which ranking family it counts in.
    pub family: &'a str,
    /// All devices and sizes that were run.
    pub rows: Vec<&'m Aggregate<'a>>,
}

/// Every workload that was run, by family and name.
pub fn workloads<'m, 'a>(input: &'m ReportInput<'a>) -> Vec<Workload<'m, 'a>> {
    const FAMILIES: [&str; 5] = ["compute", "memory", "transfer", "overlap", "concurrency"];
    let place = |family: &str| FAMILIES.iter().position(|f| *f == family).unwrap_or(usize::MAX);
    let mut found: BTreeMap<(usize, &str, &str, Kind), Workload> = BTreeMap::new();
    for row in input.rows.iter().filter(|row| !row.is_skipped()) {
        let family = row.records[0].family.as_str();
        let name = row.key.workload.as_str();
        found
            .entry((place(family), family, name, row.key.measure))
            .or_insert_with(|| Workload { family, rows: vec![] })
            .rows
            .push(row);
    }
    found.into_values().collect()
}

/// A workload at one size.
#[derive(Clone, Debug)]
pub struct Line<'m, 'a> {
    /// Which ranking family it counts in.
    pub family: &'a str,
    /// The case.
    pub key: &'a CaseKey,
    /// The devices that got it right.
    pub cells: BTreeMap<usize, &'m Aggregate<'a>>,
}

impl<'m, 'a> Line<'m, 'a> {
    /// The largest size that most devices computed rightly; `None` where none did.
    pub fn of(workload: &Workload<'m, 'a>) -> Option<Self> {
        let mut sizes: BTreeMap<&CaseKey, BTreeMap<usize, &Aggregate>> = BTreeMap::new();
        for row in workload.rows.iter().filter(|row| row.time.is_some() && row.outcome.is_ok()) {
            sizes.entry(row.key).or_default().insert(row.device, row);
        }
        // Of equally many devices the last, since keys are in order of size.
        let (key, cells) = sizes.into_iter().max_by_key(|(_, cells)| cells.len())?;
        Some(Self { family: workload.family, key, cells })
    }

    /// The device with the shortest time, where there are several.
    pub fn best(&self) -> Option<usize> {
        let time = |row: &Aggregate| row.time.map_or(f64::INFINITY, |time| time.value);
        let (device, _) = self.cells.iter().min_by(|a, b| time(a.1).total_cmp(&time(b.1)))?;
        (self.cells.len() > 1).then_some(*device)
    }
}

/// The lines of all workloads.
pub fn lines<'m, 'a>(input: &'m ReportInput<'a>) -> Vec<Line<'m, 'a>> {
    workloads(input).iter().filter_map(Line::of).collect()
}
