//! Copies over the link: bandwidth against size, one way, the other, and both at once.

use super::plot::{Axis, Entry, Look, Plot, dash, mark, num, series, short};
use super::scale::Scale;
use super::{Section, scroll};
use crate::detail::with_error;
use crate::input::ReportInput;
use crate::labels::memory_label;
use gpubench_analysis::Aggregate;
use gpubench_core::gpu::MemoryKind;
use gpubench_core::record::{Direction, Transfer};
use gpubench_core::units;
use gpubench_core::workload::Kind;
use gpubench_experiments::analysis::{Meanwhile, TransferSummary, transfer};
use gpubench_model::least_squares::Estimate;
use gpubench_stats::Summary;
use maud::{Markup, html};
use std::collections::BTreeMap;

/// A line of a plot: direction and kind of memory.
type Way = (u8, &'static str);

pub(super) fn section(input: &ReportInput) -> Option<Section> {
    let plots: Vec<Markup> = (0..input.reported_devices.len())
        .flat_map(|reported_device| {
            [copies(input, reported_device), sweeps(input, reported_device)]
        })
        .flatten()
        .collect();
    if plots.is_empty() {
        return None;
    }
    let body = html! {
        p {
            "Bytes over the median time of one copy, with the range of the samples' 95 % intervals. Small copies cost the latency "
            "of a copy, large ones the link's bandwidth; pageable memory is copied once more by the driver."
        }
        div.plots { @for plot in &plots { (plot) } }
        (fits(input))
    };
    Some(Section { id: "transfers", title: "Transfers", body })
}

/// Points of the cases that time one copy of one size.
fn copies(input: &ReportInput, reported_device: usize) -> Option<Markup> {
    let mut lines: BTreeMap<Way, Vec<(f64, f64, [f64; 2])>> = BTreeMap::new();
    for row in input.of(reported_device) {
        let way = match row.key.measure {
            kind if kind == Kind::new("upload") => 0,
            kind if kind == Kind::new("download") => 1,
            _ => continue,
        };
        let (Some(time), Some(measured)) = (row.time, row.rounds().next()) else { continue };
        let memory = row.key.host_memory.map_or("", memory_label);
        let [low, high] = time.interval;
        let bytes = measured.bytes;
        lines.entry((way, memory)).or_default().push((
            bytes,
            bytes / time.value,
            [bytes / high, bytes / low],
        ));
    }
    figure(input, reported_device, "Copies", lines)
}

/// Points of the cases that sweep sizes and directions by themselves.
fn sweeps(input: &ReportInput, reported_device: usize) -> Option<Markup> {
    let mut lines: BTreeMap<Way, Vec<(f64, f64, [f64; 2])>> = BTreeMap::new();
    for (_, sweep) in details(input, reported_device) {
        for point in &sweep.points {
            let (way, copies) = match point.direction {
                Direction::Upload => (0, 1.0),
                Direction::Download => (1, 1.0),
                Direction::Both => (2, 2.0),
            };
            let Some(summary) = Summary::of(&point.samples) else { continue };
            let bytes = copies * point.bytes as f64;
            let [low, high] = summary.interval;
            lines.entry((way, memory_label(sweep.host_memory))).or_default().push((
                point.bytes as f64,
                bytes / summary.median,
                [bytes / high, bytes / low],
            ));
        }
    }
    figure(input, reported_device, "Either way and both at once", lines)
}

/// The first round's sweep of each case.
fn details<'m, 'a>(
    input: &'m ReportInput<'a>,
    reported_device: usize,
) -> impl Iterator<Item = (&'m Aggregate<'a>, Transfer)> {
    input.of(reported_device).filter(|row| row.outcome.is_ok() || row.time.is_some()).filter_map(
        |row| {
            row.records
                .iter()
                .find_map(|record| Some((row, record.detail.as_ref()?.read::<Transfer>()?)))
        },
    )
}

fn figure(
    input: &ReportInput,
    reported_device: usize,
    what: &str,
    mut lines: BTreeMap<Way, Vec<(f64, f64, [f64; 2])>>,
) -> Option<Markup> {
    lines.values_mut().for_each(|line| line.sort_by(|a, b| a.0.total_cmp(&b.0)));
    let xs = lines.values().flatten().map(|p| p.0);
    let ys = lines.values().flatten().flat_map(|(_, y, [low, high])| [*y, *low, *high]);
    let (x, y) = (Scale::log(xs.clone())?, Scale::log(ys)?);
    let who = &input.reported_devices[reported_device];
    let title = format!("{what}: {} {}", who.label, who.name);
    let names: Vec<String> =
        lines.keys().map(|(way, memory)| format!("{} {memory}", way_word(*way))).collect();
    let plot = Plot {
        description: format!("Bandwidth against the size of a copy: {}.", names.join(", ")),
        title,
        height: 240.0,
        x: Axis::new("bytes of one copy", x, bytes).at(round_sizes(xs)),
        y: Axis::new("B/s", y, short),
    };
    let looks = |&(way, memory): &Way| (look(memory), usize::from(way));
    let legend: Vec<Entry> = lines
        .keys()
        .zip(names)
        .map(|(way, text)| Entry { look: Look::Pair(looks(way).0, looks(way).1), text })
        .collect();
    let drawn = html! {
        @for (way, line) in &lines {
            @let (i, dashes) = looks(way);
            g class=(series(i)) {
                path.line.(dash(dashes)) d=(plot.line(line.iter().map(|p| (p.0, p.1)))) {}
                @for (x, y, [low, high]) in line {
                    path.whisker d={ "M" (num(plot.x(*x))) " " (num(plot.y(*low))) "V" (num(plot.y(*high))) } {}
                    path.mark d=(mark(i, plot.x(*x), plot.y(*y))) {}
                }
            }
        }
    };
    Some(plot.figure(&drawn, &legend))
}

fn way_word(way: u8) -> &'static str {
    ["upload", "download", "both"][usize::from(way.min(2))]
}

/// The kind of memory is the colour and mark, the direction the dashes.
fn look(memory: &str) -> usize {
    let kinds = [MemoryKind::Pageable, MemoryKind::Pinned, MemoryKind::Mapped].map(memory_label);
    kinds.iter().position(|kind| *kind == memory).unwrap_or(3)
}

fn bytes(value: f64) -> String {
    gpubench_core::units::Bytes(value as u64).to_string().replace(".00", "").replace(".0 ", " ")
}

/// Rates of the two directions while both run, where a clock distinguishes them.
fn meanwhile(fit: &TransferSummary) -> String {
    match fit.meanwhile {
        Some(Meanwhile::Rates(rates)) => rates.map(units::bandwidth).join(", "),
        Some(Meanwhile::Turns) => "take turns".into(),
        None => "–".into(),
    }
}

/// The sizes themselves, which are powers of two, thinned to about five.
fn round_sizes(sizes: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sizes: Vec<f64> = sizes.collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    let stride = sizes.len().div_ceil(5).max(1);
    sizes.into_iter().step_by(stride).collect()
}

fn fits(input: &ReportInput) -> Markup {
    let found: Vec<(usize, &Aggregate, Transfer, TransferSummary)> =
        (0..input.reported_devices.len())
            .flat_map(|reported_device| {
                details(input, reported_device).filter_map(move |(row, raw)| {
                    let summary = transfer(&raw).ok()?;
                    Some((reported_device, row, raw, summary))
                })
            })
            .collect();
    if found.is_empty() {
        return html! {};
    }
    let cell = |estimate: Estimate, unit: fn(f64) -> String| html! { td.n { (with_error(estimate, unit)) } };
    let table = html! {
        table {
            caption { "Latency and bandwidth fitted over the sizes of the first round, ± 95 %, and both directions at once at the largest size" }
            thead {
                tr {
                    th scope="col" { "device" }
                    th scope="col" { "memory" }
                    th.n scope="col" { "upload latency" }
                    th.n scope="col" { "upload bandwidth" }
                    th.n scope="col" { "download latency" }
                    th.n scope="col" { "download bandwidth" }
                    th.n scope="col" { "both at once" }
                    th.n scope="col" { "upload, download meanwhile" }
                    th.n scope="col" { "speedup" }
                }
            }
            tbody {
                @for (reported_device, _, raw, fit) in &found {
                    tr {
                        th scope="row" { (input.reported_devices[*reported_device].label) }
                        td { (memory_label(raw.host_memory)) }
                        (cell(fit.upload.latency, units::seconds))
                        (cell(fit.upload.bandwidth, units::bandwidth))
                        (cell(fit.download.latency, units::seconds))
                        (cell(fit.download.bandwidth, units::bandwidth))
                        td.n { (units::bandwidth(fit.both)) }
                        td.n { (meanwhile(fit)) }
                        td.n { (format!("{:.2} ×", fit.speedup)) }
                    }
                }
            }
        }
    };
    scroll("Fitted links", &table)
}
