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
    let mut warm = WarmUp::new(policy.warmup.min(seconds / 4.0));
    loop {
        let Timeline { wall, clock, .. } = session.device.run(recording)?;
        // A simulated device runs at one speed from the start.
        if clock == Clock::Simulated || warm.feed(wall, wall) != Decision::Continue {
            break;
        }
    }
    let mut sampling = Sampling::new(policy.target, policy.least, policy.most, seconds);
    let mut fastest: Option<Timeline> = None;
    loop {
        let timeline = session.device.run(recording)?;
        let decision = sampling.feed(timeline.wall, timeline.wall);
        if fastest.as_ref().is_none_or(|best| timeline.wall < best.wall) {
            fastest = Some(timeline);
        }
        if decision != Decision::Continue {
            break;
        }
    }
    let clock = match &fastest {
        Some(timeline) if !timeline.steps.is_empty() => timeline.clock,
        _ => Clock::Host,
    };
    let steps = fastest.map_or_else(Vec::new, |timeline| named(recording, &timeline, name));
    Ok((Timed { walls: sampling.into_samples(), steps }, clock))
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
