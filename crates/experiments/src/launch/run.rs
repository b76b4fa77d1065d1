//! Time from asking for a launch on an idle device to its start.
//!
//! On a device whose timestamps know when a launch was queued: start − queued of one event.
//! Elsewhere: the host's wall time of one launch from the call to its completion, and the
//! record's clock says so. A latency is no work: operations and bytes stay 0.
//!
//! APIs differ in that clock. What a submission costs, and each launch in it, is timed behind that on the host's
//! clock, on every device alike.

use super::data::Submissions;
use crate::autotune::{BuiltVariant, KERNEL, build_on};
use crate::loops::{Sample, warm_up_and_sample};
use crate::plan::{Candidate, Case, launches};
use crate::timing::{MIN_SAMPLES_IN_TURN, in_turn, wall_clock};
use crate::verified_kernel::around;
use crate::{Bench, Policy, Stage};
use gpubench_core::error::Result;
use gpubench_core::gpu::{Clock, Constant, KernelId, Timeline};
use gpubench_core::record::Detail;
use std::time::Instant;

/// Launches in a submission of several.
const SEVERAL: u32 = 64;

/// Kernels whose first launch is timed, at most.
const NEW_KERNELS: i64 = 9;
/// The number under which each is built, apart from those of cases and of a search.
const NEW_KERNEL: KernelId = KernelId(1 << 21);
/// A constant that no kernel has.
const UNUSED: &str = "GPUBENCH_UNUSED";

/// Seconds over which launches are sampled. A driver for the CPU starts one within a few microseconds and the next
/// within many, as the system wakes its threads, and stays with one sort for a while.
const SECONDS: f64 = 0.1;
/// Unsampled launches before each sample, at most.
const MAX_UNSAMPLED: usize = 100;

/// Measures `case` with `bench`.
pub(super) fn measure(case: &Case, bench: &mut Bench) -> Result<()> {
    around(case, bench, |bench, variant| {
        bench.enter(Stage::Measure);
        let once = launches(case, variant.candidate, KERNEL, 1);
        let device = &mut bench.session.device;
        let some: Vec<Timeline> = (0..5).map(|_| device.run(&once)).collect::<Result<_>>()?;
        let (policy, unsampled) = spread(bench.policy, &some);
        warm_up_and_sample(&policy, 1, bench.measurement, || {
            for _ in 0..unsampled {
                device.run(&once)?;
            }
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

/// `policy` with samples spread over [`SECONDS`], and the number of unsampled launches before each, by how long `some`
/// launches took. A simulated launch does not depend on the one before it.
fn spread(policy: &Policy, some: &[Timeline]) -> (Policy, usize) {
    if some.iter().any(|launch| launch.clock == Clock::Simulated) {
        return (policy.clone(), 0);
    }
    let mut walls: Vec<f64> = some.iter().map(|launch| launch.wall).collect();
    walls.sort_by(f64::total_cmp);
    let launches = (SECONDS.min(policy.seconds) / walls[walls.len() / 2]) as usize;
    let min_samples = launches.min(policy.max_samples).max(policy.min_samples);
    let unsampled = (launches / min_samples.max(1)).saturating_sub(1).min(MAX_UNSAMPLED);
    (Policy { min_samples, ..policy.clone() }, unsampled)
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
    let first = first_launches(case, bench, variant.candidate)?;
    Ok(Submissions { clock, one: one.walls, several: several.walls, count: SEVERAL, first })
}

/// The first launch of each of a few kernels that are built for it. A constant that the kernel has no use for makes them
/// other kernels to a compiler that keeps what it made; a module has no such constant.
fn first_launches(case: &Case, bench: &mut Bench, candidate: &Candidate) -> Result<Vec<f64>> {
    let (begun, seconds) = (Instant::now(), bench.policy.seconds / 8.0);
    let known = launches(case, candidate, KERNEL, 1);
    let mut walls = vec![];
    if candidate.kernel.settings.spirv {
        return Ok(walls);
    }
    for turn in 0..NEW_KERNELS {
        if begun.elapsed().as_secs_f64() > seconds && !walls.is_empty() {
            break;
        }
        let mut new = candidate.clone();
        new.kernel.constants.push((UNUSED.to_owned(), Constant::Int(turn)));
        build_on(bench.device(), NEW_KERNEL, &new)?;
        // While the host built, the device may have fallen asleep.
        bench.device().run(&known)?;
        walls.push(bench.device().run(&launches(case, &new, NEW_KERNEL, 1))?.wall);
    }
    Ok(walls)
}

#[test]
fn short_launches_are_sampled_over_a_while_and_within_what_is_asked() {
    let policy = Policy { min_samples: 15, max_samples: 200, seconds: 1.0, ..Policy::default() };
    let of = |policy: &Policy, clock, wall| {
        let launch =
            |wall| Timeline { steps: vec![], clock, resolution: 1e-9, wall, dropped: None };
        // The first one found the device asleep.
        let (policy, unsampled) = spread(policy, &[launch(1.0), launch(wall), launch(wall)]);
        (policy.min_samples, unsampled)
    };
    let found = [1e-3, 1e-4, 1e-5, 1.0].map(|wall| of(&policy, Clock::Device, wall));
    assert_eq!(found, [(100, 0), (200, 4), (200, 49), (15, 0)]);
    assert_eq!(of(&policy, Clock::Host, 0.0), (200, MAX_UNSAMPLED), "a clock that cannot tell");
    assert_eq!(of(&policy, Clock::Simulated, 1e-5), (15, 0));
    let short = Policy { seconds: 0.05, ..policy };
    assert_eq!(of(&short, Clock::Device, 1e-4), (200, 1), "no longer than the case may");
}
