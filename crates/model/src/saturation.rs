//! Model 13, saturation: bandwidth against work-items in flight.
//!
//! Few work-items each add what one of them moves. Past the knee a device is saturated; more
//! work-items then change little, or disturb the order in which memory is read. Four parameters:
//! `B(n) = a·n / (1 + (n/n0)^p)^(f/p)`. At `f = 1` it levels off at `a·n0`, below it goes on
//! rising, above it falls. Figures: `docs/results/2026-11-23-ceilings.md`.

use crate::least_squares::{Domain, Problem, Solution};
use gpubench_core::error::Result;

/// The curve of one access pattern on one device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saturation {
    /// Bytes per second that each of few work-items adds, `a`.
    pub per_item: f64,
    /// Work-items at the knee, `n0`.
    pub knee: f64,
    /// How sharp the knee is, `p`.
    pub sharpness: f64,
    /// How the rate goes on beyond the knee, `f`: as the work-items to the power of `1 − f`.
    pub fall: f64,
}

/// A measured point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Work-items in flight, above zero.
    pub items: f64,
    /// Bytes per second, above zero.
    pub rate: f64,
}

/// Names of the parameters, in the order of [`fit`]'s solution.
pub const PARAMETERS: [&str; 4] = ["per_item", "knee", "sharpness", "fall"];

const DOMAINS: [Domain; 4] =
    [Domain::Positive, Domain::Positive, Domain::Between(0.5, 50.0), Domain::Between(0.0, 6.0)];
/// Errors beyond this count with more than their square, since the worst point matters, too.
const LARGE_ERROR: f64 = 0.05;

impl Saturation {
    /// Bytes per second of so many work-items in flight.
    pub fn rate(&self, items: f64) -> f64 {
        let power = self.sharpness * (items / self.knee).ln();
        // ln(1 + e^power) without overflow.
        let bend = power.max(0.0) + (-power.abs()).exp().ln_1p();
        self.per_item * items * (-self.fall / self.sharpness * bend).exp()
    }

    /// The curve of fitted parameters.
    pub fn of(p: &[f64]) -> Self {
        Self { per_item: p[0], knee: p[1], sharpness: p[2], fall: p[3] }
    }
}

/// Fits the curve to measured points.
///
/// # Errors
/// [`gpubench_core::error::Error::Unsupported`] with fewer than five points.
pub fn fit(points: &[Point]) -> Result<Solution> {
    let residuals = |p: &[f64]| {
        let curve = Saturation::of(p);
        let error = |point: &Point| {
            let error = (curve.rate(point.items) / point.rate).ln();
            error * (1.0 + (error / LARGE_ERROR).powi(2)).sqrt()
        };
        points.iter().map(error).collect()
    };
    let per_item = points.iter().map(|p| p.rate / p.items).fold(f64::MIN_POSITIVE, f64::max);
    let best = points.iter().map(|p| p.rate).fold(f64::MIN_POSITIVE, f64::max);
    let start = |knee: f64, sharpness: f64, fall: f64| {
        vec![per_item, knee * best / per_item, sharpness, fall]
    };
    let mut starts = vec![];
    for sharpness in [1.0, 3.0, 8.0] {
        for fall in [0.8, 1.0, 1.3] {
            starts.extend([start(1.0, sharpness, fall), start(0.7, sharpness, fall)]);
        }
    }
    Problem { residuals: &residuals, domains: &DOMAINS }.solve(&starts)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CURVE: Saturation = Saturation { per_item: 3e7, knee: 40e3, sharpness: 3.0, fall: 1.2 };

    #[test]
    fn each_of_few_adds_its_own_and_many_follow_the_fall() {
        assert!((CURVE.rate(10.0) / 3e8 - 1.0).abs() < 1e-6);
        let (some, more) = (CURVE.rate(4e6), CURVE.rate(8e6));
        assert!((more / some - 2f64.powf(-0.2)).abs() < 1e-6, "{some} {more}");
        // At the knee, 2^(−f/p) of the straight line.
        assert!((CURVE.rate(40e3) / (1.2e12 * 2f64.powf(-0.4)) - 1.0).abs() < 1e-12);
        let level = Saturation { fall: 1.0, ..CURVE };
        assert!((level.rate(1e12) / (3e7 * 40e3) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_fit_finds_the_curve_again_through_one_percent_of_noise() {
        let noise = [0.01, -0.01, -0.004, 0.008, -0.006];
        let points: Vec<Point> = (1..=30)
            .map(|i| (f64::from(i) * 5e3, 1.0 + noise[i as usize % 5]))
            .map(|(items, noise)| Point { items, rate: CURVE.rate(items) * noise })
            .collect();
        let values = fit(&points).unwrap().values;
        let found = Saturation::of(&values.iter().map(|v| v.value).collect::<Vec<_>>());
        assert!((found.knee / CURVE.knee - 1.0).abs() < 0.1, "{found:?}");
        for point in &points {
            assert!((found.rate(point.items) / CURVE.rate(point.items) - 1.0).abs() < 0.02);
        }
        assert!(fit(&points[..4]).is_err());
    }
}
