//! What a record holds of it.

use gpubench_core::gpu::{Clock, MemoryKind};
use gpubench_core::record::Data;
use gpubench_core::workload::Kind;
use serde::{Deserialize, Serialize};

/// A kernel in zero-copy memory against one between copies. Seconds on the host's clock (simulated: on the
/// simulator's), sample by sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ZeroCopy {
    /// The clock of all samples.
    pub clock: Clock,
    /// The kind of host memory that copies begin and end in.
    pub host_memory: MemoryKind,
    /// Bytes that the host writes before a launch, and that it reads behind it.
    pub bytes: [u64; 2],
    /// Each kind of zero-copy memory.
    pub kinds: Vec<InPlace>,
    /// Kinds that were not measured, each with its reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<(String, String)>,
}

impl Data for ZeroCopy {
    const KIND: Kind = Kind::new("zero-copy");
}

/// A kind of zero-copy memory. Samples of one position are of one turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InPlace {
    /// The kind.
    pub memory: MemoryKind,
    /// How it was allocated, in the API's words.
    pub allocation: String,
    /// Mapping all buffers that the host writes, until it may.
    pub map_to_write: Vec<f64>,
    /// Giving them back.
    pub unmap_written: Vec<f64>,
    /// One launch there, in a batch.
    pub kernel: Vec<f64>,
    /// Mapping all buffers that the host reads, until it may.
    pub map_to_read: Vec<f64>,
    /// Giving them back.
    pub unmap_read: Vec<f64>,
    /// Both maps, one launch and both unmaps, in order.
    pub whole: Vec<f64>,
    /// One launch in the device's memory, in a batch.
    pub device_kernel: Vec<f64>,
    /// The copies to the device, one launch there and the copies back, in order.
    pub copied: Vec<f64>,
}

/// Times that were invented, for tests.
#[cfg(test)]
pub(super) fn sample() -> InPlace {
    let times = |seconds: f64| (0..9).map(|i| seconds * (1.0 + 0.01 * f64::from(i - 4))).collect();
    InPlace {
        memory: MemoryKind::ZeroCopy,
        allocation: "CL_MEM_ALLOC_HOST_PTR".into(),
        map_to_write: times(2e-6),
        unmap_written: times(1e-6),
        kernel: times(3e-3),
        map_to_read: times(4e-6),
        unmap_read: times(3e-6),
        whole: times(3.1e-3),
        device_kernel: times(1e-3),
        copied: times(6.2e-3),
    }
}
