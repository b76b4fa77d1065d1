//! What a record holds of it.

use gpubench_core::gpu::Clock;
use gpubench_core::record::Data;
use gpubench_core::workload::Kind;
use serde::{Deserialize, Serialize};

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

impl Data for OccupancySweep {
    const KIND: Kind = Kind::new("occupancy");
}
