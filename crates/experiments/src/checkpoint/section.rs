//! What reports say of iterations whose state is saved: what a save costs, and what restoring takes.

use super::analysis::{SaveSummary, checkpoint};
use super::data::Checkpoint;
use crate::results::{DetailedCase, detailed_cases, skipped};
use gpubench_analysis::ReportInput;
use gpubench_document::{Column, Quantity, Section, Sentence, Table, Unit};

/// One section a case.
pub(super) fn section(input: &ReportInput) -> Section {
    let section = Section::new("checkpoint", "Checkpoints").text(
        "An iteration's state is saved on the way, to memory and to a file. With one queue it waits \
         for each save; with more, it goes on during the copies. Every saved state was compared to \
         the bit with that of the iteration without saves.",
    );
    detailed_cases(input).filter_map(|case| one(&case)).fold(section, Section::section)
}

fn one(case: &DetailedCase<Checkpoint>) -> Option<Section> {
    let (raw, summary) = (&case.data, checkpoint(&case.data)?);
    let saves = Sentence::new()
        .counted(raw.saves, "save")
        .text(" of ")
        .value(raw.bytes as f64, Unit::Bytes)
        .text(" in ")
        .value(raw.passes as f64, Unit::Count)
        .text(" passes, to ")
        .text(raw.host_memory.label())
        .text(" memory");
    let section = case
        .section()
        .fact("saves", "saved", saves)
        .figure("alone", "the iteration without saves", summary.alone, Unit::Seconds)
        .figure("snapshot", "a copy of the state on the device", summary.snapshot, Unit::Seconds)
        .figure("writing", "writing the state to a file", summary.writing, Unit::Seconds);
    Some(section.table(table(&summary.runs)).table(skipped("what", &raw.skipped)))
}

fn table(runs: &[SaveSummary]) -> Table {
    let mut table = Table::new(
        "runs",
        "What a save costs, and what going on from one takes",
        [
            Column::text("to", "to"),
            Column::new("queues", "queues", Unit::Count),
            Column::new("cost", "cost of a save", Unit::Seconds),
            Column::new("predicted", "by model 12", Unit::Seconds),
            Column::new("against_one", "against 1 queue", Unit::Change),
            Column::new("restoring", "restoring", Unit::Seconds),
            Column::new("restoring_against_one", "against 1 queue", Unit::Change),
        ],
    );
    for run in runs {
        table.row([
            if run.to_file { "file" } else { "memory" }.into(),
            u64::from(run.queues).into(),
            Quantity::new(run.cost).map(|cost| cost.plus_minus(run.margin)).into(),
            run.predicted_cost.into(),
            run.against_one.into(),
            run.restoring.into(),
            run.restoring_against_one.into(),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::sample;
    use crate::results::testing::section_of;

    #[test]
    fn costs_stand_beside_the_models() {
        let section = section_of::<crate::checkpoint::Checkpoint>(&sample::checkpoint()).unwrap();
        assert_eq!(section.find_table("runs").unwrap().rows().len(), 3);
        insta::assert_snapshot!(gpubench_report::render::text::section(&section, Some(80)));
    }

    #[test]
    fn without_samples_there_is_no_section() {
        let raw = Checkpoint { alone: vec![], ..sample::checkpoint() };
        assert_eq!(section_of::<crate::checkpoint::Checkpoint>(&raw), None);
    }
}
