//! The most that each kind of work was seen to reach.

use super::{PortraitDevice, by_device, row};
use crate::labels;
use gpubench_analysis::Aggregate;
use gpubench_document::{Cell, Quantity, Sentence, Table, Unit};
use std::collections::BTreeSet;

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
    for workload in workloads(devices) {
        let cell = |device: &PortraitDevice| match best(device, workload) {
            Some(case) => reached(case, missing(device, workload)),
            None => lacking(device, workload),
        };
        row(&mut table, workload.to_owned(), devices.iter().map(cell).collect());
    }
    table
}

/// Which variant each of them is of, where several were tried.
pub(super) fn variants(devices: &[PortraitDevice]) -> Table {
    let mut table = by_device("variants", "Variants that reached the ceilings", "of", devices);
    for workload in workloads(devices) {
        let cell = |device: &PortraitDevice| {
            let built = best(device, workload).and_then(|case| case.described_by().kernel.as_ref());
            let built = built.filter(|built| !built.variant.is_empty());
            built.map_or(Cell::Missing, |built| {
                let ran = built.tried.iter().filter(|(_, seconds)| seconds.is_some()).count();
                let all = (built.tried.len() + built.untried).max(1) as u64;
                let variant = Sentence::new().name(&built.variant).text(" (");
                let variant = variant.value(ran.max(1) as f64, Unit::Count).text(" of ");
                variant.counted(all, "variant").text(" ran)").into()
            })
        };
        row(&mut table, workload.to_owned(), devices.iter().map(cell).collect());
    }
    table
}

/// What is a ceiling on any device, in alphabetical order.
fn workloads<'m>(devices: &'m [PortraitDevice]) -> BTreeSet<&'m str> {
    let cases = devices.iter().flat_map(|device| &device.cases).filter(|case| is_ceiling(case));
    cases.map(|case| case.key.workload.as_str()).collect()
}

/// The cases of a ceiling, those that were skipped among them: their records do not say that it is one.
fn cases_of<'m, 'a>(
    device: &'m PortraitDevice<'m, 'a>,
    workload: &'m str,
) -> impl Iterator<Item = &'m Aggregate<'a>> {
    let cases = device.cases.iter().filter(move |case| case.key.workload == workload);
    cases.copied().filter(|case| case.key.measure.is_kernel())
}

/// Whether a case measures what a device can do at most.
pub(super) fn is_ceiling(case: &Aggregate) -> bool {
    let record = case.described_by();
    let named = record.ceiling.is_some() || record.tags.iter().any(|tag| tag == TAG);
    named && case.key.measure.is_kernel()
}

/// The size that reaches most.
fn best<'m, 'a>(
    device: &'m PortraitDevice<'m, 'a>,
    workload: &'m str,
) -> Option<&'m Aggregate<'a>> {
    let rated = cases_of(device, workload).filter(|case| case.exclusion.is_none());
    let rated = rated.filter_map(|case| Some((case.rate?.value(), case)));
    rated.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, case)| case)
}

/// Why there is no figure, in a word: of several sizes the worst reason.
fn lacking(device: &PortraitDevice, workload: &str) -> Cell {
    let worst = cases_of(device, workload).max_by_key(|case| case.outcome.severity());
    worst.map_or(Cell::Missing, |case| case.exclusion.into())
}

/// How many sizes have no figure: a larger one might reach more.
fn missing(device: &PortraitDevice, workload: &str) -> usize {
    cases_of(device, workload).filter(|case| case.rate.is_none()).count()
}

/// What a case reached, at which size, and how many others have no figure.
fn reached(case: &Aggregate, missing: usize) -> Cell {
    let Some(rate) = case.rate else { return Cell::Missing };
    let figure = case.rate_interval().and_then(|ends| Quantity::between(rate.value(), ends));
    let size = labels::size(case.key);
    let sign = if case.is_doubtful() { " !" } else { "" };
    let figure = Sentence::new().quantity(figure, labels::rate_unit(rate));
    let figure = figure.text(sign).text(" (").name(size);
    match missing {
        0 => figure.text(")").into(),
        n => figure.text("; ").counted(n as u64, "size").text(" without a figure)").into(),
    }
}
