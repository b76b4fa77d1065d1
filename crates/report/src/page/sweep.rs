//! How a workload's rate, or its time, grows with size: one line a device.

use crate::labels;
use crate::render::drawing::{drawn_plot, figure::LOOKS};
use gpubench_analysis::Aggregate;
use gpubench_analysis::ReportInput;
use gpubench_core::text::printable;
use gpubench_document::{Axis, Plot, Quantity, Scale, Sentence, Series, Style, Unit};
use maud::{Markup, html};
use std::collections::{BTreeMap, BTreeSet};

/// More plots than this of one workload say less than its table.
const MAX_CURVES: usize = 6;

/// One plot, or one for each value of the sizes beside the one that varies most.
pub(super) fn figures(input: &ReportInput, workload: &[&Aggregate]) -> Markup {
    // Copies have a section of their own, where all kinds of memory stand in one plot.
    let rows: Vec<&Aggregate> = workload
        .iter()
        .copied()
        .filter(|row| row.time.is_some())
        .filter(|row| row.key.host_memory.is_none())
        .collect();
    let facets = facets(&rows);
    html! { @for facet in facets {
        @if let Some(drawing) = plot(input, &facet).as_ref().and_then(drawn_plot) { (drawing) }
    } }
}

/// Rows of one plot, each with its place on the horizontal axis.
struct Facet<'r, 'a> {
    /// What the plot holds still.
    fixed: String,
    /// The horizontal axis, and its unit.
    axis: String,
    unit: Unit,
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
            .map(|(fixed, points)| Facet {
                fixed: name(fixed),
                axis: printable(axis, 20),
                unit: Unit::Count,
                points,
            })
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
    let (axis, unit) =
        if bytes { ("bytes moved", Unit::Bytes) } else { ("operations", Unit::Count) };
    Facet { fixed: String::new(), axis: axis.into(), unit, points: points.collect() }
}

fn distinct(points: &[(f64, &Aggregate)]) -> usize {
    points.iter().map(|(x, _)| x.to_bits()).collect::<BTreeSet<_>>().len()
}

fn plot(input: &ReportInput, facet: &Facet) -> Option<Plot> {
    if distinct(&facet.points) < 2 {
        return None;
    }
    let rates = facet.points.iter().all(|(_, row)| row.rate.is_some());
    let unit = match facet.points[0].1.rate {
        Some(rate) if rates => labels::rate_unit(rate),
        _ => Unit::Seconds,
    };
    let what = if rates { "rate" } else { "time" };
    let x = Axis::new(facet.axis.clone(), facet.unit, Scale::Log10);
    let y = Axis::new(what, unit, Scale::Log10);
    let title = Sentence::from(if rates { "Rate by size" } else { "Time by size" });
    let fixed = if facet.fixed.is_empty() { "" } else { ", " };
    let title = title.text(fixed).name(&facet.fixed);
    let mut devices: BTreeMap<usize, Vec<(f64, Quantity)>> = BTreeMap::new();
    for (x, row) in &facet.points {
        devices.entry(row.device).or_default().extend(point(*x, row, rates));
    }
    let mut plot = Plot::new("by_size", title, x, y);
    for (device, mut points) in devices {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let label = input.reported_devices[device].name.clone();
        let series = Series::new(label, Style::Joined).look(device, device / LOOKS);
        plot = plot.series(series.quantities(points));
    }
    Some(plot)
}

fn point(x: f64, row: &Aggregate, rates: bool) -> Option<(f64, Quantity)> {
    let time = row.time?;
    let [low, high] = time.interval;
    let quantity = match row.rate {
        Some(rate) if rates => Quantity::between(rate.value(), row.rate_interval()?),
        _ => Quantity::between(time.value, [low, high]),
    };
    Some((x, quantity?))
}
