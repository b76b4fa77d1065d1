//! What experiments of several recordings leave behind, beyond one set of samples.

use super::raw::Data;
use crate::gpu::{Clock, MemoryKind};
use crate::workload::Kind;
use gpubench_stats::median_of;
use serde::{Deserialize, Serialize};

/// Seconds on the host's clock (simulated: on the simulator's), sample by sample, with the
/// steps of the fastest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    /// Seconds from the first command queued until all had ended.
    pub walls: Vec<f64>,
    /// The steps of the fastest sample, where a clock distinguishes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<NamedStep>,
}

impl Timed {
    /// The middle of the samples; `None` where there is none or it is no time.
    pub fn median(&self) -> Option<f64> {
        median_of(self.walls.iter().copied()).filter(|middle| *middle > 0.0)
    }
}

/// A step with what it is, for timelines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedStep {
    /// Such as `upload 3`.
    pub name: String,
    /// Its queue.
    pub queue: u32,
    /// Seconds on the timeline's clock.
    pub started: f64,
    /// Seconds on the timeline's clock.
    pub ended: f64,
}

/// The steps of one recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// What was recorded, such as `4 chunks on 3 queues`.
    pub name: String,
    /// The clock of its steps.
    pub clock: Clock,
    /// Its steps, which share that clock.
    pub steps: Vec<NamedStep>,
}

/// Copies of growing size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transfer {
    /// The kind of host memory.
    pub host_memory: MemoryKind,
    /// Whether both directions had a queue of their own.
    pub queues: u32,
    /// One entry a size and direction.
    pub points: Vec<TransferPoint>,
}

/// Which way a copy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Host to device.
    Upload,
    /// Device to host.
    Download,
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
    /// Of both ways, where a clock distinguishes the two: when the upload and when the download started
    /// and ended in the fastest sample, in seconds from the first start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spans: Option<[[f64; 2]; 2]>,
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
    /// Bytes uploaded and downloaded.
    pub bytes: [u64; 2],
    /// All copies to the device, alone.
    pub upload: Timed,
    /// The whole kernel, alone.
    pub kernel: Timed,
    /// All copies from the device, alone.
    pub download: Timed,
    /// The chunked runs.
    pub runs: Vec<OverlapRun>,
}

/// A problem in equal chunks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OverlapRun {
    /// Number of chunks.
    pub chunks: u32,
    /// Number of queues: 3, or 1 where everything is in order.
    pub queues: u32,
    /// How long it took.
    pub timed: Timed,
}

/// A divisible problem cut by several rules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    /// The clock of the steps.
    pub clock: Clock,
    /// The kind of host memory.
    pub host_memory: MemoryKind,
    /// Queues of every run: 3, or 1 where everything is in order.
    pub queues: u32,
    /// Rows of the problem.
    pub rows: u64,
    /// All copies to the device, alone.
    pub upload: Timed,
    /// The whole kernel, alone.
    pub kernel: Timed,
    /// All copies from the device, alone.
    pub download: Timed,
    /// What the rules and the search took the device for.
    pub engines: CopyEngines,
    /// What was run.
    pub runs: Vec<ScheduleRun>,
    /// Plans that were not run, each with its reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<(String, String)>,
}

/// How a device copies beside kernels, fitted to runs in equal chunks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CopyEngines {
    /// Copy engines: 0 (nothing overlaps) to 2.
    pub count: u32,
    /// Seconds that each command takes besides its work.
    pub command: f64,
    /// What is left of either rate (upload, download) while both run.
    pub bidirectional: [f64; 2],
}

/// A problem cut by one rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScheduleRun {
    /// The rule's name.
    pub plan: String,
    /// Rows of each chunk.
    pub rows: Vec<u64>,
    /// Whether everything was uploaded before the first chunk.
    pub upload_all_first: bool,
    /// Whether everything was downloaded after the last chunk.
    pub download_all_last: bool,
    /// Seconds that the pipeline predicted.
    pub predicted: f64,
    /// How long it took.
    pub timed: Timed,
}

/// A kernel concurrent with others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Concurrency {
    /// The clock of the steps.
    pub clock: Clock,
    /// Queues of a pair: 2, or 1 where the API has one queue.
    pub queues: u32,
    /// The kernel.
    pub kernel: Launched,
    /// It with each co-running kernel, itself first.
    pub pairs: Vec<Pair>,
    /// What was requested to run concurrently and could not, each with its reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<(String, String)>,
    /// Numbers of copies of it at once, and how long they took.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<(u32, Timed)>,
}

/// What of a launch decides what can run concurrently.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Launched {
    /// The case's name.
    pub name: String,
    /// Work-groups.
    pub groups: u32,
    /// Work-items per group.
    pub group_size: u32,
    /// Bytes of local memory per group.
    pub local_bytes: u64,
}

/// Two concurrent kernels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// The second kernel.
    pub second: Launched,
    /// The first kernel alone.
    pub first_isolated: Timed,
    /// The second kernel alone.
    pub second_isolated: Timed,
    /// Both at once, A (the first kernel) queued first.
    pub concurrent_a_first: Timed,
    /// Both at once, B (the second kernel) queued first.
    pub concurrent_b_first: Timed,
}

/// A kernel that accesses a buffer in strides against one that transforms its layout first: seconds of one
/// launch, sample by sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LayoutTransform {
    /// The clock of all samples.
    pub clock: Clock,
    /// The kernel as it is.
    pub strided: Vec<f64>,
    /// The layout transform of the buffer.
    pub transform: Vec<f64>,
    /// The kernel on the transformed buffer.
    pub contiguous: Vec<f64>,
    /// Several uses in a row, in ascending order.
    pub uses: Vec<Uses>,
}

/// Several uses of a buffer in a row: seconds of all of them, sample by sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Uses {
    /// How many.
    pub count: u32,
    /// In strides each time.
    pub strided: Vec<f64>,
    /// Transformed once, before the first.
    pub transformed: Vec<f64>,
}

/// A domain in parts that exchange their halos after every pass: one step of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Halo {
    /// The clock of the steps.
    pub clock: Clock,
    /// The kind of host memory that halos travel through.
    pub host_memory: MemoryKind,
    /// Cells of the domain along x, y and z.
    pub cells: [u64; 3],
    /// Parts along each.
    pub cuts: [u64; 3],
    /// The domain in one.
    pub undivided: Timed,
    /// All parts, nothing exchanged.
    pub parts: Timed,
    /// Faces packed on the device.
    pub packed: Timed,
    /// Whole fields copied to the host and back.
    pub bulk: Timed,
    /// What of the last the host took to exchange the faces, sample by sample; 0 where it is
    /// simulated.
    pub host: Vec<f64>,
    /// Bytes copied to the host, and back again: packed, and in bulk.
    pub bytes: [u64; 2],
    /// Copies to the host, and back again.
    pub copies: [u64; 2],
    /// Whether the results are those of the undivided domain to the bit.
    pub identical: [bool; 2],
}

/// An iteration whose state is saved while it goes on. Seconds on the host's clock (simulated: on the
/// simulator's), sample by sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The clock of all samples.
    pub clock: Clock,
    /// The kind of host memory that states are downloaded in.
    pub host_memory: MemoryKind,
    /// Passes of the iteration.
    pub passes: u64,
    /// How often its state is saved on the way.
    pub saves: u64,
    /// Bytes of the state.
    pub bytes: u64,
    /// The iteration without saves.
    pub alone: Vec<f64>,
    /// Copying the state on the device; empty where no run does.
    pub snapshot: Vec<f64>,
    /// Writing a downloaded state to a file, until it is on the disk; empty where no run does.
    pub writing: Vec<f64>,
    /// The iteration with saves.
    pub runs: Vec<CheckpointRun>,
    /// What was not run or not timed, each with its reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<(String, String)>,
}

/// An iteration with saves, on so many queues.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckpointRun {
    /// Queues: one computes, the others download; one alone does both in turn.
    pub queues: u32,
    /// Whether states are written to a file, or stay in the host's memory.
    pub to_file: bool,
    /// The whole iteration, until the last save is safe.
    pub saving: Vec<f64>,
    /// Downloading one state, with nothing beside it.
    pub downloading: Vec<f64>,
    /// From a saved state to one that the iteration can go on from.
    pub restoring: Vec<f64>,
}

/// One kernel with a growing number of work-groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OccupancySweep {
    /// The clock of the points.
    pub clock: Clock,
    /// Work-items per group.
    pub group_size: u32,
    /// Bytes of local memory per group.
    pub local_bytes: u64,
    /// Number of groups and seconds of one launch, sample by sample, in ascending order.
    pub points: Vec<(u32, Vec<f64>)>,
}

/// Every variant of a kernel with a growing number of work-groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Characterised {
    /// The clock of the points.
    pub clock: Clock,
    /// That clock's resolution in seconds.
    pub resolution: f64,
    /// The variants, in the order of the suite.
    pub variants: Vec<VariantTimes>,
}

/// One variant of a kernel with a growing number of work-groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VariantTimes {
    /// Constants (a type as its number of components) and parameters, by name.
    pub numbers: Vec<(String, f64)>,
    /// Work-items per group.
    pub group_size: u32,
    /// Number of groups and seconds of one launch, sample by sample, in ascending order.
    pub points: Vec<(u32, Vec<f64>)>,
}

impl VariantTimes {
    /// The constant or parameter `name`.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.numbers.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    /// The seconds of a launch of so many groups.
    pub fn at(&self, groups: u32) -> Option<&[f64]> {
        self.points.iter().find(|(n, _)| *n == groups).map(|(_, samples)| samples.as_slice())
    }
}

impl Data for Transfer {
    const KIND: Kind = Kind::new("transfer");
}

impl Data for Overlap {
    const KIND: Kind = Kind::new("overlap");
}

impl Data for Schedule {
    const KIND: Kind = Kind::new("schedule");
}

impl Data for Concurrency {
    const KIND: Kind = Kind::new("concurrency");
}

impl Data for LayoutTransform {
    const KIND: Kind = Kind::new("layout");
}

impl Data for Halo {
    const KIND: Kind = Kind::new("halo");
}

impl Data for Checkpoint {
    const KIND: Kind = Kind::new("checkpoint");
}

impl Data for OccupancySweep {
    const KIND: Kind = Kind::new("occupancy");
}

impl Data for Characterised {
    const KIND: Kind = Kind::new("characterise");
}
