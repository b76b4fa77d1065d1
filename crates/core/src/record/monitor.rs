//! What was watched on the device beside a case's own times.

use super::CooledDown;
use serde::{Deserialize, Serialize};

/// The device around a case: whether it was still the one that the run began on, and what it drew.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Monitor {
    /// Seconds of a fixed small kernel when the run began on this device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began: Option<f64>,
    /// Seconds of it before the case (behind the last one that it ran behind) and after it; `None` where the
    /// device cannot run it, where its share of the time was used up, and where nothing was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_kernel: Option<[f64; 2]>,
    /// Seconds of a fixed kernel that streams through memory, where it ran behind the case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_kernel: Option<f64>,
    /// Seconds of one launch of an empty kernel in a batch of many, where it was needed: what of a short
    /// launch is no work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empty_launch: Option<f64>,
    /// Samples that were thrown away because the device drifted or was throttled meanwhile; those of
    /// the record were taken after them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub discarded: u32,
    /// Joules of one operation, idle power included; `None` where no sensor reports energy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joules: Option<f64>,
    /// What the device's sensors reported last while it was measured.
    #[serde(default, skip_serializing_if = "Sensed::is_empty")]
    pub sensors: Sensed,
    /// What the sensors of the host reported last while it was measured: its processor's.
    #[serde(default, skip_serializing_if = "Sensed::is_empty")]
    pub host: Sensed,
    /// The pause before it in which the device cooled down, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cool_down: Option<CooledDown>,
}

/// What sensors reported at one moment. Whatever they do not report is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sensed {
    /// The core clock in hertz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hertz: Option<f64>,
    /// Power drawn, in watts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watts: Option<f64>,
    /// The temperature in degrees Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub celsius: Option<f64>,
}

impl Sensed {
    /// Whether nothing was reported.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// A figure that no sensor has reported, if there is one.
    pub(super) fn impossible(&self) -> Option<f64> {
        let figures = [
            (self.hertz, 1.0..=1e12),
            (self.watts, 1e-6..=1e6),
            // From the absolute zero to beyond all that melts.
            (self.celsius, -273.15..=1e4),
        ];
        let figures = figures.into_iter().filter_map(|(value, range)| Some((value?, range)));
        // Sensors that know nothing report zero.
        let mut odd = figures.filter(|(value, range)| *value != 0.0 && !range.contains(value));
        odd.next().map(|(value, _)| value)
    }
}

impl Monitor {
    /// All that was read in seconds and in joules.
    pub(super) fn readings(&self) -> impl Iterator<Item = f64> {
        let pause = self.cool_down.map(|pause| pause.seconds);
        let kernels = [self.began, self.memory_kernel, self.empty_launch, self.joules, pause];
        kernels.into_iter().flatten().chain(self.reference_kernel.into_iter().flatten())
    }

    /// Whether nothing was watched.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

#[test]
fn every_reading_is_looked_at() {
    assert!(Monitor::default().is_empty() && Sensed::default().is_empty());
    let cool_down = Some(CooledDown { seconds: 5.0, celsius: None });
    let monitor = Monitor {
        began: Some(1.0),
        memory_kernel: Some(2.0),
        empty_launch: Some(3.0),
        joules: Some(4.0),
        cool_down,
        reference_kernel: Some([6.0, 7.0]),
        ..Monitor::default()
    };
    assert!(!monitor.is_empty());
    assert_eq!(monitor.readings().collect::<Vec<_>>(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    let json = serde_json::to_value(Monitor { discarded: 2, ..Monitor::default() }).unwrap();
    assert_eq!(json, serde_json::json!({ "discarded": 2 }));
    assert_eq!(serde_json::to_string(&Monitor::default()).unwrap(), "{}");
}

#[test]
fn a_sensor_reads_what_there_is() {
    let read = |hertz, watts, celsius| Sensed { hertz, watts, celsius };
    let highest = read(Some(1e12), Some(1e6), Some(1e4));
    assert!(!highest.is_empty() && highest.impossible().is_none());
    assert!(read(Some(0.0), Some(0.0), Some(-40.0)).impossible().is_none());
    assert_eq!(read(Some(5e-324), None, None).impossible(), Some(5e-324));
    assert_eq!(read(None, Some(-5.0), None).impossible(), Some(-5.0));
    assert_eq!(read(None, None, Some(-300.0)).impossible(), Some(-300.0));
    assert_eq!(read(Some(2e12), None, None).impossible(), Some(2e12));
    assert_eq!(read(None, None, Some(2e4)).impossible(), Some(2e4));
    assert!(read(None, Some(f64::NAN), None).impossible().is_some_and(f64::is_nan));
}
