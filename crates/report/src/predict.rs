//! Predictions as a section and as JSON.

use super::labels::size;
use super::render;
use gpubench_analysis::fit::{Bound, Model};
use gpubench_core::text::printable;
use gpubench_core::workload::CaseKey;
use gpubench_document::{Cell, Column, Section, Sentence, Table, TableOf, Unit};
use gpubench_model::components::{penalty, pick, relative_error};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A case on every device, fastest first.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// The case.
    pub key: CaseKey,
    /// What each device is predicted to take.
    pub per_device: Vec<DevicePrediction>,
}

/// A case on a device.
#[derive(Clone, Debug, Serialize)]
pub struct DevicePrediction {
    /// The device's name and API.
    pub device: String,
    /// What predicted it.
    pub model: Model,
    /// Seconds.
    pub seconds: f64,
    /// From the device's profile: the times at the ends of its intervals. From its runs: nineteen
    /// of twenty predictions of this kind lay as near; `None` where too few show how near.
    pub interval: Option<[f64; 2]>,
    /// The part that takes longest, where the model distinguishes parts.
    pub bound: Option<Bound>,
    /// Seconds measured there, where they were.
    pub measured: Option<f64>,
    /// The number of the device that was measured: what several models predict of one device is
    /// compared with the same times.
    #[serde(skip)]
    pub source: Option<usize>,
    /// Whether the model was fitted to those: they are no test of it.
    pub fitted: bool,
    /// Seconds by what all groups were counted to do, where they were emulated: `seconds` is by one.
    pub grid_seconds: Option<f64>,
}

impl DevicePrediction {
    /// Seconds measured that nothing was fitted to.
    pub(super) fn unseen(&self) -> Option<f64> {
        self.measured.filter(|_| !self.fitted)
    }

    /// How far the time by one group is off that by all groups, as a share of it.
    fn group_error(&self) -> Option<f64> {
        Some(self.seconds / self.grid_seconds? - 1.0)
    }
}

/// How well devices were ordered at one case, by model 6 (P14 §3.3.4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Order<'a> {
    /// The device predicted to be fastest.
    pub picked: &'a str,
    /// The device measured to be fastest.
    pub best: &'a str,
    /// How much longer the picked device takes than the best, as a share of the best's time.
    pub penalty: f64,
    /// Distance of the relative times, from 0 to 1.
    pub relative_error: f64,
}

impl Prediction {
    /// `None` where fewer than two devices were measured, but for those fitted to it. A device that
    /// is predicted several ways counts once, by the first of its names.
    pub(super) fn order(&self) -> Option<Order<'_>> {
        let mut compared: Vec<&DevicePrediction> =
            self.per_device.iter().filter(|one| one.unseen().is_some()).collect();
        compared.sort_by_key(|one| (one.source, &one.device));
        compared.dedup_by_key(|one| one.source);
        let predicted: Vec<f64> = compared.iter().map(|one| one.seconds).collect();
        let measured: Vec<f64> = compared.iter().filter_map(|one| one.unseen()).collect();
        (measured.len() > 1).then_some(Order {
            picked: &compared[pick(&predicted)?].device,
            best: &compared[pick(&measured)?].device,
            penalty: penalty(&predicted, &measured)?,
            relative_error: relative_error(&predicted, &measured),
        })
    }
}

/// Totals over all predictions.
struct Summary<'a> {
    /// The device that is predicted to be fastest most often, by how often each is.
    wins: Vec<(&'a str, usize)>,
    /// Each case that two devices or more were measured at.
    orders: Vec<Order<'a>>,
}

impl<'a> Summary<'a> {
    fn of(predictions: &'a [Prediction]) -> Self {
        let mut wins: BTreeMap<&str, usize> = BTreeMap::new();
        for prediction in predictions {
            for (rank, predicted) in prediction.per_device.iter().enumerate() {
                *wins.entry(&predicted.device).or_default() += usize::from(rank == 0);
            }
        }
        let mut wins: Vec<_> = wins.into_iter().collect();
        wins.sort_by_key(|(_, wins)| std::cmp::Reverse(*wins));
        Self { wins, orders: predictions.iter().filter_map(Prediction::order).collect() }
    }

    fn mean(&self, of: fn(&Order<'_>) -> f64) -> f64 {
        self.orders.iter().map(of).sum::<f64>() / self.orders.len().max(1) as f64
    }

    fn best(&self) -> usize {
        self.orders.iter().filter(|order| order.penalty <= 0.0).count()
    }
}

/// Every case on every device, and which device to pick.
pub fn section(predictions: &[Prediction]) -> Section {
    let mut section = Section::new("prediction", "Predicted times").table(table(predictions));
    if let Some(error) = group_error(predictions) {
        let label = "mean distance of the times by one group from those by all groups";
        section = section.table(grid_table(predictions));
        section = section.figure("group_error", label, Some(error), Unit::Fraction);
    }
    closing(section, predictions)
}

fn table(predictions: &[Prediction]) -> Table {
    by_case("predictions", "By case, the fastest device first", cases(predictions))
        .column(Column::new("predicted", "predicted", Unit::Seconds), |(_, one)| one.seconds)
        .column(Column::text("between", "between"), |(_, one)| {
            one.interval.map_or_else(|| "unknown".into(), between)
        })
        .column(Column::new("measured", "measured", Unit::Seconds), |(_, one)| one.measured)
        .column(Column::new("error", "error", Unit::Change), |(_, one)| match one.fitted {
            true => "fitted".into(),
            false => Cell::from(one.unseen().map(|measured| one.seconds / measured - 1.0)),
        })
        .table()
}

/// What one group predicts, and what all groups do, of what was emulated whole.
fn grid_table(predictions: &[Prediction]) -> Table {
    let emulated = cases(predictions).filter(|(_, one)| one.grid_seconds.is_some());
    by_case("grid", "One group against all groups", emulated)
        .column(Column::new("group", "by one group", Unit::Seconds), |(_, one)| one.seconds)
        .column(Column::new("grid", "by all groups", Unit::Seconds), |(_, one)| one.grid_seconds)
        .column(Column::new("error", "error", Unit::Change), |(_, one)| one.group_error())
        .table()
}

/// A case and what is predicted of it on a device.
type Predicted<'p> = (&'p CaseKey, &'p DevicePrediction);

fn cases(predictions: &[Prediction]) -> impl Iterator<Item = Predicted<'_>> {
    predictions.iter().flat_map(|of| of.per_device.iter().map(|one| (&of.key, one)))
}

fn by_case<'p>(
    key: &str,
    title: &'static str,
    predicted: impl Iterator<Item = Predicted<'p>>,
) -> TableOf<Predicted<'p>> {
    Table::of(key, title, predicted)
        .column(Column::text("workload", "workload"), |(key, _)| key.workload.clone())
        .column(Column::text("size", "size"), |(key, _)| size(key))
        .column(Column::text("device", "device"), |(_, one)| printable(&one.device, 40))
}

fn between([low, high]: [f64; 2]) -> Sentence {
    Sentence::new().value(low, Unit::Seconds).text("–").value(high, Unit::Seconds)
}

/// Adds which device to pick, and how well picking went where that is known.
pub(super) fn closing(mut section: Section, predictions: &[Prediction]) -> Section {
    let summary = Summary::of(predictions);
    section = section.figure(
        "time_error",
        "mean distance of the predicted times from the measured ones",
        time_error(predictions),
        Unit::Fraction,
    );
    let count = |n: usize| Sentence::new().value(n as f64, Unit::Count);
    for (device, wins) in summary.wins.iter().filter(|(_, wins)| *wins > 0) {
        let cases = Sentence::from("fastest of ").then(count(predictions.len()));
        let cases = cases.text(" kernels and sizes at ").then(count(*wins));
        section = section.fact("fastest", cases, printable(device, 60));
    }
    if let [(pick, wins), (_, next), ..] = summary.wins.as_slice()
        && wins > next
    {
        section = section.fact("pick", "the device to pick", printable(pick, 60));
    }
    if summary.orders.is_empty() {
        return section;
    }
    let picked = count(summary.best()).text(" of ").then(count(summary.orders.len()));
    let label = "the best picked, where two or more were measured";
    let penalty = summary.mean(|order| order.penalty);
    let error = summary.mean(|order| order.relative_error);
    section
        .fact("best_picked", label, picked.text(" times"))
        .figure("penalty", "mean penalty", penalty, Unit::Fraction)
        .figure(
            "relative_error",
            "mean distance of the devices' shares, 0 to 1: how well their ratios are predicted",
            error,
            Unit::Fraction,
        )
}

/// The mean of the errors that the table shows, each without its sign.
fn time_error(predictions: &[Prediction]) -> Option<f64> {
    mean_distance(predictions, |one| Some(one.seconds / one.unseen()? - 1.0))
}

/// The mean of one group's errors, each without its sign.
fn group_error(predictions: &[Prediction]) -> Option<f64> {
    mean_distance(predictions, DevicePrediction::group_error)
}

fn mean_distance(
    predictions: &[Prediction],
    error: impl Fn(&DevicePrediction) -> Option<f64>,
) -> Option<f64> {
    let all = predictions.iter().flat_map(|prediction| &prediction.per_device);
    let errors: Vec<f64> = all.filter_map(|one| Some(error(one)?.abs())).collect();
    (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64)
}

/// As `{cases: [{case, devices: [{device, model, seconds, interval, bound, measured, fitted,
/// grid_seconds}], picked, best, penalty, relative_error}], summary}`.
pub fn json(predictions: &[Prediction]) -> String {
    let cases = predictions.iter().map(|prediction| {
        let order = prediction.order();
        json!({
            "case": prediction.key.to_string(),
            "devices": prediction.per_device,
            "picked": order.map(|order| order.picked),
            "best": order.map(|order| order.best),
            "penalty": order.map(|order| order.penalty),
            "relative_error": order.map(|order| order.relative_error),
        })
    });
    let summary = Summary::of(predictions);
    let some = |x: f64| (!summary.orders.is_empty()).then_some(x);
    let wins =
        summary.wins.iter().map(|(device, wins)| json!({ "device": device, "fastest": wins }));
    let value = json!({
        "cases": cases.collect::<Vec<Value>>(),
        "summary": {
            "devices": wins.collect::<Vec<Value>>(),
            "compared": summary.orders.len(),
            "best_picked": summary.best(),
            "penalty": some(summary.mean(|order| order.penalty)),
            "relative_error": some(summary.mean(|order| order.relative_error)),
            "time_error": time_error(predictions),
            "group_error": group_error(predictions),
        },
    });
    render::json::json(&value)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::render::text::section as text;
    use gpubench_core::record::sample::key;

    fn predicted(device: &str, seconds: f64, measured: Option<f64>) -> DevicePrediction {
        let interval = Some([0.9 * seconds, 1.2 * seconds]);
        let (device, model) = (String::from(device), Model::COMPONENTS);
        let bound = Some(Bound::Global);
        // Each device is one of its own.
        let source = Some(device.len());
        DevicePrediction {
            device,
            model,
            seconds,
            interval,
            bound,
            measured,
            source,
            fitted: false,
            grid_seconds: None,
        }
    }

    pub(crate) fn predictions() -> Vec<Prediction> {
        let right =
            vec![predicted("near", 1e-3, Some(1.1e-3)), predicted("far", 2e-3, Some(2.2e-3))];
        let wrong = vec![predicted("near", 1e-3, Some(3e-3)), predicted("far", 2e-3, Some(2e-3))];
        let unknown = vec![predicted("far", 1e-3, None), predicted("near", 2e-3, Some(1e-3))];
        let cases = [right, wrong, unknown].into_iter().zip(1..);
        cases.map(|(per_device, n)| Prediction { key: key("sepia", n), per_device }).collect()
    }

    #[test]
    fn picking_is_evaluated_where_two_devices_were_measured() {
        insta::assert_snapshot!(text(&section(&predictions()), Some(90)));
    }

    #[test]
    fn the_mean_error_is_that_of_the_errors_shown() {
        let section = section(&predictions());
        let table = section.find_table("predictions").unwrap();
        let place = table.columns().iter().position(|column| column.key() == "error").unwrap();
        let errors = table.rows().iter().flat_map(|row| row[place].figures(Unit::Change));
        let errors: Vec<f64> = errors.map(|error| error.quantity.value().abs()).collect();
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        let output: Value = serde_json::from_str(&json(&predictions())).unwrap();
        let said = output["summary"]["time_error"].as_f64().unwrap();
        assert!(errors.len() == 5 && (said - mean).abs() < 1e-12, "{said} {errors:?}");
    }

    /// One time is a quarter more, one is right, of the others no grid is known.
    #[test]
    fn the_error_of_one_group_is_its_distance_from_all_groups() {
        let mut predictions = predictions();
        assert!(!text(&section(&predictions), Some(90)).contains("by all groups"));
        predictions[0].per_device[0].grid_seconds = Some(0.8e-3);
        predictions[0].per_device[1].grid_seconds = Some(2e-3);
        let section = section(&predictions);
        let rows = section.find_table("grid").unwrap().rows();
        let text = text(&section, Some(90));
        assert!(rows.len() == 2 && text.contains("+25 %"), "{text}");
        let output: Value = serde_json::from_str(&json(&predictions)).unwrap();
        assert!((output["summary"]["group_error"].as_f64().unwrap() - 0.125).abs() < 1e-12);
        assert_eq!(output["cases"][0]["devices"][0]["grid_seconds"], 0.8e-3);
        assert_eq!(output["cases"][1]["devices"][0]["grid_seconds"], Value::Null);
    }

    #[test]
    fn what_a_model_was_fitted_to_does_not_count() {
        let mut predictions = predictions();
        predictions[0].per_device[1].fitted = true;
        assert!(predictions[0].order().is_none() && predictions[1].order().is_some());
        let table = text(&section(&predictions[..1]), Some(90));
        assert!(table.contains("fitted") && !table.contains("two or more"), "{table}");
        let output: Value = serde_json::from_str(&json(&predictions)).unwrap();
        assert_eq!((&output["summary"]["compared"]), 1);
        assert_eq!(output["cases"][0]["devices"][1]["fitted"], true);
    }

    #[test]
    fn a_device_predicted_twice_counts_once() {
        let mut prediction = predictions().remove(1);
        prediction.per_device.push(predicted("near #2", 9e-4, Some(3e-3)));
        prediction.per_device[2].source = prediction.per_device[0].source;
        let (order, alone) =
            (prediction.order().unwrap(), predictions()[1].order().unwrap().penalty);
        assert_eq!((order.picked, order.best, order.penalty), ("near", "far", alone));
        prediction.per_device.remove(1);
        assert_eq!(prediction.order(), None, "there is nothing to pick from");
    }

    #[test]
    fn json_says_the_same() {
        let output: Value = serde_json::from_str(&json(&predictions())).unwrap();
        assert_eq!(output["summary"]["best_picked"], 1);
        assert_eq!(output["summary"]["compared"], 2);
        assert_eq!(output["cases"][1]["penalty"], 0.5);
        assert!(output["cases"][0]["relative_error"].as_f64().unwrap() < 1e-9);
        assert_eq!(output["cases"][2]["penalty"], Value::Null);
        assert_eq!(output["cases"][2]["devices"][0]["interval"][0], 0.9 * 1e-3);
        let none: Value = serde_json::from_str(&json(&predictions()[2..])).unwrap();
        assert_eq!(none["summary"]["penalty"], Value::Null);
    }
}
