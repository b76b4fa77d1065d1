//! The section of a device-selection study (P14 ch. 4): times relative to the fastest device's, predicted
//! and measured, what bounds each kernel, the device picked at each, and what that costs.

use super::labels::size;
use super::predict::{DevicePrediction, Prediction, closing};
use gpubench_core::text::printable;
use gpubench_document::{Column, Section, Sentence, Table, Unit};

/// Where fewer than two devices were measured at a case, nobody knows which was the one to pick.
pub fn section(predictions: &[Prediction]) -> Section {
    let section = Section::new("selection", "Picking a device")
        .table(relative(predictions))
        .table(picking(predictions));
    closing(section, predictions)
}

fn relative(predictions: &[Prediction]) -> Table {
    let columns = [
        Column::text("workload", "workload"),
        Column::text("size", "size"),
        Column::text("device", "device"),
        Column::text("bound", "bound by"),
        Column::new("predicted", "predicted", Unit::Ratio),
        Column::new("measured", "measured", Unit::Ratio),
    ];
    let mut table = Table::new("relative", "Times relative to the fastest device's", columns);
    for prediction in predictions {
        let min_seconds = |of: &dyn Fn(&DevicePrediction) -> Option<f64>| {
            prediction.per_device.iter().filter_map(of).fold(f64::INFINITY, f64::min)
        };
        let predicted = min_seconds(&|one| Some(one.seconds));
        let measured = min_seconds(&|one| one.measured);
        for (place, one) in prediction.per_device.iter().enumerate() {
            let named = |text: String| if place == 0 { text } else { String::new() };
            let fitted = if one.fitted { " (fitted)" } else { "" };
            let times = |seconds| Sentence::new().value(seconds / measured, Unit::Ratio);
            table.row([
                named(prediction.key.workload.clone()).into(),
                named(size(&prediction.key)).into(),
                printable(&one.device, 40).into(),
                one.bound.map(|bound| bound.label()).into(),
                (one.seconds / predicted).into(),
                one.measured.map(|seconds| times(seconds).text(fitted)).into(),
            ]);
        }
    }
    table
}

fn picking(predictions: &[Prediction]) -> Table {
    let ordered = predictions.iter().filter_map(|one| Some((&one.key, one.order()?)));
    Table::of("picking", "Picking by what is predicted", ordered)
        .column(Column::text("workload", "workload"), |(key, _)| key.workload.clone())
        .column(Column::text("size", "size"), |(key, _)| size(key))
        .column(Column::text("picked", "picked"), |(_, of)| printable(of.picked, 40))
        .column(Column::text("best", "best"), |(_, of)| match of.best == of.picked {
            true => "the same".into(),
            false => printable(of.best, 40),
        })
        .column(Column::new("penalty", "penalty", Unit::Fraction), |(_, of)| of.penalty)
        .column(Column::new("error", "error", Unit::Fraction), |(_, of)| of.relative_error)
        .table()
}

#[cfg(test)]
mod tests {
    use super::super::predict::tests::predictions;
    use super::*;
    use crate::render::text::section as text;

    #[test]
    fn a_selection_reads_well() {
        insta::assert_snapshot!(text(&section(&predictions()), Some(80)));
    }

    #[test]
    fn one_device_is_no_choice() {
        let mut predictions = predictions();
        predictions.iter_mut().for_each(|one| one.per_device.truncate(1));
        let text = text(&section(&predictions), Some(80));
        assert!(!text.contains("picked") && text.contains("bound by"), "{text}");
    }
}
