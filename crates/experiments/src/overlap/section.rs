//! What reports say of overlap: time against chunks, the best run's timeline, every run.

use super::analysis::{OverlapSummary, RunSummary, overlap};
use crate::engines::Engines;
use crate::overlap::data::{Overlap, OverlapRun};
use crate::results::{DetailedCase, detailed_cases, engines_of};
use crate::stages::{self, LITTLE};
use gpubench_analysis::ReportInput;
use gpubench_document::{
    Axis, Column, Direction, Plot, Quantity, Scale, Section, Sentence, Series, Style, Table,
    Timeline, Unit,
};
use gpubench_stats::Summary;

type Case<'m, 'a> = DetailedCase<'m, 'a, Overlap>;

/// One section a case.
pub(super) fn section(input: &ReportInput) -> Section {
    let section = Section::new("overlap", "Overlap").text(
        "A problem is cut into chunks, so that one chunk is copied while another is computed. \
         No overlap is the three stages one after the other, ideal overlap the longest of them. \
         The streams model sees only the isolated stages; the pipeline is fitted to the other runs.",
    );
    detailed_cases(input).filter_map(|case| one(input, &case)).fold(section, Section::section)
}

fn one(input: &ReportInput, case: &Case) -> Option<Section> {
    let summary = overlap(&case.data)?;
    let best = &summary.runs[summary.best];
    let run = case.data.runs.iter().find(|run| is(run, best));
    let runs = Section::new("runs", "All runs").folded().table(table(&summary));
    let engines = engines_of(input, case.row.device);
    Some(
        facts(case, &summary)
            .fact("copy_engines", "copy engines inferred", copy_engines(&engines))
            .plot(plot(&case.data, &summary))
            .timeline(run.and_then(timeline))
            .section(runs),
    )
}

fn is(run: &OverlapRun, summary: &RunSummary) -> bool {
    (run.chunks, run.queues) == (summary.chunks, summary.queues)
}

fn facts(case: &Case, summary: &OverlapSummary) -> Section {
    let best = &summary.runs[summary.best];
    let hidden = best.hidden_fraction.map_or_else(Sentence::new, |hidden| {
        Sentence::from(": hidden fraction ").value(hidden, Unit::Fraction)
    });
    let time = chunks(best).text(" in ").value(best.seconds, Unit::Seconds);
    case.section()
        .fact("worth", "worth it", worth(summary))
        .fact("best", "best", time.then(hidden))
        .fact("isolated", "isolated", stages::times(summary.stages))
        .fact("class", "class", stages::class(summary.class, case.data.host_memory))
        .fact(
            "concurrent",
            CONCURRENT,
            summary.hidden.map(|shares| {
                let shares = ["upload ", "kernel ", "download "].into_iter().zip(shares);
                Sentence::new().list(
                    ", ",
                    shares.map(|(stage, share)| Sentence::from(stage).value(share, Unit::Fraction)),
                )
            }),
        )
        .fact("held_out", HELD_OUT, summary.held_out)
}

const CONCURRENT: &str = "concurrent with another stage (by intervals, no speedup by itself)";
const HELD_OUT: &str = "accuracy of the pipeline on runs that it was not fitted to";

/// `4 chunks on 3 queues`.
fn chunks(run: &RunSummary) -> Sentence {
    let chunks = Sentence::new().counted(run.chunks.into(), "chunk").text(" on ");
    chunks.then(stages::queues(run.queues))
}

fn worth(summary: &OverlapSummary) -> Sentence {
    let verdict = if summary.ideal < LITTLE {
        "no: there is little to hide"
    } else if summary.gain >= LITTLE {
        "yes"
    } else {
        "no: this device hides little of it"
    };
    Sentence::from(verdict)
        .text(" (ideal overlap could save ")
        .value(summary.ideal, Unit::Fraction)
        .text(" of the serial time, kernel overlapped with copies only ")
        .value(summary.potential, Unit::Fraction)
        .text("; saved ")
        .value(summary.gain, Unit::Fraction)
        .text(")")
}

/// The number of copy engines, and what it is inferred from.
fn copy_engines(engines: &Engines) -> &'static str {
    match (engines.both_ways, engines.overlaps_kernels) {
        (Some(true), Some(true)) => "2 (both directions at once, and concurrently with kernels)",
        (Some(false), Some(true)) => {
            "1 (copies concurrent with kernels, but one direction at a time)"
        }
        (_, Some(false)) => "0 (no copy runs concurrently with a kernel)",
        (None, Some(true)) => {
            "at least 1 (copies run concurrently with kernels); copies of both directions determine it"
        }
        (Some(true), None) => {
            "2 (both directions at once); these runs hide too little to show more"
        }
        _ => "these runs do not show it",
    }
}

fn plot(raw: &Overlap, summary: &OverlapSummary) -> Plot {
    let x = Axis::new("chunks", Unit::Count, Scale::Log2);
    let y = Axis::new("time", Unit::Seconds, Scale::Linear);
    let max_queues = summary.runs.iter().map(|run| run.queues).max().unwrap_or(1);
    let best = &summary.runs[summary.best];
    let mut plot = Plot::new("against_chunks", "Time against chunks", x, y)
        .describe(
            Sentence::from("The best run, ")
                .then(chunks(best))
                .text(", took ")
                .value(best.seconds, Unit::Seconds)
                .text("."),
        )
        .tabled_in("runs");
    let mut counts: Vec<u32> = summary.runs.iter().map(|run| run.queues).collect();
    counts.sort_unstable();
    counts.dedup();
    for (look, &count) in counts.iter().rev().enumerate() {
        let mut measured =
            Series::new(Sentence::from("measured, ").then(stages::queues(count)), Style::Points)
                .look(look, 0);
        for run in summary.runs.iter().filter(|run| run.queues == count) {
            measured.point(run.chunks.into(), time(raw, run));
        }
        plot = plot.series(measured);
    }
    let line = |name, look, dash, value: fn(&RunSummary) -> Option<f64>| {
        let of = summary.runs.iter().filter(|run| run.queues == max_queues);
        let points = of.filter_map(|run| Some((f64::from(run.chunks), value(run)?)));
        Series::new(name, Style::Line).look(look, dash).points(points)
    };
    plot.series(line("streams model", 2, 1, |run| Some(run.streams)))
        .series(line("pipeline, fitted", 3, 2, |run| run.pipeline))
        .limit(Direction::Horizontal, summary.stages.serial(), "no overlap")
        .limit(Direction::Horizontal, summary.stages.longest(), "ideal overlap")
}

/// The median of a run, with the range of its samples.
fn time(raw: &Overlap, run: &RunSummary) -> Option<Quantity> {
    let samples = raw.runs.iter().find(|raw| is(raw, run))?;
    let summary = Summary::of(&samples.timed.walls)?;
    Quantity::between(run.seconds, [summary.min, summary.max])
}

/// What ran when in the fastest sample of a run.
fn timeline(run: &OverlapRun) -> Option<Timeline> {
    let track = |stage: &'static str| {
        let steps = run.timed.steps.iter().filter(|step| step.name.starts_with(stage));
        (stage.into(), steps.map(|step| (step.name.clone(), step.started, step.ended)).collect())
    };
    Timeline::new(
        "best_run",
        "Timeline of the best run",
        ["upload", "kernel", "download"].map(track),
    )
}

fn table(summary: &OverlapSummary) -> Table {
    let title = "Measured, the hidden fraction, and what models predicted";
    let table = Table::of(
        "runs",
        title,
        &summary.runs,
        [
            (Column::new("chunks", "chunks", Unit::Count), |run| u64::from(run.chunks).into()),
            (Column::new("queues", "queues", Unit::Count), |run| u64::from(run.queues).into()),
            (Column::new("seconds", "median", Unit::Seconds), |run| run.seconds.into()),
            (Column::new("hidden", "hidden", Unit::Fraction), |run| run.hidden_fraction.into()),
            (Column::new("streams", "streams model", Unit::Seconds), |run| run.streams.into()),
            (Column::new("pipeline", "pipeline", Unit::Seconds), |run| run.pipeline.into()),
        ],
    );
    table.with_best(summary.best, "seconds")
}
