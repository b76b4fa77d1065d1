//! Fitted models in words and as JSON.

use super::grid::Grid;
use super::labels::size;
use gpubench_analysis::fit::{Bound, Device, Evaluation, Launch, Model, Parameter, Score, best};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::text::printable;
use gpubench_core::units::with_prefix;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

/// What models make of a device.
#[derive(Clone, Debug)]
pub struct Report {
    /// The device.
    pub device: DeviceInfo,
    /// What its profile says, where there is one.
    pub profiled: Option<Device>,
    /// What was fitted.
    pub launches: Vec<Launch>,
    /// The models that could be fitted.
    pub evaluations: Vec<Evaluation>,
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
        let profile = if report.profiled.is_some() { "with its profile" } else { "no profile" };
        let _ = writeln!(out, "{} kernels and sizes, {profile}\n", report.launches.len());
        out += &accuracies(report).text(width);
        for (model, reason) in &report.failed {
            let _ = writeln!(out, "{}: {reason}", model.name());
        }
        for ((workload, why), times) in uncounted(report) {
            let left = "left out of the models that need counts";
            let _ = writeln!(out, "{workload}: {left} ({times} ×): {why}");
        }
        if let Some(best) = best(&report.evaluations) {
            let _ = writeln!(out, "\nBest on this device: {}", best.model.name());
            if evaluated_on_different_launches(&report.evaluations) {
                out += "Not all models predicted the same launches: accuracies are of those in brackets.\n";
            }
            out += &workloads(best, report).text(width);
            out += "\nIts parameters\n";
            out += &parameters(best).text(width);
        }
        out.push('\n');
    }
    out
}

/// Workloads that could not be counted with the reason, and at how many sizes.
fn uncounted(report: &Report) -> BTreeMap<(&str, &str), usize> {
    let mut all = BTreeMap::new();
    for launch in &report.launches {
        if let Err(why) = &launch.counted {
            *all.entry((launch.key.workload.as_str(), why.as_str())).or_default() += 1;
        }
    }
    all
}

/// Whether models were evaluated on different numbers of launches.
fn evaluated_on_different_launches(evaluations: &[Evaluation]) -> bool {
    let mut counts =
        evaluations.iter().filter_map(|one| Some(one.leave_one_size_out.as_ref()?.launches));
    counts.next().is_some_and(|first| counts.any(|count| count != first))
}

fn score(score: Option<&Score>) -> String {
    score.map_or_else(|| "–".into(), |s| format!("{:.2} ({})", s.accuracy, s.launches))
}

fn accuracies(report: &Report) -> Grid {
    let mut grid = Grid::new(&["model", "seen", "a size left out", "a workload left out"]);
    for judged in &report.evaluations {
        let seen = judged.seen;
        let held_out =
            [&judged.leave_one_size_out, &judged.leave_one_workload_out].map(|s| score(s.as_ref()));
        let [size, workload] = held_out;
        grid.row([judged.model.name().to_owned(), format!("{seen:.2}"), size, workload]);
    }
    grid
}

/// By workload: accuracy, and what bounds its largest size.
fn workloads(judged: &Evaluation, report: &Report) -> Grid {
    let mut grid = Grid::new(&["workload", "size left out", "workload left out", "bound by"]);
    let mut names: Vec<&str> = report.launches.iter().map(|l| l.key.workload.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let of = |score: &Option<Score>| {
            let score = score.as_ref().and_then(|score| score.workloads.get(name));
            score.map_or_else(|| "–".into(), |of| format!("{:.2} ×{:.2}", of.accuracy, of.bias))
        };
        let its = report.launches.iter().filter(|launch| launch.key.workload == name);
        let largest = its.max_by(|a, b| a.seconds.total_cmp(&b.seconds));
        let bound = largest.and_then(|launch| {
            let (bound, times) = judged.bound(launch, report.profiled.as_ref())?;
            Some(format!("{} × {:.1} at {}", bound.label(), times.min(99.0), size(&launch.key)))
        });
        let bound = bound.unwrap_or_default();
        grid.row([
            name.to_owned(),
            of(&judged.leave_one_size_out),
            of(&judged.leave_one_workload_out),
            bound,
        ]);
    }
    grid
}

fn parameters(judged: &Evaluation) -> Grid {
    let mut grid = Grid::new(&["parameter", "value", "95 % interval"]);
    for parameter in &judged.parameters {
        let [low, high] = parameter.interval.map(|bound| value(parameter, bound));
        let row = match parameter.is_identifiable() {
            true => [value(parameter, parameter.value), format!("{low} to {high}")],
            false => ["not identifiable".into(), why(parameter).into()],
        };
        let [value, interval] = row;
        grid.row([parameter.name.to_owned(), value, interval]);
    }
    grid
}

fn why(parameter: &Parameter) -> &'static str {
    let [low, high] = parameter.interval;
    match low > 0.0 && high / low <= 10.0 {
        true => "not distinguishable from the others",
        false => "these kernels do not determine it",
    }
}

/// Rates are shown as rates, costs as seconds.
fn value(parameter: &Parameter, value: f64) -> String {
    match parameter.name {
        "sharpness" => format!("{value:.1}"),
        "a" | "b" | "c" | "d" => format!("{value:.2}"),
        "transaction cycles" => format!("{value:.0}"),
        name if name.ends_with("scale") => format!("×{value:.2}"),
        "peak" => with_prefix(value, "FLOP/s"),
        "bandwidth" => with_prefix(value, "B/s"),
        "cache" => with_prefix(value, "B"),
        _ => with_prefix(value, "s"),
    }
}

/// What bounds each launch by the best model, and how many times longer that takes than what
/// comes next.
fn bounds(report: &Report) -> Vec<Value> {
    let Some(best) = best(&report.evaluations) else { return vec![] };
    let bound = |launch: &Launch| {
        let (bound, times) = best.bound(launch, report.profiled.as_ref())?;
        Some(json!({ "case": launch.key.to_string(), "bound": bound, "times": times }))
    };
    report.launches.iter().filter_map(bound).collect()
}

/// In a few lines, for the end of a run.
pub fn short(reports: &[Report]) -> String {
    let mut out = String::new();
    for report in reports {
        let device = &report.device;
        let name = printable(&device.name, 60);
        let Some(best) = best(&report.evaluations) else { continue };
        let Some(score) = &best.leave_one_size_out else { continue };
        let _ = write!(
            out,
            "Models on {}:{} {name}: {} is best, {:.2} accurate on sizes it never saw",
            device.backend,
            device.index,
            best.model.name(),
            score.accuracy
        );
        if let Some(score) = &best.leave_one_workload_out {
            let _ = write!(out, ", {:.2} on workloads", score.accuracy);
        }
        let _ = writeln!(out, ". {}", bounded(best, report));
    }
    out
}

/// How many launches each part bounds.
fn bounded(judged: &Evaluation, report: &Report) -> String {
    let profile = report.profiled.as_ref();
    let bounds: Vec<Bound> =
        report.launches.iter().filter_map(|l| Some(judged.bound(l, profile)?.0)).collect();
    let all = [Bound::Compute, Bound::Global, Bound::Local, Bound::Latency, Bound::Launch];
    let count = |bound: Bound| {
        let count = bounds.iter().filter(|b| **b == bound).count();
        (count > 0).then(|| format!("{} {count}", bound.label()))
    };
    let listed: Vec<String> = all.into_iter().filter_map(count).collect();
    format!("Bound by: {}.", listed.join(", "))
}

/// As an array of `{device, backend, launches, uncounted: [{workload, sizes, why}], profile, best,
/// models: [{model, seen, leave_one_size_out, leave_one_workload_out, parameters}], bounds, failed}`.
pub fn json(reports: &[Report]) -> String {
    let model = |judged: &Evaluation| {
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
            "seen": judged.seen,
            "leave_one_size_out": judged.leave_one_size_out,
            "leave_one_workload_out": judged.leave_one_workload_out,
            "parameters": parameters.collect::<Vec<_>>(),
        })
    };
    let reports = reports.iter().map(|report| {
        let models = report.evaluations.iter().map(model);
        let uncounted = uncounted(report).into_iter().map(
            |((workload, why), sizes)| json!({ "workload": workload, "sizes": sizes, "why": why }),
        );
        json!({
            "device": report.device.name,
            "backend": report.device.backend,
            "launches": report.launches.len(),
            "uncounted": uncounted.collect::<Vec<_>>(),
            "profile": report.profiled.is_some(),
            "best": best(&report.evaluations).map(|judged| judged.model),
            "models": models.collect::<Vec<_>>(),
            "bounds": bounds(report),
            "failed": report.failed,
        })
    });
    let all: Vec<Value> = reports.collect();
    format!("{:#}\n", Value::Array(all))
}
