//! Seeded scatter of simulated times.

use super::Description;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Draws lognormal factors around 1.
pub(super) struct Scatter {
    sigma: f64,
    random: Pcg64Mcg,
}

impl Scatter {
    /// For the `run`-th run of a device; equal seeds and runs scatter equally.
    pub fn new(gpu: &Description, seed: u64, run: u64) -> Self {
        let mut state = gpu.noise.seed;
        for part in [seed, run] {
            state = state.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(part + 1);
        }
        Self { sigma: gpu.noise.relative, random: Pcg64Mcg::seed_from_u64(state) }
    }

    /// The next factor; its median is 1.
    pub fn factor(&mut self) -> f64 {
        if self.sigma == 0.0 {
            return 1.0;
        }
        // Box and Muller's transform of two uniform numbers into a normal one.
        let radius = (-2.0 * (1.0 - self.random.random::<f64>()).ln()).sqrt();
        let angle = std::f64::consts::TAU * self.random.random::<f64>();
        (self.sigma * radius * angle.cos()).exp()
    }
}
