//! What repeated runs of an unchanged machine taught.

use crate::workload::CaseKey;
use serde::{Deserialize, Serialize};

/// Noise floors of a baseline: a line of its own behind the header.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// How many whole runs they were learnt from.
    pub runs: u32,
    /// By case: the largest relative difference between two of the runs, 0.01 for 1 %.
    pub floors: Vec<(CaseKey, f64)>,
}
