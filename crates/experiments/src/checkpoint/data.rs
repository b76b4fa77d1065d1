//! What a record holds of it.

use gpubench_core::gpu::{Clock, MemoryKind};
use gpubench_core::record::Data;
use gpubench_core::workload::Kind;
use serde::{Deserialize, Serialize};

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
    /// The folder of the files: it is its disk that was written to. `None` in results of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// What was not run or not timed, each with its reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<(String, String)>,
}

impl Data for Checkpoint {
    const KIND: Kind = Kind::new("checkpoint");
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
