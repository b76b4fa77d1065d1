//! What a record holds of it.

use gpubench_core::gpu::{Clock, MemoryKind};
use gpubench_core::record::{Data, Timed};
use gpubench_core::workload::Kind;
use serde::{Deserialize, Serialize};

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

impl Data for Schedule {
    const KIND: Kind = Kind::new("schedule");
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
