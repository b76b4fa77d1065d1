//! Warm-up and sampling around anything that can be timed once.

use super::{Measurement, Policy};
use gpubench_core::error::Result;
use gpubench_core::gpu::{Clock, HOST_RESOLUTION, Timeline};
use gpubench_core::record::{Flag, Measured};
use gpubench_core::units;
use gpubench_stats::{Decision, Sampling, Summary, WarmUp, is_overdue};
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
    /// From the timeline of `batch` equal operations, one after the other: the time in which they ran, shared
    /// equally. A driver that takes longer to submit a launch than the device to run it leaves gaps between them. On a
    /// simulated device a gap is what a launch costs the device itself, and where the clock cannot resolve an
    /// operation, only the whole batch has a length.
    pub fn of_batch(timeline: Timeline, batch: u32) -> Self {
        let count = f64::from(batch);
        let resolved = timeline.busy().filter(|busy| *busy >= count * timeline.resolution);
        let busy = match (timeline.clock, resolved) {
            (Clock::Simulated, _) | (_, None) => super::session::span(&timeline),
            (_, Some(busy)) => busy,
        };
        Self::new(busy / count, busy, timeline)
    }

    /// `seconds` read from `timeline`, while the device was `busy`.
    pub fn new(seconds: f64, busy: f64, timeline: Timeline) -> Self {
        let (clock, resolution) = match timeline.steps.as_slice() {
            [] => (Clock::Host, HOST_RESOLUTION),
            _ => (timeline.clock, timeline.resolution),
        };
        Self { seconds, clock, resolution, busy, dropped: timeline.dropped }
    }
}

/// Samples of the other clock, one after the other, until that one is taken instead.
pub(super) const CLOCK_SWITCH_AFTER: u32 = 3;

/// Warms up, samples, and fills `measurement.measured` (work counts are the caller's).
pub(super) fn warm_up_and_sample(
    policy: &Policy,
    batch: u32,
    measurement: &mut Measurement,
    mut once: impl FnMut() -> Result<Sample>,
) -> Result<()> {
    let begun = Instant::now();
    let mut timed = |measurement: &mut Measurement| -> Result<(Sample, f64)> {
        let start = Instant::now();
        let sample = once()?;
        measurement.wall.busy += sample.busy;
        // On a simulated device the host's pace must not decide how many samples are taken.
        let wall = match sample.clock {
            Clock::Simulated => sample.busy,
            _ => start.elapsed().as_secs_f64(),
        };
        Ok((sample, wall))
    };
    let mut warm = WarmUp::new(policy.warmup);
    loop {
        let (sample, wall) = timed(measurement)?;
        match warm.feed(sample.seconds, wall) {
            Decision::Continue => {}
            Decision::Reached => break,
            Decision::GaveUp => {
                measurement.flag(Flag::WarmUpNotSteady);
                break;
            }
        }
    }
    let warmup = begun.elapsed().as_secs_f64();
    let mut samples = Samples::new(policy);
    while samples.decision == Decision::Continue {
        let (sample, wall) = timed(measurement)?;
        if let Some(reason) = &sample.dropped {
            measurement.flag(Flag::Timestamps(reason.clone()));
        }
        samples.feed(&sample, wall);
    }
    samples.conclude(batch, warmup, measurement);
    Ok(())
}

/// Samples of one clock: those of two are never mixed.
struct Samples<'a> {
    policy: &'a Policy,
    sampling: Sampling,
    /// The clock of the samples and its resolution.
    clock: Option<(Clock, f64)>,
    /// Samples of the other clock since the last one of this.
    other_clock_samples: u32,
    /// Samples whose device timestamps were unusable.
    dropped: u32,
    /// Seconds spent, on samples that do not count too.
    spent: f64,
    decision: Decision,
}

impl<'a> Samples<'a> {
    fn new(policy: &'a Policy) -> Self {
        Self {
            policy,
            sampling: policy.sampling(policy.seconds),
            clock: None,
            other_clock_samples: 0,
            dropped: 0,
            spent: 0.0,
            decision: Decision::Continue,
        }
    }

    fn feed(&mut self, sample: &Sample, wall: f64) {
        self.spent += wall;
        self.dropped += u32::from(sample.dropped.is_some());
        if self.clock.is_some_and(|(clock, _)| clock != sample.clock) {
            self.other_clock_samples += 1;
            if self.other_clock_samples == CLOCK_SWITCH_AFTER {
                // The first samples were the exception: begin again with this clock.
                self.clock = None;
                self.sampling = self.policy.sampling(self.policy.seconds);
            }
        }
        let (clock, _) = *self.clock.get_or_insert((sample.clock, sample.resolution));
        if clock == sample.clock {
            self.other_clock_samples = 0;
            self.decision = self.sampling.feed(sample.seconds, wall);
        }
        let lost = || self.policy.race.is_some_and(|race| race.is_lost(self.sampling.samples()));
        let overdue = is_overdue(self.spent, self.policy.seconds);
        if self.decision == Decision::Continue && (overdue || lost()) {
            self.decision = Decision::GaveUp;
        }
    }

    fn conclude(self, batch: u32, warmup: f64, measurement: &mut Measurement) {
        let samples = self.sampling.into_samples();
        if self.decision != Decision::Reached {
            measurement.flag(Flag::NotConverged);
        }
        if samples.len() < self.policy.min_samples {
            measurement.flag(Flag::FewSamples);
        }
        let (clock, resolution) = self.clock.unwrap_or((Clock::Host, HOST_RESOLUTION));
        let sample = Summary::of(&samples).map_or(0.0, |s| s.median) * f64::from(batch);
        if sample < resolution {
            measurement.flag(Flag::Implausible(format!(
                "a sample of {}, below the clock's resolution of {}",
                units::seconds(sample),
                units::seconds(resolution)
            )));
        }
        let dropped = self.dropped;
        let measured =
            Measured { batch, warmup, dropped, ..Measured::of(samples, clock, resolution) };
        measurement.measured = Some(measured);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::gpu::StepTimes;

    /// Feeds samples of one second each, of the clocks that `clocks` spells (d, h), then of the
    /// last one for as long as they are requested.
    fn run(clocks: &str, policy: &Policy) -> (Measured, Vec<Flag>) {
        let mut clocks = clocks.chars();
        let mut last = 'd';
        let mut measurement = Measurement::default();
        let policy = Policy { warmup: 0.0, ..policy.clone() };
        let mut warm = 0;
        let once = || {
            // The warm-up sees the device's clock only.
            warm += 1;
            if warm > 10 {
                last = clocks.next().unwrap_or(last);
            }
            let clock = if last == 'd' { Clock::Device } else { Clock::Host };
            let dropped = (clock == Clock::Host).then(|| "zero".to_owned());
            Ok(Sample { seconds: 1.0, clock, resolution: 1e-6, busy: 1.0, dropped })
        };
        warm_up_and_sample(&policy, 1, &mut measurement, once).expect("no device to fail");
        (measurement.measured.expect("measured"), measurement.flags)
    }

    #[test]
    fn gaps_between_launches_are_no_time_of_theirs() {
        let sample = |clock, resolution| {
            let step = |started, ended| StepTimes { queued: 0.0, submitted: 0.0, started, ended };
            let steps = vec![step(0.0, 5e-6), step(11e-6, 16e-6), step(22e-6, 27e-6)];
            let timeline = Timeline { steps, clock, resolution, wall: 40e-6, dropped: None };
            1e6 * Sample::of_batch(timeline, 3).seconds
        };
        assert!((sample(Clock::Device, 1e-6) - 5.0).abs() < 1e-9);
        assert!((sample(Clock::Device, 10e-6) - 9.0).abs() < 1e-9, "too short for this clock");
        assert!((sample(Clock::Simulated, 1e-6) - 9.0).abs() < 1e-9);
        // Without steps only the host's clock is left, and its resolution.
        let (clock, resolution, wall, dropped) = (Clock::Device, 1e-3, 40e-6, None);
        let bare = Timeline { steps: vec![], clock, resolution, wall, dropped };
        let bare = Sample::new(40e-6, 40e-6, bare);
        assert_eq!((bare.clock, bare.resolution), (Clock::Host, HOST_RESOLUTION));
    }

    #[test]
    fn a_stray_sample_of_the_other_clock_is_dropped() {
        let (measured, _) = run("dddhddhd", &Policy::default());
        assert_eq!((measured.clock, measured.dropped), (Clock::Device, 2));
        assert!(measured.samples.len() >= 15);
    }

    #[test]
    fn a_first_sample_that_was_the_exception_does_not_choose_the_clock() {
        let (measured, flags) = run("hddd", &Policy::default());
        assert_eq!((measured.clock, measured.dropped), (Clock::Device, 1));
        assert!(measured.samples.len() >= 15 && !flags.contains(&Flag::FewSamples));
    }

    #[test]
    fn timestamps_that_stay_bad_leave_the_hosts_clock() {
        let (measured, flags) = run("dh", &Policy::default());
        assert_eq!(measured.clock, Clock::Host);
        assert!(measured.dropped >= 15 && !flags.contains(&Flag::FewSamples));
    }
}
