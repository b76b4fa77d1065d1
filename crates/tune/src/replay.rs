//! Strategies on a recorded space: what each would have found, without a device.

use crate::model::Expected;
use crate::outcome::Outcome;
use crate::race::Race;
use crate::space::Space;
use crate::strategy::{Kind, Strategy, strategy};
use rayon::prelude::*;

/// A space with the outcome of each of its variants.
#[derive(Clone, Debug)]
pub struct Recorded {
    space: Space,
    outcomes: Vec<Outcome>,
    best: usize,
    best_time: f64,
}

/// One search on a recorded space.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// What was tried, in order.
    pub tried: Vec<usize>,
    /// After each try, the best time so far over the best of the space; infinite before the first success.
    pub ratios: Vec<f64>,
    /// How many were seen to be losers by their intervals.
    pub cut_off: usize,
}

/// Searches from many seeds.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Mean of the last ratios.
    pub mean_ratio: f64,
    /// The ratio that nine of ten searches reach.
    pub p90_ratio: f64,
    /// Mean ratio after each try; infinite where a search had no success yet.
    pub curve: Vec<f64>,
    /// Mean share of the tries that racing would have cut off.
    pub cut_off: f64,
    /// The search of the first seed.
    pub first: Replay,
}

impl Recorded {
    /// `None` where the lengths differ or no variant was measured.
    pub fn new(space: Space, outcomes: Vec<Outcome>) -> Option<Self> {
        if outcomes.len() != space.len() {
            return None;
        }
        let times = outcomes.iter().enumerate().filter_map(|(i, one)| Some((i, one.time()?)));
        let (best, best_time) = times.min_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(Self { space, outcomes, best, best_time })
    }

    /// The space.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// The outcome of each variant.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// The fastest variant's index.
    pub fn best(&self) -> usize {
        self.best
    }

    /// The fastest variant's time, seconds.
    pub fn best_time(&self) -> f64 {
        self.best_time
    }

    /// How many variants take at most `factor` times as long as the best, itself among them.
    pub fn within(&self, factor: f64) -> usize {
        let limit = factor * self.best_time;
        self.outcomes.iter().filter_map(Outcome::time).filter(|time| *time <= limit).count()
    }
}

/// Lets `strategy` try `variants` of a recorded space.
pub fn replay(recorded: &Recorded, strategy: &mut dyn Strategy, variants: usize) -> Replay {
    let mut replay = Replay { tried: vec![], ratios: vec![], cut_off: 0 };
    let (mut race, mut best) = (Race::default(), f64::INFINITY);
    while replay.tried.len() < variants
        && let Some(variant) = strategy.ask()
    {
        let outcome = &recorded.outcomes[variant];
        if let Outcome::Measured(interval) = outcome {
            replay.cut_off += usize::from(race.has_lost(interval));
            race.finish(*interval);
            best = best.min(interval.time);
        }
        strategy.report(variant, outcome);
        replay.tried.push(variant);
        replay.ratios.push(best / recorded.best_time);
    }
    replay
}

/// Replays a strategy from seeds 0, 1, … and summarises; `None` for no seeds or no variants.
pub fn summarise(recorded: &Recorded, kind: Kind, variants: usize, seeds: u64) -> Option<Summary> {
    let unknown = Expected::default();
    let one = |seed| {
        let mut strategy = strategy(kind, recorded.space(), seed, &unknown);
        replay(recorded, strategy.as_mut(), variants)
    };
    summary((0..seeds).into_par_iter().map(one).collect())
}

/// What searches of one space found; `None` without any, or where they tried nothing.
pub fn summary(searches: Vec<Replay>) -> Option<Summary> {
    let count = searches.len() as f64;
    let mean = |of: &dyn Fn(&Replay) -> f64| searches.iter().map(of).sum::<f64>() / count;
    let mut last: Vec<f64> = searches.iter().filter_map(|one| one.ratios.last().copied()).collect();
    last.sort_by(f64::total_cmp);
    // The smallest ratio that at least nine tenths do not exceed.
    let p90_ratio = *last.get((last.len() * 9).div_ceil(10).checked_sub(1)?)?;
    let first = searches.first()?.clone();
    Some(Summary {
        mean_ratio: last.iter().sum::<f64>() / count,
        p90_ratio,
        curve: (0..first.ratios.len()).map(|i| mean(&|one| one.ratios[i])).collect(),
        cut_off: mean(&|one| one.cut_off as f64 / one.tried.len() as f64),
        first,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Interval;

    fn recorded() -> Recorded {
        let variants = (0..10).map(|x| vec![f64::from(x)]).collect();
        let space = Space::new(vec!["x".into()], variants).unwrap();
        let outcome = |x: u32| match x {
            0 | 9 => Outcome::Failed,
            _ => {
                let time = f64::from(10 - x);
                Outcome::Measured(Interval { low: time - 0.1, time, high: time + 0.1 })
            }
        };
        Recorded::new(space, (0..10).map(outcome).collect()).unwrap()
    }

    #[test]
    fn ratios_are_of_the_best_so_far_and_failures_count_as_tried() {
        let recorded = recorded();
        assert_eq!((recorded.best(), recorded.best_time()), (8, 2.0));
        assert_eq!((recorded.within(1.5), recorded.within(1.0)), (2, 1));
        let summary = summarise(&recorded, Kind::Exhaustive, 3, 4).unwrap();
        assert_eq!(summary.first.tried, [0, 1, 2]);
        assert_eq!(summary.curve, [f64::INFINITY, 4.5, 4.0]);
        assert_eq!((summary.mean_ratio, summary.p90_ratio), (4.0, 4.0));
        assert_eq!(summary.cut_off, 0.0, "each beats the one before");
    }

    #[test]
    fn nine_of_ten_searches_reach_the_p90_ratio() {
        let recorded = recorded();
        let summary = summarise(&recorded, Kind::Random, 4, 10).unwrap();
        let mut ends: Vec<f64> = (0..10)
            .map(|seed| replay(&recorded, &mut crate::InOrder::random(recorded.space(), seed), 4))
            .map(|one| one.ratios[3])
            .collect();
        ends.sort_by(f64::total_cmp);
        assert_eq!(summary.p90_ratio, ends[8]);
        assert!(summary.cut_off > 0.0);
        assert!(summarise(&recorded, Kind::Random, 4, 0).is_none());
        assert!(summarise(&recorded, Kind::Random, 0, 4).is_none());
    }

    #[test]
    fn a_space_without_a_success_is_none() {
        let space = Space::new(vec!["x".into()], vec![vec![1.0]]).unwrap();
        assert!(Recorded::new(space.clone(), vec![Outcome::Failed]).is_none());
        assert!(Recorded::new(space, vec![]).is_none());
    }
}
