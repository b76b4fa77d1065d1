//! Each device's roofline as it was measured, with every kernel on it.

use super::plot::{Axis, Entry, Look, Plot, mark, num, plain, series, short};
use super::scale::Scale;
use super::{Section, name, scroll};
use crate::labels;
use gpubench_analysis::ReportInput;
use gpubench_analysis::{Aggregate, Rate};
use gpubench_core::record::Flag;
use gpubench_core::text::printable;
use gpubench_core::units;
use gpubench_model::roofline::{Bound, Ceilings};
use maud::{Markup, html};

pub(super) fn section(input: &ReportInput) -> Option<Section> {
    let kernels = |reported_device| kernels(input, reported_device).next().is_some();
    if !(0..input.reported_devices.len()).any(kernels) {
        return None;
    }
    let groups = groups(input);
    let body = html! {
        p {
            "A kernel cannot be faster than the device computes or moves bytes. The lines are this device's own measured ceilings "
            "(the best of the micro-benchmarks), the marks its verified kernels: operations and bytes as the suite counts them. "
            "A mark above the line moved fewer bytes than counted, since caches helped, or a ceiling was not reached."
        }
        div.plots {
            @for reported_device in 0..input.reported_devices.len() { (device(input, reported_device, &groups)) }
        }
        @for reported_device in 0..input.reported_devices.len() { (shares(input, reported_device)) }
    };
    Some(Section::new("roofline", "Rooflines", body))
}

/// Verified kernels with work to count.
fn kernels<'m, 'a>(
    input: &'m ReportInput<'a>,
    reported_device: usize,
) -> impl Iterator<Item = (&'m Aggregate<'a>, f64, f64, f64)> {
    input.of(reported_device).filter_map(|row| {
        let time = row.time.filter(|_| row.outcome.is_ok() && row.key.measure.is_kernel())?;
        let measured = row.rounds().next()?;
        let has_work = measured.bytes > 0.0 || measured.flops > 0.0;
        has_work.then_some((row, time.value, measured.flops, measured.bytes))
    })
}

/// The best of the micro-benchmarks.
#[derive(Clone, Copy, Debug, Default)]
struct Measured<'m, 'a> {
    peak: Option<(f64, &'m Aggregate<'a>)>,
    bandwidth: Option<(f64, &'m Aggregate<'a>)>,
}

impl Measured<'_, '_> {
    fn ceilings(&self) -> Option<Ceilings> {
        Some(Ceilings { peak: self.peak?.0, bandwidth: self.bandwidth?.0 })
    }
}

fn measured<'m, 'a>(input: &'m ReportInput<'a>, reported_device: usize) -> Measured<'m, 'a> {
    let mut found = Measured::default();
    let ceiling = |row: &&Aggregate| {
        row.outcome.is_ok() && row.records[0].tags.iter().any(|t| t == "ceiling")
    };
    // The memory's bandwidth, not a cache's, where both were measured; else that of the largest
    // working set, which is the nearest to it.
    let nearness = |row: &Aggregate, rate: f64| {
        let cached = row.flags.contains(&&Flag::Cache);
        let bytes = row.rounds().next().map_or(0.0, |measured| measured.bytes);
        (!cached, if cached { bytes } else { 0.0 }, rate)
    };
    for row in input.of(reported_device).filter(ceiling) {
        match row.rate {
            Some(Rate::Flops(rate)) if found.peak.is_none_or(|(best, _)| rate > best) => {
                found.peak = Some((rate, row));
            }
            Some(Rate::Bandwidth(rate))
                if found
                    .bandwidth
                    .is_none_or(|(best, known)| nearness(row, rate) > nearness(known, best)) =>
            {
                found.bandwidth = Some((rate, row));
            }
            _ => {}
        }
    }
    found
}

/// The first tags of all kernels: what the marks distinguish.
fn groups(input: &ReportInput) -> Vec<String> {
    let mut groups: Vec<String> = vec![];
    for reported_device in 0..input.reported_devices.len() {
        for (row, ..) in kernels(input, reported_device)
            .filter(|(_, _, flops, bytes)| *flops > 0.0 && *bytes > 0.0)
        {
            let group = group(row);
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
    }
    groups.sort();
    groups
}

fn group(row: &Aggregate) -> String {
    row.records[0].tags.first().map_or_else(|| "other".to_owned(), |tag| printable(tag, 30))
}

fn device(input: &ReportInput, reported_device: usize, groups: &[String]) -> Markup {
    let points: Vec<_> = kernels(input, reported_device)
        .filter(|(_, _, flops, bytes)| *flops > 0.0 && *bytes > 0.0)
        .collect();
    let measured = measured(input, reported_device);
    let rates = points.iter().map(|(_, time, flops, _)| flops / time);
    let limits = [measured.peak.map(|p| p.0 * 1.3)].into_iter().flatten();
    let intensities = points.iter().map(|(_, _, flops, bytes)| flops / bytes);
    let corner = measured
        .ceilings()
        .map(Ceilings::critical_intensity)
        .into_iter()
        .flat_map(|c| [c / 4.0, c * 4.0]);
    let (Some(x), Some(y)) =
        (Scale::log(intensities.chain(corner)), Scale::log(rates.chain(limits)))
    else {
        return html! {};
    };
    let who = &input.reported_devices[reported_device];
    let plot = Plot {
        title: format!("{} {}", who.label, who.name),
        description: description(&measured, points.len()),
        height: 260.0,
        x: Axis::new("operations per byte, FLOP/B", x, plain),
        y: Axis::new("FLOP/s", y, short),
    };
    let used: Vec<usize> = (0..groups.len())
        .filter(|&g| points.iter().any(|(row, ..)| group(row) == groups[g]))
        .collect();
    let legend: Vec<Entry> =
        used.iter().map(|&g| Entry { look: Look::Marks(g), text: groups[g].clone() }).collect();
    let drawn = html! {
        (roof(&plot, &measured, x, y))
        @for &g in &used {
            g class=(series(g)) {
                @for (row, time, flops, bytes) in points.iter().filter(|(row, ..)| group(row) == groups[g]) {
                    path.mark d=(mark(g, plot.x(flops / bytes), plot.y(flops / time))) {
                        title { (labels::case_name(row.key)) ": " (units::flops(flops / time)) }
                    }
                }
            }
        }
    };
    html! { div { (plot.figure(&drawn, &legend)) (ceilings_text(&measured)) } }
}

fn description(measured: &Measured, kernels: usize) -> String {
    match measured.ceilings() {
        Some(c) => format!(
            "{kernels} kernels under a roof of {} and {}, which meet at {:.1} operations per byte.",
            units::flops(c.peak),
            units::bandwidth(c.bandwidth),
            c.critical_intensity()
        ),
        None => format!("{kernels} kernels; the roof is incomplete."),
    }
}

fn roof(plot: &Plot, measured: &Measured, x: Scale, y: Scale) -> Markup {
    let (Scale::Log(left, right), Scale::Log(bottom, _)) = (x, y) else { return html! {} };
    let slope = measured.bandwidth.map(|(bandwidth, _)| {
        let start = left.max(bottom / bandwidth);
        let end = measured.peak.map_or(right, |(peak, _)| (peak / bandwidth).min(right));
        plot.line([(start, start * bandwidth), (end, end * bandwidth)])
    });
    let flat = measured.peak.map(|(peak, _)| {
        let start = measured.bandwidth.map_or(left, |(bandwidth, _)| (peak / bandwidth).max(left));
        (plot.line([(start, peak), (right, peak)]), plot.y(peak), peak)
    });
    html! {
        @if let Some(d) = slope { path.roof d=(d) {} }
        @if let Some((d, y, peak)) = flat {
            path.roof d=(d) {}
            text.tick.end x=(num(super::plot::WIDTH - 14.0)) y=(num(y - 5.0)) { (units::flops(peak)) }
        }
    }
}

fn ceilings_text(measured: &Measured) -> Markup {
    let of = |what: Option<(f64, &Aggregate)>, unit: fn(f64) -> String| {
        what.map(|(rate, row)| {
            let by_bytes = matches!(row.rate, Some(Rate::Bandwidth(_)));
            let cached = match by_bytes && row.flags.contains(&&Flag::Cache) {
                true => ", the cache's: no larger size was measured",
                false => "",
            };
            format!("{} ({}{cached})", unit(rate), labels::case_name(row.key))
        })
    };
    html! {
        p.soft {
            "Ceilings: "
            @if let Some(text) = of(measured.peak, units::flops) { (text) } @else { "arithmetic not measured" }
            "; "
            @if let Some(text) = of(measured.bandwidth, units::bandwidth) { (text) } @else { "memory not measured" }
            "."
        }
    }
}

/// A kernel's best size by its share of the roof.
struct Share<'m, 'a> {
    row: &'m Aggregate<'a>,
    share: f64,
    bound: Bound,
    intensity: f64,
}

fn shares(input: &ReportInput, reported_device: usize) -> Markup {
    let Some(ceilings) = measured(input, reported_device).ceilings() else { return html! {} };
    let mut best: Vec<Share> = vec![];
    for (row, time, flops, bytes) in kernels(input, reported_device) {
        let share = ceilings.ideal_seconds(flops, bytes) / time;
        let entry =
            Share { row, share, bound: ceilings.bound(flops, bytes), intensity: flops / bytes };
        match best.iter_mut().find(|known| known.row.key.workload == row.key.workload) {
            Some(known) if known.share < share => *known = entry,
            Some(_) => {}
            None => best.push(entry),
        }
    }
    best.sort_by(|a, b| b.share.total_cmp(&a.share));
    let label = &input.reported_devices[reported_device].label;
    let table = html! {
        table {
            caption { "Each workload at the size that comes closest to the roof of " (label) }
            thead {
                tr {
                    th scope="col" { "workload" }
                    th scope="col" { "size" }
                    th.n scope="col" { "FLOP/B" }
                    th.n scope="col" { "rate" }
                    th scope="col" { "bound by" }
                    th.n scope="col" { "of its roof" }
                    th scope="col" { span.hide { "as a bar" } }
                }
            }
            tbody {
                @for entry in &best {
                    tr {
                        th.name scope="row" { (name(&labels::workload_name(entry.row.key, 80))) }
                        td { (labels::size(entry.row.key)) }
                        td.n { @if entry.intensity.is_finite() { (format!("{:.2}", entry.intensity)) } @else { "no bytes" } }
                        td.n { (labels::rate(entry.row)) }
                        td { @if entry.bound == Bound::Compute { "arithmetic" } @else { "memory" } }
                        td.n { (format!("{:.0} %", entry.share * 100.0)) @if entry.row.flags.contains(&&Flag::Cache) { " cache" } }
                        td { (bar(entry.share)) }
                    }
                }
            }
        }
    };
    html! {
        details {
            summary { h3 { "Share of the roof: " (label) } span { (best.len()) " workloads" } }
            (scroll(&format!("Shares of the roof of {label}"), &table))
        }
    }
}

fn bar(share: f64) -> Markup {
    html! {
        svg.barbox viewBox="0 0 100 10" aria-hidden="true" {
            rect.band x="0" y="0" width="100" height="10" {}
            rect.bar x="0" y="0" width=(num(share.clamp(0.0, 1.0) * 100.0)) height="10" {}
        }
    }
}
