//! How long a case will take, before anything ran: good enough for a bar and a budget, never
//! shown as a result.

use super::{BufferPlan, Case};
use gpubench_core::gpu::{DeviceInfo, DeviceKind};
use gpubench_core::workload::Verify;

/// Seconds by stage.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Making inputs and uploading them.
    pub prepare: f64,
    /// Compiling, about.
    pub build: f64,
    /// Fifteen launches at the best the device may reach.
    pub measure: f64,
    /// Computing the expected result, pass after pass: once a run, since what takes long is kept.
    pub reference: f64,
}

impl Estimate {
    /// Seconds of each device and round.
    pub fn each(&self) -> f64 {
        self.prepare + self.build + self.measure
    }
}

/// Seconds that the host may need for a case's buffers: far more than a fair share, since what
/// really overruns is stopped by the run's own clock.
pub(super) const LONGEST_PREPARE: f64 = 10.0;
/// Bytes of seeded random input that one host core makes in a second, about.
const FILL_RATE: f64 = 0.4e9;
/// Cores beyond which the host's memory, not its arithmetic, sets the pace.
const MAX_CORES: u32 = 8;
/// Bytes that the host poisons and uploads in a second, about.
const BLANK_RATE: f64 = 4e9;
/// Operations that a reference does in a second on one host core, about.
const REFERENCE_RATE: f64 = 1e9;
/// Seconds to compile one variant of a kernel, about.
const BUILD: f64 = 0.15;
/// Fewest samples of a case.
const SAMPLES: f64 = 15.0;

/// An estimate for `case` on `device`, whose host has so many cores.
pub fn estimate(case: &Case, device: &DeviceInfo, cores: u32) -> Estimate {
    let bytes = case.buffers.iter().map(bytes).sum::<f64>();
    let (flops_rate, byte_rate) = best_rates(device);
    let launch = case
        .candidates
        .iter()
        .map(|c| (c.flops / flops_rate).max(c.bytes / byte_rate))
        .fold(f64::INFINITY, f64::min);
    let launch = if launch.is_finite() { launch } else { bytes / byte_rate };
    Estimate {
        prepare: prepare(&case.buffers, cores),
        build: BUILD * case.candidates.len() as f64,
        measure: SAMPLES * launch,
        reference: reference(case, bytes, cores),
    }
}

/// Every pass is computed from a copy of what the one before left.
fn reference(case: &Case, bytes: f64, cores: u32) -> f64 {
    let (Verify::Reference(..), Some(variant)) = (&case.verify, case.candidates.first()) else {
        return 0.0;
    };
    let passes = 1.0 + variant.later.len() as f64;
    let computing = variant.flops / (REFERENCE_RATE * f64::from(cores.clamp(1, MAX_CORES)));
    computing + passes * bytes / BLANK_RATE
}

/// Bytes of input that a host of so many cores makes in a second, about.
pub(super) fn fill_rate(cores: u32) -> f64 {
    FILL_RATE * f64::from(cores.clamp(1, MAX_CORES))
}

/// Inputs are drawn on all cores; outputs are only poisoned.
fn prepare(buffers: &[BufferPlan], cores: u32) -> f64 {
    let made = buffers.iter().filter(|b| b.fill.is_some()).map(bytes).sum::<f64>();
    let all = buffers.iter().map(bytes).sum::<f64>();
    made / fill_rate(cores) + all / BLANK_RATE
}

fn bytes(buffer: &BufferPlan) -> f64 {
    buffer.bytes().0 as f64
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
