//! When each step of a recording happened.

use serde::{Deserialize, Serialize};

/// The clock a time was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    /// The device's own timestamps.
    Device,
    /// The host's monotonic clock.
    Host,
    /// The simulated GPU's clock: nothing was measured.
    Simulated,
}

/// Resolution of the host's monotonic clock in seconds.
pub const HOST_RESOLUTION: f64 = if cfg!(windows) { 1e-7 } else { 1e-9 };

/// When one step was queued, submitted, started and ended: seconds on the timeline's clock. Where
/// that clock does not know when the host queued or submitted a step, both equal `started`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepTimes {
    /// The host requested it.
    pub queued: f64,
    /// The driver handed it to the device.
    pub submitted: f64,
    /// The device began.
    pub started: f64,
    /// The device ended.
    pub ended: f64,
}

impl StepTimes {
    /// Seconds from start to end.
    pub fn duration(&self) -> f64 {
        self.ended - self.started
    }
}

/// The times of all steps of a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// One entry a step, in the recording's order. Empty where no clock can distinguish steps;
    /// then only `wall` holds.
    pub steps: Vec<StepTimes>,
    /// The clock of `steps`.
    pub clock: Clock,
    /// Its resolution in seconds.
    pub resolution: f64,
    /// Seconds on the host's clock from the first command queued until all had ended.
    pub wall: f64,
    /// Why the device's timestamps were not used, where it has them: zero, reversed, or huge.
    pub dropped: Option<String>,
}

#[test]
fn a_step_lasts_from_its_start_to_its_end() {
    let step = StepTimes { queued: 1.0, submitted: 2.0, started: 4.0, ended: 7.0 };
    assert_eq!(step.duration(), 3.0);
}
