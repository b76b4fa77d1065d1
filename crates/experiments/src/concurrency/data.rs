//! What a record holds of it.

use gpubench_core::gpu::Clock;
use gpubench_core::record::{Data, Timed};
use gpubench_core::workload::Kind;
use serde::{Deserialize, Serialize};

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

impl Data for Concurrency {
    const KIND: Kind = Kind::new("concurrency");
}

/// What of a launch decides what can run concurrently.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Launched {
    /// The case's name.
    pub name: String,
    /// Work-groups.
    pub groups: u32,
    /// Work-items per group.
    pub group_size: u32,
    /// Bytes of local memory per group.
    pub local_bytes: u64,
    /// Registers per work-item: as the driver reports them, or else as the suite declares them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registers: Option<u32>,
    /// Bytes that it moves, as the suite counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<f64>,
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
