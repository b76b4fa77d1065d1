//! What chunked runs say: what overlapping hid, what hid what, and how well models predicted it.

use super::rounds::CommonRounds;
use super::saving::{Compared, Saving, Share, is_evaluated};
use super::verdict::{Case, Verdict};
use crate::overlap::data::{Overlap, OverlapRun};
use crate::stages::{self, LITTLE};
use gpubench_core::record::NamedStep;
use gpubench_model::pipeline_fit::{Fitted, Run, fit};
use gpubench_model::schedule::Class;
use gpubench_model::streams::{self, Stages};
use gpubench_model::{accuracy, overlap_worth};

/// One chunked run and what models predicted.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSummary {
    /// Number of chunks.
    pub chunks: u32,
    /// Number of queues.
    pub queues: u32,
    /// Median seconds.
    pub seconds: f64,
    /// What it saved; without a hidden fraction where ideal overlap would hide too little.
    pub saving: Saving,
    /// What the equations of model 1 predict with both directions overlapped.
    pub streams: f64,
    /// What the fitted pipeline predicts.
    pub pipeline: Option<f64>,
}

/// The result of a case's overlap.
#[derive(Clone, Debug, PartialEq)]
pub struct OverlapSummary {
    /// Median seconds of each stage alone.
    pub stages: Stages,
    /// Every run.
    pub runs: Vec<RunSummary>,
    /// Position of the fastest run.
    pub best: usize,
    /// Share of each stage's time (upload, kernel, download) in the fastest run during which a
    /// step of another stage ran too, by the intervals of its steps. It is no gain by itself.
    pub hidden: Option<[f64; 3]>,
    /// What bounds the problem.
    pub class: Class,
    /// Turns in which everything was timed once, if it was, of all rounds.
    pub turns: Option<usize>,
    /// Rounds that count.
    pub rounds: usize,
    /// Whether it is worth it.
    pub verdict: Verdict,
    /// Share of the serial time that ideal overlap would save: all but the longest stage.
    pub ideal: Share,
    /// Share of it that hiding the kernel behind the copies, or them behind it, would save (model 2).
    pub potential: f64,
    /// The fitted device; an error where the runs are too few.
    pub fitted: Option<Fitted>,
    /// Mean accuracy of the pipeline on runs that its fit did not see, leaving one out in turn.
    pub held_out: Option<f64>,
    /// Those predictions, each with the seconds measured.
    pub unseen: Vec<[f64; 2]>,
}

/// Summarises a round's raw times; `None` where a stage or every run is missing.
pub fn overlap(raw: &Overlap) -> Option<OverlapSummary> {
    summary(raw, std::slice::from_ref(raw))
}

/// As [`overlap`], of all rounds of a case.
pub fn over_rounds(rounds: &CommonRounds) -> Option<OverlapSummary> {
    summary(&rounds.all, &rounds.rounds)
}

/// Of all turns, and of the rounds that they are of.
fn summary(all: &Overlap, rounds: &[Overlap]) -> Option<OverlapSummary> {
    let stages = stages::medians([&all.upload, &all.kernel, &all.download])?;
    let observed = observed(all, stages)?;
    let fitted = fit(&observed).ok();
    let compared = Compared::new(rounds);
    let ideal = compared.ideal()?;
    let runs = run_summaries(all, stages, fitted.as_ref(), &compared, ideal);
    let best = (0..runs.len()).min_by(|&a, &b| runs[a].seconds.total_cmp(&runs[b].seconds))?;
    let is_best =
        |run: &&OverlapRun| (run.chunks, run.queues) == (runs[best].chunks, runs[best].queues);
    let steps = all.runs.iter().find(is_best).map(|run| run.timed.steps.as_slice());
    let unseen = unseen(&observed).unwrap_or_default();
    let scores: Vec<f64> =
        unseen.iter().map(|&[predicted, measured]| accuracy(predicted, measured)).collect();
    let copies = stages.upload + stages.download;
    Some(OverlapSummary {
        hidden: steps.and_then(hidden),
        class: Class::of(stages),
        turns: all.turns.as_ref().map(|_| all.upload.walls.len()),
        rounds: rounds.len(),
        verdict: verdict(all, rounds.len(), &compared, ideal),
        ideal,
        potential: overlap_worth::potential(stages.kernel, copies, stages.serial()),
        held_out: (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64),
        unseen,
        stages,
        runs,
        best,
        fitted,
    })
}

/// The most queues that a run had.
fn max_queues(raw: &Overlap) -> Option<u32> {
    raw.runs.iter().map(|run| run.queues).max()
}

/// What the pipeline is fitted to: runs on as many queues as any had.
fn observed(raw: &Overlap, stages: Stages) -> Option<Vec<Run>> {
    let queues = max_queues(raw)?;
    let runs = raw.runs.iter().filter(|run| run.queues == queues);
    let of = |run: &OverlapRun| {
        Some(Run { whole: stages, chunks: run.chunks, seconds: run.timed.median()? })
    };
    Some(runs.filter_map(of).collect())
}

fn run_summaries(
    raw: &Overlap,
    stages: Stages,
    fitted: Option<&Fitted>,
    compared: &Compared,
    ideal: Share,
) -> Vec<RunSummary> {
    let queues = max_queues(raw);
    let pipeline = |run: &OverlapRun| {
        let fitted = fitted.filter(|_| Some(run.queues) == queues)?;
        Some(fitted.best.engines().makespan(&stages.equal_chunks(run.chunks)))
    };
    let of = |run: &OverlapRun| {
        let saving = compared.saving(run.chunks, run.queues);
        let hidden = saving.hidden.filter(|_| ideal.value >= LITTLE);
        Some(RunSummary {
            chunks: run.chunks,
            queues: run.queues,
            seconds: run.timed.median()?,
            saving: Saving { hidden, ..saving },
            streams: streams::total(stages, run.chunks, streams::Overlap::Both),
            pipeline: pipeline(run),
        })
    };
    raw.runs.iter().filter_map(of).collect()
}

fn verdict(raw: &Overlap, rounds: usize, compared: &Compared, ideal: Share) -> Verdict {
    let evaluated = raw.runs.iter().filter(|run| is_evaluated(run));
    let savings: Vec<Saving> =
        evaluated.map(|run| compared.saving(run.chunks, run.queues)).collect();
    let case = Case {
        in_turn: raw.turns.is_some(),
        rounds,
        turns: raw.upload.walls.len(),
        several_queues: max_queues(raw).is_some_and(|queues| queues > 1),
        ideal: Some(ideal),
        savings: &savings,
    };
    case.verdict()
}

/// The pipeline's prediction of each run, fitted to all others, and the run's own seconds.
fn unseen(runs: &[Run]) -> Option<Vec<[f64; 2]>> {
    let each = (0..runs.len()).map(|held_out| {
        let others: Vec<Run> =
            runs.iter().enumerate().filter(|(i, _)| *i != held_out).map(|(_, r)| *r).collect();
        let run = runs[held_out];
        let engines = fit(&others).ok()?.best.engines();
        Some([engines.makespan(&run.whole.equal_chunks(run.chunks)), run.seconds])
    });
    each.collect()
}

/// Share of each stage's time during which a step of another stage ran too.
pub fn hidden(steps: &[NamedStep]) -> Option<[f64; 3]> {
    if steps.is_empty() {
        return None;
    }
    let shares = ["upload", "kernel", "download"].map(|stage| {
        let (own, others): (Vec<_>, Vec<_>) = steps.iter().partition(|s| s.name.starts_with(stage));
        let total: f64 = own.iter().map(|s| s.ended - s.started).sum();
        let busy = union(&others);
        let hidden: f64 = own.iter().map(|step| covered(step, &busy)).sum();
        if total > 0.0 { hidden / total } else { 0.0 }
    });
    Some(shares)
}

/// The intervals of `steps`, merged where they touch.
fn union(steps: &[&NamedStep]) -> Vec<(f64, f64)> {
    let mut intervals: Vec<(f64, f64)> = steps.iter().map(|s| (s.started, s.ended)).collect();
    intervals.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut merged: Vec<(f64, f64)> = Vec::new();
    for (start, end) in intervals {
        match merged.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}

/// Seconds of `step` that lie within `busy`.
fn covered(step: &NamedStep, busy: &[(f64, f64)]) -> f64 {
    busy.iter().map(|&(start, end)| (step.ended.min(end) - step.started.max(start)).max(0.0)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overlap::testing::{EVEN, case, slower};
    use crate::overlap::verdict::{Because, Settled};
    use gpubench_model::schedule::Heavy;

    #[test]
    fn two_engines_are_recognised_and_their_saving_is_reported() {
        let summary = overlap(&case(EVEN, 2, 0.0)).unwrap();
        assert_eq!(summary.fitted.as_ref().unwrap().engines, Some(2));
        let best = &summary.runs[summary.best];
        assert_eq!((best.chunks, best.queues), (64, 3));
        let [low, high] = best.saving.hidden.unwrap().interval.unwrap();
        assert!(low > 0.9 && high <= 1.0, "{summary:?}");
        assert!(summary.held_out.unwrap() > 0.99);
        assert_eq!(summary.class, Class { kernel_bound: true, heavy: Heavy::General });
        assert_eq!((summary.verdict, summary.turns), (Verdict::Yes, Some(15)));
    }

    #[test]
    fn engines_are_worth_it_under_noise_and_one_queue_never_is() {
        for noise in [0.01, 0.05, 0.2] {
            assert_eq!(overlap(&case(EVEN, 2, noise)).unwrap().verdict, Verdict::Yes);
            let one_queue = overlap(&case(EVEN, 0, noise)).unwrap();
            assert_eq!(one_queue.verdict, Verdict::No(Because::OneQueue));
            assert!(one_queue.runs.iter().all(|run| run.saving.hidden.is_none()));
        }
        // A saving of 14 % at most under noise of 30 %.
        let little = Stages { upload: 4e-4, kernel: 5e-3, download: 4e-4 };
        let summary = overlap(&case(little, 2, 0.3)).unwrap();
        assert!(matches!(summary.verdict, Verdict::Unknown(_)), "{:?}", summary.verdict);
    }

    #[test]
    fn what_chunks_save_on_one_queue_too_is_no_overlap() {
        let mut raw = case(EVEN, 2, 0.01);
        // The same chunks in order take as long as on three queues.
        for i in 0..raw.runs.len() {
            if raw.runs[i].queues == 1 && raw.runs[i].chunks > 1 {
                raw.runs[i].timed = raw.runs[i - 1].timed.clone();
            }
        }
        assert_eq!(overlap(&raw).unwrap().verdict, Verdict::No(Because::LittleHidden));
    }

    #[test]
    fn rounds_that_differ_are_less_sure_than_the_turns_of_any() {
        let raw = case(EVEN, 2, 0.01);
        let of =
            |rounds: &[Overlap]| over_rounds(&CommonRounds::of(rounds.to_vec()).unwrap()).unwrap();
        // Either round by itself is sure, and so would both be as one sample: but two rounds that differ by a fifth
        // do not say where a third will be.
        let other = slower(&raw, 1.2);
        assert_eq!([&raw, &other].map(|round| overlap(round).unwrap().verdict), [Verdict::Yes; 2]);
        let both = of(&[raw.clone(), other]);
        assert!(
            matches!(both.verdict, Verdict::Unknown(Settled::ByMoreRounds(Some(3..)))),
            "{:?}",
            both.verdict
        );
        assert_eq!((both.rounds, both.turns), (2, Some(30)));
        let [low, high] = both.runs[both.best].saving.in_order.unwrap().interval.unwrap();
        assert!(low < 0.0 && high > 0.6, "{low} {high}");
        // Rounds that agree say as much as before.
        let alike = of(&[slower(&raw, 1.001), raw.clone(), slower(&raw, 0.999)]);
        assert_eq!((alike.verdict, alike.rounds), (Verdict::Yes, 3));
    }

    #[test]
    fn a_case_that_was_not_timed_in_turn_is_undecided() {
        let old = Overlap { turns: None, ..case(EVEN, 2, 0.01) };
        assert_eq!(overlap(&old).unwrap().verdict, Verdict::Unknown(Settled::ByARunInTurn));
    }

    #[test]
    fn copies_that_hide_each_other_are_a_saving_though_the_kernel_is_tiny() {
        let stages = Stages { upload: 5e-3, kernel: 1e-4, download: 5e-3 };
        let summary = overlap(&case(stages, 2, 0.0)).unwrap();
        assert!(summary.potential < LITTLE && summary.ideal.value > 0.45, "{summary:?}");
        assert_eq!(summary.verdict, Verdict::Yes);
        assert!(summary.runs[summary.best].saving.hidden.unwrap().value > 0.9);
    }

    #[test]
    fn where_one_stage_is_nearly_all_there_is_no_hidden_fraction() {
        let stages = Stages { upload: 1e-4, kernel: 5e-3, download: 1e-4 };
        let summary = overlap(&case(stages, 2, 0.0)).unwrap();
        assert_eq!(summary.verdict, Verdict::No(Because::LittleToHide));
        assert!(summary.runs.iter().all(|run| run.saving.hidden.is_none()));
    }

    #[test]
    fn hidden_shares_count_each_moment_once() {
        let step =
            |name: &str, started, ended| NamedStep { name: name.into(), queue: 0, started, ended };
        let steps = [
            step("upload 0", 0.0, 2.0),
            step("kernel 0", 1.0, 3.0),
            step("kernel 1", 1.5, 4.0),
            step("download 0", 5.0, 6.0),
        ];
        let [upload, kernel, download] = hidden(&steps).unwrap();
        assert_eq!(upload, 0.5);
        assert!((kernel - 1.5 / 4.5).abs() < 1e-12);
        assert_eq!(download, 0.0);
    }
}
