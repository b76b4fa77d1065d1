//! Model 3, smooth roofline: the roofline with a launch cost and a rounded corner, fitted per
//! device.
//!
//! Beyond V13: near the corner of the roofline both sides cost time, and small launches cost what
//! an empty one does: `T = t0 + ((ops/P)^p + (bytes/B)^p)^(1/p)`.

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

    /// 6 operations take 3 s and 20 bytes 4 s, at a sharpness of 2 together 5 s, behind a launch of 1 s.
    #[test]
    fn near_the_corner_both_sides_count() {
        let device = SmoothRoofline { launch: 1.0, peak: 2.0, bandwidth: 5.0, sharpness: 2.0 };
        assert!((device.seconds(6.0, 20.0) - 6.0).abs() < 1e-12);
        assert!((device.seconds(0.0, 20.0) - 5.0).abs() < 1e-12);
        let sum = SmoothRoofline { sharpness: 1.0, ..device };
        assert!((sum.seconds(6.0, 20.0) - 8.0).abs() < 1e-12);
    }
}
