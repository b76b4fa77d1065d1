//! What it costs an iteration to have its state saved while it goes on.

use super::detailed_cases::{DetailedCase, detailed_cases};
use super::{Section, name, scroll};
use crate::checkpoint::{change, cost};
use crate::input::ReportInput;
use crate::labels;
use gpubench_core::record::Checkpoint;
use gpubench_core::text::printable;
use gpubench_core::units::{Bytes, seconds};
use gpubench_experiments::analysis::{CheckpointSummary, SaveSummary, checkpoint};
use maud::{Markup, html};

type Case<'m, 'a> = DetailedCase<'m, 'a, Checkpoint, CheckpointSummary>;

pub(super) fn section(input: &ReportInput) -> Option<Section> {
    let cases: Vec<Case> = detailed_cases(input, checkpoint);
    if cases.is_empty() {
        return None;
    }
    let body = html! {
        p {
            "An iteration's state is saved on the way, to memory and to a file. With one queue it waits for each save; with more, "
            "it goes on during the copies. Every saved state was compared to the bit with that of the iteration without saves."
        }
        @for case in &cases { (details(input, case)) }
    };
    Some(Section { id: "checkpoints", title: "Checkpoints", body })
}

fn details(input: &ReportInput, case: &Case) -> Markup {
    let label = &input.reported_devices[case.row.device].label;
    let workload = labels::workload_name(case.row.key, 100);
    let (raw, summary) = (&case.raw, &case.summary);
    html! {
        h3 { (name(&workload)) " " (labels::size(case.row.key)) " on " (label) }
        p {
            (raw.saves) " saves of " (Bytes(raw.bytes)) " in " (raw.passes) " passes, which take " (seconds(summary.alone)) " without"
            @if let Some(snapshot) = summary.snapshot { "; a copy on the device " (seconds(snapshot)) }
            @if let Some(writing) = summary.writing { "; a file " (seconds(writing)) }
            " (" (labels::memory_label(raw.host_memory)) " memory)."
        }
        (scroll(&format!("Checkpoints of {workload} on {label}"), &table(&summary.runs)))
        @if !raw.skipped.is_empty() {
            ul {
                @for (what, why) in &raw.skipped {
                    li { (printable(what, 60)) ": " (printable(why, 200)) }
                }
            }
        }
    }
}

fn table(runs: &[SaveSummary]) -> Markup {
    html! {
        table {
            caption { "What a save costs, and what going on from one takes" }
            thead {
                tr {
                    th scope="col" { "to" }
                    th.n scope="col" { "queues" }
                    th.n scope="col" { "cost of a save" }
                    th.n scope="col" { "by model 12" }
                    th.n scope="col" { "against 1 queue" }
                    th.n scope="col" { "restoring" }
                    th.n scope="col" { "against 1 queue" }
                }
            }
            tbody {
                @for run in runs {
                    tr {
                        th.name scope="row" { @if run.to_file { "file" } @else { "memory" } }
                        td.n { (run.queues) }
                        td.n { (cost(run)) }
                        td.n { (seconds(run.predicted_cost)) }
                        td.n { (change(run.against_one)) }
                        td.n { (seconds(run.restoring)) }
                        td.n { (change(run.restoring_against_one)) }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;
    use gpubench_core::record::Detail;
    use gpubench_core::record::sample;

    #[test]
    fn every_run_has_its_line() {
        let header = sample::header(vec![sample::device("opencl")]);
        let mut record = sample::record(sample::key("iteration", 8), 1.0);
        record.detail = Some(Detail::new(&sample::checkpoint()));
        let records = [record];
        let source = |records| Source {
            name: "sample.jsonl".into(),
            header: &header,
            records,
            footer: None,
            warnings: vec![],
        };
        let input = ReportInput::new(vec![source(&records)]);
        let page = section(&input).unwrap().body.into_string();
        assert!(page.contains("4 saves of 1.00 MiB in 60 passes"), "{page}");
        assert_eq!(page.matches("<tr>").count(), 1 + 3, "{page}");
        assert!(
            page.contains(">250 ms ± ") && page.contains("4 queues: the device has 2"),
            "{page}"
        );
        assert!(section(&ReportInput::new(vec![source(&[])])).is_none());
    }
}
