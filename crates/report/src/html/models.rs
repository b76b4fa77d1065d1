//! What models foresaw against what was measured, and how well each did.

use super::plot::{Axis, Entry, Look, Plot, mark, series, short_seconds};
use super::scale::Scale;
use super::{Section, scroll, staircase};
use crate::subject::Material;
use gpubench_analysis::{Foreseen, Tally, foreseen, tallies};
use gpubench_core::record::Detail;
use gpubench_core::units::seconds;
use maud::{Markup, html};

pub(super) fn section(material: &Material) -> Option<Section> {
    let devices: Vec<(usize, Vec<Foreseen>)> = (0..material.subjects.len())
        .map(|subject| (subject, of(material, subject)))
        .filter(|(_, all)| !all.is_empty())
        .collect();
    if devices.is_empty() {
        return None;
    }
    let body = html! {
        p {
            "Each mark is a time, foreseen and measured: on the dotted line they are equal, above it the model was too hopeful. "
            "The pipeline is fitted to all other runs of its case; schedules are planned from runs in equal chunks."
        }
        div.plots { @for (subject, all) in &devices { (plot(material, *subject, all)) } }
        (scroll("Accuracy of models", &table(material, &devices)))
    };
    Some(Section { id: "models", title: "Models", body })
}

/// What was foreseen on one device, of each case the first round that was measured.
fn of(material: &Material, subject: usize) -> Vec<Foreseen> {
    let rows = material.of(subject).filter(|row| row.outcome.is_ok());
    let first = |row: &crate::rows::Row<'_>| row.records.iter().find_map(|r| r.detail.clone());
    let details: Vec<Detail> = rows.filter_map(first).collect();
    foreseen(&details, staircase::device(material, subject))
}

fn plot(material: &Material, subject: usize, all: &[Foreseen]) -> Markup {
    let times = || all.iter().flat_map(|one| [one.predicted, one.measured]);
    // One scale for both, so that equal times stand on the diagonal.
    let Some(scale) = Scale::log(times()) else { return html! {} };
    let told = tallies(all);
    let label = &material.subjects[subject].label;
    let each = |tally: &Tally| format!("{} {:.2}", tally.model.name(), tally.accuracy);
    let plot = Plot {
        title: format!("Foreseen and measured on {label}"),
        description: format!(
            "Mean accuracy: {}.",
            told.iter().map(each).collect::<Vec<_>>().join("; ")
        ),
        height: 300.0,
        x: Axis::new("foreseen", scale, short_seconds),
        y: Axis::new("measured", scale, short_seconds),
    };
    let drawn = html! {
        path.limit d=(plot.line([0.0, f64::INFINITY].map(|end| (end, end)))) {}
        @for one in all {
            @let i = one.model as usize;
            g class=(series(i)) {
                path.open d=(mark(i, plot.x(one.predicted), plot.y(one.measured))) {
                    title { (one.model.name()) ": foreseen " (seconds(one.predicted)) ", measured " (seconds(one.measured)) }
                }
            }
        }
    };
    let mut legend: Vec<Entry> = told
        .iter()
        .map(|tally| (tally.model as usize, tally.model.name()))
        .map(|(i, name)| Entry { look: Look::Open(i, i), text: name.into() })
        .collect();
    legend.push(Entry { look: Look::Limit, text: "equal".into() });
    plot.figure(&drawn, &legend)
}

fn table(material: &Material, devices: &[(usize, Vec<Foreseen>)]) -> Markup {
    html! {
        table {
            caption { "Accuracy: the smaller of the two times over the larger; bias: time foreseen over measured, geometric mean" }
            thead {
                tr {
                    th scope="col" { "device" }
                    th scope="col" { "model" }
                    th.n scope="col" { "runs" }
                    th.n scope="col" { "accuracy" }
                    th.n scope="col" { "worst" }
                    th.n scope="col" { "bias" }
                }
            }
            tbody {
                @for (subject, all) in devices {
                    @for tally in tallies(all) {
                        tr {
                            th.name scope="row" { (material.subjects[*subject].label) }
                            td { (tally.model.name()) }
                            td.n { (tally.count) }
                            td.n { (format!("{:.2}", tally.accuracy)) }
                            td.n { (format!("{:.2}", tally.worst)) }
                            td.n { (format!("{:.2}", tally.bias)) }
                        }
                    }
                }
            }
        }
    }
}
