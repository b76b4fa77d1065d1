//! What chunked runs say: what overlapping hid, what hid what, and how well models predicted it.

use crate::overlap::data::Overlap;
use crate::stages::{self, LITTLE};
use gpubench_core::record::NamedStep;
use gpubench_model::pipeline::{hidden_fraction, ideal_share};
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
    /// Hidden fraction: the share that was hidden of what ideal overlap would hide; `None` where that is too little.
    pub hidden_fraction: Option<f64>,
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
    /// Share of the serial time that ideal overlap would save: all but the longest stage.
    pub ideal: f64,
    /// Share of it that hiding the kernel behind the copies, or them behind it, would save (model 2).
    pub potential: f64,
    /// Share of the serial time by which the fastest run is shorter.
    pub gain: f64,
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
    let ideal = ideal_share(stages);
    let runs: Vec<RunSummary> =
        raw.runs
            .iter()
            .filter_map(|run| {
                let seconds = run.timed.median()?;
                Some(RunSummary {
                    chunks: run.chunks,
                    queues: run.queues,
                    seconds,
                    hidden_fraction: hidden_fraction(stages, seconds).filter(|_| ideal >= LITTLE),
                    streams: streams::total(stages, run.chunks, streams::Overlap::Both),
                    pipeline: fitted.as_ref().filter(|_| run.queues == queues).map(|fitted| {
                        fitted.best.engines().makespan(&stages.equal_chunks(run.chunks))
                    }),
                })
            })
            .collect();
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
        ideal,
        potential: overlap_worth::potential(stages.kernel, stages.upload + stages.download, serial),
        gain: (serial - runs[best].seconds) / serial,
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
    use crate::overlap::data::OverlapRun;
    use crate::stages::LITTLE;
    use gpubench_core::gpu::{Clock, MemoryKind};
    use gpubench_core::record::Timed;
    use gpubench_model::pipeline::Engines;
    use gpubench_model::schedule::Heavy;

    fn timed(seconds: f64) -> Timed {
        Timed { walls: vec![seconds; 3], steps: vec![] }
    }

    /// A case whose runs follow the pipeline of an ideal device with `engines` copy engines.
    fn case(stages: Stages, engines: u32) -> Overlap {
        let device = Engines::ideal(engines);
        let runs = [1, 2, 4, 8, 16, 32, 64].map(|chunks| OverlapRun {
            chunks,
            queues: 3,
            timed: timed(device.makespan(&stages.equal_chunks(chunks))),
        });
        Overlap {
            clock: Clock::Device,
            host_memory: MemoryKind::Pinned,
            rows: 1024,
            bytes: [1, 1],
            upload: timed(stages.upload),
            kernel: timed(stages.kernel),
            download: timed(stages.download),
            runs: runs.into(),
        }
    }

    #[test]
    fn two_engines_are_recognised_and_their_saving_is_reported() {
        let stages = Stages { upload: 4e-3, kernel: 5e-3, download: 4e-3 };
        let summary = overlap(&case(stages, 2)).unwrap();
        assert_eq!(summary.fitted.as_ref().unwrap().engines, Some(2));
        assert_eq!(summary.runs[summary.best].chunks, 64);
        assert!(summary.runs[summary.best].hidden_fraction.unwrap() > 0.9);
        assert!(summary.held_out.unwrap() > 0.99);
        assert_eq!(summary.class, Class { kernel_bound: true, heavy: Heavy::General });
    }

    #[test]
    fn copies_that_hide_each_other_are_a_saving_though_the_kernel_is_tiny() {
        let stages = Stages { upload: 5e-3, kernel: 1e-4, download: 5e-3 };
        let summary = overlap(&case(stages, 2)).unwrap();
        assert!(summary.potential < LITTLE && summary.ideal > 0.45, "{summary:?}");
        assert!(summary.gain > 0.4 && summary.runs[summary.best].hidden_fraction.unwrap() > 0.9);
    }

    #[test]
    fn where_one_stage_is_nearly_all_there_is_no_hidden_fraction() {
        let stages = Stages { upload: 1e-4, kernel: 5e-3, download: 1e-4 };
        let summary = overlap(&case(stages, 2)).unwrap();
        assert!(
            summary.ideal < LITTLE && summary.runs.iter().all(|run| run.hidden_fraction.is_none())
        );
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
