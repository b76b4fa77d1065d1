//! What reports say of overlap: time against chunks, the best run's timeline, every run.

use super::analysis::{OverlapSummary, RunSummary, over_rounds};
use super::rounds::{CommonRounds, Uncounted};
use super::saving::Share;
use super::verdict::{Because, Settled, Verdict};
use crate::engines::Engines;
use crate::overlap::data::{Overlap, OverlapRun};
use crate::results::{DetailedCase, detailed_cases, engines_of, quantity, rounds};
use crate::stages;
use gpubench_analysis::ReportInput;
use gpubench_core::record::Timed;
use gpubench_document::{
    Axis, Cell, Column, Direction, Plot, Quantity, Scale, Section, Sentence, Series, Style, Table,
    Timeline, Unit,
};
use gpubench_stats::Summary;

type Case<'m, 'a> = DetailedCase<'m, 'a, Overlap>;

/// One section a case.
pub(super) fn section(input: &ReportInput) -> Section {
    let section = Section::new("overlap", "Overlap").text(
        "A problem is cut into chunks, so that one chunk is copied while another is computed. \
         No overlap is the three stages one after the other, ideal overlap the longest of them. \
         Everything is timed once in every turn; intervals are of a round's turns, or between rounds where there are several, and hold \
         for each column over all runs on several queues at once. \
         It is worth it where chunks on several queues take at least 5 % less time than the whole in order, and than \
         the same chunks on one queue. \
         The streams model sees only the isolated stages; the pipeline is fitted to the other runs.",
    );
    let of = |case: Case<'_, '_>| {
        let rounds = CommonRounds::of(rounds(case.row))?;
        one(input, &case.with(rounds))
    };
    detailed_cases::<Overlap>(input).filter_map(of).fold(section, Section::section)
}

fn one(input: &ReportInput, case: &DetailedCase<CommonRounds>) -> Option<Section> {
    let summary = over_rounds(&case.data)?;
    let raw = &case.data.all;
    let best = &summary.runs[summary.best];
    let run = raw.runs.iter().find(|run| is(run, best));
    let runs = Section::new("runs", "All runs").folded().table(table(&summary));
    let engines = engines_of(input, case.row.device);
    Some(
        facts(case, &summary)
            .fact("copy_engines", "copy engines inferred", copy_engines(&engines))
            .plot(plot(raw, &summary))
            .timeline(run.and_then(timeline))
            .section(runs),
    )
}

fn is(run: &OverlapRun, summary: &RunSummary) -> bool {
    (run.chunks, run.queues) == (summary.chunks, summary.queues)
}

fn facts(case: &DetailedCase<CommonRounds>, summary: &OverlapSummary) -> Section {
    let best = &summary.runs[summary.best];
    let hidden = best.saving.hidden.map(|hidden| share(": hidden fraction ", hidden));
    let time = chunks(best).text(" in ").value(best.seconds, Unit::Seconds);
    case.section()
        .fact("worth", "worth it", worth(summary))
        .fact("settled", "what would settle it", settled(&case.data.all, summary))
        .fact("best", "best", time.then(hidden.unwrap_or_default()))
        .fact("saving", "saved", saving(best))
        .fact("ideal", "ideal overlap could save", ideal(summary))
        .fact("turns", "timed in turn", turns(&case.data, summary))
        .fact("uncounted", "rounds that do not count", uncounted(case.data.uncounted))
        .fact("isolated", "isolated", stages::times(summary.stages))
        .fact("class", "class", stages::class(summary.class, case.data.all.host_memory))
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

fn worth(summary: &OverlapSummary) -> &'static str {
    match summary.verdict {
        Verdict::Yes => "yes",
        Verdict::No(Because::OneQueue) => {
            "no: the device has one queue, which runs everything in order"
        }
        Verdict::No(Because::LittleToHide) => "no: there is little to hide",
        Verdict::No(Because::LittleHidden) => "no: this device hides little of it",
        Verdict::Unknown(Settled::ByARunInTurn) => {
            "undecided: stages and runs were timed one behind the other"
        }
        Verdict::Unknown(Settled::ByComparison) => {
            "undecided: chunks on several queues have nothing to be compared with"
        }
        Verdict::Unknown(Settled::ByEnoughTurns(_)) => {
            "undecided: the time budget allows too few turns for an interval"
        }
        Verdict::Unknown(Settled::ByMoreTurns(_)) => {
            "undecided: the intervals hold both yes and no"
        }
        Verdict::Unknown(Settled::ByMoreRounds(_)) => {
            "undecided: the intervals between rounds hold both yes and no"
        }
    }
}

/// The turns or rounds that would settle what is undecided, and their time.
fn settled(raw: &Overlap, summary: &OverlapSummary) -> Option<Sentence> {
    let Verdict::Unknown(settled) = summary.verdict else { return None };
    let turn: f64 = raw.timed().filter_map(Timed::median).sum();
    let turns = summary.turns.unwrap_or(0) as f64;
    Some(match settled {
        Settled::ByARunInTurn => "a run by this gpubench, which times them in turn".into(),
        Settled::ByComparison => {
            "several chunks on several queues, and the same on one, that take time".into()
        }
        Settled::ByMoreTurns(None) => {
            "no number of turns: the saving is as good as at the limit of 5 %".into()
        }
        Settled::ByMoreRounds(None) => {
            "no number of rounds: the saving is as good as at the limit of 5 %".into()
        }
        Settled::ByEnoughTurns(wanted) | Settled::ByMoreTurns(Some(wanted)) => {
            in_place_of(wanted, "turn", turns).value(wanted as f64 * turn, Unit::Seconds).text(
                " of sampling (`--rounds N` where a round converges before that; intervals are between rounds then)",
            )
        }
        Settled::ByMoreRounds(Some(wanted)) => {
            let rounds = summary.rounds as f64;
            in_place_of(wanted, "round", rounds)
                .value(wanted as f64 * turns / rounds * turn, Unit::Seconds)
                .text(" of sampling (`--rounds N`)")
        }
    })
}

/// `about 40 turns in place of 10: `.
fn in_place_of(wanted: usize, thing: &'static str, had: f64) -> Sentence {
    let wanted = Sentence::from("about ").counted(wanted as u64, thing);
    wanted.text(" in place of ").value(had, Unit::Count).text(": ")
}

/// What the best run saved, of the time of the whole in order and of the same chunks in order.
fn saving(best: &RunSummary) -> Option<Sentence> {
    let saving = share("", best.saving.in_order?).text(" of the time in order");
    Some(match best.saving.same_chunks {
        Some(same) => {
            saving.then(share(", ", same)).text(" of that of the same chunks on one queue")
        }
        None => saving,
    })
}

fn ideal(summary: &OverlapSummary) -> Sentence {
    share("", summary.ideal)
        .text(" of the serial time, kernel overlapped with copies only ")
        .value(summary.potential, Unit::Fraction)
}

/// How often everything was timed, what the intervals leave out, and what there was no time for.
fn turns(rounds: &CommonRounds, summary: &OverlapSummary) -> Option<Sentence> {
    let turns = Sentence::new().counted(summary.turns? as u64, "turn").text(" in ");
    let turns = match summary.rounds {
        1 => turns.text("one round: its intervals say nothing of what another would measure"),
        several => turns.counted(several as u64, "round"),
    };
    if rounds.skipped.is_empty() {
        return Some(turns);
    }
    let counts = rounds.skipped.iter();
    let counts = counts.map(|&chunks| Sentence::new().value(chunks.into(), Unit::Count));
    let no_time = match summary.rounds {
        1 => "; no time for ",
        _ => "; no time in every round for ",
    };
    Some(turns.text(no_time).list(", ", counts).text(" chunks"))
}

/// How many rounds do not count, and why.
fn uncounted(uncounted: Uncounted) -> Option<Sentence> {
    let reasons = [
        (uncounted.not_in_turn, " timed stages and runs one behind the other"),
        (uncounted.nothing_common, " timed no run that the others did"),
    ];
    let reasons: Vec<Sentence> = reasons
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, reason)| Sentence::new().value(count as f64, Unit::Count).text(reason))
        .collect();
    (!reasons.is_empty()).then(|| Sentence::new().list(", ", reasons))
}

/// A share with its interval, where the turns give one.
fn share(before: &'static str, share: Share) -> Sentence {
    Sentence::from(before).quantity(quantity(share.value, share.interval), Unit::Fraction)
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
        let name = Sentence::from("measured, ").then(stages::queues(count));
        let runs = summary.runs.iter().filter(|run| run.queues == count);
        let points = runs.map(|run| (run.chunks.into(), time(raw, run)));
        plot = plot.series(Series::new(name, Style::Points).look(look, 0).quantities(points));
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
    let title = "Measured, what it saved against the whole and against the same chunks in order, the hidden \
                 fraction, and what models predicted";
    Table::of("runs", title, &summary.runs)
        .column(Column::new("chunks", "chunks", Unit::Count), |run| u64::from(run.chunks))
        .column(Column::new("queues", "queues", Unit::Count), |run| u64::from(run.queues))
        .column(Column::new("seconds", "median", Unit::Seconds), |run| run.seconds)
        .column(Column::new("saving", "saved", Unit::Fraction), |run| cell(run.saving.in_order))
        .column(Column::new("same_chunks", "than on one queue", Unit::Fraction), |run| {
            cell(run.saving.same_chunks)
        })
        .column(Column::new("hidden", "hidden", Unit::Fraction), |run| cell(run.saving.hidden))
        .column(Column::new("streams", "streams model", Unit::Seconds), |run| run.streams)
        .column(Column::new("pipeline", "pipeline", Unit::Seconds), |run| run.pipeline)
        .table()
        .with_best(summary.best, "seconds")
}

fn cell(share: Option<Share>) -> Cell {
    share.and_then(|of| quantity(of.value, of.interval)).into()
}

#[cfg(test)]
mod tests {
    use super::super::Overlap as Experiment;
    use super::super::testing::{EVEN, case, slower};
    use super::*;
    use crate::results::testing::{record_of, section_of_records};
    use gpubench_core::record::{Record, sample};

    /// What the report says of these rounds of a case.
    fn said(rounds: &[Overlap]) -> String {
        let record = |(round, data): (u32, &Overlap)| Record {
            round,
            ..record_of::<Experiment>(sample::key("sample", 8), data)
        };
        let records: Vec<Record> = (0..).zip(rounds).map(record).collect();
        let section = section_of_records::<Experiment>(&records).unwrap();
        gpubench_report::render::text::section(&section, None)
    }

    #[test]
    fn one_round_says_that_its_intervals_are_its_own() {
        let text = said(&[case(EVEN, 2, 0.01)]);
        let wanted = "timed in turn: 15 turns in one round: its intervals say nothing of what another would measure\n";
        assert!(text.contains(wanted) && !text.contains("do not count"), "{text}");
    }

    #[test]
    fn rounds_with_other_chunks_count_and_what_does_not_is_named() {
        let raw = case(EVEN, 2, 0.01);
        let mut short = raw.clone();
        short.runs.retain(|run| run.chunks != 2);
        short.turns.as_mut().unwrap().skipped = vec![2];
        let old = Overlap { turns: None, ..raw.clone() };
        let text = said(&[raw.clone(), short, old, raw]);
        for wanted in [
            "worth it: yes\n",
            "timed in turn: 45 turns in 3 rounds; no time in every round for 2 chunks\n",
            "rounds that do not count: 1 timed stages and runs one behind the other\n",
        ] {
            assert!(text.contains(wanted), "{wanted}: {text}");
        }
    }

    #[test]
    fn rounds_that_differ_ask_for_more_of_them() {
        let raw = case(EVEN, 2, 0.0);
        let text = said(&[raw.clone(), slower(&raw, 1.2)]);
        let undecided = "worth it: undecided: the intervals between rounds hold both yes and no\n";
        assert!(text.contains(undecided), "{text}");
        let wanted = "what would settle it: about 3 rounds in place of 2: ";
        assert!(text.contains(wanted) && text.contains(" of sampling (`--rounds N`)\n"), "{text}");
    }
}
