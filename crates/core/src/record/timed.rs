//! Samples of a recording, and when its steps ran.

use crate::gpu::Clock;
use gpubench_stats::median_of;
use serde::{Deserialize, Serialize};

/// Seconds on the host's clock (simulated: on the simulator's), sample by sample, with the
/// steps of the fastest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    /// Seconds from the first command queued until all had ended.
    pub walls: Vec<f64>,
    /// The steps of the fastest sample, where a clock distinguishes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<NamedStep>,
}

impl Timed {
    /// The middle of the samples; `None` where there is none or it is no time.
    pub fn median(&self) -> Option<f64> {
        median_of(self.walls.iter().copied()).filter(|middle| *middle > 0.0)
    }
}

/// A step with what it is, for timelines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedStep {
    /// Such as `upload 3`.
    pub name: String,
    /// Its queue.
    pub queue: u32,
    /// Seconds on the timeline's clock.
    pub started: f64,
    /// Seconds on the timeline's clock.
    pub ended: f64,
}

/// The steps of one recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// What was recorded, such as `4 chunks on 3 queues`.
    pub name: String,
    /// The clock of its steps.
    pub clock: Clock,
    /// Its steps, which share that clock.
    pub steps: Vec<NamedStep>,
}

#[test]
fn the_middle_of_walls_is_a_time() {
    let of = |walls: &[f64]| Timed { walls: walls.to_vec(), steps: vec![] }.median();
    assert_eq!([of(&[3.0, 1.0, 2.0]), of(&[0.0, 0.0]), of(&[])], [Some(2.0), None, None]);
}
