//! What chunks saved, turn by turn: what slows the device down for a turn is in all that is compared.

use super::data::{Overlap, OverlapRun};
use gpubench_model::pipeline::hidden_fraction;
use gpubench_model::streams::Stages;
use gpubench_stats::{median, rank_interval_within};

/// The probability that one of a case's intervals misses its median on one side.
const TAIL: f64 = 0.025;

/// A share of the time in every turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// The median of the turns.
    pub value: f64,
    /// An interval that holds with 95 % confidence, and so do those of one comparison over all runs on several queues
    /// at once, since the best of them is chosen by them; `None` where there are too few turns for one.
    pub interval: Option<[f64; 2]>,
}

impl Share {
    /// Of the shares in every turn, where so many runs are evaluated at once; `None` where there is none or one is no
    /// number.
    pub(super) fn of(turns: impl IntoIterator<Item = f64>, evaluated: usize) -> Option<Self> {
        let mut sorted: Vec<f64> = turns.into_iter().collect();
        if sorted.is_empty() || sorted.iter().any(|share| !share.is_finite()) {
            return None;
        }
        sorted.sort_unstable_by(f64::total_cmp);
        let ranks = rank_interval_within(sorted.len(), TAIL / evaluated.max(1) as f64);
        let interval = ranks.map(|(low, high)| [sorted[low], sorted[high]]);
        Some(Self { value: median(&sorted), interval })
    }

    /// Whether the interval lies at or above `limit`.
    pub(super) fn reaches(&self, limit: f64) -> bool {
        self.interval.is_some_and(|[low, _]| low >= limit)
    }

    /// Whether the interval lies below `limit`.
    pub(super) fn is_below(&self, limit: f64) -> bool {
        self.interval.is_some_and(|[_, high]| high < limit)
    }
}

/// The fewest turns that give an interval where so many runs are evaluated at once.
pub(super) fn enough_turns(evaluated: usize) -> usize {
    let tail = TAIL / evaluated.max(1) as f64;
    (1..).find(|&count| rank_interval_within(count, tail).is_some()).unwrap_or(usize::MAX)
}

/// What a run saved.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Saving {
    /// Of the time of the whole problem in order on one queue.
    pub in_order: Option<Share>,
    /// Of the time of the same chunks in order on one queue; `None` of a run there.
    pub same_chunks: Option<Share>,
    /// Hidden fraction: what was saved of the time in order, over what ideal overlap would hide; `None` of a run on one
    /// queue, which can hide nothing.
    pub hidden: Option<Share>,
}

/// What there is to compare in the turns of a case.
pub(super) struct Compared<'a> {
    raw: &'a Overlap,
    /// Runs that are evaluated at once.
    pub evaluated: usize,
}

impl<'a> Compared<'a> {
    pub fn new(raw: &'a Overlap) -> Self {
        let evaluated = raw.runs.iter().filter(|run| is_evaluated(run)).count();
        Self { raw, evaluated }
    }

    /// What `run` saved.
    pub fn saving(&self, run: &OverlapRun) -> Saving {
        let walls = &run.timed.walls;
        let share_of = |of: &[f64]| {
            self.share(of.iter().zip(walls).map(|(in_order, seconds)| 1.0 - seconds / in_order))
        };
        let whole = self.on_one_queue(1);
        let same_chunks = self.on_one_queue(run.chunks).filter(|_| run.queues > 1);
        let hidden = whole.filter(|_| run.queues > 1).and_then(|whole| {
            let turns = self.stages().zip(whole).zip(walls);
            self.share(turns.map(|((stages, in_order), seconds)| {
                hidden_fraction(stages, *in_order, *seconds).unwrap_or(0.0)
            }))
        });
        Saving {
            in_order: whole.and_then(share_of),
            same_chunks: same_chunks.and_then(share_of),
            hidden,
        }
    }

    /// The share of the serial time that ideal overlap would save.
    pub fn ideal(&self) -> Option<Share> {
        Share::of(self.stages().map(gpubench_model::pipeline::ideal_share), 1)
    }

    fn share(&self, turns: impl Iterator<Item = f64>) -> Option<Share> {
        Share::of(turns, self.evaluated)
    }

    /// Seconds of so many chunks in order.
    fn on_one_queue(&self, chunks: u32) -> Option<&'a [f64]> {
        let of = |run: &&OverlapRun| (run.chunks, run.queues) == (chunks, 1);
        self.raw.runs.iter().find(of).map(|run| run.timed.walls.as_slice())
    }

    /// The stages alone in every turn.
    fn stages(&self) -> impl Iterator<Item = Stages> {
        let Overlap { upload, kernel, download, .. } = self.raw;
        let turns = upload.walls.iter().zip(&kernel.walls).zip(&download.walls);
        turns.map(|((upload, kernel), download)| Stages {
            upload: *upload,
            kernel: *kernel,
            download: *download,
        })
    }
}

/// Whether a run may be what makes overlap worth it: chunks on queues of their own.
pub(super) fn is_evaluated(run: &OverlapRun) -> bool {
    run.queues > 1 && run.chunks > 1
}
