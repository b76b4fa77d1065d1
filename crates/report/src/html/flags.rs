//! What failed, what was left out and why, and what to know before believing a figure.

use super::{Section, scroll};
use crate::subject::Material;
use crate::words::{self, Shared, case_name, details, few, how_often};
use gpubench_core::text::printable;
use maud::{Markup, html};

pub(super) fn section(material: &Material) -> Option<Section> {
    let failed: Vec<_> = material.rows.iter().filter(|row| row.outcome.is_failure()).collect();
    let notes = words::notes(&material.rows);
    let left_out = words::left_out(&material.rows);
    let warnings: Vec<_> = material.sources.iter().flat_map(|s| &s.warnings).collect();
    if failed.is_empty() && notes.is_empty() && left_out.is_empty() && warnings.is_empty() {
        return None;
    }
    let body = html! {
        @if !failed.is_empty() {
            h3 { "Failed" }
            ul {
                @for row in failed {
                    li {
                        span.bad { "✗ " (row.outcome.word()) } " " (case_name(row.key)) " on " (material.subjects[row.device].label) (how_often(row))
                        @for line in details(row.outcome) { br; span.soft { (printable(&line, 300)) } }
                    }
                }
            }
        }
        @if !notes.is_empty() {
            h3 { "Flags" }
            (table(material, "What to know before believing a figure", &notes))
        }
        @if !left_out.is_empty() {
            h3 { "Left out" }
            (table(material, "Cases that were not run, by reason", &left_out))
        }
        @if !warnings.is_empty() {
            h3 { "Unreadable lines" }
            ul { @for warning in warnings { li { (printable(warning, 300)) } } }
        }
    };
    Some(Section { id: "flags", title: "Failures, flags and what was left out", body })
}

fn table(material: &Material, caption: &str, groups: &[Shared]) -> Markup {
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
                            td { (few(rows.iter().map(|row| material.subjects[row.device].label.clone()))) }
                            td.name { (few(rows.iter().map(|row| case_name(row.key)))) }
                        }
                    }
                }
            }
        },
    )
}
