//! Time from asking for a launch on an idle device to its start.
//!
//! On a device whose timestamps know when a launch was queued: start − queued of one event.
//! Elsewhere: the host's wall time of one launch from the call to its completion, and the
//! record's clock says so. A latency is no work: operations and bytes stay 0.
//!
//! APIs differ in that clock. What a submission costs, and each launch in it, is timed behind that on the host's
//! clock, on every device alike.

use super::data::Submissions;
use crate::autotune::{BuiltVariant, KERNEL};
use crate::loops::{Sample, warm_up_and_sample};
use crate::plan::{Case, launches};
use crate::timing::{MIN_SAMPLES_IN_TURN, in_turn, wall_clock};
use crate::verified_kernel::around;
use crate::{Bench, Policy, Stage};
use gpubench_core::error::Result;
use gpubench_core::gpu::Timeline;
use gpubench_core::record::Detail;

/// Launches in a submission of several.
const SEVERAL: u32 = 64;

/// A driver for the CPU starts one launch within a few microseconds and the next within many, as the system wakes its
/// threads, and does so for a while. So a sample is the mean of launches of so many seconds, of so many launches at
/// most...
const SAMPLE_SECONDS: f64 = 1e-3;
const MAX_LAUNCHES: u32 = 16;
/// ... and samples are taken for so many.
const SECONDS: f64 = 0.1;

/// Measures `case` with `bench`.
pub(super) fn measure(case: &Case, bench: &mut Bench) -> Result<()> {
    around(case, bench, |bench, variant| {
        bench.enter(Stage::Measure);
        let recording = launches(case, variant.candidate, KERNEL, 1);
        let device = &mut bench.session.device;
        // The first one may find the device asleep.
        device.run(&recording)?;
        let wall = device.run(&recording)?.wall;
        let count = (SAMPLE_SECONDS / wall).clamp(1.0, f64::from(MAX_LAUNCHES)) as u32;
        let policy = sampled_for(SECONDS, wall * f64::from(count), bench.policy);
        warm_up_and_sample(&policy, count, bench.measurement, || {
            let each = (0..count).map(|_| Ok(latency(device.run(&recording)?)));
            Ok(mean(&each.collect::<Result<Vec<_>>>()?))
        })?;
        let submissions = submissions(case, bench, variant)?;
        bench.measurement.detail = Some(Detail::new(&submissions));
        Ok(())
    })
}

/// `policy` with samples of `each` seconds for `seconds` at least.
fn sampled_for(seconds: f64, each: f64, policy: &Policy) -> Policy {
    let min_samples = ((seconds / each) as usize).clamp(policy.min_samples, policy.max_samples);
    Policy { min_samples, ..policy.clone() }
}

/// Of one launch.
fn latency(mut timeline: Timeline) -> Sample {
    // Timestamps that do not know the queueing time hold no latency; the host's clock does.
    timeline.steps.retain(|step| step.queued < step.started);
    let (latency, busy) = match timeline.steps.first() {
        Some(step) => (step.started - step.queued, step.duration()),
        None => (timeline.wall, timeline.wall),
    };
    Sample::new(latency, busy, timeline)
}

/// The mean of launches, each of which began on an idle device: of those that were read from the first one's clock.
fn mean(launches: &[Sample]) -> Sample {
    let first = &launches[0];
    let of_one_clock = launches.iter().filter(|launch| launch.clock == first.clock);
    let seconds: Vec<f64> = of_one_clock.map(|launch| launch.seconds).collect();
    Sample {
        seconds: seconds.iter().sum::<f64>() / seconds.len() as f64,
        busy: launches.iter().map(|launch| launch.busy).sum(),
        dropped: launches.iter().find_map(|launch| launch.dropped.clone()),
        ..*first
    }
}

/// One launch and several at once, in turn.
fn submissions(case: &Case, bench: &mut Bench, variant: &BuiltVariant) -> Result<Submissions> {
    let recordings = [1, SEVERAL].map(|count| {
        let recording = launches(case, variant.candidate, KERNEL, count);
        let unnamed = vec![String::new(); recording.steps.len()];
        (recording, unnamed)
    });
    let min_samples = bench.policy.min_samples.min(MIN_SAMPLES_IN_TURN);
    let policy = Policy { min_samples, ..bench.policy.clone() };
    // A quarter of the case's time for both.
    let seconds = policy.seconds / 8.0;
    let ([one, several], steps) = in_turn(&mut bench.with_policy(&policy), recordings, seconds)?;
    let clock = wall_clock(steps);
    Ok(Submissions { clock, one: one.walls, several: several.walls, count: SEVERAL })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::gpu::{Clock, StepTimes};

    /// A launch that was queued at 1 s and starts at `started`, on a clock that may not know when it was queued.
    fn launch(started: f64, wall: f64) -> Sample {
        let step = StepTimes { queued: 1.0, submitted: 1.0, started, ended: started + 1.0 };
        latency(Timeline {
            steps: vec![step],
            clock: Clock::Device,
            resolution: 1e-9,
            wall,
            dropped: None,
        })
    }

    #[test]
    fn a_sample_is_the_mean_of_latencies_of_one_clock() {
        let of = |launches: &[Sample]| {
            let mean = mean(launches);
            (mean.seconds, mean.clock, mean.busy)
        };
        assert_eq!(of(&[launch(3.0, 9.0), launch(5.0, 9.0)]), (3.0, Clock::Device, 2.0));
        // The second one's timestamps say nothing of its latency.
        assert_eq!(of(&[launch(3.0, 9.0), launch(1.0, 9.0)]), (2.0, Clock::Device, 10.0));
        assert_eq!(of(&[launch(1.0, 9.0), launch(3.0, 7.0)]), (9.0, Clock::Host, 10.0));
    }

    #[test]
    fn samples_are_taken_for_a_while_and_within_what_is_asked() {
        let policy = Policy { min_samples: 15, max_samples: 200, ..Policy::default() };
        let samples = |each| sampled_for(0.1, each, &policy).min_samples;
        assert_eq!([samples(1e-3), samples(1.0), samples(0.0)], [100, 15, 200]);
    }
}
