//! Whether a series rises or falls with time, without a normal distribution: the slope of Theil and Sen
//! [Sen 1968], and the test of Mann and Kendall [Kendall 1975].

use super::median_of;
use statrs::distribution::{ContinuousCDF, Normal};

/// A line through values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// Rise of the value per unit of time: the median over all pairs.
    pub slope: f64,
    /// The value where time is 0: the median of what the slope leaves.
    pub intercept: f64,
    /// Two-sided probability of an order at least as clear where nothing changes.
    pub p_value: f64,
}

impl Trend {
    /// Through values at times; `None` for fewer than four, and where all times are one.
    pub fn through(points: &[(f64, f64)]) -> Option<Self> {
        let n = points.len() as f64;
        let pairs = || {
            let later = |i: usize| points[i + 1..].iter().map(move |late| (points[i], *late));
            (0..points.len()).flat_map(later).filter(|(early, late)| early.0 != late.0)
        };
        let slope = median_of(pairs().map(|(one, other)| (other.1 - one.1) / (other.0 - one.0)));
        let slope = slope.filter(|_| points.len() >= 4)?;
        let sign = |x: f64| if x == 0.0 { 0.0 } else { x.signum() };
        let order: f64 =
            pairs().map(|(one, other)| sign((other.1 - one.1) * (other.0 - one.0))).sum();
        let variance = n * (n - 1.0) * (2.0 * n + 5.0) / 18.0;
        // Of so many pairs the order moves in steps of two: Kendall's correction for continuity.
        let z = (order.abs() - 1.0).max(0.0) / variance.sqrt();
        let p_value = Normal::new(0.0, 1.0).map_or(1.0, |normal| 2.0 * normal.sf(z));
        let intercept = median_of(points.iter().map(|(time, value)| value - slope * time))?;
        Some(Self { slope, intercept, p_value: p_value.min(1.0) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rising_series_has_its_slope() {
        let points: Vec<(f64, f64)> =
            (0..12).map(|i| (f64::from(i), 3.0 + 0.5 * f64::from(i))).collect();
        let trend = Trend::through(&points).unwrap();
        assert!((trend.slope - 0.5).abs() < 1e-12 && (trend.intercept - 3.0).abs() < 1e-12);
        assert!(trend.p_value < 1e-5, "{}", trend.p_value);
        assert!(Trend::through(&points[..3]).is_none());
        assert!(Trend::through(&[(1.0, 2.0); 6]).is_none());
    }

    #[test]
    fn the_test_is_kendalls() {
        let values = [2.0, 1.0, 5.0, 4.0, 3.0, 9.0, 8.0, 7.0, 6.0, 10.0];
        let points: Vec<(f64, f64)> =
            values.iter().enumerate().map(|(i, v)| (i as f64, *v)).collect();
        let inversions = (0..10)
            .flat_map(|i| (i + 1..10).map(move |j| (i, j)))
            .filter(|&(i, j)| values[i] > values[j]);
        assert_eq!(inversions.count(), 10);
        // 35 rise, 10 fall: z = 24 / √125.
        let trend = Trend::through(&points).unwrap();
        assert!((trend.p_value - 0.0318).abs() < 5e-4, "{}", trend.p_value);
        let mixed = [&points[6..], &points[..6]].concat();
        assert_eq!(Trend::through(&mixed), Some(trend), "time orders, not the list");
    }
}
