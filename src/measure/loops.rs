//! Warm-up and sampling around anything that can be timed once.

use super::{Finding, Policy};
use crate::error::Result;
use crate::gpu::{Clock, Timeline};
use crate::record::{Flag, Measured};
use crate::stats::{Decision, Sampling, WarmUp};
use std::time::Instant;

/// One timed run: seconds of one operation, and how it was read.
pub(super) struct Sample {
    /// Seconds of one operation.
    pub seconds: f64,
    /// The clock it was read from.
    pub clock: Clock,
    /// That clock's resolution in seconds.
    pub resolution: f64,
    /// Seconds that the device was at work.
    pub busy: f64,
    /// Why the device's timestamps were not used.
    pub dropped: Option<String>,
}

impl Sample {
    /// From the timeline of `batch` equal operations, one after the other: the time from the
    /// first start to the last end, shared equally.
    pub fn of_batch(timeline: Timeline, batch: u32) -> Self {
        let span = super::session::span(&timeline);
        Self::new(span / f64::from(batch), span, timeline)
    }

    /// `seconds` read from `timeline`, while the device was `busy`.
    pub fn new(seconds: f64, busy: f64, timeline: Timeline) -> Self {
        let (clock, resolution) = match timeline.steps.is_empty() {
            true => (Clock::Host, host_resolution()),
            false => (timeline.clock, timeline.resolution),
        };
        Self { seconds, clock, resolution, busy, dropped: timeline.dropped }
    }
}

/// The host's monotonic clock counts nanoseconds.
fn host_resolution() -> f64 {
    1e-9
}

/// Warms up, samples, and fills `finding.measured` (work counts are the caller's).
pub(super) fn warm_up_and_sample(
    policy: &Policy,
    batch: u32,
    finding: &mut Finding,
    mut once: impl FnMut() -> Result<Sample>,
) -> Result<()> {
    let begun = Instant::now();
    let mut warm = WarmUp::new(policy.warmup);
    let mut timed = |finding: &mut Finding| -> Result<(Sample, f64)> {
        let start = Instant::now();
        let sample = once()?;
        finding.wall.busy += sample.busy;
        Ok((sample, start.elapsed().as_secs_f64()))
    };
    loop {
        let (sample, wall) = timed(finding)?;
        match warm.feed(sample.seconds, wall) {
            Decision::Continue => {}
            Decision::Reached => break,
            Decision::GaveUp => {
                finding.flag(Flag::Unsteady);
                break;
            }
        }
    }
    let warmup = begun.elapsed().as_secs_f64();
    let mut sampling = Sampling::new(policy.target, policy.least, policy.most, policy.seconds);
    let mut first: Option<(Clock, f64)> = None;
    let mut dropped = 0;
    loop {
        let (sample, wall) = timed(finding)?;
        let (clock, _) = *first.get_or_insert((sample.clock, sample.resolution));
        if let Some(reason) = &sample.dropped {
            finding.flag(Flag::Timestamps(reason.clone()));
        }
        // Samples of two clocks must not be mixed; a device that keeps failing is given up on.
        if sample.clock != clock {
            dropped += 1;
            if dropped > policy.most as u32 {
                break;
            }
            continue;
        }
        match sampling.feed(sample.seconds, wall) {
            Decision::Continue => {}
            Decision::Reached => break,
            Decision::GaveUp => {
                finding.flag(Flag::Wide);
                break;
            }
        }
    }
    let (clock, resolution) = first.unwrap_or((Clock::Host, host_resolution()));
    finding.measured = Some(Measured {
        samples: sampling.into_samples(),
        batch,
        clock,
        resolution,
        flops: 0.0,
        bytes: 0.0,
        warmup,
        dropped,
    });
    finding.wall.measure += begun.elapsed().as_secs_f64();
    Ok(())
}
