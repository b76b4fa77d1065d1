//! Each workload: how its time grows with size, every sample, and the figures.

use super::{Section, name as breaking, samples, scroll, sweep};
use crate::labels;
use crate::overview::{Workload, workloads};
use gpubench_analysis::Aggregate;
use gpubench_analysis::ReportInput;
use gpubench_core::text::counted;
use maud::{Markup, html};

pub(super) fn section(input: &ReportInput) -> Option<Section> {
    let workloads = workloads(input);
    if workloads.is_empty() {
        return None;
    }
    let body = html! {
        p {
            "Open a workload for its plots. In the plots of samples every dot is one sample, and every line of dots one round (a fresh process); "
            "dots stand where they differ from the row's median in per cent, so that rows of different sizes can be compared. "
            "The grey box is the 95 % interval of the median; triangles at the edge are samples further out."
        }
        @for (i, workload) in workloads.iter().enumerate() {
            @if i == 0 || workloads[i - 1].family != workload.family {
                h3 { (gpubench_core::text::printable(workload.family, 40)) }
            }
            (details(input, workload))
        }
    };
    Some(Section::new("workloads", "Workloads", body))
}

fn details(input: &ReportInput, workload: &Workload) -> Markup {
    let key = workload.rows[0].key;
    let sizes: std::collections::BTreeSet<_> = workload.rows.iter().map(|row| row.key).collect();
    let devices: std::collections::BTreeSet<_> =
        workload.rows.iter().map(|row| row.device).collect();
    let name = labels::workload_name(key, 120);
    let doubtful = workload.rows.iter().filter(|row| row.is_doubtful()).count();
    let failed = workload.rows.iter().filter(|row| row.outcome.is_failure()).count();
    html! {
        details {
            summary {
                h4 { (breaking(&name)) }
                span {
                    (counted(sizes.len(), "size")) ", " (counted(devices.len(), "device"))
                    @if doubtful > 0 { ", ! " (doubtful) " with a warning" }
                    @if failed > 0 { span.bad { ", ✗ " (failed) " failed" } }
                }
            }
            div.plots {
                (sweep::figures(input, workload))
                @for device in devices { (samples::figure(input, workload, device)) }
            }
            (scroll(&format!("Figures of {name}"), &table(input, workload, &name)))
        }
    }
}

fn table(input: &ReportInput, workload: &Workload, name: &str) -> Markup {
    html! {
        table {
            caption { (name) ": all sizes and devices" }
            thead {
                tr {
                    th scope="col" { "size" }
                    th scope="col" { "device" }
                    th.n scope="col" { "median" }
                    th.n scope="col" { "95 %" }
                    th.n scope="col" { "rate" }
                    th.n scope="col" { "rounds" }
                    th.n scope="col" { "samples" }
                    th scope="col" { "result" }
                    th scope="col" { "flags" }
                }
            }
            tbody {
                @for row in &workload.rows {
                    @let [time, interval] = labels::time(row);
                    tr {
                        th scope="row" { (labels::size(row.key)) }
                        td.w { (input.reported_devices[row.device].label) }
                        td.n { (time) }
                        td.n { (interval) }
                        td.n { (labels::rate(row)) }
                        td.n { (row.rounds().count()) }
                        td.n { (row.rounds().map(|m| m.samples.len()).sum::<usize>()) }
                        td.w { (outcome(row)) }
                        td { @if row.is_doubtful() { span.warn { "! " } } (labels::flag_names(row)) }
                    }
                }
            }
        }
    }
}

/// The outcome as a symbol and a label.
pub(super) fn outcome(row: &Aggregate) -> Markup {
    let class = match () {
        () if row.outcome.is_ok() => "good",
        () if row.outcome.is_failure() => "bad",
        () => "soft",
    };
    let label = if row.outcome.is_ok() { "verified" } else { row.outcome.label() };
    let mark = labels::mark(row);
    html! { span class=(class) { (mark.trim_end_matches('!')) " " (label) } (labels::how_often(row)) }
}
