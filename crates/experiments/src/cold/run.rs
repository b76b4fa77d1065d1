//! Launches with a write over twice the last level of cache before each.

use super::data::Flushed;
use crate::autotune::{BuiltVariant, KERNEL};
use crate::loops::{Sample, warm_up_and_sample};
use crate::plan::{Case, launches};
use crate::reference_launch::{BEYOND_CACHES, Launch};
use crate::session::span;
use crate::verified_kernel::around;
use crate::{Bench, Stage};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{
    BufferId, Clock, DeviceInfo, DeviceKind, MemoryKind, Op, Queue, Recording, Timeline, busy,
};
use gpubench_core::record::Detail;
use std::ops::Range;

/// Where a small cache is reported, so many bytes are written.
const MIN_FLUSH: u64 = 64 << 20;
/// Where none is reported, twice the largest that GPUs had in 2026: 256 MiB, of AMD's Instinct MI300X (its data sheet).
const UNKNOWN_FLUSH: u64 = 512 << 20;
/// And no more than this share of the memory.
const SHARE: u64 = 8;
/// A simulated device reports no cache, and what it writes takes this machine's time: there a flush is a step and no more.
const SIMULATED_FLUSH: u64 = 64 << 10;
/// Most launches in one sample: each has a flush before it, which takes longer than most of them.
const MAX_BATCH: u32 = 16;
/// What is written over, numbered apart from a case's buffers.
const FLUSHED: BufferId = BufferId(u32::MAX);

/// Measures `case` with `bench`.
pub(super) fn measure(case: &Case, bench: &mut Bench) -> Result<()> {
    around(case, bench, |bench, variant| {
        let (flush, flushed) = flush(bench)?;
        let (recording, timed) = recording(case, variant, &flush, bench);
        bench.measurement.monitor.empty_launch = bench.session.empty_launch();
        bench.enter(Stage::Measure);
        let policy = bench.policy.after_launch(variant.launch);
        let batch = timed.len() as u32;
        warm_up_and_sample(&policy, batch, bench.measurement, || {
            sample(bench.session.device.run(&recording)?, &timed)
        })?;
        if let Some(measured) = &mut bench.measurement.measured {
            measured.flops = variant.candidate.flops;
            measured.bytes = variant.candidate.bytes;
            measured.types.clone_from(&variant.candidate.types);
        }
        bench.measurement.detail = Some(Detail::new(&flushed));
        Ok(())
    })
}

/// A launch that writes over twice the last level, built, and its buffer allocated.
///
/// # Errors
/// `Unsupported` where the device takes no buffer of that size.
fn flush(bench: &mut Bench) -> Result<(Op, Flushed)> {
    let info = bench.device().info().clone();
    let launch = Launch::streaming(&info, flush_bytes(&info));
    let cache = info.cache.map(|cache| cache.0);
    if launch.len.0 < 2 * cache.unwrap_or(0) {
        let why =
            "a buffer of twice the largest cache is more than the device takes: nothing flushes it";
        return Err(Error::Unsupported(why.into()));
    }
    bench.enter(Stage::Build);
    bench.device().build(launch.kernel, &launch.source)?;
    bench.device().alloc(FLUSHED, launch.len, MemoryKind::Device)?;
    let flushed = Flushed { bytes: launch.len.0, cache };
    Ok((launch.dispatch(FLUSHED), flushed))
}

fn flush_bytes(info: &DeviceInfo) -> u64 {
    let min_bytes = if info.kind == DeviceKind::Discrete { BEYOND_CACHES } else { MIN_FLUSH };
    match info.cache {
        _ if info.kind == DeviceKind::Simulated => SIMULATED_FLUSH,
        Some(cache) => (2 * cache.0).max(min_bytes),
        None => {
            let memory = info.memory.map_or(u64::MAX, |memory| memory.0);
            UNKNOWN_FLUSH.min(memory / SHARE).max(min_bytes)
        }
    }
}

/// As many launches as a sample needs, each behind a flush, and which steps each of them is.
fn recording(
    case: &Case,
    variant: &BuiltVariant,
    flush: &Op,
    bench: &mut Bench,
) -> (Recording, Vec<Range<usize>>) {
    let batch = bench.session.batch(variant.launch, MAX_BATCH);
    let once = launches(case, variant.candidate, KERNEL, 1);
    let (mut recording, mut timed) = (Recording::default(), vec![]);
    for _ in 0..batch {
        recording.push(Queue(0), vec![], flush.clone());
        let first = recording.steps.len();
        for step in &once.steps {
            recording.push(Queue(0), vec![], step.op.clone());
        }
        timed.push(first..recording.steps.len());
    }
    (recording, timed)
}

/// Seconds of a launch, the flushes left out; the device is at work for both.
///
/// # Errors
/// `Unsupported` where no clock tells launches and flushes apart.
fn sample(timeline: Timeline, timed: &[Range<usize>]) -> Result<Sample> {
    let launch = |steps: &Range<usize>| {
        let steps = timeline.steps.get(steps.clone())?;
        let (whole, busy) = (steps.last()?.ended - steps.first()?.started, busy(steps));
        // As `kernel` counts: on a simulated device a gap is what a launch costs it, and a coarse clock has only a
        // whole.
        let without_gaps = timeline.clock != Clock::Simulated && busy >= timeline.resolution;
        Some(if without_gaps { busy } else { whole })
    };
    let Some(seconds) = timed.iter().map(launch).sum::<Option<f64>>() else {
        let why = "no clock of the device tells a launch from the flush before it";
        return Err(Error::Unsupported(why.into()));
    };
    let busy = span(&timeline);
    Ok(Sample::new(seconds / timed.len() as f64, busy, timeline))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::gpu::StepTimes;
    use gpubench_core::record::sample;
    use gpubench_core::units::Bytes;

    #[test]
    fn a_flush_is_twice_the_cache_and_where_that_is_unknown_twice_the_largest() {
        let of = |kind, cache: Option<u64>, memory: u64| {
            let cache = cache.map(Bytes::mib);
            let memory = Some(Bytes::mib(memory));
            flush_bytes(&DeviceInfo { kind, cache, memory, ..sample::device("vulkan") }) >> 20
        };
        assert_eq!(of(DeviceKind::Discrete, Some(100), 8192), 200);
        assert_eq!(of(DeviceKind::Integrated, Some(1), 8192), 64);
        assert_eq!(of(DeviceKind::Discrete, None, 8192), 512);
        assert_eq!(of(DeviceKind::Integrated, None, 1024), 128);
        assert_eq!(of(DeviceKind::Integrated, None, 256), 64);
    }

    #[test]
    fn flushes_do_not_count_and_a_clock_is_needed() {
        let step = |started: f64, ended: f64| StepTimes {
            queued: started,
            submitted: started,
            started,
            ended,
        };
        let steps = vec![step(0.0, 5.0), step(5.0, 6.0), step(6.0, 12.0), step(12.5, 14.5)];
        let by = |clock, resolution, steps| {
            let (wall, dropped) = (15.0, None);
            Timeline { steps, clock, resolution, wall, dropped }
        };
        let timeline = |steps| by(Clock::Device, 1e-9, steps);
        // Two passes of a launch, and what lies between them.
        let by_clock = [(Clock::Device, 1e-9), (Clock::Device, 4.0), (Clock::Simulated, 1e-9)];
        let passes = std::slice::from_ref(&(1..3));
        let seconds = by_clock.map(|(clock, resolution)| {
            let steps = vec![step(0.0, 5.0), step(5.0, 6.0), step(7.5, 9.5)];
            sample(by(clock, resolution, steps), passes).unwrap().seconds
        });
        assert_eq!(seconds, [3.0, 4.5, 4.5]);
        let timed = [1..2, 3..4];
        let sampled = sample(timeline(steps), &timed).unwrap();
        assert_eq!((sampled.seconds, sampled.busy), (1.5, 14.5));
        assert!(matches!(sample(timeline(vec![]), &timed), Err(Error::Unsupported(_))));
    }
}
