//! Model 3, smooth roofline: the roofline with a launch cost and a rounded corner, fitted per
//! device.
//!
//! Beyond V13: near the corner of the roofline both sides cost time, and small launches cost what
//! an empty one does: `T = t0 + ((ops/P)^p + (bytes/B)^p)^(1/p)`.

use super::least_squares::{Domain, Estimate, Problem, Solution};
use crate::error::Result;

/// The parameters of one device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmoothRoofline {
    /// Seconds of an empty launch, `t0`.
    pub launch: f64,
    /// Operations per second, `P`.
    pub peak: f64,
    /// Bytes per second, `B`.
    pub bandwidth: f64,
    /// How sharp the corner is, `p`: at 1 the two sides add up, at infinity the longer counts.
    pub sharpness: f64,
}

impl SmoothRoofline {
    /// Seconds of a launch of so many operations and bytes.
    pub fn seconds(&self, operations: f64, bytes: f64) -> f64 {
        let (compute, memory) = (operations / self.peak, bytes / self.bandwidth);
        let longest = compute.max(memory);
        if longest <= 0.0 {
            return self.launch;
        }
        // The longer side is taken out of the root, so that no power overflows.
        let shares = [compute, memory].map(|t| (t / longest).powf(self.sharpness));
        self.launch + longest * (shares[0] + shares[1]).powf(1.0 / self.sharpness)
    }
}

/// A measured launch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Operations.
    pub operations: f64,
    /// Bytes.
    pub bytes: f64,
    /// Seconds, above zero.
    pub seconds: f64,
}

/// A fitted smooth roofline: launch, peak, bandwidth and sharpness with their standard errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fitted {
    /// Seconds of an empty launch.
    pub launch: Estimate,
    /// Operations per second.
    pub peak: Estimate,
    /// Bytes per second.
    pub bandwidth: Estimate,
    /// Sharpness, between 1 and 16.
    pub sharpness: Estimate,
}

impl Fitted {
    /// The fitted values.
    pub fn values(&self) -> SmoothRoofline {
        SmoothRoofline {
            launch: self.launch.value,
            peak: self.peak.value,
            bandwidth: self.bandwidth.value,
            sharpness: self.sharpness.value,
        }
    }
}

/// Fits the four parameters to `samples` by least squares of the logarithms.
///
/// # Errors
/// [`crate::error::Error::Unsupported`] with fewer than five samples.
pub fn fit(samples: &[Sample]) -> Result<Fitted> {
    let model =
        |p: &[f64]| SmoothRoofline { launch: p[0], peak: p[1], bandwidth: p[2], sharpness: p[3] };
    let residuals = |p: &[f64]| {
        let device = model(p);
        let error = |s: &Sample| (device.seconds(s.operations, s.bytes) / s.seconds).ln();
        samples.iter().map(error).collect()
    };
    let best = |rate: fn(&Sample) -> f64| {
        samples.iter().map(rate).filter(|r| r.is_finite()).fold(f64::MIN_POSITIVE, f64::max)
    };
    let shortest = samples.iter().map(|s| s.seconds).fold(f64::INFINITY, f64::min);
    let (peak, bandwidth) = (best(|s| s.operations / s.seconds), best(|s| s.bytes / s.seconds));
    let starts: Vec<_> = [1.5, 4.0]
        .iter()
        .flat_map(|&p| [0.1, 0.9].map(|share| vec![share * shortest, peak, bandwidth, p]))
        .collect();
    let domains =
        [Domain::Positive, Domain::Positive, Domain::Positive, Domain::Between(1.0, 16.0)];
    let Solution { values, .. } =
        Problem { residuals: &residuals, domains: &domains }.solve(&starts)?;
    Ok(Fitted { launch: values[0], peak: values[1], bandwidth: values[2], sharpness: values[3] })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEVICE: SmoothRoofline =
        SmoothRoofline { launch: 5e-6, peak: 2e12, bandwidth: 3e11, sharpness: 2.5 };

    #[test]
    fn far_from_the_corner_it_is_the_roofline() {
        let near = |x: f64, y: f64| assert!((x / y - 1.0).abs() < 1e-3, "{x} {y}");
        near(DEVICE.seconds(2e12, 1.0), 1.0 + 5e-6);
        near(DEVICE.seconds(1.0, 3e11), 1.0 + 5e-6);
        assert_eq!(DEVICE.seconds(0.0, 0.0), 5e-6);
        let both = DEVICE.seconds(2e12, 3e11);
        near(both, 2f64.powf(1.0 / 2.5) + 5e-6);
    }

    #[test]
    fn parameters_are_recovered_from_exact_samples() {
        let mut samples = Vec::new();
        for size in [1e4, 1e6, 1e8, 1e9] {
            for intensity in [0.1, 2.0, 7.0, 50.0] {
                let (operations, bytes) = (size * intensity, size);
                samples.push(Sample {
                    operations,
                    bytes,
                    seconds: DEVICE.seconds(operations, bytes),
                });
            }
        }
        let fitted = fit(&samples).unwrap();
        let near = |e: Estimate, truth: f64| assert!((e.value / truth - 1.0).abs() < 1e-4, "{e:?}");
        near(fitted.launch, DEVICE.launch);
        near(fitted.peak, DEVICE.peak);
        near(fitted.bandwidth, DEVICE.bandwidth);
        near(fitted.sharpness, DEVICE.sharpness);
        assert!(fit(&samples[..4]).is_err());
    }
}
