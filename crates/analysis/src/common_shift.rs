//! What the cases whose kernel is the same as before have in common: the machine's speed, measured where it matters.
//!
//! The reference kernels say how fast a device was, but in a handful of readings, and each of one kind of work. The
//! cases themselves are many. Where nothing was changed in most of them, what they all differ by is the machine; the
//! reference kernels say how much of it can be. What a change to many kernels does is not taken off: such cases do not
//! count, nor does anything beyond what the readings allow.

use super::device_speed::{MEDIAN_VARIANCE, NORMAL_MEDIAN};
use gpubench_stats::{Difference, median_of};
use serde::Serialize;

/// No difference is known better than to a millionth, however alike its rounds are.
const SMALLEST: f64 = 1e-12;
/// Standard errors within which a shift is none, or agrees with the readings.
const ERRORS: f64 = 2.0;

/// By what the unchanged cases of a family differ between two runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CommonShift {
    /// New over old.
    pub ratio: f64,
    /// Standard error of the ratio's logarithm.
    pub error: f64,
    /// How many times as far from it the cases are as their rounds' noise explains; 1 where that is all.
    pub excess: f64,
    /// Of how many cases.
    pub cases: usize,
    /// Variance of the usual case's difference.
    #[serde(skip)]
    usual: f64,
}

impl CommonShift {
    /// Fewer cases of a family have nothing in common that differs from their own noise.
    pub(crate) const FEWEST: usize = 5;

    /// Of one family's differences, none of whose kernels changed; `None` where they are few, or differ by what the
    /// machine cannot have: `allowed`, as logarithms of ratios.
    pub(crate) fn of(differences: &[Difference], allowed: [f64; 2]) -> Option<Self> {
        let cases = differences.len();
        if cases < Self::FEWEST {
            return None;
        }
        let usual = median_of(differences.iter().map(|one| one.error * one.error))?;
        let usual = usual.max(SMALLEST);
        let all = || differences.iter().map(|one| (one.difference, variance(one, usual)));
        let shift = weighted_median(all().map(|(by, variance)| (by, 1.0 / variance)).collect())?;
        let apart = median_of(all().map(|(by, variance)| (by - shift).abs() / variance.sqrt()))?;
        // One standard error of such a median, which luck brings about.
        let luck = 1.0 + 1.16 / (cases as f64).sqrt();
        let excess = (apart / NORMAL_MEDIAN / luck).max(1.0);
        let weight: f64 = all().map(|(_, variance)| 1.0 / variance).sum();
        let error = (MEDIAN_VARIANCE / weight).sqrt() * excess;
        let [low, high] = allowed;
        let agrees = shift > low - ERRORS * error && shift < high + ERRORS * error;
        agrees.then(|| Self { ratio: shift.exp(), error, excess, cases, usual })
    }

    /// Whether noise would hardly bring it about.
    pub(crate) fn is_significant(&self) -> bool {
        self.ratio.ln().abs() > ERRORS * self.error
    }

    /// As one of which nothing is known but how far the cases are from each other.
    pub(crate) fn without_shift(self) -> Self {
        Self { ratio: 1.0, error: 0.0, ..self }
    }

    /// What it leaves in doubt of a case, as a logarithm: its own error, and what the noise of rounds does not explain.
    pub(crate) fn doubt(&self, difference: &Difference) -> f64 {
        let unexplained = variance(difference, self.usual) * (self.excess * self.excess - 1.0);
        ERRORS * (self.error * self.error + unexplained).sqrt()
    }
}

/// Of a difference. A case whose few rounds agree by luck must not decide alone: half of it is the usual one.
fn variance(difference: &Difference, usual: f64) -> f64 {
    (difference.error * difference.error + usual) / 2.0
}

/// The value on either side of which half of the weight lies.
fn weighted_median(mut values: Vec<(f64, f64)>) -> Option<f64> {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = values.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0;
    let mut below = 0.0;
    values.iter().find_map(|(value, weight)| {
        below += weight;
        (below >= half).then_some(*value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A case that is slower by so many percent, with rounds that scatter by so many.
    fn case(percent: f64, scatter: f64) -> Difference {
        let rounds = [-scatter, 0.0, scatter].map(|by| by / 100.0);
        Difference::between(&rounds, &rounds.map(|by| by + (percent / 100.0).ln_1p())).unwrap()
    }

    fn shift(cases: &[Difference], allowed: f64) -> Option<CommonShift> {
        CommonShift::of(cases, [0.0, allowed])
    }

    #[test]
    fn what_most_cases_have_in_common_is_found_among_changed_and_noisy_ones() {
        let mut cases: Vec<_> = [4.8, 5.0, 5.2, 4.9, 5.1].map(|by| case(by, 1.0)).into();
        cases.extend([case(16.0, 1.0), case(60.0, 40.0), case(-30.0, 30.0)]);
        let found = shift(&cases, 0.06).unwrap();
        assert!((found.ratio - 1.05).abs() < 0.004, "{found:?}");
        assert!(found.cases == 8 && found.doubt(&cases[5]) < 0.02, "{found:?}");
    }

    #[test]
    fn few_cases_and_those_that_contradict_the_readings_say_nothing() {
        let alike = |by| vec![case(by, 1.0); 9];
        assert!(!shift(&alike(0.3), 0.5).unwrap().is_significant(), "within the noise");
        assert_eq!(shift(&alike(10.0), 0.03), None, "the machine was not that slow");
        assert_eq!(shift(&alike(-10.0), 0.03), None);
        assert_eq!(shift(&alike(5.0)[..4], 0.1), None, "too few");
        assert!(shift(&alike(5.0)[..5], 0.1).is_some());
    }

    /// As where some cases follow the clock and others the memory, or each has its own luck in a run.
    #[test]
    fn cases_that_differ_by_more_than_their_rounds_say_leave_more_in_doubt() {
        let of = |each: [f64; 7]| shift(&each.map(|by| case(by, 0.5)), 0.3).unwrap();
        let [alike, apart] = [[10.0; 7], [4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0]].map(of);
        let one = case(10.0, 0.5);
        assert!(alike.excess == 1.0 && alike.doubt(&one) < 0.005, "{alike:?}");
        assert!(apart.excess > 4.0 && apart.doubt(&one) > 0.03, "{apart:?}");
        assert!(apart.doubt(&case(0.0, 5.0)) > 3.0 * apart.doubt(&one), "by its own noise");
        assert!((apart.ratio - 1.1).abs() < 1e-9);
    }

    #[test]
    fn rounds_that_are_all_alike_still_have_a_median() {
        let found = shift(&[0.0, 0.0, 5.0, 5.0, 5.0].map(|by| case(by, 0.0)), 0.1).unwrap();
        assert!((found.ratio - 1.05).abs() < 1e-9 && found.error > 0.0, "{found:?}");
        assert!(found.doubt(&case(5.0, 0.0)).is_finite());
    }

    #[test]
    fn a_weighted_median_has_half_the_weight_on_either_side() {
        assert_eq!(weighted_median(vec![(3.0, 1.0), (1.0, 1.0), (2.0, 1.0)]), Some(2.0));
        assert_eq!(weighted_median(vec![(3.0, 5.0), (1.0, 1.0), (2.0, 1.0)]), Some(3.0));
        assert_eq!(weighted_median(vec![]), None);
    }

    /// Seven cases around none, each a deviation farther than the last: two deviations off in the middle, which is
    /// 2 / 0.6745 / (1 + 1.16 / √7) of what their noise explains.
    #[test]
    fn what_cases_differ_by_follows_from_their_distances() {
        let case = |by: f64| Difference { difference: by, error: 0.01, ..case(0.0, 1.0) };
        let of = |middle: f64, allowed| {
            CommonShift::of(
                &[-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0].map(|n| case(middle + 0.01 * n)),
                allowed,
            )
        };
        let found = of(0.0, [0.0, 0.0]).unwrap();
        let excess = 2.0 / 0.6745 / (1.0 + 1.16 / 7f64.sqrt());
        assert!((found.excess - excess).abs() < 1e-9, "{found:?}");
        let error = 0.01 * (std::f64::consts::FRAC_PI_2 / 7.0).sqrt() * excess;
        assert!((found.error - error).abs() < 1e-9 && found.ratio == 1.0, "{found:?}");
        // Two errors, 0.0195, beyond what the readings allow, and not more.
        assert!(of(0.052, [0.06, 0.1]).is_some() && of(0.03, [0.06, 0.1]).is_none());
        assert!(of(0.108, [0.06, 0.1]).is_some() && of(0.13, [0.06, 0.1]).is_none());
        let without = found.without_shift();
        assert_eq!((without.ratio, without.error, without.excess), (1.0, 0.0, found.excess));
        assert!(!without.is_significant());
    }
}
