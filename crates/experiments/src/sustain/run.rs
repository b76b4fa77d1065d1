//! Keeps a kernel running, and reads the sensors of device and host on the way.

use super::Plan;
use super::analysis::{FIRST, until_share};
use super::data::{Sustain, Window};
use crate::autotune::KERNEL;
use crate::loops::Sample;
use crate::plan::{Case, launches};
use crate::verified_kernel::around;
use crate::{Bench, Stage};
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

/// Measures `case` with `bench`.
pub(super) fn measure(case: &Case, bench: &mut Bench) -> Result<()> {
    let Plan { seconds } = case.planned()?;
    around(case, bench, |bench, variant| {
        let batch = bench.session.batch(variant.launch, MAX_BATCH);
        let recording = launches(case, variant.candidate, KERNEL, batch);
        let mut run = Run::new(bench.lend(), recording, batch);
        let windows = run.windows(seconds)?;
        let Run { clock, dropped, busy, .. } = run;
        let (clock, resolution) = clock.unwrap_or((Clock::Host, HOST_RESOLUTION));
        bench.measurement.wall.busy += busy;
        // What it settles at is the case's figure.
        let (warmup, last) = windows.split_at(until_share(&windows, 0.5));
        bench.measurement.measured = Some(Measured {
            samples: last.iter().map(|window| window.seconds).collect(),
            batch,
            clock,
            resolution,
            flops: variant.candidate.flops,
            bytes: variant.candidate.bytes,
            types: variant.candidate.types.clone(),
            warmup: warmup.last().map_or(0.0, |window| window.at),
            dropped,
        });
        bench.measurement.detail = Some(Detail::new(&Sustain { clock, asked: seconds, windows }));
        Ok(())
    })
}

/// A run under way.
struct Run<'s> {
    bench: Bench<'s>,
    recording: Recording,
    batch: u32,
    begun: Instant,
    /// Seconds since the first launch.
    elapsed: f64,
    /// The clock of the first launch and its resolution: times of another are not mixed with its.
    clock: Option<(Clock, f64)>,
    /// Samples of another clock.
    dropped: u32,
    /// Seconds in which the device was at work.
    busy: f64,
}

impl<'s> Run<'s> {
    fn new(bench: Bench<'s>, recording: Recording, batch: u32) -> Self {
        let begun = Instant::now();
        let (elapsed, clock, dropped, busy) = (0.0, None, 0, 0.0);
        Self { bench, recording, batch, begun, elapsed, clock, dropped, busy }
    }

    fn windows(&mut self, seconds: f64) -> Result<Vec<Window>> {
        let length = (seconds / WINDOWS).clamp(SHORTEST, LONGEST);
        let mut windows = vec![];
        while self.elapsed < seconds {
            // Each is a sign of life: the deadline of a stage is for one window, not for the run.
            self.bench.enter(Stage::Measure);
            // The first seconds are cut finely, since the device is at its coolest then.
            let first = self.elapsed < FIRST && self.elapsed < seconds / 10.0;
            windows.extend(self.window(if first { SHORTEST } else { length })?);
        }
        Ok(windows)
    }

    /// `None` where no time of the run's clock was read.
    fn window(&mut self, length: f64) -> Result<Option<Window>> {
        let (begun, mut samples) = (Instant::now(), vec![]);
        let is_simulated = loop {
            let sample = Sample::of_batch(self.bench.device().run(&self.recording)?, self.batch);
            self.busy += sample.busy;
            let (clock, _) = *self.clock.get_or_insert((sample.clock, sample.resolution));
            match sample.clock == clock {
                true => samples.push(sample.seconds),
                false => self.dropped += 1,
            }
            // A simulated device's speed never changes: one sample stands for the window.
            if clock == Clock::Simulated || begun.elapsed().as_secs_f64() >= length {
                break clock == Clock::Simulated;
            }
        };
        self.elapsed = match is_simulated {
            true => self.elapsed + length,
            false => self.begun.elapsed().as_secs_f64(),
        };
        let polling = self.bench.session.polling.as_ref();
        let reading = polling.and_then(|polling| polling.latest()).unwrap_or_default();
        let host = polling.map(|polling| polling.latest_host()).unwrap_or_default();
        let launches = samples.len() as u64 * u64::from(self.batch);
        Ok(median_of(samples).map(|seconds| Window {
            at: self.elapsed,
            launches,
            seconds,
            hertz: reading.clock,
            watts: reading.watts,
            celsius: reading.celsius,
            throttled: reading.throttled,
            host,
        }))
    }
}
