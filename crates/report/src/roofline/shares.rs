//! How near each kernel comes to what bounds it.

use super::Kernel;
use super::measured::{Measured, is_cached};
use crate::labels;
use gpubench_analysis::Aggregate;
use gpubench_core::record::is_on_whole_numbers;
use gpubench_document::{Cell, Column, Sentence, Table, Unit};
use gpubench_model::roofline::{Bound, BoundRate, Reached};

/// Each workload at the size that comes closest to the roof; no row without a roof.
pub(super) fn table(kernels: &[Kernel], measured: &Measured) -> Table {
    let columns = [
        Column::names("case", "case"),
        Column::new("intensity", "intensity", Unit::FlopsPerByte),
        Column::text("bound", "bound by"),
        Column::new("rate", "its rate of that", Unit::None),
        Column::new("share", "of its roof", Unit::Fraction),
        Column::text("cache", "from"),
    ];
    let title = "Each workload at the size that comes closest to the roof; above it is what moved \
                 fewer bytes than counted";
    let mut table = Table::new("shares", title, columns);
    if measured.ceilings().is_none() {
        return table;
    }
    let mut best: Vec<(Option<Reached>, &Kernel)> = vec![];
    for kernel in kernels {
        let reached = measured
            .ceilings_of(kernel)
            .and_then(|of| of.reached(kernel.flops, kernel.bytes, kernel.seconds));
        let same = |known: &&mut (Option<Reached>, &Kernel)| {
            known.1.row.key.workload == kernel.row.key.workload
        };
        match best.iter_mut().find(same) {
            Some(known) if known.0 < reached => *known = (reached, kernel),
            Some(_) => {}
            None => best.push((reached, kernel)),
        }
    }
    best.sort_by(|(a, _), (b, _)| b.partial_cmp(a).unwrap_or(std::cmp::Ordering::Equal));
    for (reached, kernel) in best {
        let rate = measured
            .ceilings_of(kernel)
            .map(|of| of.bound_rate(kernel.flops, kernel.bytes, kernel.seconds));
        table.row([
            labels::case_name(kernel.row.key).into(),
            (kernel.flops / kernel.bytes).into(),
            rate.map_or("no ceiling of that size", |rate| bound(rate.bound())).into(),
            rate.map(|rate| sentence(rate, kernel.row)).into(),
            match reached {
                Some(Reached::Share(share)) => share.value().into(),
                Some(Reached::Above) => "above".into(),
                None => Cell::Missing,
            },
            if is_cached(&measured.roof, kernel.row) { Cell::from("cache") } else { Cell::Missing },
        ]);
    }
    table
}

fn bound(bound: Bound) -> &'static str {
    match bound {
        Bound::Compute => "arithmetic",
        Bound::Memory => "memory",
    }
}

fn sentence(rate: BoundRate, row: &Aggregate) -> Sentence {
    match rate {
        BoundRate::Compute(rate) => {
            let measured = row.shown().next().map(|(_, measured)| measured);
            let is_whole = measured.is_some_and(|m| is_on_whole_numbers(m.flops, &m.types));
            let unit = if is_whole { Unit::OperationsPerSecond } else { Unit::FlopsPerSecond };
            Sentence::new().value(rate, unit)
        }
        BoundRate::Memory(rate) => Sentence::new().value(rate, Unit::BytesPerSecond),
    }
}
