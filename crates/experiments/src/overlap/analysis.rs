//! What chunked runs say: what overlapping hid, what hid what, and how well models predicted it.

use super::saving::{Compared, Saving, Share, is_evaluated};
use super::verdict::{Case, Verdict};
use crate::overlap::data::Overlap;
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
    /// Turns in which everything was timed once, if it was.
    pub turns: Option<usize>,
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

/// Puts a case's raw times together; `None` where a stage or every run is missing.
pub fn overlap(raw: &Overlap) -> Option<OverlapSummary> {
    let stages = stages::medians([&raw.upload, &raw.kernel, &raw.download])?;
    let queues = raw.runs.iter().map(|run| run.queues).max()?;
    let observed: Vec<Run> = raw
        .runs
        .iter()
        .filter(|run| run.queues == queues)
        .filter_map(|run| {
            Some(Run { whole: stages, chunks: run.chunks, seconds: run.timed.median()? })
        })
        .collect();
    let fitted = fit(&observed).ok();
    let serial = stages.serial();
    let compared = Compared::new(raw);
    let ideal = compared.ideal()?;
    let runs: Vec<RunSummary> =
        raw.runs
            .iter()
            .filter_map(|run| {
                let saving = compared.saving(run);
                let hidden = saving.hidden.filter(|_| ideal.value >= LITTLE);
                Some(RunSummary {
                    chunks: run.chunks,
                    queues: run.queues,
                    seconds: run.timed.median()?,
                    saving: Saving { hidden, ..saving },
                    streams: streams::total(stages, run.chunks, streams::Overlap::Both),
                    pipeline: fitted.as_ref().filter(|_| run.queues == queues).map(|fitted| {
                        fitted.best.engines().makespan(&stages.equal_chunks(run.chunks))
                    }),
                })
            })
            .collect();
    let turns = raw.turns.as_ref().map(|_| raw.upload.walls.len());
    let evaluated = raw.runs.iter().filter(|run| is_evaluated(run));
    let savings: Vec<Saving> = evaluated.map(|run| compared.saving(run)).collect();
    let verdict = Case {
        in_turn: turns.is_some(),
        turns: turns.unwrap_or(0),
        several_queues: queues > 1,
        ideal: Some(ideal),
        savings: &savings,
    }
    .verdict();
    let best = (0..runs.len()).min_by(|&a, &b| runs[a].seconds.total_cmp(&runs[b].seconds))?;
    let steps = raw
        .runs
        .iter()
        .find(|run| run.chunks == runs[best].chunks && run.queues == runs[best].queues)
        .map(|run| run.timed.steps.as_slice());
    let unseen = unseen(&observed).unwrap_or_default();
    let scores: Vec<f64> =
        unseen.iter().map(|&[predicted, measured]| accuracy(predicted, measured)).collect();
    Some(OverlapSummary {
        hidden: steps.and_then(hidden),
        class: Class::of(stages),
        turns,
        verdict,
        ideal,
        potential: overlap_worth::potential(stages.kernel, stages.upload + stages.download, serial),
        held_out: (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64),
        unseen,
        stages,
        runs,
        best,
        fitted,
    })
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
    use crate::overlap::data::{OverlapRun, Turns};
    use crate::overlap::verdict::{Because, Settled};
    use gpubench_core::gpu::{Clock, MemoryKind};
    use gpubench_core::record::Timed;
    use gpubench_model::pipeline::Engines;
    use gpubench_model::schedule::Heavy;

    /// Turns of a device with `engines` copy engines that follow the pipeline: seven numbers of chunks on three queues,
    /// if it has them, and on one. Every time scatters by `noise`.
    fn case(stages: Stages, engines: u32, noise: f64) -> Overlap {
        let mut random = Random(7);
        let mut timed = |seconds: f64| {
            let walls = (0..15).map(|_| seconds * (1.0 + noise * random.next())).collect();
            Timed { walls, steps: vec![] }
        };
        let [upload, kernel, download] =
            [stages.upload, stages.kernel, stages.download].map(&mut timed);
        let mut runs = vec![];
        for chunks in [1, 2, 4, 8, 16, 32, 64] {
            for (queues, engines) in [(3, engines), (1, 0)] {
                if queues == 1 || engines > 0 {
                    let seconds = Engines::ideal(engines).makespan(&stages.equal_chunks(chunks));
                    runs.push(OverlapRun { chunks, queues, timed: timed(seconds) });
                }
            }
        }
        let turns = Some(Turns { allowed: 1.0, skipped: vec![] });
        let (clock, host_memory) = (Clock::Device, MemoryKind::Pinned);
        let (rows, bytes) = (1024, [1, 1]);
        Overlap { clock, host_memory, rows, bytes, upload, kernel, download, runs, turns }
    }

    /// Between −1 and 1: Knuth's generator of MMIX.
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 11) as f64 / f64::from(2u32).powi(52) - 1.0
        }
    }

    const EVEN: Stages = Stages { upload: 4e-3, kernel: 5e-3, download: 4e-3 };

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
    fn rounds_are_pooled_where_they_have_the_same_runs_and_turns() {
        let raw = case(EVEN, 2, 0.01);
        let (mut fewer, mut old) = (raw.clone(), raw.clone());
        fewer.runs.truncate(4);
        old.turns = None;
        let pooled = Overlap::pooled([raw.clone(), fewer, old, raw.clone()]).unwrap();
        assert!(pooled.timed().all(|timed| timed.walls.len() == 30));
        assert_eq!(Overlap::pooled([]), None);
        let old = Overlap { turns: None, ..raw.clone() };
        assert_eq!(Overlap::pooled([old.clone(), raw]), Some(old.clone()));
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
