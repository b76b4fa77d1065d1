//! How long a case will take, before anything ran: good enough for a bar and a budget, never
//! shown as a result.

use super::Case;
use crate::gpu::{DeviceInfo, DeviceKind};

/// Seconds by stage.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Making inputs and sending them.
    pub prepare: f64,
    /// Compiling, about.
    pub build: f64,
    /// Fifteen launches at the best the device may reach.
    pub measure: f64,
}

impl Estimate {
    /// Seconds in all.
    pub fn total(&self) -> f64 {
        self.prepare + self.build + self.measure
    }
}

/// Bytes of seeded random input that one host core makes and sends in a second, about.
pub(super) const FILL_RATE: f64 = 0.4e9;
/// Seconds to compile one form of a kernel, about.
const BUILD: f64 = 0.15;
/// Fewest samples of a case.
const SAMPLES: f64 = 15.0;

/// An estimate for `case` on `device`.
pub fn estimate(case: &Case, device: &DeviceInfo) -> Estimate {
    let bytes: f64 = case.buffers.iter().map(|b| b.bytes().0 as f64).sum();
    let (flops_rate, byte_rate) = best_rates(device);
    let launch = case
        .candidates
        .iter()
        .map(|c| (c.flops / flops_rate).max(c.bytes / byte_rate))
        .fold(f64::INFINITY, f64::min);
    let launch = if launch.is_finite() { launch } else { bytes / byte_rate };
    Estimate {
        prepare: bytes / FILL_RATE,
        build: BUILD * case.candidates.len() as f64,
        measure: SAMPLES * launch,
    }
}

/// Operations and bytes per second that no device of the kind exceeds by far: 64 operations a
/// cycle (two 512-bit fused multiply-adds) on a CPU core, and a large data-centre GPU.
fn best_rates(device: &DeviceInfo) -> (f64, f64) {
    match device.kind {
        DeviceKind::Cpu => {
            let cores = f64::from(device.compute_units.unwrap_or(8));
            (cores * device.clock_hz.unwrap_or(4e9) * 64.0, cores * 40e9)
        }
        _ => (100e12, 5e12),
    }
}
