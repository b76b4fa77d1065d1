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
use gpubench_core::record::Detail;

/// Launches in a submission of several.
const SEVERAL: u32 = 64;

/// Seconds of launches, where the policy has so many. A driver for the CPU starts one within a few microseconds and the
/// next within many, as the system wakes its threads, and stays with one sort for a while.
const SECONDS: f64 = 0.1;
/// How many times as many samples as of other figures that may take: these are short.
const TIMES_AS_MANY: usize = 10;

/// Measures `case` with `bench`.
pub(super) fn measure(case: &Case, bench: &mut Bench) -> Result<()> {
    around(case, bench, |bench, variant| {
        bench.enter(Stage::Measure);
        let once = launches(case, variant.candidate, KERNEL, 1);
        let device = &mut bench.session.device;
        let mut walls = [0.0; 5];
        for wall in &mut walls {
            *wall = device.run(&once)?.wall;
        }
        // The shortest: some find the device asleep.
        let policy = sampled_longer(bench.policy, walls.into_iter().fold(f64::MAX, f64::min));
        warm_up_and_sample(&policy, 1, bench.measurement, || {
            let mut timeline = device.run(&once)?;
            // Timestamps that do not know the queueing time hold no latency; the host's clock does.
            timeline.steps.retain(|step| step.queued < step.started);
            let (latency, busy) = match timeline.steps.first() {
                Some(step) => (step.started - step.queued, step.duration()),
                None => (timeline.wall, timeline.wall),
            };
            Ok(Sample::new(latency, busy, timeline))
        })?;
        let submissions = submissions(case, bench, variant)?;
        bench.measurement.detail = Some(Detail::new(&submissions));
        Ok(())
    })
}

/// `policy` with samples for [`SECONDS`], of which each takes `wall` seconds.
fn sampled_longer(policy: &Policy, wall: f64) -> Policy {
    let max_samples = policy.max_samples.saturating_mul(TIMES_AS_MANY);
    let within = (SECONDS.min(policy.seconds) / wall) as usize;
    let min_samples = within.min(max_samples).max(policy.min_samples);
    Policy { min_samples, max_samples, ..policy.clone() }
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

#[test]
fn short_launches_are_sampled_for_a_while_and_within_what_is_asked() {
    let policy = Policy { min_samples: 15, max_samples: 200, seconds: 1.0, ..Policy::default() };
    let samples = |policy: &Policy, wall| sampled_longer(policy, wall).min_samples;
    let found = [1e-4, 1e-5, 0.0, 1.0].map(|wall| samples(&policy, wall));
    assert_eq!(found, [1000, 2000, 2000, 15]);
    let short = Policy { seconds: 0.05, ..policy };
    assert_eq!(samples(&short, 1e-4), 500, "no longer than the case may");
}
