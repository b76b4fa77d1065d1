//! What reports say of models: what each predicted against what was measured.

use super::{ModelPrediction, Tally, predictions, tallies};
use crate::results::modelled_device;
use gpubench_analysis::{ReportInput, ReportedDevice};
use gpubench_core::record::Detail;
use gpubench_document::{Axis, Column, Plot, Scale, Section, Sentence, Series, Style, Table, Unit};

/// One plot a device, and how well each model did on each.
pub fn section(input: &ReportInput) -> Section {
    let mut scores = vec![];
    let mut section = Section::new("models", "Models").text(
        "Each mark is a time, predicted and measured: on the line the two are equal, above it the run \
         took longer than predicted. The pipeline is fitted to all other runs of its case; \
         schedules are planned from runs in equal chunks.",
    );
    for (i, device) in input.reported_devices.iter().enumerate() {
        let all = of(input, i);
        section = section.plot(plot(device, &all));
        scores.extend(tallies(&all).into_iter().map(|tally| (&device.name, tally)));
    }
    section.table(table(&scores))
}

/// What was predicted on one device, of each case the first round that was measured.
fn of(input: &ReportInput, device: usize) -> Vec<ModelPrediction> {
    let cases = input.of(device).filter(|case| case.outcome.is_ok());
    let first = |case: &gpubench_analysis::Aggregate| {
        case.records.iter().find_map(|record| record.detail.clone())
    };
    let details: Vec<Detail> = cases.filter_map(first).collect();
    predictions(&details, modelled_device(input, device))
}

fn plot(device: &ReportedDevice, all: &[ModelPrediction]) -> Plot {
    let title = Sentence::from("Predicted and measured on ").name(&device.name);
    let axis = |label| Axis::new(label, Unit::Seconds, Scale::Log10);
    let mut plot = Plot::new(&device.label, title, axis("predicted"), axis("measured"));
    let times = || all.iter().flat_map(|one| [one.predicted, one.measured]);
    for (i, tally) in tallies(all).iter().enumerate() {
        let of = all.iter().filter(|one| one.model == tally.model);
        let points = of.map(|one| (one.predicted, one.measured));
        plot = plot.series(Series::new(tally.model, Style::Open).look(i, 0).points(points));
    }
    let equal = Series::new("equal", Style::Line).look(7, 2);
    let ends = [times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max)];
    plot.series(equal.points(ends.map(|end| (end, end)).into_iter().filter(|_| !all.is_empty())))
}

fn table(scores: &[(&String, Tally)]) -> Table {
    let title = "Accuracy: the smaller of the two times over the larger; \
                 bias: time predicted over measured, geometric mean";
    Table::of("accuracy", title, scores)
        .column(Column::text("device", "device"), |(device, _)| device.to_string())
        .column(Column::text("model", "model"), |(_, tally)| tally.model)
        .column(Column::new("runs", "runs", Unit::Count), |(_, tally)| tally.count as u64)
        .column(Column::new("accuracy", "accuracy", Unit::None), |(_, tally)| tally.accuracy)
        .column(Column::new("worst", "worst", Unit::None), |(_, tally)| tally.worst)
        .column(Column::new("bias", "bias", Unit::None), |(_, tally)| tally.bias)
        .table()
}
