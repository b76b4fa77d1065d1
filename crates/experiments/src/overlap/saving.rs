//! What chunks saved, turn by turn: what slows the device down for a turn is in all that is compared.

use super::data::{Overlap, OverlapRun};
use gpubench_model::pipeline::hidden_fraction;
use gpubench_model::streams::Stages;
use gpubench_stats::{Difference, median_of, rank_interval_within, t_quantile};

/// The probability that one of a case's intervals misses its median on one side.
const TAIL: f64 = 0.025;

/// A share of the time in every turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// The median of the turns; of several rounds the mean of theirs.
    pub value: f64,
    /// An interval that holds with 95 % confidence, and so do those of one comparison over all runs on several queues
    /// at once, since the best of them is chosen by them: of one round by ranks of its turns, which say nothing of
    /// another round; of several between their medians. `None` where there are too few turns for one.
    pub interval: Option<[f64; 2]>,
}

impl Share {
    /// Of the shares in every turn of each round, where so many runs are evaluated at once; `None` where there is none
    /// or one is no number.
    pub(super) fn of(rounds: &[Vec<f64>], evaluated: usize) -> Option<Self> {
        let mut turns = rounds.concat();
        if turns.iter().any(|share| !share.is_finite()) {
            return None;
        }
        turns.sort_unstable_by(f64::total_cmp);
        let medians: Option<Vec<f64>> =
            rounds.iter().map(|turns| median_of(turns.iter().copied())).collect();
        let medians = medians.filter(|medians| !medians.is_empty())?;
        let tail = tail(evaluated);
        let within = rank_interval_within(turns.len(), tail);
        let within = within.map(|(low, high)| [turns[low], turns[high]]);
        Some(Self {
            value: medians.iter().sum::<f64>() / medians.len() as f64,
            interval: within.map(|within| match between(&medians, tail) {
                // Two rounds agree by luck now and then: then turns know better how much they scatter.
                Some(between) => [between[0].min(within[0]), between[1].max(within[1])],
                None => within,
            }),
        })
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

/// Student's t interval of what is saved, by the rounds' medians; `None` of one round.
fn between(medians: &[f64], tail: f64) -> Option<[f64; 2]> {
    let against_nothing = |&share: &f64| [0.0, share];
    let pairs: Vec<[f64; 2]> = medians.iter().map(against_nothing).collect();
    Some(Difference::paired(&pairs)?.interval(1.0 - 2.0 * tail))
}

/// The probability that each of so many intervals may miss on one side.
fn tail(evaluated: usize) -> f64 {
    TAIL / evaluated.max(1) as f64
}

/// The fewest turns that give an interval where so many runs are evaluated at once.
pub(super) fn enough_turns(evaluated: usize) -> usize {
    let tail = tail(evaluated);
    (1..).find(|&count| rank_interval_within(count, tail).is_some()).unwrap_or(usize::MAX)
}

/// Half an interval between so many rounds, where so many runs are evaluated at once, over the scatter of a round.
pub(super) fn half_width(rounds: usize, evaluated: usize) -> f64 {
    let rounds = rounds as f64;
    t_quantile(rounds - 1.0, 1.0 - tail(evaluated)) / rounds.sqrt()
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

/// What there is to compare in the turns of a case's rounds, which all have the same runs.
pub(super) struct Compared<'a> {
    rounds: &'a [Overlap],
    /// Runs that are evaluated at once.
    evaluated: usize,
}

impl<'a> Compared<'a> {
    pub fn new(rounds: &'a [Overlap]) -> Self {
        let runs = rounds.first().map_or(&[][..], |round| &round.runs);
        Self { rounds, evaluated: runs.iter().filter(|run| is_evaluated(run)).count() }
    }

    /// What a run of so many chunks and queues saved.
    pub fn saving(&self, chunks: u32, queues: u32) -> Saving {
        let than_on_one_queue = |of: u32| {
            self.share(|round| Some(shorter(walls(round, of, 1)?, walls(round, chunks, queues)?)))
        };
        let of_ideal = || self.share(|round| hidden(round, walls(round, chunks, queues)?));
        let several = queues > 1;
        Saving {
            in_order: than_on_one_queue(1),
            same_chunks: several.then(|| than_on_one_queue(chunks)).flatten(),
            hidden: several.then(of_ideal).flatten(),
        }
    }

    /// The share of the serial time that ideal overlap would save.
    pub fn ideal(&self) -> Option<Share> {
        let shares =
            |round: &Overlap| stages(round).map(gpubench_model::pipeline::ideal_share).collect();
        Share::of(&self.rounds.iter().map(shares).collect::<Vec<_>>(), 1)
    }

    fn share(&self, turns: impl Fn(&Overlap) -> Option<Vec<f64>>) -> Option<Share> {
        let rounds: Option<Vec<Vec<f64>>> = self.rounds.iter().map(turns).collect();
        Share::of(&rounds?, self.evaluated)
    }
}

/// Whether a run may be what makes overlap worth it: chunks on queues of their own.
pub(super) fn is_evaluated(run: &OverlapRun) -> bool {
    run.queues > 1 && run.chunks > 1
}

/// By which share the second is shorter, in every turn.
fn shorter(first: &[f64], second: &[f64]) -> Vec<f64> {
    first.iter().zip(second).map(|(first, second)| 1.0 - second / first).collect()
}

/// The hidden fraction of a run in every turn.
fn hidden(round: &Overlap, walls_of_run: &[f64]) -> Option<Vec<f64>> {
    let turns = stages(round).zip(walls(round, 1, 1)?).zip(walls_of_run);
    let hidden = turns.map(|((stages, in_order), seconds)| {
        hidden_fraction(stages, *in_order, *seconds).unwrap_or(0.0)
    });
    Some(hidden.collect())
}

/// Seconds of so many chunks on so many queues.
fn walls(round: &Overlap, chunks: u32, queues: u32) -> Option<&[f64]> {
    let of = |run: &&OverlapRun| (run.chunks, run.queues) == (chunks, queues);
    round.runs.iter().find(of).map(|run| run.timed.walls.as_slice())
}

/// The stages alone in every turn.
fn stages(round: &Overlap) -> impl Iterator<Item = Stages> {
    let Overlap { upload, kernel, download, .. } = round;
    let turns = upload.walls.iter().zip(&kernel.walls).zip(&download.walls);
    turns.map(|((upload, kernel), download)| Stages {
        upload: *upload,
        kernel: *kernel,
        download: *download,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    fn interval(rounds: &[Vec<f64>], evaluated: usize) -> [f64; 2] {
        Share::of(rounds, evaluated).unwrap().interval.unwrap()
    }

    #[test]
    fn the_interval_of_one_round_is_between_two_of_its_turns() {
        let turns: Vec<f64> = (1..=15).map(|i| 0.01 * f64::from(i)).collect();
        let round = [turns];
        assert_eq!(Share::of(&round, 1).unwrap().value, 0.08);
        // The 4th and the 12th; of six at once the 3rd and the 13th.
        assert_eq!(interval(&round, 1), [0.04, 0.12]);
        assert_eq!(interval(&round, 6), [0.03, 0.13]);
        assert_eq!(Share::of(&[vec![0.1; 5]], 1).unwrap().interval, None, "too few turns");
        assert_eq!([Share::of(&[], 1), Share::of(&[vec![]], 1)], [None, None]);
        assert_eq!(Share::of(&[vec![0.1, f64::NAN]], 1), None);
    }

    #[test]
    fn the_interval_of_rounds_is_student_s_between_their_medians() {
        let rounds = [vec![0.10; 9], vec![0.12; 9], vec![0.14; 9]];
        let share = Share::of(&rounds, 1).unwrap();
        assert!((share.value - 0.12).abs() < 1e-12);
        // Standard deviation 0.02; t(0.975, 2) = 4.30265, and t(1 − 0.025/6, 2) = 10.88587 of six at once.
        for (evaluated, t) in [(1, 4.302_65), (6, 10.885_87)] {
            let half = t * 0.02 / 3f64.sqrt();
            let [low, high] = interval(&rounds, evaluated);
            assert!((low - 0.12 + half).abs() < 1e-5 && (high - 0.12 - half).abs() < 1e-5);
        }
    }

    #[test]
    fn rounds_that_agree_by_luck_are_no_surer_than_their_turns() {
        let turns: Vec<f64> = (0..9).map(|i| 0.01 * f64::from(i)).collect();
        let [low, high] = interval(&[turns.clone(), turns], 1);
        // Of 18 turns the 5th and the 14th, in pairs: 0.02 and 0.06.
        assert_eq!([low, high], [0.02, 0.06]);
    }

    #[test]
    fn intervals_over_rounds_hold_what_is_saved_95_times_of_100() {
        let mut rng = Pcg64Mcg::seed_from_u64(3);
        let mut normal = |scatter: f64| {
            let (u, v): (f64, f64) = (1.0 - rng.random::<f64>(), rng.random());
            scatter * (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
        };
        for count in [2, 3, 5] {
            let mut held = 0;
            for _ in 0..2000 {
                let rounds: Vec<Vec<f64>> = (0..count)
                    .map(|_| {
                        let round = 0.1 + normal(0.02);
                        (0..9).map(|_| round + normal(0.005)).collect()
                    })
                    .collect();
                let [low, high] = interval(&rounds, 1);
                held += usize::from((low..=high).contains(&0.1));
            }
            assert!(held >= 1880, "{count} rounds: {held} of 2000");
        }
    }
}
