//! What models predicted against what was measured, and how well each did.

use super::plot::{Axis, Entry, Look, Plot, mark, series, short_seconds};
use super::scale::Scale;
use super::{Section, occupancy_sweep, scroll};
use crate::input::ReportInput;
use gpubench_core::record::Detail;
use gpubench_core::units::seconds;
use gpubench_experiments::analysis::{ModelPrediction, Tally, predictions, tallies};
use maud::{Markup, html};

pub(super) fn section(input: &ReportInput) -> Option<Section> {
    let devices: Vec<(usize, Vec<ModelPrediction>)> = (0..input.reported_devices.len())
        .map(|reported_device| (reported_device, of(input, reported_device)))
        .filter(|(_, all)| !all.is_empty())
        .collect();
    if devices.is_empty() {
        return None;
    }
    let body = html! {
        p {
            "Each mark is a time, predicted and measured: on the dotted line they are equal, above it the model was too hopeful. "
            "The pipeline is fitted to all other runs of its case; schedules are planned from runs in equal chunks."
        }
        div.plots { @for (reported_device, all) in &devices { (plot(input, *reported_device, all)) } }
        (scroll("Accuracy of models", &table(input, &devices)))
    };
    Some(Section { id: "models", title: "Models", body })
}

/// What was predicted on one device, of each case the first round that was measured.
fn of(input: &ReportInput, reported_device: usize) -> Vec<ModelPrediction> {
    let rows = input.of(reported_device).filter(|row| row.outcome.is_ok());
    let first =
        |row: &gpubench_analysis::Aggregate| row.records.iter().find_map(|r| r.detail.clone());
    let details: Vec<Detail> = rows.filter_map(first).collect();
    predictions(&details, occupancy_sweep::device(input, reported_device))
}

fn plot(input: &ReportInput, reported_device: usize, all: &[ModelPrediction]) -> Markup {
    let times = || all.iter().flat_map(|one| [one.predicted, one.measured]);
    // One scale for both, so that equal times stand on the diagonal.
    let Some(scale) = Scale::log(times()) else { return html! {} };
    let tallies = tallies(all);
    let label = &input.reported_devices[reported_device].label;
    let models: Vec<&str> = tallies.iter().map(|tally| tally.model).collect();
    let each = |tally: &Tally| format!("{} {:.2}", tally.model, tally.accuracy);
    let plot = Plot {
        title: format!("Predicted and measured on {label}"),
        description: format!(
            "Mean accuracy: {}.",
            tallies.iter().map(each).collect::<Vec<_>>().join("; ")
        ),
        height: 300.0,
        x: Axis::new("predicted", scale, short_seconds),
        y: Axis::new("measured", scale, short_seconds),
    };
    let drawn = html! {
        path.limit d=(plot.line([0.0, f64::INFINITY].map(|end| (end, end)))) {}
        @for one in all {
            @let i = models.iter().position(|model| *model == one.model).unwrap_or(0);
            g class=(series(i)) {
                path.open d=(mark(i, plot.x(one.predicted), plot.y(one.measured))) {
                    title { (one.model) ": predicted " (seconds(one.predicted)) ", measured " (seconds(one.measured)) }
                }
            }
        }
    };
    let mut legend: Vec<Entry> = tallies
        .iter()
        .enumerate()
        .map(|(i, tally)| (i, tally.model))
        .map(|(i, name)| Entry { look: Look::Open(i, i), text: name.into() })
        .collect();
    legend.push(Entry { look: Look::Limit, text: "equal".into() });
    plot.figure(&drawn, &legend)
}

fn table(input: &ReportInput, devices: &[(usize, Vec<ModelPrediction>)]) -> Markup {
    html! {
        table {
            caption { "Accuracy: the smaller of the two times over the larger; bias: time predicted over measured, geometric mean" }
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
                @for (reported_device, all) in devices {
                    @for tally in tallies(all) {
                        tr {
                            th.name scope="row" { (input.reported_devices[*reported_device].label) }
                            td { (tally.model) }
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
