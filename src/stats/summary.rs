//! One process's samples in a few numbers that no outlier moves.

use statrs::distribution::{Binomial, DiscreteCDF};

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
    /// Samples further than three interquartile ranges outside the quartiles: counted, kept.
    pub outliers: usize,
}

impl Summary {
    /// Of `samples` in any order; `None` where there is none or one is not a number.
    pub fn of(samples: &[f64]) -> Option<Self> {
        if samples.is_empty() || samples.iter().any(|x| x.is_nan()) {
            return None;
        }
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (low, high) = rank_interval(sorted.len());
        let (q1, q3) = (quantile(&sorted, 0.25), quantile(&sorted, 0.75));
        let fence = 3.0 * (q3 - q1);
        Some(Self {
            count: sorted.len(),
            min: sorted[0],
            median: median(&sorted),
            max: sorted[sorted.len() - 1],
            interval: [sorted[low], sorted[high]],
            outliers: sorted.iter().filter(|&&x| x < q1 - fence || x > q3 + fence).count(),
        })
    }

    /// Half the interval's width relative to the median.
    pub fn relative_half_width(&self) -> f64 {
        if self.median == 0.0 {
            return 0.0;
        }
        (self.interval[1] - self.interval[0]) / 2.0 / self.median.abs()
    }
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
    let last = count.saturating_sub(1);
    let Ok(binomial) = Binomial::new(0.5, count as u64) else { return (0, last) };
    let mut low = 0;
    while low < count / 2 && binomial.cdf(low as u64) <= 0.025 {
        low += 1;
    }
    // P(X ≤ low − 1) ≤ 0.025 holds for the last `low`; as a position from 0 that is low − 1.
    let low = low.saturating_sub(1);
    (low, last - low.min(last))
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
    fn one_wild_sample_moves_nothing_but_the_maximum() {
        let mut samples: Vec<f64> = (0..21).map(|i| 1.0 + f64::from(i) * 0.001).collect();
        let calm = Summary::of(&samples).unwrap();
        samples[20] = 50.0;
        let wild = Summary::of(&samples).unwrap();
        assert_eq!(calm.median, wild.median);
        assert_eq!((calm.outliers, wild.outliers), (0, 1));
        assert_eq!(calm.interval, wild.interval);
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
