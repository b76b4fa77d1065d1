//! The table of a device-selection study (P14 ch. 4): times relative to the fastest device's, predicted
//! and measured, what bounds each kernel, the device picked at each, and what that costs.

use super::grid::Grid;
use super::labels::size;
use super::predict::{DevicePrediction, Prediction, closing};
use gpubench_core::text::printable;

/// For a terminal of `width` columns. Where fewer than two devices were measured at a case, nobody
/// knows which was the one to pick.
pub fn text(predictions: &[Prediction], width: u16) -> String {
    let picking = picking(predictions).text(width);
    let mut out =
        format!("Times relative to the fastest device's\n{}\n", relative(predictions).text(width));
    if !picking.is_empty() {
        out += &format!("Picking by what is predicted\n{picking}\n");
    }
    out + &closing(predictions)
}

fn relative(predictions: &[Prediction]) -> Grid {
    let mut grid =
        Grid::new(&["workload", "size", "device", "bound by", ">predicted", ">measured"]);
    for prediction in predictions {
        let min_seconds = |of: &dyn Fn(&DevicePrediction) -> Option<f64>| {
            prediction.per_device.iter().filter_map(of).fold(f64::INFINITY, f64::min)
        };
        let predicted = min_seconds(&|one| Some(one.seconds));
        let measured = min_seconds(&|one| one.measured);
        for (place, one) in prediction.per_device.iter().enumerate() {
            let named = |text: String| if place == 0 { text } else { String::new() };
            let fitted = if one.fitted { " (fitted)" } else { "" };
            grid.row([
                named(prediction.key.workload.clone()),
                named(size(&prediction.key)),
                printable(&one.device, 40),
                one.bound.map_or("–", |bound| bound.label()).to_owned(),
                format!("{:.2}", one.seconds / predicted),
                one.measured.map_or_else(|| "–".into(), |x| format!("{:.2}{fitted}", x / measured)),
            ]);
        }
    }
    grid
}

fn picking(predictions: &[Prediction]) -> Grid {
    let mut grid = Grid::new(&["workload", "size", "picked", "best", ">penalty", ">error"]);
    for prediction in predictions {
        let Some(order) = prediction.order() else { continue };
        let best = if order.best == order.picked { "the same" } else { order.best };
        grid.row([
            prediction.key.workload.clone(),
            size(&prediction.key),
            printable(order.picked, 40),
            printable(best, 40),
            format!("{:.1} %", 100.0 * order.penalty),
            format!("{:.1} %", 100.0 * order.relative_error),
        ]);
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::super::predict::tests::predictions;
    use super::*;

    #[test]
    fn a_selection_reads_well() {
        insta::assert_snapshot!(text(&predictions(), 80));
    }

    #[test]
    fn one_device_is_no_choice() {
        let mut predictions = predictions();
        predictions.iter_mut().for_each(|one| one.per_device.truncate(1));
        let text = text(&predictions, 80);
        assert!(!text.contains("picked") && text.contains("bound by"), "{text}");
    }
}
