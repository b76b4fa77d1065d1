//! Fitted models as a section, in a few words and as JSON.

use super::device_picks;
use super::labels::size;
use super::render;
use gpubench_analysis::fit::{Bound, Device, Evaluation, Launch, Model, Parameter, Score, best};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::text::printable;
use gpubench_document::{Cell, Column, Section, Sentence, Table, Unit, number};
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

/// One section a device, and one that compares them.
pub fn section(reports: &[Report]) -> Section {
    let section = Section::new("models", "Fitted models");
    let section = reports.iter().map(one).fold(section, Section::section);
    match device_picks::section(reports) {
        Some(picks) => section.section(picks),
        None => section,
    }
}

fn one(report: &Report) -> Section {
    let profile = if report.profiled.is_some() { "with its profile" } else { "no profile" };
    let n = report.launches.len() as f64;
    let launches = Sentence::new().value(n, Unit::Count).text(" kernels and sizes, ").text(profile);
    let title = Sentence::new().name(report.device.label()).text(" ");
    let title = title.name(printable(&report.device.name, 60));
    let mut section = Section::new(&report.device.label(), title)
        .fact("fitted", "fitted to", launches)
        .table(accuracies(report));
    for (model, reason) in &report.failed {
        section = section.text(Sentence::from(model.name).text(": ").name(reason));
    }
    for ((workload, why), times) in uncounted(report) {
        let left =
            Sentence::new().name(workload).text(": left out of the models that need counts (");
        let left = left.value(times as f64, Unit::Count).text(" ×): ");
        section = section.text(left.name(why));
    }
    let Some(best) = best(&report.evaluations) else { return section };
    section = section.fact("best", "best on this device", best.model.name);
    if evaluated_on_different_launches(&report.evaluations) {
        section = section.note(
            "not all models predicted the same launches: accuracies are of those in brackets.",
        );
    }
    section.table(workloads(best, report)).table(parameters(best))
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

fn score(score: Option<&Score>) -> Cell {
    let accuracy = |score: &Score| {
        let accuracy = Sentence::new().value(score.accuracy, Unit::None).text(" (");
        accuracy.value(score.launches as f64, Unit::Count).text(")")
    };
    score.map(accuracy).into()
}

fn accuracies(report: &Report) -> Table {
    Table::of("models", "Accuracy, and of how many launches", &report.evaluations)
        .column(Column::text("model", "model"), |one| one.model.name)
        .column(Column::new("seen", "seen", Unit::None), |one| one.seen)
        .column(Column::new("size", "a size left out", Unit::None), |one| {
            score(one.leave_one_size_out.as_ref())
        })
        .column(Column::new("workload", "a workload left out", Unit::None), |one| {
            score(one.leave_one_workload_out.as_ref())
        })
        .table()
}

/// By workload: accuracy, and what bounds its largest size.
fn workloads(judged: &Evaluation, report: &Report) -> Table {
    let title = "Its accuracy × bias by workload, and what bounds the largest size; a dash \
                 where its parameters do not tell";
    let mut names: Vec<&str> = report.launches.iter().map(|l| l.key.workload.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let of = |name: &str, score: &Option<Score>| {
        let of = score.as_ref().and_then(|score| score.workloads.get(name))?;
        let accuracy = Sentence::new().value(of.accuracy, Unit::None).text(" ×");
        Some(accuracy.value(of.bias, Unit::None))
    };
    let bound = |name: &str| {
        let its = report.launches.iter().filter(|launch| launch.key.workload == name);
        let launch = its.max_by(|a, b| a.seconds.total_cmp(&b.seconds))?;
        let (bound, times) = judged.bound(launch, report.profiled.as_ref())?;
        let bound = Sentence::from(bound.label()).text(" × ");
        Some(bound.value(times.min(99.0), Unit::None).text(" at ").name(size(&launch.key)))
    };
    Table::of("workloads", title, names)
        .column(Column::text("workload", "workload"), |name| name.to_string())
        .column(Column::text("size", "size left out"), |name| of(name, &judged.leave_one_size_out))
        .column(Column::text("workload_left_out", "workload left out"), |name| {
            of(name, &judged.leave_one_workload_out)
        })
        .column(Column::text("bound", "bound by"), |name| bound(name))
        .table()
}

fn parameters(judged: &Evaluation) -> Table {
    let columns = [
        Column::text("parameter", "parameter"),
        Column::text("value", "value"),
        Column::text("interval", "95 % interval"),
    ];
    let mut table = Table::new("parameters", "Its parameters", columns);
    for parameter in &judged.parameters {
        let value = |value: f64| Sentence::new().value(value, unit(parameter));
        let [low, high] = parameter.interval.map(value);
        let [value, interval] = match parameter.is_identifiable() {
            true => [value(parameter.value), low.text(" to ").then(high)],
            false => ["not identifiable".into(), why(parameter).into()],
        };
        table.row([parameter.name.into(), value.into(), interval.into()]);
    }
    table
}

fn why(parameter: &Parameter) -> &'static str {
    let [low, high] = parameter.interval;
    match low > 0.0 && high / low <= 10.0 {
        true => "not distinguishable from the others",
        false => "these kernels do not determine it",
    }
}

/// Rates are shown as rates, costs as seconds.
fn unit(parameter: &Parameter) -> Unit {
    match parameter.name {
        "sharpness" | "a" | "b" | "c" | "d" | "transaction cycles" => Unit::None,
        name if name.ends_with("scale") => Unit::Ratio,
        "peak" => Unit::FlopsPerSecond,
        "bandwidth" => Unit::BytesPerSecond,
        "cache" => Unit::Bytes,
        _ => Unit::Seconds,
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
            "Models on {}:{} {name}: {} is best, {} accurate on sizes it never saw",
            device.backend,
            device.index,
            best.model.name,
            number(score.accuracy, Unit::None)
        );
        if let Some(score) = &best.leave_one_workload_out {
            let _ = write!(out, ", {} on workloads", number(score.accuracy, Unit::None));
        }
        let _ = writeln!(out, ". {}", bounded(best, report));
    }
    out
}

/// How many launches each part bounds, and of how many the parameters do not tell.
fn bounded(judged: &Evaluation, report: &Report) -> String {
    let profile = report.profiled.as_ref();
    let bounds = report.launches.iter().filter_map(|l| Some(judged.bound(l, profile)?.0));
    let mut counts: BTreeMap<Bound, usize> = BTreeMap::new();
    bounds.for_each(|bound| *counts.entry(bound).or_default() += 1);
    let mut listed: Vec<String> =
        counts.iter().map(|(bound, count)| format!("{} {count}", bound.label())).collect();
    let unknown = report.launches.len() - counts.values().sum::<usize>();
    listed.extend((unknown > 0).then(|| format!("not identifiable {unknown}")));
    format!("Bound by: {}.", listed.join(", "))
}

/// As an array of `{device, backend, launches, uncounted: [{workload, sizes, why}], profile, best,
/// models: [{model, seen, leave_one_size_out, leave_one_workload_out, parameters}], bounds, failed, picks}`, where `picks` are
/// of all devices, and the same in each.
pub fn json(reports: &[Report]) -> String {
    let model = |judged: &Evaluation| {
        let parameters = judged.parameters.iter().map(|parameter| {
            // What nothing determines is where the search for it happened to end.
            let known = parameter.is_identifiable().then_some(parameter);
            json!({
                "name": parameter.name,
                "value": known.map(|known| known.value),
                "interval": known.map(|known| known.interval),
                "identifiable": known.is_some(),
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
    let picks = device_picks::picks(reports);
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
            "picks": picks,
        })
    });
    let all: Vec<Value> = reports.collect();
    render::json::json(&all)
}
