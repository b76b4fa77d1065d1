//! What bounds a case.

use gpubench_core::units::Bytes;

/// What bounds a case beside the device's own limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Bytes on the device for one case; by default three quarters of its memory.
    pub memory: Option<Bytes>,
    /// Seconds that one case may take in one round, sampling and everything around it.
    pub seconds: f64,
    /// Seed of the inputs.
    pub seed: u64,
    /// Cores of the host, which makes the inputs.
    pub cores: u32,
    /// The host's memory, where it is known.
    pub host_memory: Option<Bytes>,
}

impl Limits {
    /// Those of a run without a budget, whose inputs are of this seed and made by so many cores.
    pub const fn unbounded(seed: u64, cores: u32) -> Self {
        Self { memory: None, seconds: f64::INFINITY, seed, cores, host_memory: None }
    }
}

/// Bytes on either side of every device buffer that no kernel may touch.
pub const GUARD: Bytes = Bytes(4096);
