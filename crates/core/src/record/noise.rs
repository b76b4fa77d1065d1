//! What repeated runs of an unchanged machine taught, and the runs before.

use crate::workload::CaseKey;
use serde::{Deserialize, Serialize};

/// Noise floors of a baseline and its history: a line of its own behind the header.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// How many whole runs they were learnt from.
    pub runs: u32,
    /// By case: the largest relative difference between two of the runs, 0.01 for 1 %.
    pub floors: Vec<(CaseKey, f64)>,
    /// The runs that the baseline was ever made of, the latest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Past>,
}

/// What a baseline remembers of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Past {
    /// When it began, RFC 3339 in UTC.
    pub started: String,
    /// The driver.
    pub driver: String,
    /// Seconds of the reference kernel that computes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compute: Option<f64>,
    /// Seconds of the reference kernel that streams through memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<f64>,
    /// Seconds of each verified case.
    pub cases: Vec<(CaseKey, f64)>,
}
