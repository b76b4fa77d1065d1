//! How a workload's rate, or its time, grows with size: one line a device.

use super::plot::{Axis, Entry, Look, Plot, dash, mark, num, series, short, short_seconds};
use super::scale::Scale;
use crate::labels;
use crate::overview::Workload;
use gpubench_analysis::ReportInput;
use gpubench_analysis::{Aggregate, Rate};
use gpubench_core::text::printable;
use maud::{Markup, html};
use std::collections::{BTreeMap, BTreeSet};

/// More plots than this of one workload say less than its table.
const MAX_CURVES: usize = 6;

/// One plot, or one for each value of the sizes beside the one that varies most.
pub(super) fn figures(input: &ReportInput, workload: &Workload) -> Markup {
    // Copies have a section of their own, where all kinds of memory stand in one plot.
    let rows: Vec<&Aggregate> = workload
        .rows
        .iter()
        .copied()
        .filter(|row| row.time.is_some())
        .filter(|row| row.key.host_memory.is_none())
        .collect();
    let facets = facets(&rows);
    html! { @for facet in facets { @if let Some(plot) = figure(input, &facet) { (plot) } } }
}

/// Rows of one plot, each with its place on the horizontal axis.
struct Facet<'r, 'a> {
    /// What the plot holds still.
    fixed: String,
    /// The horizontal axis.
    axis: String,
    points: Vec<(f64, &'r Aggregate<'a>)>,
}

/// The sizes that a plot holds still.
type Fixed<'r> = Vec<(&'r str, i64)>;

fn facets<'r, 'a>(rows: &[&'r Aggregate<'a>]) -> Vec<Facet<'r, 'a>> {
    let mut values: BTreeMap<&str, BTreeSet<i64>> = BTreeMap::new();
    for (name, value) in rows.iter().flat_map(|row| &row.key.size) {
        values.entry(name).or_default().insert(*value);
    }
    values.retain(|_, values| values.len() > 1);
    let Some(axis) = values.iter().max_by_key(|(_, v)| v.len()).map(|(name, _)| *name) else {
        return vec![];
    };
    let mut groups: BTreeMap<Fixed, Vec<(f64, &Aggregate)>> = BTreeMap::new();
    for row in rows {
        let is_fixed = |(name, value): &'r (String, i64)| {
            (name != axis && values.contains_key(name.as_str())).then_some((name.as_str(), *value))
        };
        let place = row.key.size.iter().find(|(name, _)| name == axis);
        let Some((_, place)) = place else { continue };
        let fixed = row.key.size.iter().filter_map(is_fixed).collect();
        groups.entry(fixed).or_default().push((*place as f64, row));
    }
    let enough = |points: &Vec<(f64, &Aggregate)>| distinct(points) >= 2;
    if groups.len() <= MAX_CURVES
        && groups.values().filter(|points| enough(points)).count() * 2 > groups.len()
    {
        let name = |fixed: Vec<(&str, i64)>| {
            fixed
                .iter()
                .map(|(n, v)| format!("{}={v}", printable(n, 20)))
                .collect::<Vec<_>>()
                .join(" ")
        };
        return groups
            .into_iter()
            .map(|(fixed, points)| Facet { fixed: name(fixed), axis: printable(axis, 20), points })
            .collect();
    }
    vec![by_work(rows)]
}

/// Sizes that vary in several ways at once are placed by the bytes (else operations) of a launch.
fn by_work<'r, 'a>(rows: &[&'r Aggregate<'a>]) -> Facet<'r, 'a> {
    let work = |row: &Aggregate, bytes: bool| {
        row.rounds().next().map_or(0.0, |m| if bytes { m.bytes } else { m.flops })
    };
    let bytes = rows.iter().any(|row| work(row, true) > 0.0);
    let points = rows.iter().map(|&row| (work(row, bytes), row)).filter(|(x, _)| *x > 0.0);
    let axis = if bytes { "bytes moved" } else { "operations" };
    Facet { fixed: String::new(), axis: axis.into(), points: points.collect() }
}

fn distinct(points: &[(f64, &Aggregate)]) -> usize {
    points.iter().map(|(x, _)| x.to_bits()).collect::<BTreeSet<_>>().len()
}

/// A value with its interval.
type Point = (f64, f64, [f64; 2]);

fn figure(input: &ReportInput, facet: &Facet) -> Option<Markup> {
    if distinct(&facet.points) < 2 {
        return None;
    }
    let rates = facet.points.iter().all(|(_, row)| row.rate.is_some());
    let mut lines: BTreeMap<usize, Vec<Point>> = BTreeMap::new();
    for (x, row) in &facet.points {
        lines.entry(row.device).or_default().extend(point(*x, row, rates));
    }
    lines.values_mut().for_each(|line| line.sort_by(|a, b| a.0.total_cmp(&b.0)));
    let all = || lines.values().flatten();
    let places: Vec<f64> = facet.points.iter().map(|(x, _)| *x).collect();
    // An interval many times as wide as the value must not flatten all others: it is cut.
    let ys = || all().flat_map(|(_, y, [low, high])| [*y, low.max(y / 3.0), high.min(y * 3.0)]);
    let spread = ys().fold(f64::NEG_INFINITY, f64::max) / ys().fold(f64::INFINITY, f64::min);
    let scale = if rates && spread < 8.0 { Scale::from_zero(ys()) } else { Scale::log(ys()) }?;
    let (what, tick): (_, fn(f64) -> String) = match facet.points[0].1.rate {
        Some(Rate::Flops(_)) if rates => ("FLOP/s", short),
        Some(Rate::Bandwidth(_)) if rates => ("B/s", short),
        _ => ("time", short_seconds),
    };
    let axis = Axis::new(&facet.axis, Scale::log(places.iter().copied())?, short);
    let axis =
        if distinct(&facet.points) <= 8 { Axis { tick: whole, ..axis.at(places) } } else { axis };
    let key = facet.points[0].1.key;
    let of = if facet.fixed.is_empty() { String::new() } else { format!(", {}", facet.fixed) };
    let name = labels::workload_name(key, 60);
    let plot = Plot {
        title: format!("{} by size{of}", if rates { "Rate" } else { "Time" }),
        description: format!(
            "{name}{of}: {what} against {} for {}. The figures are in the table of the workload.",
            facet.axis,
            lines
                .keys()
                .map(|i| input.reported_devices[*i].label.as_str())
                .collect::<Vec<_>>()
                .join(", ")
        ),
        height: 220.0,
        x: axis,
        y: Axis::new(what, scale, tick),
    };
    let legend: Vec<Entry> = lines
        .keys()
        .map(|&i| Entry { look: Look::Joined(i), text: input.reported_devices[i].label.clone() })
        .collect();
    let drawn = html! { @for (i, line) in &lines { (series_of(&plot, *i, line)) } };
    Some(plot.figure(&drawn, &legend))
}

fn point(x: f64, row: &Aggregate, rates: bool) -> Option<Point> {
    let time = row.time?;
    let value = match row.rate {
        Some(Rate::Flops(rate) | Rate::Bandwidth(rate)) if rates => rate,
        _ => return Some((x, time.value, time.interval)),
    };
    let [low, high] = time.interval;
    Some((x, value, [value * time.value / high, value * time.value / low]))
}

/// A size, in full where it is short.
fn whole(value: f64) -> String {
    if value < 1e6 { format!("{value}") } else { short(value) }
}

fn series_of(plot: &Plot, i: usize, line: &[Point]) -> Markup {
    html! {
        g class=(series(i)) {
            path.line.(dash(i / super::plot::LOOKS)) d=(plot.line(line.iter().map(|p| (p.0, p.1)))) {}
            @for (x, y, [low, high]) in line {
                path.whisker d={ "M" (num(plot.x(*x))) " " (num(plot.y(*low))) "V" (num(plot.y(*high))) } {}
                path.mark d=(mark(i, plot.x(*x), plot.y(*y))) {}
            }
        }
    }
}
