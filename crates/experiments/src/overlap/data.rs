//! What a record holds of it.

use gpubench_core::gpu::{Clock, MemoryKind};
use gpubench_core::record::{Data, Timed};
use gpubench_core::workload::Kind;
use serde::{Deserialize, Serialize};

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

impl Data for Overlap {
    const KIND: Kind = Kind::new("overlap");
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
