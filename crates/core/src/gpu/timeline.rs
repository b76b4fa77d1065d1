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

    /// These times, each as `by` turns it.
    #[must_use]
    pub fn map(self, by: impl Fn(f64) -> f64) -> Self {
        let Self { queued, submitted, started, ended } = self;
        let [queued, submitted, started, ended] = [queued, submitted, started, ended].map(by);
        Self { queued, submitted, started, ended }
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

impl Timeline {
    /// Seconds in which at least one step ran, where a clock can distinguish steps.
    pub fn busy(&self) -> Option<f64> {
        (!self.steps.is_empty()).then(|| busy(&self.steps))
    }
}

/// Seconds in which at least one of these steps ran. Between two launches of one queue a device may wait for the host,
/// which is no time of a kernel.
pub fn busy(steps: &[StepTimes]) -> f64 {
    let mut spans: Vec<_> = steps.iter().map(|step| (step.started, step.ended)).collect();
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut until = f64::NEG_INFINITY;
    let parts = spans.iter().map(|&(started, ended)| {
        let part = (ended - started.max(until)).max(0.0);
        until = until.max(ended);
        part
    });
    parts.sum()
}

#[test]
fn what_two_steps_share_is_busy_once_and_a_gap_is_not() {
    let step = |started, ended| StepTimes { queued: 0.0, submitted: 0.0, started, ended };
    let of = |steps| Timeline {
        steps,
        clock: Clock::Device,
        resolution: 1e-9,
        wall: 20.0,
        dropped: None,
    };
    assert_eq!(
        of(vec![step(9.0, 11.0), step(1.0, 4.0), step(2.0, 3.0), step(3.0, 5.0)]).busy(),
        Some(6.0)
    );
    assert_eq!(of(vec![]).busy(), None);
}

#[test]
fn a_step_lasts_from_its_start_to_its_end() {
    let step = StepTimes { queued: 1.0, submitted: 2.0, started: 4.0, ended: 7.0 };
    assert_eq!(step.duration(), 3.0);
}
