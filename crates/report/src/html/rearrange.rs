//! Buffers accessed in strides, rearranged first: what each way takes, and from how many uses on it
//! pays.

use super::{Section, name, scroll};
use crate::rearrange::break_even;
use crate::rows::Row;
use crate::subject::Material;
use crate::words;
use gpubench_analysis::{RearrangeSummary, UsesSummary, rearrange};
use gpubench_core::record::Detail;
use gpubench_core::units::seconds;
use maud::{Markup, html};

pub(super) fn section(material: &Material) -> Option<Section> {
    let case = |row| {
        let row: &Row = row;
        let raw = row.records.iter().find_map(|record| match &record.detail {
            Some(Detail::Rearrange(raw)) => Some(raw),
            _ => None,
        })?;
        Some((row, rearrange(raw)?))
    };
    let shown = material.rows.iter().filter(|row| row.outcome.is_ok());
    let cases: Vec<(&Row, RearrangeSummary)> = shown.filter_map(case).collect();
    let body = html! {
        p {
            "A kernel that reads in strides, beside one that rearranges its buffer into place and one that uses the rearranged buffer. "
            "Rearranging pays after as many uses as make up for its own time: foreseen from the three times alone (model 11), and measured with so many uses in a row."
        }
        (scroll("Rearranging", &table(material, &cases)))
        @for (row, summary) in cases.iter().filter(|(_, summary)| !summary.uses.is_empty()) {
            @let title = title(material, row);
            details {
                summary { h3 { (title) } span { (summary.uses.len()) " numbers of uses" } }
                (scroll(&format!("Uses of {title}"), &uses(&title, &summary.uses)))
            }
        }
    };
    (!cases.is_empty()).then_some(Section { id: "rearranging", title: "Rearranging", body })
}

fn title(material: &Material, row: &Row) -> String {
    let label = &material.subjects[row.device].label;
    format!("{} on {label}", words::case_name(row.key))
}

fn table(material: &Material, cases: &[(&Row, RearrangeSummary)]) -> Markup {
    html! {
        table {
            caption { "One use in strides and rearranged, rearranging, and after how many uses that pays" }
            thead {
                tr {
                    th scope="col" { "case" }
                    th.n scope="col" { "in strides" }
                    th.n scope="col" { "rearranged" }
                    th.n scope="col" { "saved" }
                    th.n scope="col" { "rearranging" }
                    th scope="col" { "pays: foreseen" }
                    th scope="col" { "measured" }
                }
            }
            tbody {
                @for (row, summary) in cases {
                    tr {
                        th.name scope="row" { (name(&title(material, row))) }
                        td.n { (seconds(summary.strided)) }
                        td.n { (seconds(summary.contiguous)) }
                        td.n { (format!("{:.1} %", 100.0 * summary.saved)) }
                        td.n { (seconds(summary.rearranging)) }
                        @for told in break_even(summary) { td { (told) } }
                    }
                }
            }
        }
    }
}

fn uses(title: &str, uses: &[UsesSummary]) -> Markup {
    html! {
        table {
            caption { "Uses in a row of " (title) }
            thead {
                tr {
                    th.n scope="col" { "uses" }
                    th.n scope="col" { "in strides" }
                    th.n scope="col" { "rearranged first" }
                    th scope="col" { "pays" }
                }
            }
            tbody {
                @for one in uses {
                    tr {
                        td.n { (one.count) }
                        td.n { (seconds(one.strided)) }
                        td.n { (seconds(one.rearranged)) }
                        td { @if one.paid() { "✓" } @else { "–" } }
                    }
                }
            }
        }
    }
}
