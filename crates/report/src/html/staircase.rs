//! Time against the number of work-groups: how many run at once, and how many units there are.

use super::plot::{Axis, Entry, LOOKS, Look, Plot, dash, mark, plain, series, short};
use super::scale::Scale;
use super::{Section, name, scroll};
use crate::rows::Row;
use crate::subject::Material;
use gpubench_analysis::{Residency, Shape, StaircaseSummary, residency, staircase};
use gpubench_core::record::{Detail, Staircase};
use gpubench_core::text::printable;
use gpubench_core::units::{Bytes, seconds};
use maud::{Markup, html};

/// One staircase: of several rounds, the first that confirms its steps, or else the first.
struct Case<'m, 'a> {
    row: &'m Row<'a>,
    raw: &'a Staircase,
    summary: StaircaseSummary,
}

pub(super) fn section(material: &Material) -> Option<Section> {
    let devices: Vec<(usize, Vec<Case>)> = (0..material.subjects.len())
        .map(|subject| (subject, cases(material, subject)))
        .filter(|(_, cases)| !cases.is_empty())
        .collect();
    if devices.is_empty() {
        return None;
    }
    let body = html! {
        p {
            "Groups that only wait take one time as long as all of them run at once, and twice that from the first one on that has to wait. "
            "A step as wide as the device tells how many groups it holds; widths of groups of several sizes together tell its units."
        }
        div.plots { @for (subject, cases) in &devices { (plot(material, *subject, cases)) } }
        @for (subject, cases) in &devices {
            @let told = residency(cases.iter().map(|case| &case.summary));
            (scroll("Staircases", &table(&material.subjects[*subject].label, cases, told)))
            @if let Some(told) = told { p { (sentence(&told)) } }
        }
    };
    Some(Section { id: "staircases", title: "Groups at once", body })
}

fn cases<'m, 'a>(material: &'m Material<'a>, subject: usize) -> Vec<Case<'m, 'a>> {
    let of = |row: &'m Row<'a>| {
        let all = row.records.iter().filter_map(|record| match &record.detail {
            Some(Detail::Staircase(raw)) => Some(Case { row, raw, summary: staircase(raw)? }),
            _ => None,
        });
        // Of equals the last is taken: seen from behind, the first.
        all.rev().max_by_key(|case| case.summary.at_once().is_some())
    };
    material.of(subject).filter(|row| row.outcome.is_ok()).filter_map(of).collect()
}

/// What the staircases of a device tell model 7 of it.
pub(super) fn device(
    material: &Material,
    subject: usize,
) -> Option<gpubench_model::concurrency::Device> {
    let cases = cases(material, subject);
    let told = residency(cases.iter().map(|case| &case.summary))?;
    Some(told.device(material.subjects[subject].device))
}

fn plot(material: &Material, subject: usize, cases: &[Case]) -> Markup {
    let points = || cases.iter().flat_map(in_waves);
    let (Some(x), Some(y)) =
        (Scale::log(points().map(|p| p.0)), Scale::from_zero(points().map(|p| p.1)))
    else {
        return html! {};
    };
    let who = &material.subjects[subject];
    let plot = Plot {
        title: format!("{} {}", who.label, who.name),
        description: format!(
            "Fastest time of a launch, in times of a full wave, against its number of groups: {} staircases.",
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
    let least = |samples: &[f64]| samples.iter().copied().fold(f64::INFINITY, f64::min);
    let points = case.raw.points.iter();
    points.map(|(n, samples)| (f64::from(*n), least(samples) / case.summary.wave)).collect()
}

fn table(label: &str, cases: &[Case], told: Option<Residency>) -> Markup {
    html! {
        table {
            caption { "Staircases of " (label) }
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
                        td.n { @match (told, summary.at_once()) { (Some(told), Some(n)) => (n / told.units), _ => "–" } }
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
        Shape::Flat { most } => format!("more than {most}: no step seen"),
        Shape::Gradual { half } => format!("no step: time has risen by half at {half}"),
    }
}

fn sentence(told: &Residency) -> String {
    format!(
        "Together they tell of {} unit{}, each seen to hold {} groups, {} work-items and {} of local memory ({} staircase{}).",
        told.units,
        if told.units == 1 { "" } else { "s" },
        told.groups,
        told.work_items,
        Bytes(told.local_memory),
        told.staircases,
        if told.staircases == 1 { "" } else { "s" }
    )
}
