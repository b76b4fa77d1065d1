//! Fitted models in words and as JSON.

use super::grid::Grid;
use super::words::size;
use crate::analyse::fit::{Judged, Launch, Model, Parameter, Score, bound};
use crate::gpu::DeviceInfo;
use crate::model::accuracy;
use crate::model::hybrid::Bound;
use crate::text::printable;
use crate::units::with_prefix;
use serde_json::{Value, json};
use std::fmt::Write;

/// What models make of a device.
#[derive(Clone, Debug)]
pub struct Report {
    /// The device.
    pub device: DeviceInfo,
    /// What was fitted.
    pub launches: Vec<Launch>,
    /// The models that could be fitted.
    pub judged: Vec<Judged>,
    /// The others, each with the reason.
    pub failed: Vec<(Model, String)>,
}

/// As tables for a terminal of `width` columns.
pub fn text(reports: &[Report], width: u16) -> String {
    let mut out = String::new();
    for report in reports {
        let device = &report.device;
        let name = printable(&device.name, 60);
        let _ = writeln!(out, "{}:{} {name}", device.backend, device.index);
        let _ = writeln!(out, "{} kernels and sizes\n", report.launches.len());
        out += &accuracies(report).text(width);
        for (model, reason) in &report.failed {
            let _ = writeln!(out, "{}: {reason}", model.name());
        }
        if let Some(best) = best(report) {
            let _ = writeln!(out, "\nBest on this device: {}", best.model.name());
            out += &workloads(best, report).text(width);
            out += "\nIts parameters\n";
            out += &parameters(best).text(width);
        }
        out.push('\n');
    }
    out
}

fn score(score: Option<&Score>) -> String {
    score.map_or_else(|| "–".into(), |s| format!("{:.2} ({})", s.accuracy, s.launches))
}

fn accuracies(report: &Report) -> Grid {
    let mut grid = Grid::new(&["model", "seen", "a size left out", "a workload left out"]);
    for judged in &report.judged {
        let seen = seen(judged, &report.launches);
        let left_out = [&judged.size_out, &judged.workload_out].map(|s| score(s.as_ref()));
        let [size, workload] = left_out;
        grid.row([judged.model.name().to_owned(), format!("{seen:.2}"), size, workload]);
    }
    grid
}

/// Mean accuracy on what the fit saw.
fn seen(judged: &Judged, launches: &[Launch]) -> f64 {
    let scores = launches.iter().map(|l| (judged.fitted.seconds(l), l.seconds));
    let known = scores.filter(|(foreseen, _)| !foreseen.is_nan());
    let scores: Vec<f64> = known.map(|(foreseen, seconds)| accuracy(foreseen, seconds)).collect();
    scores.iter().sum::<f64>() / scores.len().max(1) as f64
}

/// The model that foresees sizes it never saw best.
fn best(report: &Report) -> Option<&Judged> {
    let score = |judged: &Judged| judged.size_out.as_ref().map_or(0.0, |score| score.accuracy);
    report.judged.iter().max_by(|a, b| score(a).total_cmp(&score(b)))
}

/// By workload: accuracy, and what bounds its largest size.
fn workloads(judged: &Judged, report: &Report) -> Grid {
    let mut grid = Grid::new(&["workload", "size left out", "workload left out", "bound by"]);
    let mut names: Vec<&str> = report.launches.iter().map(|l| l.key.workload.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let of = |score: &Option<Score>| {
            let score = score.as_ref().and_then(|score| score.workloads.get(name));
            score.map_or_else(|| "–".into(), |score| format!("{score:.2}"))
        };
        let its = report.launches.iter().filter(|launch| launch.key.workload == name);
        let largest = its.max_by(|a, b| a.seconds.total_cmp(&b.seconds));
        let bound = largest.and_then(|launch| Some((launch, bound(judged, launch)?)));
        let bound = bound.map_or_else(String::new, |(launch, (bound, times))| {
            format!("{} × {:.1} at {}", bound_word(bound), times.min(99.0), size(&launch.key))
        });
        grid.row([name.to_owned(), of(&judged.size_out), of(&judged.workload_out), bound]);
    }
    grid
}

fn bound_word(bound: Bound) -> &'static str {
    match bound {
        Bound::Compute => "compute",
        Bound::Local => "local memory",
        Bound::Traffic => "transactions",
        Bound::Memory => "memory",
        Bound::Launch => "launch",
    }
}

fn parameters(judged: &Judged) -> Grid {
    let mut grid = Grid::new(&["parameter", "value", "95 % interval"]);
    for parameter in &judged.parameters {
        let [low, high] = parameter.interval.map(|bound| value(parameter, bound));
        let row = match parameter.is_identifiable() {
            true => [value(parameter, parameter.value), format!("{low} to {high}")],
            false => ["not identifiable".into(), "these kernels do not tell".into()],
        };
        let [value, interval] = row;
        grid.row([parameter.name.to_owned(), value, interval]);
    }
    grid
}

/// Rates are shown as rates, costs as seconds.
fn value(parameter: &Parameter, value: f64) -> String {
    match parameter.name {
        "sharpness" => format!("{value:.1}"),
        "peak" => with_prefix(value, "FLOP/s"),
        "bandwidth" => with_prefix(value, "B/s"),
        _ => with_prefix(value, "s"),
    }
}

/// As an array of `{device, launches, models: [{model, seen, size_out, workload_out, parameters}],
/// failed}`.
pub fn json(reports: &[Report]) -> String {
    let model = |judged: &Judged, report: &Report| {
        let parameters = judged.parameters.iter().map(|parameter| {
            json!({
                "name": parameter.name,
                "value": parameter.value,
                "interval": parameter.interval,
                "identifiable": parameter.is_identifiable(),
            })
        });
        json!({
            "model": judged.model,
            "seen": seen(judged, &report.launches),
            "size_out": judged.size_out,
            "workload_out": judged.workload_out,
            "parameters": parameters.collect::<Vec<_>>(),
        })
    };
    let reports = reports.iter().map(|report| {
        let models = report.judged.iter().map(|judged| model(judged, report));
        json!({
            "device": report.device.name,
            "backend": report.device.backend,
            "launches": report.launches.len(),
            "models": models.collect::<Vec<_>>(),
            "failed": report.failed,
        })
    });
    let all: Vec<Value> = reports.collect();
    format!("{:#}\n", Value::Array(all))
}
