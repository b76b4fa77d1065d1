//! What reports say of launches: what a submission costs, and each launch in it.

use super::data::Submissions;
use crate::results::{costs_by_round, device_section, measured, over_rounds, quantity, rounds};
use gpubench_analysis::{Aggregate, ReportInput};
use gpubench_document::{Column, Section, Table, Unit};

/// One table a device.
pub(super) fn section(input: &ReportInput) -> Section {
    let section = Section::new("launches", "Launches").text(
        "An empty kernel, submitted once and several times at once, in turn, on the host's clock: from the \
         submission until the host knows that all has ended. Recording the commands is not counted; OpenCL \
         records none, and enqueueing them is counted there. A new kernel is one that was built just before: what a driver \
         puts off until then is in its first launch.",
    );
    (0..input.reported_devices.len()).fold(section, |section, device| {
        section.section(device_section(input, device).table(table(input, device)))
    })
}

fn table(input: &ReportInput, device: usize) -> Table {
    let costs = |row: &Aggregate| costs_by_round(rounds::<Submissions>(row).map(|of| of.costs()));
    let named = |row: &Aggregate| {
        let case = row.key.to_string();
        costs(row).into_iter().map(move |(what, samples)| ((case.clone(), what), samples))
    };
    let (names, samples): (Vec<_>, Vec<_>) = measured(input, device).flat_map(named).unzip();
    Table::of("launches", "What a submission costs", names.into_iter().zip(over_rounds(&samples)))
        .column(Column::text("case", "case"), |((case, _), _)| case.clone())
        .column(Column::text("what", "what"), |((_, what), _)| *what)
        .column(Column::new("seconds", "median ± 95 %", Unit::Seconds), |(_, cost)| {
            cost.and_then(|(value, interval)| quantity(value, interval))
        })
        .table()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::Launch;
    use crate::results::testing::{record_of, section_of_records};
    use gpubench_core::gpu::Clock;
    use gpubench_core::record::sample;

    #[test]
    fn launches_of_several_cases_read_well() {
        let samples = |seconds: f64| (0..9).map(|i| seconds + 1e-8 * f64::from(i)).collect();
        let of = |groups: i64, one: f64| {
            let (one, several) = (samples(one), samples(one + 63e-6));
            let first = samples(90e-6);
            let raw = Submissions { clock: Clock::Host, one, several, count: 64, first };
            record_of::<Launch>(sample::key("launch", groups), &raw)
        };
        let section = section_of_records::<Launch>(&[of(1, 11e-6), of(64, 15e-6)]).unwrap();
        insta::assert_snapshot!(gpubench_report::render::text::section(&section, Some(80)));
    }
}
