//! What reports say of iterations whose state is saved: what a save costs, and what restoring takes.

use super::analysis::{SaveSummary, checkpoint};
use super::data::Checkpoint;
use crate::results::{DetailedCase, detailed_cases, skipped};
use gpubench_analysis::ReportInput;
use gpubench_document::{Column, Quantity, Section, Sentence, Table, TableOf, Unit};

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
    let saved = Sentence::new()
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
        .fact("saved", "saved", saved)
        .figure("alone", "the iteration without saves", summary.alone, Unit::Seconds)
        .figure("snapshot", "a copy of the state on the device", summary.snapshot, Unit::Seconds)
        .figure("writing", "writing the state to a file", summary.writing, Unit::Seconds);
    let section = match &raw.folder {
        Some(folder) if !raw.writing.is_empty() => {
            section.fact("folder", "files lie in", Sentence::new().name(folder))
        }
        _ => section,
    };
    let section = section.table(saves(&summary.runs)).table(restores(&summary.runs));
    Some(section.table(skipped("what", &raw.skipped)))
}

/// A row a run: where it saves to, and its queues.
fn of_runs<'r>(
    key: &str,
    title: &'static str,
    to: &'static str,
    runs: &'r [SaveSummary],
) -> TableOf<&'r SaveSummary> {
    Table::of(key, title, runs)
        .column(Column::text(to, to), |run| if run.to_file { "file" } else { "memory" })
        .column(Column::new("queues", "queues", Unit::Count), |run| u64::from(run.queues))
}

fn saves(runs: &[SaveSummary]) -> Table {
    of_runs("saves", "What a save costs", "to", runs)
        .column(Column::new("cost", "cost of a save", Unit::Seconds), |run| {
            Quantity::new(run.cost).map(|cost| cost.plus_minus(run.margin))
        })
        .column(Column::new("predicted", "by model 12", Unit::Seconds), |run| run.predicted_cost)
        .column(Column::new("against_one", "against 1 queue", Unit::Change), |run| run.against_one)
        .table()
}

fn restores(runs: &[SaveSummary]) -> Table {
    of_runs("restores", "What going on from a saved state takes", "from", runs)
        .column(Column::new("seconds", "restoring", Unit::Seconds), |run| run.restoring)
        .column(Column::new("against_one", "against 1 queue", Unit::Change), |run| {
            run.restoring_against_one
        })
        .table()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::sample;
    use crate::results::testing::section_of;

    #[test]
    fn costs_stand_beside_the_models() {
        let section = section_of::<crate::checkpoint::Checkpoint>(&sample::checkpoint()).unwrap();
        let rows = |table| section.find_table(table).unwrap().rows().len();
        assert_eq!((rows("saves"), rows("restores")), (3, 3));
        insta::assert_snapshot!(gpubench_report::render::text::section(&section, Some(80)));
    }

    #[test]
    fn without_samples_there_is_no_section() {
        let raw = Checkpoint { alone: vec![], ..sample::checkpoint() };
        assert_eq!(section_of::<crate::checkpoint::Checkpoint>(&raw), None);
    }
}
