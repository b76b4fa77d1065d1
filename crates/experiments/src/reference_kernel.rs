//! A fixed small kernel between cases: how long it takes shows whether the device is still as fast
//! as when the run began. It computes in registers only, on every unit, so that nothing but the
//! device's clock (and whoever else uses the device) decides. A second one streams through memory, since
//! memory may keep its speed where clocks do not.

use crate::reference_launch::{Launch, Work};
use crate::waking::{Waking, sleeps, wake};
use gpubench_analysis::smallest_drift;
use gpubench_core::error::Result;
use gpubench_core::gpu::{BufferId, DeviceKind, MemoryKind, Recording};
use gpubench_device::Device;
use gpubench_device::thread_placement::ThreadTimes;
use std::iter::repeat_n;
use std::time::Instant;

/// Launches of one sample: one is short. Samples without a better one that end a reading.
const BATCH: u32 = 4;
const STALE: u32 = 3;
/// The share of a worker's time that its readings may take, and seconds that they may take before that.
const SHARE: f64 = 0.02;
const GRACE: f64 = 0.2;
/// As these two, of waking a device: seconds before, and the share.
const WAKING: [f64; 2] = [2.0, 0.1];
/// As these two, of the kernel that streams through memory.
const MEMORY_SHARE: f64 = 0.006;
const MEMORY_GRACE: f64 = 0.1;
/// Most samples of a reading.
const MAX_SAMPLES: u32 = 2000;
/// Where it writes while a case's buffers stay.
const AWAKE: BufferId = BufferId(u32::MAX - 1);

/// A reference kernel on one device.
#[derive(Debug, Default)]
pub(super) struct ReferenceKernel {
    work: Work,
    /// Whether it is built; `Some(false)` where the device cannot.
    built: Option<bool>,
    /// What it took when it last ran: before a case's times were taken, or behind it.
    pub last: Option<f64>,
    /// Seconds that readings have cost so far, and the last one; what building it costs, and waking the device the
    /// first time, each worker pays once.
    cost: f64,
    last_cost: f64,
    waking: Waking,
    /// Seconds that waking the device before times were taken has cost so far.
    waking_cost: f64,
}

impl ReferenceKernel {
    /// One that does this.
    pub fn new(work: Work) -> Self {
        Self { work, ..Self::default() }
    }

    /// Seconds of one launch, the best of a few, so that a moment's disturbance is not taken for
    /// drift; `None` where the device cannot run it.
    pub fn run(&mut self, device: &mut dyn Device) -> Option<f64> {
        self.last = self.read(device).ok().flatten();
        self.cost += self.last_cost;
        self.last
    }

    /// Whether running it once more keeps it within its share of the `seconds` that the worker has been
    /// at work.
    pub fn is_affordable(&self, seconds: f64) -> bool {
        let [grace, share] = match self.work {
            Work::Arithmetic => [GRACE, SHARE],
            Work::Memory => [MEMORY_GRACE, MEMORY_SHARE],
        };
        self.cost + self.last_cost <= grace + share * seconds
    }

    /// Whether a device of this kind is to be woken by it, `seconds` behind the worker's begin: one that is slow, or
    /// never gets as fast again, takes no more than its share for that.
    pub fn may_wake(&self, kind: DeviceKind, seconds: f64) -> bool {
        let [grace, share] = WAKING;
        sleeps(kind) && self.waking_cost <= grace + share * seconds
    }

    /// Wakes a device that was idle, and notes how fast it is, without touching what a case has allocated.
    pub fn wake(&mut self, device: &mut dyn Device) {
        let begun = Instant::now();
        self.last = self.woken(device, AWAKE).and_then(|()| self.reading(device)).ok().flatten();
        self.waking_cost += begun.elapsed().as_secs_f64();
    }

    /// Keeps each thread of a driver that computes on the processor on a processor of its own, once they were seen at
    /// work.
    pub fn place_threads(&mut self, device: &mut dyn Device) {
        if let Err(why) = self.prepared(device, AWAKE, BATCH) {
            tracing::debug!(%why, "the reference kernel was not built");
        }
        // Behind the building, which is work of the calling thread and of nobody else.
        let times = ThreadTimes::now();
        if let Err(why) = self.woken(device, AWAKE) {
            tracing::debug!(%why, "no thread was seen at work");
        }
        let threads = times.place();
        tracing::debug!(threads, "kept on a processor of its own");
    }

    /// Launches of it, as many as `count` says of the seconds of one, a case's buffers being left as they are.
    pub fn launched(
        &mut self,
        device: &mut dyn Device,
        count: impl Fn(f64) -> Option<u32>,
    ) -> Result<Option<Recording>> {
        let seconds = match self.last {
            Some(seconds) => Some(seconds),
            None => self.reading(device)?,
        };
        match seconds.and_then(count) {
            Some(launches) => self.prepared(device, AWAKE, launches),
            None => Ok(None),
        }
    }

    fn woken(&mut self, device: &mut dyn Device, out: BufferId) -> Result<()> {
        let kind = device.info().kind;
        let launches = if sleeps(kind) { self.waking.load() } else { BATCH };
        match self.prepared(device, out, launches)? {
            Some(all) => {
                wake(device, (&all, launches), &mut self.waking, 1.0 + smallest_drift(kind))
            }
            None => Ok(()),
        }
    }

    fn read(&mut self, device: &mut dyn Device) -> Result<Option<f64>> {
        self.last_cost = 0.0;
        device.reset();
        let out = BufferId(0);
        let Some(sample) = self.prepared(device, out, self.launches())? else { return Ok(None) };
        let is_first = self.cost == 0.0 && self.work == Work::Arithmetic;
        if is_first && sleeps(device.info().kind) {
            self.woken(device, out)?;
        }
        let begun = Instant::now();
        let best = best(device, &sample, self.launches());
        self.last_cost = begun.elapsed().as_secs_f64();
        best
    }

    /// Launches of one sample.
    fn launches(&self) -> u32 {
        if self.work == Work::Arithmetic { BATCH } else { 1 }
    }

    /// Seconds of one launch, a case's buffers being left as they are.
    fn reading(&mut self, device: &mut dyn Device) -> Result<Option<f64>> {
        match self.prepared(device, AWAKE, self.launches())? {
            Some(sample) => best(device, &sample, self.launches()),
            None => Ok(None),
        }
    }

    /// So many launches of it in the buffer `out`; built, and run once, where it was not. `None` where the device
    /// cannot.
    fn prepared(
        &mut self,
        device: &mut dyn Device,
        out: BufferId,
        launches: u32,
    ) -> Result<Option<Recording>> {
        let launch = Launch::of(self.work, device.info());
        let is_new = self.built.is_none();
        if is_new {
            self.built = Some(device.build(launch.kernel, &launch.source).is_ok());
        }
        if self.built == Some(false) {
            return Ok(None);
        }
        device.alloc(out, launch.len, MemoryKind::Device)?;
        let recording = Recording::one_queue(repeat_n(launch.dispatch(out), launches as usize));
        if is_new {
            // Some drivers compile now only.
            device.run(&recording)?;
        }
        Ok(Some(recording))
    }
}

/// How far `now` is from `first`: 0.03 for 3 % slower.
pub(super) fn drift(first: f64, now: f64) -> f64 {
    now / first - 1.0
}

/// Seconds of one of a sample's `launches`, the best of a few samples.
fn best(device: &mut dyn Device, recording: &Recording, launches: u32) -> Result<Option<f64>> {
    let (mut best, mut stale) = (f64::INFINITY, 0);
    for _ in 0..MAX_SAMPLES {
        let timeline = device.run(recording)?;
        let sample = timeline.busy().unwrap_or(timeline.wall) / f64::from(launches);
        stale = if sample < 0.998 * best { 0 } else { stale + 1 };
        best = best.min(sample);
        if stale >= STALE {
            break;
        }
    }
    Ok((best > 0.0 && best.is_finite()).then_some(best))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_keeps_to_its_share_of_the_time() {
        // Each reading takes 60 ms, each case 0.5 s.
        let mut kernel = ReferenceKernel::default();
        let mut seconds = 0.0;
        for case in 0..400 {
            if kernel.is_affordable(seconds) {
                kernel.last_cost = 0.06;
                kernel.cost += kernel.last_cost;
                seconds += kernel.last_cost;
            }
            seconds += 0.5;
            assert!(kernel.cost <= GRACE + SHARE * seconds, "after {case} cases");
        }
        assert!(kernel.cost > 0.9 * SHARE * seconds, "{} s of {seconds} s", kernel.cost);
    }

    #[test]
    fn a_cheap_one_runs_around_every_case() {
        let mut kernel = ReferenceKernel { last_cost: 0.002, ..ReferenceKernel::default() };
        for case in 0..100 {
            assert!(kernel.is_affordable(0.1 * f64::from(case)));
            kernel.cost += kernel.last_cost;
        }
    }
}
