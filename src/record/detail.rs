//! What measures of several recordings leave behind, beyond one set of samples.

use crate::gpu::{Clock, MemoryKind};
use serde::{Deserialize, Serialize};

/// The raw times of a measure that runs several recordings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// Copies of growing size, either way and both at once.
    Transfer(Transfer),
    /// A divisible problem in growing numbers of chunks.
    Overlap(Overlap),
    /// A divisible problem cut by several rules.
    Schedule(Schedule),
    /// Two kernels beside each other.
    Concurrency(Concurrency),
    /// One kernel with a growing number of work-groups.
    Staircase(Staircase),
}

/// Seconds on the host's clock (simulated: on the simulator's), sample by sample, with the
/// steps of the fastest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    /// Seconds from the first command queued until all had ended.
    pub walls: Vec<f64>,
    /// The steps of the fastest sample, where a clock tells them apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<NamedStep>,
}

/// A step with what it is, for timelines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedStep {
    /// Such as `send 3`.
    pub name: String,
    /// Its lane.
    pub lane: u32,
    /// Seconds on the timeline's clock.
    pub started: f64,
    /// Seconds on the timeline's clock.
    pub ended: f64,
}

/// Copies of growing size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transfer {
    /// The kind of host memory.
    pub host_memory: MemoryKind,
    /// Whether both directions had a lane of their own.
    pub lanes: u32,
    /// One entry a size and direction.
    pub points: Vec<TransferPoint>,
}

/// Which way a copy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Host to device.
    Send,
    /// Device to host.
    Receive,
    /// One copy each way at the same time.
    Both,
}

/// Copies of one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TransferPoint {
    /// Which way.
    pub direction: Direction,
    /// Bytes of one copy.
    pub bytes: u64,
    /// Seconds of one copy (of the pair, for both ways).
    pub samples: Vec<f64>,
}

/// A divisible problem in growing numbers of chunks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overlap {
    /// The clock of the steps.
    pub clock: Clock,
    /// The kind of host memory.
    pub host_memory: MemoryKind,
    /// Rows of the problem.
    pub rows: u64,
    /// Bytes sent and received.
    pub bytes: [u64; 2],
    /// All copies to the device, alone.
    pub send: Timed,
    /// The whole kernel, alone.
    pub kernel: Timed,
    /// All copies from the device, alone.
    pub receive: Timed,
    /// The chunked runs.
    pub runs: Vec<OverlapRun>,
}

/// A problem in equal chunks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OverlapRun {
    /// Number of chunks.
    pub chunks: u32,
    /// Number of lanes: 3, or 1 where everything is in order.
    pub lanes: u32,
    /// How long it took.
    pub timed: Timed,
}

/// A divisible problem cut by several rules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    /// The clock of the steps.
    pub clock: Clock,
    /// Longest of send, kernel and receive alone: no schedule is faster.
    pub lower_bound: f64,
    /// The rule's name, the rows of its chunks, and how long it took.
    pub runs: Vec<(String, Vec<u64>, Timed)>,
}

/// Two kernels beside each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Concurrency {
    /// The clock of the steps.
    pub clock: Clock,
    /// The first kernel alone.
    pub first: Timed,
    /// The second kernel alone.
    pub second: Timed,
    /// Both, the first queued first.
    pub together: Timed,
    /// Both, the second queued first.
    pub reversed: Timed,
    /// How many lanes they had.
    pub lanes: u32,
}

/// One kernel with a growing number of work-groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Staircase {
    /// The clock of the points.
    pub clock: Clock,
    /// Work-items per group.
    pub group_size: u32,
    /// Bytes of local memory per group.
    pub local_bytes: u64,
    /// Number of groups and seconds of one launch, sample by sample, in ascending order.
    pub points: Vec<(u32, Vec<f64>)>,
}
