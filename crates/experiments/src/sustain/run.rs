//! Keeps a kernel running, and reads the device's sensors on the way.

use super::Plan;
use super::data::{Sustain, Window};
use crate::autotune::KERNEL;
use crate::loops::Sample;
use crate::plan::{Case, launches};
use crate::verified_kernel::around;
use crate::{Measurement, Policy, Session, Stage};
use gpubench_core::error::Result;
use gpubench_core::gpu::{Clock, HOST_RESOLUTION, Recording};
use gpubench_core::record::{Detail, Measured};
use gpubench_stats::median_of;
use std::time::Instant;

/// Windows of a run, unless they would be shorter than [`SHORTEST`] or longer than [`LONGEST`].
const WINDOWS: f64 = 200.0;
/// Seconds of a window in which many launches fit, and a sensor has a new value.
const SHORTEST: f64 = 0.25;
/// Seconds after which a watcher wants to hear that the run goes on.
const LONGEST: f64 = 5.0;
/// Launches in one sample, at most.
const MAX_BATCH: u32 = 10_000;

/// Measures `case` into `measurement`.
pub(super) fn measure(
    session: &mut Session,
    case: &Case,
    policy: &Policy,
    stage: &mut dyn FnMut(Stage),
    measurement: &mut Measurement,
) -> Result<()> {
    let Plan { seconds } = case.planned()?;
    around(session, case, policy, stage, measurement, |session, variant, stage, measurement| {
        let batch = session.batch(variant.launch, MAX_BATCH);
        let recording = launches(case, variant.candidate, KERNEL, batch);
        let mut run = Run {
            session,
            recording,
            batch,
            stage,
            elapsed: 0.0,
            clock: Clock::Host,
            resolution: HOST_RESOLUTION,
            busy: 0.0,
        };
        let windows = run.windows(seconds)?;
        let (clock, resolution) = (run.clock, run.resolution);
        measurement.wall.busy += run.busy;
        // What it settles at is the case's figure.
        let (warmup, last) = windows.split_at(windows.len() / 2);
        measurement.measured = Some(Measured {
            samples: last.iter().map(|window| window.seconds).collect(),
            batch,
            clock,
            resolution,
            flops: variant.candidate.flops,
            bytes: variant.candidate.bytes,
            warmup: warmup.last().map_or(0.0, |window| window.at),
            dropped: 0,
        });
        measurement.detail = Some(Detail::new(&Sustain { clock, asked: seconds, windows }));
        Ok(())
    })
}

/// A run under way.
struct Run<'s> {
    session: &'s mut Session,
    recording: Recording,
    batch: u32,
    stage: &'s mut dyn FnMut(Stage),
    /// Seconds since the first launch.
    elapsed: f64,
    clock: Clock,
    resolution: f64,
    /// Seconds in which the device was at work.
    busy: f64,
}

impl Run<'_> {
    fn windows(&mut self, seconds: f64) -> Result<Vec<Window>> {
        let length = (seconds / WINDOWS).clamp(SHORTEST, LONGEST);
        let mut windows = vec![];
        while self.elapsed < seconds {
            // Each is a sign of life: the deadline of a stage is for one window, not for the run.
            (self.stage)(Stage::Measure);
            windows.push(self.window(length)?);
        }
        Ok(windows)
    }

    fn window(&mut self, length: f64) -> Result<Window> {
        let (begun, mut samples) = (Instant::now(), vec![]);
        loop {
            let sample = Sample::of_batch(self.session.device.run(&self.recording)?, self.batch);
            samples.push(sample.seconds);
            (self.clock, self.resolution) = (sample.clock, sample.resolution);
            self.busy += sample.busy;
            // A simulated device's speed never changes: one sample stands for the window.
            if self.clock == Clock::Simulated {
                self.elapsed += length;
                break;
            }
            if begun.elapsed().as_secs_f64() >= length {
                self.elapsed += begun.elapsed().as_secs_f64();
                break;
            }
        }
        let reading =
            self.session.polling.as_ref().map(|polling| polling.read()).unwrap_or_default();
        Ok(Window {
            at: self.elapsed,
            launches: samples.len() as u64 * u64::from(self.batch),
            seconds: median_of(samples).unwrap_or_default(),
            hertz: reading.clock,
            watts: reading.watts,
            celsius: reading.celsius,
            throttled: reading.throttled,
        })
    }
}
