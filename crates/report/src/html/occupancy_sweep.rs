//! Time against the number of work-groups: how many run at once, and how many units there are.

use super::plot::{Axis, Entry, LOOKS, Look, Plot, dash, mark, plain, series, short};
use super::scale::Scale;
use super::{Section, name, scroll};
use crate::input::ReportInput;
use gpubench_analysis::Aggregate;
use gpubench_core::record::OccupancySweep;
use gpubench_core::text::printable;
use gpubench_core::units::{Bytes, seconds};
use gpubench_experiments::analysis::{
    OccupancySweepSummary, Residency, Shape, occupancy_sweep, residency,
};
use maud::{Markup, html};

/// One occupancy sweep: of several rounds, the first that confirms its steps, or else the first.
struct Case<'m, 'a> {
    row: &'m Aggregate<'a>,
    raw: OccupancySweep,
    summary: OccupancySweepSummary,
}

pub(super) fn section(input: &ReportInput) -> Option<Section> {
    let devices: Vec<(usize, Vec<Case>)> = (0..input.reported_devices.len())
        .map(|reported_device| (reported_device, cases(input, reported_device)))
        .filter(|(_, cases)| !cases.is_empty())
        .collect();
    if devices.is_empty() {
        return None;
    }
    let body = html! {
        p {
            "Groups that only wait take one time as long as all of them run at once, and twice that from the first one on that has to wait. "
            "A step as wide as the device shows how many groups it holds; widths of groups of several sizes together give its units."
        }
        div.plots { @for (reported_device, cases) in &devices { (plot(input, *reported_device, cases)) } }
        @for (reported_device, cases) in &devices {
            @let residency = residency(cases.iter().map(|case| &case.summary));
            (scroll("Occupancy sweeps", &table(&input.reported_devices[*reported_device].label, cases, residency)))
            @if let Some(residency) = residency { p { (sentence(&residency)) } }
        }
    };
    Some(Section { id: "occupancy", title: "Groups at once", body })
}

fn cases<'m, 'a>(input: &'m ReportInput<'a>, reported_device: usize) -> Vec<Case<'m, 'a>> {
    let of = |row: &'m Aggregate<'a>| {
        let all = row.records.iter().filter_map(|record| {
            let raw: OccupancySweep = record.detail.as_ref()?.read()?;
            Some(Case { row, summary: occupancy_sweep(&raw)?, raw })
        });
        // Of equals the last is taken: seen from behind, the first.
        all.rev().max_by_key(|case| case.summary.at_once().is_some())
    };
    input.of(reported_device).filter(|row| row.outcome.is_ok()).filter_map(of).collect()
}

/// What model 7 learns of a device from its occupancy sweeps.
pub(super) fn device(
    input: &ReportInput,
    reported_device: usize,
) -> Option<gpubench_model::concurrency::Device> {
    let cases = cases(input, reported_device);
    let residency = residency(cases.iter().map(|case| &case.summary))?;
    Some(residency.device(input.reported_devices[reported_device].device))
}

fn plot(input: &ReportInput, reported_device: usize, cases: &[Case]) -> Markup {
    let points = || cases.iter().flat_map(in_waves);
    let (Some(x), Some(y)) =
        (Scale::log(points().map(|p| p.0)), Scale::from_zero(points().map(|p| p.1)))
    else {
        return html! {};
    };
    let who = &input.reported_devices[reported_device];
    let plot = Plot {
        title: format!("{} {}", who.label, who.name),
        description: format!(
            "Fastest time of a launch, in times of a full wave, against its number of groups: {} sweeps.",
            cases.len()
        ),
        height: 240.0,
        x: Axis::new("work-groups", x, short),
        y: Axis::new("time of a launch, in full waves", y, plain),
    };
    let drawn = html! {
        @for (i, case) in cases.iter().enumerate() {
            @let line = in_waves(case);
            g class=(series(i)) {
                path.line.(dash(i / LOOKS)) d=(plot.line(line.iter().copied())) {}
                @for (x, y) in &line { path.mark d=(mark(i, plot.x(*x), plot.y(*y))) {} }
            }
        }
    };
    let legend: Vec<Entry> = cases
        .iter()
        .enumerate()
        .map(|(i, case)| Entry {
            look: Look::Joined(i),
            text: printable(&case.row.key.workload, 40),
        })
        .collect();
    plot.figure(&drawn, &legend)
}

/// Groups, and the fastest time over that of a full wave.
fn in_waves(case: &Case) -> Vec<(f64, f64)> {
    let min_seconds = |samples: &[f64]| samples.iter().copied().fold(f64::INFINITY, f64::min);
    let points = case.raw.points.iter();
    points.map(|(n, samples)| (f64::from(*n), min_seconds(samples) / case.summary.wave)).collect()
}

fn table(label: &str, cases: &[Case], residency: Option<Residency>) -> Markup {
    html! {
        table {
            caption { "Occupancy sweeps of " (label) }
            thead {
                tr {
                    th scope="col" { "workload" }
                    th.n scope="col" { "work-items" }
                    th.n scope="col" { "local memory" }
                    th scope="col" { "groups at once" }
                    th.n scope="col" { "a unit" }
                    th.n scope="col" { "a wave" }
                }
            }
            tbody {
                @for case in cases {
                    @let summary = &case.summary;
                    tr {
                        th.name scope="row" { (name(&printable(&case.row.key.workload, 80))) }
                        td.n { (summary.group_size) }
                        td.n { (Bytes(summary.local_bytes).to_string()) }
                        td.name { (shape(summary.shape)) }
                        td.n { @match (residency, summary.at_once()) { (Some(residency), Some(n)) => (n / residency.units), _ => "–" } }
                        td.n { (seconds(summary.wave)) }
                    }
                }
            }
        }
    }
}

fn shape(shape: Shape) -> String {
    match shape {
        Shape::Steps { at_once, confirmed: true } => at_once.to_string(),
        Shape::Steps { at_once, confirmed: false } => {
            format!("{at_once}? later steps do not confirm it")
        }
        Shape::Flat { max_tried } => format!("more than {max_tried}: no step seen"),
        Shape::Gradual { half } => format!("no step: time has risen by half at {half}"),
    }
}

fn sentence(residency: &Residency) -> String {
    format!(
        "Together they show {} unit{}, each seen to hold {} groups, {} work-items and {} of local memory ({} sweep{}).",
        residency.units,
        if residency.units == 1 { "" } else { "s" },
        residency.groups,
        residency.work_items,
        Bytes(residency.local_memory),
        residency.sweeps,
        if residency.sweeps == 1 { "" } else { "s" }
    )
}
