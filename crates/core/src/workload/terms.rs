//! The terms in which suites describe a workload.

use serde::{Deserialize, Serialize};

/// What is measured of a workload.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Time of one launch, from its start to its end on the device.
    Kernel,
    /// Time from asking for a launch on an idle device to its start.
    Launch,
    /// Time of a copy from host to device.
    Upload,
    /// Time of a copy from device to host.
    Download,
    /// Copies of growing size, either way and both at once.
    Transfer,
    /// Chunks of a divisible problem, copies concurrent with kernels.
    Overlap,
    /// Chunks of a divisible problem, cut by published rules and by search.
    Schedule,
    /// Pairs of concurrent kernels.
    Concurrency,
    /// A kernel that accesses a buffer in strides against one that transforms its layout first.
    Layout,
    /// A domain cut into parts whose halos are exchanged after every pass: packed on the device
    /// against exchanged on the host.
    Halo,
    /// Saving and restoring the state of an iteration of several passes while it goes on.
    Checkpoint,
    /// Time against the number of work-groups.
    Occupancy,
    /// Time of every variant of a kernel against the number of work-groups: their differences are
    /// the device's costs.
    Characterise,
    /// What several devices move at the same time, and transfer plans made of that.
    #[serde(rename = "transfer-states")]
    TransferStates,
    /// A divisible problem split over several devices.
    Split,
}

impl Measure {
    /// Whether it is one measurement over all devices of a run.
    pub fn is_multi_device(self) -> bool {
        matches!(self, Self::TransferStates | Self::Split)
    }
}

/// How a buffer is filled before the first launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fill {
    /// Uniformly between `low` and `high`; a whole number is below `high`, an `f32` may be
    /// rounded up to it.
    Uniform([f64; 2]),
    /// Random bits (for `f32`: random numbers of either sign between 1/2 and 2), which no
    /// memory compression can shrink.
    RandomBits,
    /// Every scalar holds its own position.
    Index,
    /// A random cyclic permutation of the positions: following it visits every position once.
    Cycle,
    /// The same number everywhere.
    Constant(f64),
}

/// Which part of a buffer a chunk of a divided problem sees.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Split {
    /// All of it (the whole buffer is uploaded before the first chunk).
    #[default]
    Broadcast,
    /// Its share, with so many rows of the neighbours on either side.
    Rows {
        /// Rows of either neighbour that the chunk reads.
        halo: u32,
    },
}

/// How far an `f32` may differ from the expected one; integers must be equal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Allowed difference relative to the expected value.
    pub relative: f64,
    /// Allowed absolute difference.
    pub absolute: f64,
}

/// Where the expected result comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verify {
    /// A reference of [`gpubench_reference`], by name.
    Reference(String, Comparison),
    /// A file with the bytes of every written buffer, one after the other.
    File(std::path::PathBuf, Comparison),
    /// What another device computes.
    Device(Comparison),
    /// What [`gpubench_emulator`] computes from the kernel's WGSL source.
    Emulator(Comparison),
    /// Nothing: the result is flagged unverified and never ranked.
    Nothing,
}
