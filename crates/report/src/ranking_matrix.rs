//! Workloads against devices: where a ranking's order comes from.

use super::labels::capitalised;
use gpubench_analysis::rank::{Family, Ranking};
use gpubench_core::text::printable;
use gpubench_document::{Cell, Column, Quantity, Scale, Section, Sentence, Table, Unit};

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
    let first = [
        Column::names("workload", "workload"),
        Column::text("family", "family"),
        Column::new("cases", "cases", Unit::Count),
    ];
    let key = |device: usize| format!("device {}", device + 1);
    let columns = shown.iter().map(|&device| {
        Column::new(&key(device), ranking.devices[device].name.clone(), Unit::Fraction)
    });
    let title = Sentence::from("Relative to the best of ")
        .counted(overall.rows.len() as u64, "device")
        .text(", in their order; the stronger the colour, the faster");
    let title = match overall.rows.len() > shown.len() {
        true => title.text(", the first ").value(shown.len() as f64, Unit::Count),
        false => title,
    };
    let table = Table::new("by_workload", title, first.into_iter().chain(columns));
    // From the slowest on, by factors: one device far in front must not leave the others without colour.
    let speeds = overall.winners.iter().flat_map(|winner| &winner.speeds).map(|one| one.speed);
    let slowest = speeds.fold(0.5, f64::min).max(PALEST);
    let mut table = table.shaded(Scale::Log2, [slowest, 1.0]);
    for winner in &overall.winners {
        let speed = |device: &usize| {
            let of = winner.speeds.iter().find(|one| one.device == *device);
            Cell::from(of.and_then(|one| Quantity::new(one.speed)))
        };
        let first: [Cell; 3] = [
            printable(&winner.workload, 60).into(),
            capitalised(&winner.family).into(),
            (winner.cases as u64).into(),
        ];
        table.row(first.into_iter().chain(shown.iter().map(speed)));
        if winner.is_clear {
            let place = shown.iter().position(|device| *device == winner.device);
            let column = place.map(|place| table.columns()[3 + place].key().to_owned());
            column.iter().for_each(|column| table.best(column));
        }
    }
    table
}
