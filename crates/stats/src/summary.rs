//! One process's samples in a few numbers that no outlier moves.

use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, Normal};
use std::sync::LazyLock;

/// What a set of samples says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Number of samples.
    pub count: usize,
    /// The smallest sample.
    pub min: f64,
    /// The middle sample.
    pub median: f64,
    /// The largest sample.
    pub max: f64,
    /// An interval that holds the true median with at least 95 % confidence (as far as the
    /// number of samples allows), between two of the samples.
    pub interval: [f64; 2],
    /// By how much the median of the last third of the samples differs from that of the first, as a
    /// logarithm of their ratio, in the order in which they were given; `None` below
    /// 15 samples or where it has no logarithm.
    pub drift: Option<f64>,
}

/// Samples below which a third of them shows nothing.
const DRIFT_SAMPLES: usize = 15;

impl Summary {
    /// Of `samples` in the order in which they were taken (which only the drift depends on); `None`
    /// where there is none or one is not a number.
    pub fn of(samples: &[f64]) -> Option<Self> {
        if samples.is_empty() || samples.iter().any(|x| x.is_nan()) {
            return None;
        }
        let mut ordinals: Vec<i64> = samples.iter().map(|sample| ordinal(*sample)).collect();
        let drift = drift(&mut ordinals);
        ordinals.sort_unstable();
        let sorted: Vec<f64> = ordinals.into_iter().map(of_ordinal).collect();
        let (low, high) = rank_interval(sorted.len());
        Some(Self {
            count: sorted.len(),
            min: sorted[0],
            median: median(&sorted),
            max: sorted[sorted.len() - 1],
            interval: [sorted[low], sorted[high]],
            drift,
        })
    }

    /// Standard error of the median's logarithm, as the interval's width and its confidence
    /// show; 0 where they show nothing.
    pub fn log_error(&self) -> f64 {
        let [low, high] = self.interval.map(f64::ln);
        let deviations = 2.0 * rank_deviations(self.count);
        let error = (high - low) / deviations;
        if error.is_finite() { error } else { 0.0 }
    }

    /// Half the interval's width relative to the median.
    pub fn relative_half_width(&self) -> f64 {
        if self.median == 0.0 {
            return 0.0;
        }
        (self.interval[1] - self.interval[0]) / 2.0 / self.median.abs()
    }
}

/// The place of a number among all, as `f64::total_cmp` orders them: integers are sorted in half the time.
fn ordinal(number: f64) -> i64 {
    let bits = number.to_bits() as i64;
    bits ^ ((bits >> 63) & i64::MAX)
}

/// The number at this place.
fn of_ordinal(ordinal: i64) -> f64 {
    f64::from_bits((ordinal ^ ((ordinal >> 63) & i64::MAX)) as u64)
}

/// The drift of samples in the order in which they were taken, of which the first and the last third are sorted then.
fn drift(samples: &mut [i64]) -> Option<f64> {
    if samples.len() < DRIFT_SAMPLES {
        return None;
    }
    let third = samples.len() / 3;
    let of = |part: &mut [i64]| {
        part.sort_unstable();
        let [low, high] = [part[(third - 1) / 2], part[third / 2]].map(of_ordinal);
        median(&[low, high])
    };
    let (before, last_third) = samples.split_at_mut(samples.len() - third);
    let (first, last) = (of(&mut before[..third]), of(last_third));
    Some((last / first).ln()).filter(|drift| drift.is_finite())
}

/// The median of numbers in any order; `None` where there are none.
pub fn median_of(numbers: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = numbers.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    (!sorted.is_empty()).then(|| median(&sorted))
}

/// The median of sorted numbers; NaN where there are none.
pub fn median(sorted: &[f64]) -> f64 {
    quantile(sorted, 0.5)
}

/// The quantile `q` of sorted numbers, interpolated linearly (type 7 of Hyndman and Fan 1996);
/// NaN where there are none.
pub fn quantile(sorted: &[f64], q: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let position = q.clamp(0.0, 1.0) * last as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * (position - below as f64)
}

/// Positions (from 0) of the two order statistics of `count` samples that hold the median with
/// at least 95 % confidence: the largest `l` with P(Binomial(count, 1/2) ≤ l − 1) ≤ 0.025, and
/// its mirror image (Conover 1999, §3.2). Below six samples: the first and the last.
pub fn rank_interval(count: usize) -> (usize, usize) {
    /// The usual numbers of samples: the distribution is slow to ask a million times.
    static USUAL: LazyLock<Vec<usize>> = LazyLock::new(|| (0..256).map(lowest).collect());
    let last = count.saturating_sub(1);
    let low = USUAL.get(count).copied().unwrap_or_else(|| lowest(count));
    (low, last - low.min(last))
}

/// As [`rank_interval`], for an interval that misses the median on either side with a probability of at most `tail`;
/// `None` where the samples are too few even for the first and the last to be one.
pub fn rank_interval_within(count: usize, tail: f64) -> Option<(usize, usize)> {
    let low = below(count, tail).checked_sub(1)?;
    Some((low, count - 1 - low))
}

/// The probability of missing the median on one side.
const TAIL: f64 = 0.025;

/// The lower position of the rank interval.
fn lowest(count: usize) -> usize {
    below(count, TAIL).saturating_sub(1)
}

/// How many of the lowest samples lie below the median, all but for a probability of `tail`: the last `l` for
/// which P(Binomial(count, 1/2) ≤ l − 1) ≤ tail. The last of them, at position l − 1 from 0, bounds it.
fn below(count: usize, tail: f64) -> usize {
    let Ok(binomial) = Binomial::new(0.5, count as u64) else { return 0 };
    let mut low = 0_usize;
    while low < count && binomial.cdf(low as u64) <= tail {
        low += 1;
    }
    low
}

/// Standard deviations of a normal distribution that are as likely as the rank interval on
/// either side of the median: a little more than 1.96, since ranks are whole.
fn rank_deviations(count: usize) -> f64 {
    static USUAL: LazyLock<Vec<f64>> = LazyLock::new(|| (0..256).map(deviations).collect());
    USUAL.get(count).copied().unwrap_or_else(|| deviations(count))
}

fn deviations(count: usize) -> f64 {
    let outside = Binomial::new(0.5, count as u64).map_or(0.5, |b| b.cdf(lowest(count) as u64));
    Normal::standard().inverse_cdf(1.0 - outside.min(0.5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_intervals_are_those_of_the_tables() {
        // n = 15: 4th and 12th of the sorted samples; n = 100: 40th and 61st.
        assert_eq!(rank_interval(15), (3, 11));
        assert_eq!(rank_interval(100), (39, 60));
        assert_eq!(rank_interval(5), (0, 4));
        assert_eq!(rank_interval(1), (0, 0));
    }

    #[test]
    fn an_interval_of_many_at_once_needs_more_samples() {
        assert_eq!(rank_interval_within(15, 0.025), Some((3, 11)));
        // 2⁻⁷ is more than a sixth of 0.025, 2⁻⁸ is less.
        assert_eq!(rank_interval_within(7, 0.025 / 6.0), None);
        assert_eq!(rank_interval_within(8, 0.025 / 6.0), Some((0, 7)));
        assert_eq!(rank_interval_within(15, 0.025 / 6.0), Some((2, 12)));
        assert_eq!([0, 1].map(|count| rank_interval_within(count, 0.025)), [None, None]);
    }

    #[test]
    fn a_relative_half_width_is_half_the_interval_over_the_median() {
        let samples: Vec<f64> = (1..=15).map(f64::from).collect();
        let summary = Summary::of(&samples).unwrap();
        assert_eq!(summary.relative_half_width(), (12.0 - 4.0) / 2.0 / 8.0);
    }

    #[test]
    fn ordinals_are_in_the_order_of_their_numbers() {
        let numbers =
            [f64::NEG_INFINITY, -1.5, -5e-324, -0.0, 0.0, 5e-324, 1.0, 1.5, f64::INFINITY];
        assert!(numbers.map(ordinal).is_sorted_by(|a, b| a < b));
        assert!(numbers.iter().all(|x| of_ordinal(ordinal(*x)).to_bits() == x.to_bits()));
    }

    #[test]
    fn one_wild_sample_moves_nothing_but_the_maximum() {
        let mut samples: Vec<f64> = (0..21).map(|i| 1.0 + f64::from(i) * 0.001).collect();
        let calm = Summary::of(&samples).unwrap();
        samples[20] = 50.0;
        let wild = Summary::of(&samples).unwrap();
        assert_eq!(calm.median, wild.median);
        assert_eq!((calm.min, wild.max), (wild.min, 50.0));
        assert_eq!(calm.interval, wild.interval);
    }

    #[test]
    fn fifteen_samples_hold_the_median_in_96_of_100() {
        // P(X ≤ 3) of 15 tosses is 0.0176, which the normal distribution leaves beyond 2.107.
        assert!((rank_deviations(15) - 2.107).abs() < 1e-3, "{}", rank_deviations(15));
        let samples: Vec<f64> = (1..=15).map(|i| f64::from(i).exp()).collect();
        let error = Summary::of(&samples).unwrap().log_error();
        assert!((error - 8.0 / 2.0 / 2.107).abs() < 1e-3, "{error}");
        assert_eq!(Summary::of(&[2.0]).unwrap().log_error(), 0.0);
    }

    #[test]
    fn drift_is_of_the_last_third_against_the_first() {
        let mut samples = vec![1.0; 5];
        samples.extend([7.0; 5]);
        samples.extend([2.0, 2.0, 9.0, 2.0, 2.0]);
        let drift = |samples: &[f64]| Summary::of(samples).unwrap().drift;
        assert!((drift(&samples).unwrap() - 2f64.ln()).abs() < 1e-12);
        assert_eq!(drift(&samples[..14]), None);
        assert_eq!(drift(&[0.0; 15]), None, "no logarithm");
    }

    #[test]
    fn no_samples_no_summary() {
        assert!(Summary::of(&[]).is_none() && Summary::of(&[1.0, f64::NAN]).is_none());
    }

    #[test]
    fn the_interval_holds_the_median_95_times_of_100() {
        use rand::{RngExt, SeedableRng};
        let mut rng = rand_pcg::Pcg64Mcg::seed_from_u64(5);
        let held = (0..4000)
            .filter(|_| {
                let samples: Vec<f64> = (0..31).map(|_| rng.random::<f64>()).collect();
                let [low, high] = Summary::of(&samples).unwrap().interval;
                (low..=high).contains(&0.5)
            })
            .count();
        assert!(held as f64 / 4000.0 > 0.94, "{held} of 4000");
    }
}
