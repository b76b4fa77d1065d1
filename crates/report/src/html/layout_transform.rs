//! Buffers accessed in strides, their layout transformed first: what each way takes, and from how many uses on it
//! pays.

use super::{Section, name, scroll};
use crate::input::ReportInput;
use crate::labels;
use crate::layout_transform::break_even;
use gpubench_analysis::Aggregate;
use gpubench_core::record::LayoutTransform;
use gpubench_core::units::seconds;
use gpubench_experiments::analysis::{LayoutTransformSummary, UsesSummary, layout_transform};
use maud::{Markup, html};

pub(super) fn section(input: &ReportInput) -> Option<Section> {
    let case = |row| {
        let row: &Aggregate = row;
        let raw = row
            .records
            .iter()
            .find_map(|record| record.detail.as_ref()?.read::<LayoutTransform>())?;
        Some((row, layout_transform(&raw)?))
    };
    let shown = input.rows.iter().filter(|row| row.outcome.is_ok());
    let cases: Vec<(&Aggregate, LayoutTransformSummary)> = shown.filter_map(case).collect();
    let body = html! {
        p {
            "A kernel that reads in strides, beside one that transforms its buffer's layout and one that uses the transformed buffer. "
            "The transform pays after as many uses as make up for its own time: predicted from the three times alone (model 11), and measured with that number of uses in a row."
        }
        (scroll("Layout transform", &table(input, &cases)))
        @for (row, summary) in cases.iter().filter(|(_, summary)| !summary.uses.is_empty()) {
            @let title = title(input, row);
            details {
                summary { h3 { (title) } span { (summary.uses.len()) " numbers of uses" } }
                (scroll(&format!("Uses of {title}"), &uses(&title, &summary.uses)))
            }
        }
    };
    (!cases.is_empty()).then_some(Section { id: "layout", title: "Layout transform", body })
}

fn title(input: &ReportInput, row: &Aggregate) -> String {
    let label = &input.reported_devices[row.device].label;
    format!("{} on {label}", labels::case_name(row.key))
}

fn table(input: &ReportInput, cases: &[(&Aggregate, LayoutTransformSummary)]) -> Markup {
    html! {
        table {
            caption { "One use in strides and transformed, the transform, and after how many uses that pays" }
            thead {
                tr {
                    th scope="col" { "case" }
                    th.n scope="col" { "in strides" }
                    th.n scope="col" { "transformed" }
                    th.n scope="col" { "saved" }
                    th.n scope="col" { "transform" }
                    th scope="col" { "pays: predicted" }
                    th scope="col" { "measured" }
                }
            }
            tbody {
                @for (row, summary) in cases {
                    tr {
                        th.name scope="row" { (name(&title(input, row))) }
                        td.n { (seconds(summary.strided)) }
                        td.n { (seconds(summary.contiguous)) }
                        td.n { (format!("{:.1} %", 100.0 * summary.saved_fraction)) }
                        td.n { (seconds(summary.transform)) }
                        @for uses in break_even(summary) { td { (uses) } }
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
                    th.n scope="col" { "transformed first" }
                    th scope="col" { "pays" }
                }
            }
            tbody {
                @for one in uses {
                    tr {
                        td.n { (one.count) }
                        td.n { (seconds(one.strided)) }
                        td.n { (seconds(one.transformed)) }
                        td { @if one.paid() { "✓" } @else { "–" } }
                    }
                }
            }
        }
    }
}
