//! What a record holds of it.

use gpubench_core::gpu::Clock;
use gpubench_core::record::Data;
use gpubench_core::workload::Kind;
use serde::{Deserialize, Serialize};

/// A kernel that accesses a buffer in strides against one that transforms its layout first: seconds of one
/// launch, turn by turn: at one place of all three are those of one turn.
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
    /// Several uses in a row.
    pub uses: Vec<Uses>,
}

impl Data for LayoutTransform {
    const KIND: Kind = Kind::new("layout");
}

/// Several uses of a buffer in a row: seconds of all of them, turn by turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Uses {
    /// How many.
    pub count: u32,
    /// In strides each time.
    pub strided: Vec<f64>,
    /// Transformed once, before the first.
    pub transformed: Vec<f64>,
    /// From 0, which numbers of uses were timed in turn with each other: the last ones lie around the break-even.
    #[serde(default)]
    pub attempt: u32,
}
