//! What a record holds of it.

use gpubench_core::gpu::{Clock, MemoryKind};
use gpubench_core::record::{Data, Timed};
use gpubench_core::workload::Kind;
use serde::{Deserialize, Serialize};

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

impl Data for Halo {
    const KIND: Kind = Kind::new("halo");
}
