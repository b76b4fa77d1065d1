//! Which of several devices runs a kernel fastest, by predictions that had seen no time of it: how often that is
//! right, and what it costs where it is not.

use super::{Prediction, Score};
use serde::Serialize;
use std::collections::BTreeMap;

/// What picking the device with the shortest predicted time gives.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Picks {
    /// Cases of which all devices have a prediction.
    pub cases: usize,
    /// How often the fastest device was picked.
    pub best: usize,
    /// Measured time of the picked device over that of the fastest, less 1: the mean.
    pub penalty: f64,
    /// The largest of them.
    pub largest_penalty: f64,
    /// Where that is; empty where the fastest was always picked.
    pub largest_at: String,
}

impl Picks {
    /// Of one model's predictions on two devices or more, a score each; `None` where they have no case in common.
    pub fn of(scores: &[&Score]) -> Option<Self> {
        Self::by(scores, |_, prediction| prediction.predicted)
    }

    /// Of always picking one device, the one that loses least by it; which of them.
    pub fn always(scores: &[&Score]) -> Option<(usize, Self)> {
        let of = |one: usize| {
            let picked = Self::by(scores, |device, _| if device == one { 0.0 } else { 1.0 })?;
            Some((one, picked))
        };
        let all = (0..scores.len()).filter_map(of);
        all.min_by(|(_, a), (_, b)| a.penalty.total_cmp(&b.penalty))
    }

    /// The device with the lowest `order` is picked.
    fn by(scores: &[&Score], order: impl Fn(usize, &Prediction) -> f64) -> Option<Self> {
        let mut by_case: BTreeMap<&str, Vec<[f64; 2]>> = BTreeMap::new();
        for (device, score) in scores.iter().enumerate() {
            for one in &score.predictions {
                by_case.entry(&one.case).or_default().push([order(device, one), one.measured]);
            }
        }
        by_case.retain(|_, devices| scores.len() > 1 && devices.len() == scores.len());
        let penalties: Vec<(f64, &str)> =
            by_case.iter().map(|(case, devices)| (penalty(devices), *case)).collect();
        let largest = penalties.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
        let sum: f64 = penalties.iter().map(|(penalty, _)| penalty).sum();
        Some(Self {
            cases: penalties.len(),
            best: penalties.iter().filter(|(penalty, _)| *penalty == 0.0).count(),
            penalty: sum / penalties.len() as f64,
            largest_penalty: largest.0,
            largest_at: if largest.0 > 0.0 { largest.1.to_owned() } else { String::new() },
        })
    }
}

/// Of devices, each with what it is picked by and its measured time.
fn penalty(devices: &[[f64; 2]]) -> f64 {
    let picked = devices.iter().min_by(|a, b| a[0].total_cmp(&b[0])).map_or(f64::NAN, |one| one[1]);
    let fastest = devices.iter().map(|one| one[1]).fold(f64::INFINITY, f64::min);
    picked / fastest - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(of: &[(&str, f64, f64)]) -> Score {
        let one = |&(case, predicted, measured): &(&str, f64, f64)| Prediction {
            case: case.into(),
            predicted,
            measured,
        };
        Score { predictions: of.iter().map(one).collect(), ..Score::default() }
    }

    /// Of three cases on both devices one is picked wrongly, at one and a half times the time.
    #[test]
    fn a_wrong_pick_costs_what_the_picked_device_takes_longer() {
        let one = score(&[("a", 1.0, 2.0), ("b", 3.0, 4.0), ("c", 1.0, 3.0), ("alone", 1.0, 1.0)]);
        let other = score(&[("a", 2.0, 5.0), ("b", 2.0, 1.0), ("c", 9.0, 2.0)]);
        let picks = Picks::of(&[&one, &other]).unwrap();
        assert_eq!((picks.cases, picks.best, picks.largest_penalty), (3, 2, 0.5));
        assert!((picks.penalty - 0.5 / 3.0).abs() < 1e-12, "{picks:?}");
        assert_eq!(picks.largest_at, "c");
        // The first takes 2, 4 and 3 where 2, 1 and 2 are best; the second loses 1.5 once.
        let (device, always) = Picks::always(&[&one, &other]).unwrap();
        assert_eq!((device, always.best, always.penalty), (1, 2, 0.5));
        let right = Picks::of(&[&score(&[("a", 1.0, 2.0)]), &score(&[("a", 2.0, 5.0)])]).unwrap();
        assert_eq!((right.best, right.penalty, right.largest_at.as_str()), (1, 0.0, ""));
        assert_eq!(Picks::of(&[&one]), None);
    }

    /// Only the first case is on all.
    #[test]
    fn of_three_devices_only_what_all_have_counts() {
        let one = score(&[("a", 1.0, 2.0), ("b", 3.0, 4.0), ("alone", 1.0, 1.0)]);
        let other = score(&[("a", 2.0, 5.0), ("b", 2.0, 1.0)]);
        let third = score(&[("a", 0.5, 9.0), ("alone", 1.0, 1.0)]);
        let three = Picks::of(&[&one, &other, &third]).unwrap();
        assert_eq!((three.cases, three.penalty, three.largest_at.as_str()), (1, 3.5, "a"));
        assert_eq!(
            Picks::always(&[&one, &other, &third]).map(|(at, all)| (at, all.best)),
            Some((0, 1))
        );
    }
}
