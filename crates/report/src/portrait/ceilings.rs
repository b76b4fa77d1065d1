//! The most that each kind of work was seen to reach.

use super::{PortraitDevice, by_device, row};
use crate::labels;
use gpubench_analysis::{Aggregate, Rate};
use gpubench_document::{Cell, Sentence, Table, Unit};

/// The tag of workloads that measure what a device can do at most.
const TAG: &str = "ceilings";

/// A row a workload: its best size.
pub(super) fn table(devices: &[PortraitDevice]) -> Table {
    let mut table = by_device("ceilings", "Ceilings", "of", devices);
    let memory = |device: &PortraitDevice| match device.roof.bandwidth() {
        Some(rate) => Sentence::new().value(rate, Unit::BytesPerSecond).into(),
        None => Cell::Missing,
    };
    row(
        &mut table,
        "memory, the last level that was measured",
        devices.iter().map(memory).collect(),
    );
    let mut workloads: Vec<&str> = vec![];
    for case in devices.iter().flat_map(|device| &device.cases).filter(|case| is_ceiling(case)) {
        if !workloads.contains(&case.key.workload.as_str()) {
            workloads.push(&case.key.workload);
        }
    }
    workloads.sort_unstable();
    for workload in workloads {
        let best = |device: &PortraitDevice| {
            let of = device.cases.iter().filter(|case| case.key.workload == workload);
            best(of.copied().filter(|case| is_ceiling(case)))
        };
        row(&mut table, workload.to_owned(), devices.iter().map(best).collect());
    }
    table
}

fn is_ceiling(case: &Aggregate) -> bool {
    let record = case.described_by();
    let named = record.ceiling.is_some() || record.tags.iter().any(|tag| tag == TAG);
    named && case.key.measure.is_kernel()
}

/// The rate at the size that reaches most, and which that is.
fn best<'m, 'a: 'm>(cases: impl Iterator<Item = &'m Aggregate<'a>>) -> Cell {
    let rated = cases.filter(|case| case.exclusion.is_none());
    let rated = rated.filter_map(|case| Some((number(case.rate?), case)));
    let Some((_, case)) = rated.max_by(|a, b| a.0.total_cmp(&b.0)) else { return Cell::Missing };
    let rate = match case.rate {
        Some(Rate::Flops(rate)) => Sentence::new().value(rate, Unit::FlopsPerSecond),
        Some(Rate::Bandwidth(rate)) => Sentence::new().value(rate, Unit::BytesPerSecond),
        None => return Cell::Missing,
    };
    let size = labels::size(case.key);
    let sign = if case.is_doubtful() { " !" } else { "" };
    rate.text(sign).text(" (").name(size).text(")").into()
}

fn number(rate: Rate) -> f64 {
    match rate {
        Rate::Flops(rate) | Rate::Bandwidth(rate) => rate,
    }
}
