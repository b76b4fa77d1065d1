//! Times of a whole recording, run again and again.

use super::{Policy, Session};
use crate::error::Result;
use crate::gpu::{Clock, Recording, Timeline};
use crate::record::{NamedStep, Timed};
use crate::stats::{Decision, Sampling, WarmUp};

/// Runs `recording` until the median of its wall time is known well enough for `policy` (in
/// `seconds`), after a warm-up that takes at most a quarter of them besides. Steps are named by
/// `name`.
pub(super) fn time(
    session: &mut Session,
    recording: &Recording,
    policy: &Policy,
    seconds: f64,
    name: impl Fn(usize) -> String,
) -> Result<(Timed, Clock)> {
    let (walls, fastest) = walls(policy, seconds, || session.device.run(recording))?;
    let clock = if fastest.steps.is_empty() { Clock::Host } else { fastest.clock };
    Ok((Timed { walls, steps: named(recording, &fastest, name) }, clock))
}

/// As [`time`], of anything that has a timeline: the wall times, and the timeline of the shortest.
pub(super) fn walls(
    policy: &Policy,
    seconds: f64,
    mut once: impl FnMut() -> Result<Timeline>,
) -> Result<(Vec<f64>, Timeline)> {
    let mut warm = WarmUp::new(policy.warmup.min(seconds / 4.0));
    loop {
        let Timeline { wall, clock, .. } = once()?;
        // A simulated device runs at one speed from the start.
        if clock == Clock::Simulated || warm.feed(wall, wall) != Decision::Continue {
            break;
        }
    }
    let mut sampling = Sampling::new(policy.target, policy.least, policy.most, seconds);
    let mut fastest: Option<Timeline> = None;
    loop {
        let timeline = once()?;
        let decision = sampling.feed(timeline.wall, timeline.wall);
        let fastest = match &mut fastest {
            Some(best) if best.wall <= timeline.wall => best,
            other => other.insert(timeline),
        };
        if decision != Decision::Continue {
            return Ok((sampling.into_samples(), fastest.clone()));
        }
    }
}

/// The clock of wall times beside steps of `steps`: the host's, unless nothing was measured.
pub(super) fn wall_clock(steps: Clock) -> Clock {
    if steps == Clock::Simulated { steps } else { Clock::Host }
}

fn named(
    recording: &Recording,
    timeline: &Timeline,
    name: impl Fn(usize) -> String,
) -> Vec<NamedStep> {
    let steps = recording.steps.iter().zip(&timeline.steps).enumerate();
    steps
        .map(|(i, (step, times))| NamedStep {
            name: name(i),
            lane: step.lane.0,
            started: times.started,
            ended: times.ended,
        })
        .collect()
}
