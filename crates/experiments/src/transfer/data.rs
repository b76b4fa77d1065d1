//! What a record holds of it.

pub use crate::buffer_pairs::Direction;
use gpubench_core::gpu::MemoryKind;
use gpubench_core::record::Data;
use gpubench_core::workload::Kind;
use serde::{Deserialize, Serialize};

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

impl Data for Transfer {
    const KIND: Kind = Kind::new("transfer");
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
