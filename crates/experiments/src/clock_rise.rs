//! A device that was idle has lowered its clock, and raises it only under load: it is kept at work until it is as
//! fast as it was.

use gpubench_core::error::Result;
use gpubench_core::gpu::{Clock, DeviceKind, Recording};
use gpubench_device::Device;

/// Seconds that a device gets to raise its clock, at most.
const LONGEST: f64 = 1.0;
/// Where it is not known how fast it gets, it is as fast as it gets when it was no faster for so many seconds.
const STEADY: f64 = 0.2;
/// From this share on, it was faster.
const FASTER: f64 = 0.01;
/// Seconds of work at once: a device that waits for the host in between raises its clock slowly.
const LOAD: f64 = 2e-3;
/// Launches of so much work, at most, and where it is not known how long one takes.
const LAUNCHES: [u32; 2] = [256, 16];
/// What a run counts for at least, so that the end comes even where a clock stands still.
const SHORTEST: f64 = 1e-6;

/// Whether a device of this kind lowers its clock between two cases. The host's own processor is never idle there, and
/// a simulated clock never rises.
pub(super) fn sleeps(kind: DeviceKind) -> bool {
    !matches!(kind, DeviceKind::Cpu | DeviceKind::Simulated)
}

/// Launches at once that load the device, of `seconds` each where that is known.
pub(super) fn load(seconds: Option<f64>) -> u32 {
    let [max_launches, usual] = LAUNCHES;
    let enough = seconds.map(|seconds| (LOAD / seconds.max(1e-9)).ceil());
    enough.map_or(usual, |enough| enough.clamp(1.0, f64::from(max_launches)) as u32)
}

/// Runs `recording` again and again until a run keeps the device busy for no longer than `enough` seconds, where that
/// is known, else until runs get no shorter. The shortest run.
pub(super) fn rise(
    device: &mut dyn Device,
    recording: &Recording,
    enough: Option<f64>,
) -> Result<f64> {
    let (mut best, mut spent, mut faster) = (f64::INFINITY, 0.0, 0.0);
    while spent < LONGEST {
        let timeline = device.run(recording)?;
        if timeline.clock == Clock::Simulated {
            break;
        }
        spent += timeline.wall.max(SHORTEST);
        if timeline.dropped.is_some() {
            continue;
        }
        let seconds = timeline.busy().unwrap_or(timeline.wall);
        if seconds < (1.0 - FASTER) * best {
            faster = spent;
        }
        best = best.min(seconds);
        let is_up = enough.map_or(spent - faster >= STEADY, |enough| best <= enough);
        if is_up {
            break;
        }
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_loaded_for_milliseconds_at_once() {
        assert_eq!(load(Some(50e-6)), 40);
        assert_eq!((load(Some(1.0)), load(Some(0.0))), (1, 256));
        assert_eq!(load(None), 16);
    }
}
