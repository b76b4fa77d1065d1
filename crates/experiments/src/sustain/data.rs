//! What a record holds of it.

use gpubench_core::gpu::Clock;
use gpubench_core::record::{Data, Sensed};
use gpubench_core::workload::Kind;
use serde::{Deserialize, Serialize};

/// A kernel that was kept running.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sustain {
    /// The clock of the launches.
    pub clock: Clock,
    /// Seconds that were asked for.
    pub asked: f64,
    /// The run in windows of equal length, in order.
    pub windows: Vec<Window>,
}

/// A part of the run, and what the device's sensors said at its end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// Seconds from the first launch to the window's end, on the host's clock (simulated: on the
    /// simulator's).
    pub at: f64,
    /// Launches in it.
    pub launches: u64,
    /// Median seconds of one launch.
    pub seconds: f64,
    /// The core clock in hertz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hertz: Option<f64>,
    /// Power drawn, in watts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watts: Option<f64>,
    /// The core's temperature in degrees Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub celsius: Option<f64>,
    /// What held the clock back, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled: Option<String>,
    /// What the host's sensors said.
    #[serde(default, skip_serializing_if = "Sensed::is_empty")]
    pub host: Sensed,
}

impl Data for Sustain {
    const KIND: Kind = Kind::new("sustain");
}
