//! Model 3, intensity roofline: the rate of one kernel whose arithmetic intensity is raised step by
//! step, on a device whose clock may change meanwhile.
//!
//! The smooth roofline's corner, with two differences. Arithmetic runs at so many operations a cycle
//! of the clock that was measured. And every byte costs some operations' time beside the counted
//! ones (loads, stores, the loop): `T = (((I + o)/(c·clock))^p + (1/B)^p)^(1/p)` per byte. Without
//! `o` the peak is only approached at far higher intensities than a sharp corner allows.

use crate::least_squares::{Domain, Problem, Solution};
use crate::smooth_roofline::SmoothRoofline;
use gpubench_core::error::Result;

/// The parameters of one kernel on one kind of device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntensityRoofline {
    /// Operations per cycle, `c`; per second where no clock is known.
    pub per_cycle: f64,
    /// Bytes per second, `B`.
    pub bandwidth: f64,
    /// How sharp the corner is, `p`.
    pub sharpness: f64,
    /// Operations per byte whose time goes into something else, `o`.
    pub overhead: f64,
}

/// A measured point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Operations per byte, above zero.
    pub intensity: f64,
    /// Cycles per second; 1 where the clock is not known.
    pub clock: f64,
    /// Operations per second, above zero.
    pub rate: f64,
}

/// Names of the parameters, in the order of [`fit`]'s solution.
pub const PARAMETERS: [&str; 4] = ["per_cycle", "bandwidth", "sharpness", "overhead"];

const DOMAINS: [Domain; 4] =
    [Domain::Positive, Domain::Positive, Domain::Between(1.0, 64.0), Domain::Positive];

impl IntensityRoofline {
    /// Operations per second at an intensity and a clock.
    pub fn rate(&self, intensity: f64, clock: f64) -> f64 {
        let corner = SmoothRoofline {
            launch: 0.0,
            peak: self.per_cycle * clock,
            bandwidth: self.bandwidth,
            sharpness: self.sharpness,
        };
        intensity / corner.seconds(intensity + self.overhead, 1.0)
    }

    /// The roofline of fitted parameters.
    pub fn of(p: &[f64]) -> Self {
        Self { per_cycle: p[0], bandwidth: p[1], sharpness: p[2], overhead: p[3] }
    }
}

/// Fits the roofline to measured points.
///
/// # Errors
/// [`gpubench_core::error::Error::Unsupported`] with fewer than five points.
pub fn fit(points: &[Point]) -> Result<Solution> {
    let residuals = |p: &[f64]| {
        let roof = IntensityRoofline::of(p);
        points.iter().map(|x| (roof.rate(x.intensity, x.clock) / x.rate).ln()).collect()
    };
    let best =
        |value: fn(&Point) -> f64| points.iter().map(value).fold(f64::MIN_POSITIVE, f64::max);
    let per_cycle = best(|x| x.rate / x.clock);
    let bandwidth = best(|x| x.rate / x.intensity);
    let start = |sharpness: f64, overhead: f64| vec![per_cycle, bandwidth, sharpness, overhead];
    let starts = [2.0, 5.0, 15.0].map(|sharpness| [start(sharpness, 0.1), start(sharpness, 2.0)]);
    Problem { residuals: &residuals, domains: &DOMAINS }.solve(&starts.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOF: IntensityRoofline =
        IntensityRoofline { per_cycle: 13e3, bandwidth: 1.4e12, sharpness: 8.0, overhead: 2.5 };

    #[test]
    fn the_clock_counts_only_where_arithmetic_does() {
        let near = |x: f64, y: f64| assert!((x / y - 1.0).abs() < 1e-3, "{x} {y}");
        near(ROOF.rate(0.25, 1.4e9), 0.25 * 1.4e12);
        near(ROOF.rate(0.25, 1.2e9), 0.25 * 1.4e12);
        near(ROOF.rate(1e5, 1.4e9), 13e3 * 1.4e9);
        near(ROOF.rate(1e5, 0.7e9), 13e3 * 0.7e9);
        near(ROOF.rate(47.5, 1.4e9), 13e3 * 1.4e9 * 0.95);
    }

    #[test]
    fn a_fit_finds_the_roofline_again_although_the_clock_falls() {
        let points: Vec<Point> = (0..40)
            .map(|i| {
                let (intensity, clock) = (0.25 + 3.0 * f64::from(i), 1.4e9 - 1e7 * f64::from(i));
                Point { intensity, clock, rate: ROOF.rate(intensity, clock) }
            })
            .collect();
        let values = fit(&points).unwrap().values;
        for (value, truth) in values.iter().zip([13e3, 1.4e12, 8.0, 2.5]) {
            assert!((value.value / truth - 1.0).abs() < 0.01, "{values:?}");
        }
        assert!(fit(&points[..4]).is_err());
    }
}
