//! From a driver's timestamps to a timeline, unless they cannot be true.

use gpubench_core::gpu::{Clock, StepTimes, Timeline};
use std::time::Instant;

/// A command's four timestamps in ticks of the device's clock: queued, submitted, started, ended.
pub(crate) type Stamps = [u64; 4];

/// The timeline of steps whose commands carry these timestamps, in `wall` seconds on the
/// host's clock. Timestamps that are zero, run backwards or span more than the host saw are
/// left out, and the timeline says why.
pub(crate) fn of(
    stamps: Result<Vec<Stamps>, String>,
    tick: f64,
    resolution: Option<f64>,
    wall: f64,
) -> Timeline {
    let host = |dropped| Timeline {
        steps: vec![],
        clock: Clock::Host,
        resolution: host_resolution(),
        wall,
        dropped,
    };
    let Some(resolution) = resolution else { return host(None) };
    match stamps.and_then(|stamps| check(&stamps, tick, wall).map(|()| stamps)) {
        Ok(stamps) => Timeline {
            steps: relative(&stamps, tick),
            clock: Clock::Device,
            resolution,
            wall,
            dropped: None,
        },
        Err(reason) => host(Some(reason)),
    }
}

/// The timestamps of steps that ran one after the other, two for each. The device's clock does not know when the
/// host queued or submitted a step: both say the step's own start.
///
/// # Errors
/// Why the ticks cannot be believed.
pub(crate) fn one_after_the_other(ticks: &[u64]) -> Result<Vec<Stamps>, String> {
    if ticks.iter().any(|tick| *tick < ticks[0]) {
        return Err("device timestamps are reversed".into());
    }
    Ok(ticks.chunks_exact(2).map(|pair| [pair[0], pair[0], pair[0], pair[1]]).collect())
}

fn check(stamps: &[Stamps], tick: f64, wall: f64) -> Result<(), String> {
    for (step, &[queued, submitted, started, ended]) in stamps.iter().enumerate() {
        if [queued, submitted, started, ended].contains(&0) {
            return Err(format!("a timestamp of step {step} is zero"));
        }
        if !(queued <= submitted && submitted <= started && started <= ended) {
            return Err(format!(
                "the timestamps of step {step} run backwards: queued {queued}, submitted {submitted}, started {started}, ended {ended}"
            ));
        }
    }
    let first = stamps.iter().map(|s| s[0]).min().unwrap_or(0);
    let last = stamps.iter().map(|s| s[3]).max().unwrap_or(0);
    let span = (last - first) as f64 * tick;
    // The two clocks may run apart by some parts in a thousand and begin a little apart.
    if span > wall * 1.05 + 1e-3 {
        return Err(format!("timestamps span {span:.6} s, the host saw {wall:.6} s"));
    }
    Ok(())
}

fn relative(stamps: &[Stamps], tick: f64) -> Vec<StepTimes> {
    let first = stamps.iter().map(|s| s[0]).min().unwrap_or(0);
    // Subtracting before converting keeps ticks exact.
    let seconds = |stamp: u64| (stamp - first) as f64 * tick;
    let times = |stamps: &Stamps| {
        let [queued, submitted, started, ended] = stamps.map(seconds);
        StepTimes { queued, submitted, started, ended }
    };
    stamps.iter().map(times).collect()
}

/// The smallest step of the host's clock that a program sees, in seconds.
fn host_resolution() -> f64 {
    let mut smallest = f64::INFINITY;
    for _ in 0..64 {
        let begun = Instant::now();
        let mut step = begun.elapsed();
        while step.is_zero() {
            step = begun.elapsed();
        }
        smallest = smallest.min(step.as_secs_f64());
    }
    smallest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_begin_and_end_behind_the_first_start() {
        let stamped = one_after_the_other(&[1000, 1500, 1600, 2600]);
        assert_eq!(stamped, Ok(vec![[1000, 1000, 1000, 1500], [1600, 1600, 1600, 2600]]));
        assert_eq!(one_after_the_other(&[]), Ok(vec![]));
        assert!(one_after_the_other(&[9, 12, 5, 7]).unwrap_err().contains("reversed"));
    }

    fn timeline(stamps: &[Stamps]) -> Timeline {
        of(Ok(stamps.to_vec()), 1e-9, Some(1e-9), 1e-3)
    }

    #[test]
    fn times_are_relative_to_the_first_queued() {
        let times = timeline(&[[2000, 2100, 2200, 2300], [1000, 1500, 2300, 2500]]);
        assert_eq!(times.clock, Clock::Device);
        assert_eq!(times.steps[1].queued, 0.0);
        assert!((times.steps[0].queued - 1e-6).abs() < 1e-15);
        assert!((times.steps[1].duration() - 2e-7).abs() < 1e-15);
    }

    #[test]
    fn stamps_that_cannot_be_true_are_dropped() {
        for (stamps, reason) in [
            ([0, 1, 2, 3], "zero"),
            ([5, 4, 6, 7], "backwards"),
            ([5, 6, 9, 8], "backwards"),
            ([1, 2, 3, u64::MAX], "span"),
        ] {
            let times = timeline(&[[1, 2, 3, 4], stamps]);
            assert!(times.steps.is_empty() && times.clock == Clock::Host);
            assert!(times.dropped.is_some_and(|text| text.contains(reason)), "{reason}");
            assert!(times.resolution > 0.0 && times.wall == 1e-3);
        }
    }

    #[test]
    fn a_device_without_timestamps_has_a_wall_time_only() {
        let times = of(Ok(vec![[1, 2, 3, 4]]), 1e-9, None, 2.0);
        assert!(times.steps.is_empty() && times.wall == 2.0 && times.dropped.is_none());
    }
}
