//! Copies beside kernels: time against chunks, what models predicted, and the best run's timeline.

use super::plot::{
    Axis, Entry, Look, Plot, WIDTH, figure as draw, mark, num, series, short_seconds,
};
use super::scale::Scale;
use super::{Section, name as breaking, scroll};
use crate::detail::{engines_words, percent, queue_count_label, worth_words};
use crate::input::ReportInput;
use crate::labels;
use crate::schedule::class_words;
use gpubench_analysis::Aggregate;
use gpubench_core::record::{Detail, NamedStep, Overlap};
use gpubench_core::text::counted;
use gpubench_core::units::seconds;
use gpubench_experiments::analysis::{Engines, OverlapSummary, RunSummary, engines, overlap};
use gpubench_stats::Summary;
use maud::{Markup, html};

/// One case on one device, of the first round that was measured.
struct Case<'m, 'a> {
    row: &'m Aggregate<'a>,
    raw: Overlap,
    summary: OverlapSummary,
    /// What all details of the device say.
    engines: Engines,
}

pub(super) fn section(input: &ReportInput) -> Option<Section> {
    let cases: Vec<Case> = input
        .rows
        .iter()
        .filter(|row| row.time.is_some())
        .filter_map(|row| {
            let raw =
                row.records.iter().find_map(|record| record.detail.as_ref()?.read::<Overlap>())?;
            let of_device = input.rows.iter().filter(|other| other.device == row.device);
            let records = of_device.flat_map(|other| &other.records);
            let all: Vec<&Detail> = records.filter_map(|record| record.detail.as_ref()).collect();
            Some(Case { row, summary: overlap(&raw)?, raw, engines: engines(&all) })
        })
        .collect();
    if cases.is_empty() {
        return None;
    }
    let body = html! {
        p {
            "A problem is cut into chunks, so that one chunk can be copied while another is computed. "
            "The dashed limits are the three stages one after the other (no overlap) and the longest of them (ideal overlap). "
            "Models see only the stages measured alone, and, fitted, the other runs."
        }
        @for case in &cases { (details(input, case)) }
    };
    Some(Section { id: "overlap", title: "Overlap", body })
}

fn details(input: &ReportInput, case: &Case) -> Markup {
    let label = &input.reported_devices[case.row.device].label;
    let name = labels::workload_name(case.row.key, 100);
    html! {
        h3 { (breaking(&name)) " " (labels::size(case.row.key)) " on " (label) }
        div.plots { (against_chunks(case)) (timeline(case)) }
        (facts(case))
        details {
            summary { h4 { "All runs" } span { (case.summary.runs.len()) " runs" } }
            (scroll(&format!("Runs of {name}"), &table(case)))
        }
    }
}

fn facts(case: &Case) -> Markup {
    let summary = &case.summary;
    let best = &summary.runs[summary.best];
    html! {
        dl.facts {
            dt { "worth it?" } dd { (worth_words(summary)) }
            dt { "best" } dd {
                (counted(best.chunks as usize, "chunk")) " on " (queue_count_label(best.queues)) ": " (seconds(best.seconds))
                @if best.hidden_fraction.is_some() { ", hidden fraction " (percent(best.hidden_fraction)) }
            }
            dt { "alone" } dd { "upload " (seconds(summary.stages.upload)) ", kernel " (seconds(summary.stages.kernel)) ", download " (seconds(summary.stages.download)) }
            dt { "class" } dd { (class_words(summary.class)) ", " (labels::memory_label(case.raw.host_memory)) " memory" }
            dt { "copy engines" } dd { (engines_words(&case.engines)) }
        }
    }
}

fn against_chunks(case: &Case) -> Markup {
    let summary = &case.summary;
    let max_lanes = summary.runs.iter().map(|run| run.queues).max().unwrap_or(1);
    let (serial, longest) = (summary.stages.serial(), summary.stages.longest());
    let predicted = summary.runs.iter().flat_map(|run| [Some(run.streams), run.pipeline]).flatten();
    let measured = summary.runs.iter().map(|run| run.seconds);
    let chunks = || summary.runs.iter().map(|run| f64::from(run.chunks));
    let (Some(x), Some(y)) =
        (Scale::log(chunks()), Scale::from_zero(measured.chain(predicted).chain([serial])))
    else {
        return html! {};
    };
    let best = &summary.runs[summary.best];
    let plot = Plot {
        title: "Time against chunks".into(),
        description: format!(
            "One after the other {}, ideal {}; the best run of {} chunks took {}.",
            seconds(serial),
            seconds(longest),
            best.chunks,
            seconds(best.seconds)
        ),
        height: 240.0,
        x: Axis::new("chunks", x, |v| format!("{v}")).at(chunks()),
        y: Axis::new("time", y, short_seconds),
    };
    let one_queue = summary.runs.iter().any(|run| run.queues < max_lanes);
    let fitted = summary.runs.iter().any(|run| run.pipeline.is_some());
    let line = |value: fn(&RunSummary) -> Option<f64>| {
        let of = summary.runs.iter().filter(|run| run.queues == max_lanes);
        plot.line(of.filter_map(|run| Some((f64::from(run.chunks), value(run)?))))
    };
    let drawn = html! {
        @for limit in [serial, longest] {
            path.limit d={ "M" (num(plot.x(0.0))) " " (num(plot.y(limit))) "H" (num(plot.x(f64::INFINITY))) } {}
        }
        g.(series(2)) { path.line.(super::plot::dash(1)) d=(line(|run| Some(run.streams))) {} }
        g.(series(3)) { path.line.(super::plot::dash(2)) d=(line(|run| run.pipeline)) {} }
        @for run in &summary.runs { (measured_run(&plot, case, run, max_lanes)) }
    };
    let mut legend = vec![Entry {
        look: Look::Marks(0),
        text: format!("measured, {}", queue_count_label(max_lanes)),
    }];
    if one_queue {
        legend.push(Entry { look: Look::Marks(1), text: "measured, one queue".into() });
    }
    legend.push(Entry { look: Look::Pattern(2, 1), text: "model streams".into() });
    if fitted {
        legend.push(Entry { look: Look::Pattern(3, 2), text: "pipeline, fitted".into() });
    }
    legend.push(Entry { look: Look::Limit, text: "no overlap; ideal".into() });
    plot.figure(&drawn, &legend)
}

fn measured_run(plot: &Plot, case: &Case, run: &RunSummary, max_lanes: u32) -> Markup {
    let raw = case.raw.runs.iter().find(|r| r.chunks == run.chunks && r.queues == run.queues);
    let range = raw.and_then(|r| Summary::of(&r.timed.walls)).map(|s| [s.min, s.max]);
    let look = usize::from(run.queues != max_lanes);
    let x = plot.x(f64::from(run.chunks)) + 3.0 * look as f64;
    html! {
        g class=(series(look)) {
            @if let Some([low, high]) = range {
                path.whisker d={ "M" (num(x)) " " (num(plot.y(low))) "V" (num(plot.y(high))) } {}
            }
            path.mark d=(mark(look, x, plot.y(run.seconds))) {}
        }
    }
}

const STAGES: [&str; 3] = ["upload", "kernel", "download"];

/// What ran when in the fastest sample of the best run.
fn timeline(case: &Case) -> Markup {
    let best = &case.summary.runs[case.summary.best];
    let raw = case.raw.runs.iter().find(|r| r.chunks == best.chunks && r.queues == best.queues);
    let steps = raw.map_or(&[][..], |run| run.timed.steps.as_slice());
    let start = steps.iter().map(|s| s.started).fold(f64::INFINITY, f64::min);
    let end = steps.iter().map(|s| s.ended).fold(f64::NEG_INFINITY, f64::max);
    if end.is_nan() || end <= start {
        return html! {};
    }
    const LEFT: f64 = 62.0;
    const RIGHT: f64 = 12.0;
    const ROW: f64 = 44.0;
    let scale = Scale::Linear(0.0, end - start);
    let place = |t: f64| LEFT + scale.place(t - start) * (WIDTH - LEFT - RIGHT);
    let bottom = 12.0 + ROW * 3.0;
    let bar = |row: usize, step: &NamedStep| {
        let (x, end) = (place(step.started), place(step.ended));
        let y = 12.0 + ROW * row as f64 + 6.0;
        html! {
            rect.area x=(num(x)) y=(num(y)) width=(num((end - x).max(0.7))) height=(num(ROW - 12.0)) {
                title { (gpubench_core::text::printable(&step.name, 60)) ": " (seconds(step.ended - step.started)) }
            }
        }
    };
    let drawing = html! {
        @for (row, stage) in STAGES.iter().enumerate() {
            @let y = 12.0 + ROW * row as f64;
            rect.band x=(num(LEFT)) y=(num(y + 3.0)) width=(num(WIDTH - LEFT - RIGHT)) height=(num(ROW - 6.0)) {}
            text.end x=(num(LEFT - 6.0)) y=(num(y + ROW / 2.0 + 4.0)) { (stage) }
            g class=(series(row)) {
                @for step in steps.iter().filter(|s| s.name.starts_with(stage)) { (bar(row, step)) }
            }
        }
        @for tick in scale.ticks(4) {
            text.tick.mid x=(num(place(start + tick).min(WIDTH - 20.0))) y=(num(bottom + 14.0)) { (short_seconds(tick)) }
        }
        text.title.end x=(num(WIDTH - RIGHT)) y=(num(bottom + 32.0)) { "time" }
    };
    let description = format!(
        "{} steps in {} between the first start and the last end: {}",
        steps.len(),
        seconds(end - start),
        STAGES
            .map(|stage| {
                let count = steps.iter().filter(|s| s.name.starts_with(stage)).count();
                format!("{count} × {stage}")
            })
            .join(", ")
    );
    let title = format!(
        "Timeline of the best run: {} on {}",
        counted(best.chunks as usize, "chunk"),
        queue_count_label(best.queues)
    );
    draw(&title, &description, bottom + 38.0, &drawing, &[])
}

fn table(case: &Case) -> Markup {
    html! {
        table {
            caption { "Measured, and what models predicted" }
            thead {
                tr {
                    th.n scope="col" { "chunks" }
                    th.n scope="col" { "queues" }
                    th.n scope="col" { "median" }
                    th.n scope="col" { "hidden fraction" }
                    th.n scope="col" { "model streams" }
                    th.n scope="col" { "pipeline, fitted" }
                }
            }
            tbody {
                @for run in &case.summary.runs {
                    tr {
                        th.n scope="row" { (run.chunks) }
                        td.n { (run.queues) }
                        td.n { (seconds(run.seconds)) }
                        td.n { (percent(run.hidden_fraction)) }
                        td.n { (seconds(run.streams)) }
                        td.n { @if let Some(time) = run.pipeline { (seconds(time)) } @else { "–" } }
                    }
                }
            }
        }
    }
}
