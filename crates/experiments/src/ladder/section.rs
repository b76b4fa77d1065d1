//! What reports say of ladders: what each step gained, and whether another one is worth it.

use super::{Ladder, Rung, ladders};
use gpubench_analysis::ReportInput;
use gpubench_document::{Cell, Column, Section, Sentence, Table, Unit};
use gpubench_model::roofline::{Bound, Reached};

/// One table a ladder and device.
pub fn section(input: &ReportInput) -> Section {
    let section = Section::new("ladders", "Ladders").text(
        "The same problem solved better and better. Ideal is the time that its operations and bytes \
         need at the device's own measured ceilings; what a perfect kernel could still save is its \
         share of uploading, computing and downloading times its distance from that.",
    );
    let devices = input.reported_devices.iter().enumerate();
    let tables = devices.flat_map(|(i, device)| {
        ladders(input, i).into_iter().map(|ladder| table(&ladder, &device.name))
    });
    tables.fold(section, Section::table)
}

/// The workload and its size, where it ran, and what bounds it.
fn title(ladder: &Ladder, device: &str) -> Sentence {
    let sizes = ladder.size.iter().map(|(name, value)| format!(" {name}={value}"));
    let bound = match ladder.bound {
        Some(Bound::Compute) => ": bound by arithmetic",
        Some(Bound::Memory) => ": bound by memory",
        None => "",
    };
    let case = format!("{}{}", ladder.workload, sizes.collect::<String>());
    Sentence::new().name(case).text(" on ").name(device).text(bound)
}

fn table(ladder: &Ladder, device: &str) -> Table {
    Table::of(&ladder.workload, title(ladder, device), ladder.rungs.iter().enumerate())
        .column(Column::text("step", "step"), |(_, rung)| rung.variant.clone())
        .column(Column::new("seconds", "median", Unit::Seconds), |(_, rung)| rung.seconds)
        .column(Column::new("speedup", "speedup", Unit::Ratio), |(i, rung)| {
            (*i > 0).then_some(rung.speedup)
        })
        .column(Column::new("of_ideal", "of ideal", Unit::Fraction), |(_, rung)| of_ideal(rung))
        .column(Column::new("share", "of the run", Unit::Fraction), |(_, rung)| rung.share)
        .column(Column::new("possible", "could save", Unit::Fraction), |(_, rung)| rung.possible())
        .column(Column::text("worth", "another step"), |(_, rung)| worth(rung))
        .table()
}

fn of_ideal(rung: &Rung) -> Cell {
    match rung.of_ideal {
        Some(Reached::Above) => "above".into(),
        Some(Reached::Share(share)) => share.value().into(),
        None => Cell::Missing,
    }
}

fn worth(rung: &Rung) -> &'static str {
    match rung.worth() {
        Some(true) => "is worth it",
        Some(false) => "is not worth it",
        None => "cannot be evaluated: no ceiling or no copies were measured",
    }
}
