//! Workloads against devices: where a ranking's order comes from.

use super::labels::capitalised;
use gpubench_analysis::rank::{Family, Ranking};
use gpubench_core::text::printable;
use gpubench_document::{Column, Quantity, Scale, Section, Sentence, Table, Unit};

/// More columns than this are no picture.
const MAX_DEVICES: usize = 12;
/// Slower than this share of the best has no colour, whatever else there is.
const PALEST: f64 = 1e-3;

/// How fast each device is on each workload of the common set, relative to the best one.
pub(super) fn section(ranking: &Ranking, overall: &Family) -> Section {
    let section = Section::new("by_workload", "Speed by workload");
    if overall.winners.is_empty() {
        return section;
    }
    section
        .text(
            "The best device's time over each one's own: 100 % is the best, 50 % takes twice its time. \
             A winner is marked where its 95 % interval lies apart from all others' and is narrower \
             than its lead; the others are too close to call.",
        )
        .table(table(ranking, overall))
}

fn table(ranking: &Ranking, overall: &Family) -> Table {
    let shown: Vec<usize> = overall.rows.iter().take(MAX_DEVICES).map(|row| row.device).collect();
    let title = Sentence::from("Relative to the best of ")
        .counted(overall.rows.len() as u64, "device")
        .text(", in their order; the stronger the colour, the faster");
    let title = match overall.rows.len() > shown.len() {
        true => title.text(", the first ").value(shown.len() as f64, Unit::Count),
        false => title,
    };
    let key = |device: usize| format!("device_{}", device + 1);
    let heading = |device: &usize| {
        Column::new(&key(*device), ranking.devices[*device].name.clone(), Unit::Fraction)
    };
    let table = Table::of("by_workload", title, &overall.winners)
        .column(Column::names("workload", "workload"), |of| printable(&of.workload, 60))
        .column(Column::text("family", "family"), |of| capitalised(&of.family))
        .column(Column::new("cases", "cases", Unit::Count), |of| of.cases as u64)
        .columns(shown, heading, |of, device| {
            let of = of.speeds.iter().find(|one| one.device == *device);
            of.and_then(|one| Quantity::new(one.speed))
        })
        .table();
    // From the slowest on, by factors: one device far in front must not leave the others without colour.
    let speeds = overall.winners.iter().flat_map(|winner| &winner.speeds).map(|one| one.speed);
    let slowest = speeds.fold(0.5, f64::min).max(PALEST);
    let table = table.shaded(Scale::Log2, [slowest, 1.0]);
    let clear = overall.winners.iter().enumerate().filter(|(_, winner)| winner.is_clear);
    clear.fold(table, |table, (row, winner)| table.with_best(row, &key(winner.device)))
}
