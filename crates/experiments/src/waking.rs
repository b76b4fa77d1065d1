//! A device that was idle has lowered its clock, and raises it only under load: before times are taken it is kept at
//! work until it is as fast as it was. That is called waking it.

use gpubench_core::error::Result;
use gpubench_core::gpu::{Clock, DeviceKind, Recording};
use gpubench_device::Device;

/// Seconds that a device gets to raise its clock, at most.
const LONGEST: f64 = 0.8;
/// Where it is not known how fast it gets, it is as fast as it gets when it was no faster for so many seconds. An
/// A100's clock was seen to rise 90 to 289 ms after its load had begun (`docs/results/2026-11-30-clock.md`).
const STEADY: f64 = 0.35;
/// The share of both that a processor gets, which the host keeps at work.
const OF_PROCESSOR: f64 = 0.25;
/// From this share on, it was faster.
const FASTER: f64 = 0.01;
/// Seconds of work at once: a device that waits for the host in between raises its clock slowly.
const LOAD: f64 = 2e-3;
/// Launches of so much work, at most, and where it is not known how long one takes.
const LAUNCHES: [u32; 2] = [256, 16];
/// What a run counts for at least, so that the end comes even where a clock stands still.
const SHORTEST: f64 = 1e-6;
/// A device that did not get as fast as before is asked for what it reached so many times, before it is asked for all.
const CONTENT: u32 = 8;

/// Whether a device of this kind lowers its clock between two cases. The host's own processor is never idle there, and
/// a simulated clock never rises.
pub(super) fn sleeps(kind: DeviceKind) -> bool {
    !matches!(kind, DeviceKind::Cpu | DeviceKind::Simulated)
}

/// What waking a device has shown: seconds of one launch.
#[derive(Debug, Default)]
pub(super) struct Waking {
    /// The shortest ever.
    fastest: Option<f64>,
    /// What it reached when it last did not get as fast, and how often that has been enough since.
    reached: Option<(f64, u32)>,
}

impl Waking {
    /// Launches at once that load the device.
    pub fn load(&self) -> u32 {
        let [max_launches, usual] = LAUNCHES;
        let enough = self.fastest.map(|seconds| (LOAD / seconds.max(1e-9)).ceil());
        enough.map_or(usual, |enough| enough.clamp(1.0, f64::from(max_launches)) as u32)
    }

    /// What a launch may take on a device that is awake.
    fn wanted(&self) -> Option<f64> {
        match self.reached {
            Some((seconds, times)) if times < CONTENT => Some(seconds),
            _ => self.fastest,
        }
    }

    fn learn(&mut self, seconds: f64, is_up: bool, limit: f64) {
        let fastest = self.fastest.map_or(seconds, |fastest| fastest.min(seconds));
        self.fastest = Some(fastest);
        self.reached = match self.reached {
            _ if !is_up => Some((seconds, 0)),
            Some((reached, times)) if seconds > fastest * limit => Some((reached, times + 1)),
            _ => None,
        };
    }
}

/// Runs `recording`, of so many launches, until one takes no longer than before but for the factor `limit`, or where
/// that is not known, until none gets shorter.
pub(super) fn wake(
    device: &mut dyn Device,
    (recording, launches): (&Recording, u32),
    waking: &mut Waking,
    limit: f64,
) -> Result<()> {
    let wanted = waking.wanted().map(|seconds| limit * seconds);
    let share = if sleeps(device.info().kind) { 1.0 } else { OF_PROCESSOR };
    let (mut best, mut spent, mut faster, mut is_up) = (f64::INFINITY, 0.0, 0.0, false);
    while spent < share * LONGEST && !is_up {
        let timeline = device.run(recording)?;
        if timeline.clock == Clock::Simulated {
            return Ok(());
        }
        spent += timeline.wall.max(SHORTEST);
        // Where the timestamps cannot be believed, the host's clock counts: longer, and alike.
        let seconds = timeline.busy().unwrap_or(timeline.wall) / f64::from(launches);
        if seconds < (1.0 - FASTER) * best {
            faster = spent;
        }
        best = best.min(seconds);
        is_up = wanted.map_or(spent - faster >= share * STEADY, |wanted| best <= wanted);
    }
    waking.learn(best, is_up, limit);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invented_device::{InventedDevice, timeline};
    use gpubench_core::gpu::StepTimes;

    /// A GPU whose runs take what `seconds` says of their number.
    fn gpu(seconds: impl Fn(u32) -> f64 + 'static) -> InventedDevice {
        InventedDevice::new(DeviceKind::Discrete, move |run, _| {
            let ended = seconds(run);
            timeline(vec![StepTimes { queued: 0.0, submitted: 0.0, started: 0.0, ended }], ended)
        })
    }

    /// Runs until it is awake.
    fn woken(waking: &mut Waking, seconds: impl Fn(u32) -> f64 + 'static) -> u32 {
        let mut device = gpu(seconds);
        wake(&mut device, (&Recording::default(), 1), waking, 1.02).unwrap();
        device.runs
    }

    #[test]
    fn a_device_is_loaded_for_milliseconds_at_once() {
        let load = |fastest| Waking { fastest, reached: None }.load();
        assert_eq!(load(Some(50e-6)), 40);
        assert_eq!((load(Some(1.0)), load(Some(0.0))), (1, 256));
        assert_eq!(load(None), 16);
    }

    #[test]
    fn a_device_that_was_idle_is_waited_for_and_one_that_was_not_is_not() {
        let mut waking = Waking::default();
        // 345 MHz for 30 runs, then 1980.
        let rises = |run: u32| if run < 30 { 5.7e-3 } else { 1e-3 };
        assert!(woken(&mut waking, rises) > 350, "steady for 0.35 s");
        assert_eq!(waking.fastest, Some(1e-3));
        assert_eq!(woken(&mut waking, rises), 31);
        assert_eq!(woken(&mut waking, |_| 1.019e-3), 1);
        // However often it is a little slower, that is measured from the fastest.
        assert_eq!(waking.fastest, Some(1e-3));
        assert!(woken(&mut waking, |_| 1.03e-3) > 700);
    }

    /// The latest and about the largest step of an A100's clock.
    #[test]
    fn a_clock_that_rises_late_is_waited_for() {
        let mut waking = Waking::default();
        woken(&mut waking, |run| if run < 31 { 9.4e-3 } else { 5.1e-3 });
        assert_eq!(waking.fastest, Some(5.1e-3));
    }

    #[test]
    fn one_that_is_held_back_is_asked_again_later() {
        let mut waking = Waking { fastest: Some(1e-3), reached: None };
        assert!(woken(&mut waking, |_| 2e-3) >= 400, "the longest");
        for _ in 0..CONTENT {
            assert_eq!(woken(&mut waking, |_| 2e-3), 1);
        }
        assert_eq!(woken(&mut waking, |run| if run < 9 { 2e-3 } else { 1e-3 }), 10);
        assert_eq!(waking.reached, None);
    }

    #[test]
    fn without_timestamps_the_hosts_clock_counts() {
        let mut device = InventedDevice::new(DeviceKind::Discrete, |_, _| timeline(vec![], 1e-3));
        let mut waking = Waking { fastest: Some(1e-3), reached: None };
        wake(&mut device, (&Recording::default(), 1), &mut waking, 1.02).unwrap();
        assert_eq!(device.runs, 1);
    }

    #[test]
    fn a_processor_is_waited_for_a_quarter_as_long() {
        for (kind, runs) in [(DeviceKind::Discrete, 350..353), (DeviceKind::Cpu, 87..90)] {
            let mut device = InventedDevice::new(kind, |_, _| timeline(vec![], 1e-3));
            let mut waking = Waking::default();
            wake(&mut device, (&Recording::default(), 1), &mut waking, 1.02).unwrap();
            assert!(runs.contains(&device.runs), "{kind:?}: {}", device.runs);
        }
        for (kind, runs) in [(DeviceKind::Discrete, 400..403), (DeviceKind::Cpu, 100..103)] {
            let mut device = InventedDevice::new(kind, |_, _| timeline(vec![], 2e-3));
            let mut waking = Waking { fastest: Some(1e-3), reached: None };
            wake(&mut device, (&Recording::default(), 1), &mut waking, 1.02).unwrap();
            assert!(runs.contains(&device.runs), "{kind:?}: {}", device.runs);
        }
    }
}
