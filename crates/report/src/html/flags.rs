//! What failed, what was left out and why, and what to know before believing a figure.

use super::{Section, scroll};
use crate::labels::{self, Shared, case_name, details, few, how_often};
use gpubench_analysis::ReportInput;
use gpubench_core::text::printable;
use maud::{Markup, html};

pub(super) fn section(input: &ReportInput) -> Option<Section> {
    let failed: Vec<_> = input.rows.iter().filter(|row| row.outcome.is_failure()).collect();
    let notes = labels::notes(&input.rows);
    let skipped = labels::skipped(&input.rows);
    let warnings: Vec<_> = input.sources.iter().flat_map(|s| &s.warnings).collect();
    if failed.is_empty() && notes.is_empty() && skipped.is_empty() && warnings.is_empty() {
        return None;
    }
    let body = html! {
        @if !failed.is_empty() {
            h3 { "Failed" }
            ul {
                @for row in failed {
                    li {
                        span.bad { "✗ " (row.outcome.label()) } " " (case_name(row.key)) " on " (input.reported_devices[row.device].label) (how_often(row))
                        @for line in details(row.outcome) { br; span.soft { (printable(&line, 300)) } }
                    }
                }
            }
        }
        @if !notes.is_empty() {
            h3 { "Flags" }
            (table(input, "What to know before believing a figure", &notes))
        }
        @if !skipped.is_empty() {
            h3 { "Skipped" }
            (table(input, "Cases that were not run, by reason", &skipped))
        }
        @if !warnings.is_empty() {
            h3 { "Unreadable lines" }
            ul { @for warning in warnings { li { (printable(warning, 300)) } } }
        }
    };
    Some(Section::new("flags", "Failures, flags and what was left out", body))
}

fn table(input: &ReportInput, caption: &str, groups: &[Shared]) -> Markup {
    scroll(
        caption,
        &html! {
            table {
                caption { (caption) }
                thead {
                    tr {
                        th scope="col" { "what" }
                        th.n scope="col" { "cases" }
                        th scope="col" { "devices" }
                        th scope="col" { "which" }
                    }
                }
                tbody {
                    @for (text, rows) in groups {
                        tr {
                            th.name scope="row" { (printable(text, 400)) }
                            td.n { (rows.len()) }
                            td { (few(rows.iter().map(|row| input.reported_devices[row.device].label.clone()))) }
                            td.name { (few(rows.iter().map(|row| case_name(row.key)))) }
                        }
                    }
                }
            }
        },
    )
}
