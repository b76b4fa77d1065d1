//! What a record holds of it.

use gpubench_core::gpu::{Clock, MemoryKind};
use gpubench_core::record::Data;
use gpubench_core::workload::Kind;
use serde::{Deserialize, Serialize};

/// What several devices move at the same time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TransferStates {
    /// The clock of all seconds.
    pub clock: Clock,
    /// The kind of host memory.
    pub host_memory: MemoryKind,
    /// The devices, as `opencl:0`, in the order of the parts of a state's name.
    pub devices: Vec<String>,
    /// For each device the first that it can be exchanged with (itself, if there is none).
    pub classes: Vec<usize>,
    /// Bytes of one copy.
    pub copy: u64,
    /// The states that were measured.
    pub states: Vec<MovedState>,
    /// Transfer plans made of them, and run.
    pub plans: Vec<PlanRun>,
}

impl Data for TransferStates {
    const KIND: Kind = Kind::new("transfer-states");
}

/// A state that was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MovedState {
    /// What each device did, such as `SR/N`.
    pub state: String,
    /// What was moved, sample by sample.
    pub samples: Vec<Moved>,
}

/// What devices moved while all that had something to move were at it: whole copies only, since
/// one that begins or ends with fewer at it is faster in part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moved {
    /// Bytes to and from each device.
    pub bytes: Vec<[f64; 2]>,
    /// Seconds that these took.
    pub seconds: Vec<[f64; 2]>,
}

/// A least-time plan, run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanRun {
    /// Bytes to upload to and to download from each device.
    pub amounts: Vec<[u64; 2]>,
    /// Seconds that the plan predicts.
    pub predicted: f64,
    /// The states in which it spends time, and how much.
    pub spent: Vec<(String, f64)>,
    /// Seconds that it took, sample by sample: of all its states, one after the other.
    pub planned: Vec<f64>,
    /// Seconds where all devices moved everything at once instead.
    pub at_once: Vec<f64>,
}
