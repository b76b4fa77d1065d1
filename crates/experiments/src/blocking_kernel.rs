//! A batch behind a blocking kernel (the word is nvbench's): where a host needs longer to submit a launch than the
//! device to run it, the device falls idle after each, and what its clock says of the next one holds its beginning
//! anew: 2 to 4 µs of 6 to 8 on an NVIDIA H100 by OpenCL, another share in every process (docs/results). Behind
//! launches of the reference kernel that last until all of the batch are submitted, it runs without a pause.

use super::Session;
use super::waking::sleeps;
use gpubench_core::error::Result;
use gpubench_core::gpu::{Recording, Step, StepId, StepTimes, Timeline};
use gpubench_core::record::Flag;
use gpubench_core::text::counted;
use gpubench_device::Device;

/// From this share of its launches on, a batch waited for its host.
const LATE: f64 = 0.5;
/// Times as many launches ahead as would just do.
const MARGIN: f64 = 1.25;
/// Most launches ahead.
const MAX_LAUNCHES: f64 = 256.0;

/// A batch of launches, and what runs ahead of it.
pub(super) struct Batch {
    /// The launches alone.
    alone: Recording,
    /// The same behind the blocking kernel, where the device would wait for its host, and how many steps that has.
    blocked: Option<(Recording, usize)>,
}

impl Batch {
    /// Behind a blocking kernel, if the device is a GPU that waits for its host otherwise and no longer does so then.
    pub fn of(session: &mut Session, alone: Recording) -> Result<Self> {
        let mut batch = Self { alone, blocked: None };
        if !sleeps(session.device.info().kind) || batch.alone.steps.len() < 2 {
            return Ok(batch);
        }
        // The first run pays for what drivers put off.
        session.device.run(&batch.alone)?;
        let submission = waits_for_host(&session.device.run(&batch.alone)?.steps);
        let Some(seconds) = submission else { return Ok(batch) };
        let each = seconds / (batch.alone.steps.len() - 1) as f64;
        let Some(blocking) = session.blocking_kernel(|launch| ahead(seconds, each, launch))? else {
            return Ok(batch);
        };
        let count = blocking.steps.len();
        let blocked = behind(blocking, &batch.alone);
        session.device.run(&blocked)?;
        let timeline = session.device.run(&blocked)?;
        if timeline.steps.get(count..).is_some_and(|steps| waits_for_host(steps).is_none()) {
            batch.blocked = Some((blocked, count));
        }
        Ok(batch)
    }

    /// The batch's own steps. Where the device's clock is lost, the host's must not count what ran ahead: the launches
    /// run again, alone.
    pub fn run(&self, device: &mut dyn Device) -> Result<Timeline> {
        let Some((blocked, count)) = &self.blocked else { return device.run(&self.alone) };
        let mut timeline = device.run(blocked)?;
        if timeline.steps.is_empty() {
            let alone = device.run(&self.alone)?;
            return Ok(Timeline { dropped: alone.dropped.or(timeline.dropped), ..alone });
        }
        timeline.steps.drain(..count);
        Ok(timeline)
    }

    /// The launches alone.
    pub fn alone(&self) -> &Recording {
        &self.alone
    }

    /// What to know of times that were taken so.
    pub fn flag(&self) -> Option<Flag> {
        let (_, count) = self.blocked.as_ref()?;
        Some(Flag::BlockingKernel(format!(
            "the host needs longer to submit a launch than the device to run it: they ran behind the reference kernel, {}",
            counted(*count, "time")
        )))
    }
}

/// Seconds in which the host submitted these steps, where the device had mostly ended one before the host began to
/// submit the next. Where a clock does not know when a step was queued, it says the step's start: such steps were
/// submitted at once.
fn waits_for_host(steps: &[StepTimes]) -> Option<f64> {
    let pairs = steps.windows(2);
    let late = pairs.clone().filter(|pair| {
        let [before, step] = [pair[0], pair[1]];
        step.queued > before.ended && step.queued < step.started
    });
    let (late, count) = (late.count() as f64, pairs.count() as f64);
    let (first, last) = (steps.first()?, steps.last()?);
    (late > LATE * count).then_some(last.queued - first.queued)
}

/// How many launches of so many seconds are to run ahead of a batch that is submitted in `submission` seconds, `each`
/// of its launches, and those ahead, in that time; `None` where they would wait for the host themselves, or be many.
fn ahead(submission: f64, each: f64, launch: f64) -> Option<u32> {
    let count = MARGIN * submission / (launch - each);
    (count > 0.0 && count <= MAX_LAUNCHES).then(|| count.ceil() as u32)
}

/// `batch` behind `blocking`.
fn behind(mut blocking: Recording, batch: &Recording) -> Recording {
    let first = blocking.steps.len() as u32;
    let shifted = batch.steps.iter().map(|step| Step {
        after: step.after.iter().map(|id| StepId(id.0 + first)).collect(),
        ..step.clone()
    });
    blocking.steps.extend(shifted);
    blocking
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::gpu::{
        BufferId, BuildReport, Clock, DeviceInfo, DeviceKind, KernelId, KernelSource, MemoryKind,
        Op, Queue,
    };
    use gpubench_core::record::sample;
    use gpubench_core::units::Bytes;

    const KERNEL: KernelId = KernelId(0);
    /// Seconds in which the host submits a launch.
    const SUBMIT: f64 = 12e-6;
    /// Seconds of a kernel, and of the reference kernel.
    const RUN: f64 = 4e-6;
    const REFERENCE: f64 = 40e-6;
    /// Seconds of beginning on an idle device.
    const BEGIN: f64 = 3e-6;

    /// One queue in order, whose host submits one launch after the other.
    struct Slow {
        info: DeviceInfo,
        has_timestamps: bool,
        /// Seconds of the kernel.
        run: f64,
    }

    impl Device for Slow {
        fn info(&self) -> &DeviceInfo {
            &self.info
        }

        fn build(&mut self, _: KernelId, _: &KernelSource) -> Result<BuildReport> {
            Ok(BuildReport::default())
        }

        fn alloc(&mut self, _: BufferId, _: Bytes, _: MemoryKind) -> Result<()> {
            Ok(())
        }

        fn write(&mut self, _: BufferId, _: &[u8]) -> Result<()> {
            Ok(())
        }

        fn read(&mut self, _: BufferId) -> Result<Vec<u8>> {
            Ok(vec![])
        }

        fn run(&mut self, recording: &Recording) -> Result<Timeline> {
            let (mut steps, mut now, mut free) = (vec![], 0.0, 0.0);
            for step in &recording.steps {
                let is_ours = matches!(step.op, Op::Dispatch { kernel: KERNEL, .. });
                let run = if is_ours { self.run } else { REFERENCE };
                let begin = if free <= now { BEGIN } else { 0.0 };
                let started = f64::max(now + 1e-9, free);
                let ended = started + begin + run;
                steps.push(StepTimes { queued: now, submitted: now, started, ended });
                (now, free) = (now + SUBMIT, ended);
            }
            if !self.has_timestamps {
                steps.clear();
            }
            let wall = f64::max(now, free);
            Ok(Timeline { steps, clock: Clock::Device, resolution: 1e-9, wall, dropped: None })
        }

        fn reset(&mut self) {}
    }

    /// Microseconds of one of `count` launches, and whether they ran behind a blocking kernel.
    fn each(kind: DeviceKind, run: f64, count: u32) -> (f64, bool) {
        let info = DeviceInfo { kind, ..sample::device("opencl") };
        let device = Slow { info, has_timestamps: true, run };
        let mut session = Session::new(Box::new(device));
        let batch = Batch::of(&mut session, launches(count)).expect("it runs");
        let timeline = batch.run(session.device.as_mut()).expect("it runs");
        assert_eq!(timeline.steps.len(), count as usize);
        let each = timeline.busy().expect("timestamps") / f64::from(count);
        (1e6 * each, batch.flag().is_some())
    }

    fn launches(count: u32) -> Recording {
        let mut recording = Recording::default();
        for _ in 0..count {
            let dispatch =
                Op::Dispatch { kernel: KERNEL, groups: [1; 3], buffers: vec![], params: vec![] };
            recording.push(Queue(0), vec![], dispatch);
        }
        recording
    }

    #[test]
    fn a_gpu_runs_a_batch_without_a_pause() {
        let close = |(each, is_blocked): (f64, bool), wanted: f64, blocked: bool| {
            assert!((each - wanted).abs() < 1e-6 && is_blocked == blocked, "{each} {is_blocked}");
        };
        close(each(DeviceKind::Discrete, RUN, 40), 4.0, true);
        close(each(DeviceKind::Cpu, RUN, 40), 7.0, false);
        close(each(DeviceKind::Discrete, 20e-6, 40), 20.0 + 3.0 / 40.0, false);
        close(each(DeviceKind::Discrete, RUN, 1), 7.0, false);
        // As many as that are not put ahead.
        close(each(DeviceKind::Discrete, RUN, 1000), 7.0, false);
    }

    #[test]
    fn a_host_s_clock_does_not_count_what_ran_ahead() {
        let info = DeviceInfo { kind: DeviceKind::Discrete, ..sample::device("opencl") };
        let device = Slow { info, has_timestamps: true, run: RUN };
        let mut session = Session::new(Box::new(device));
        let batch = Batch::of(&mut session, launches(40)).expect("it runs");
        assert!(batch.flag().is_some());
        let info = DeviceInfo { kind: DeviceKind::Discrete, ..sample::device("opencl") };
        let mut lost = Slow { info, has_timestamps: false, run: RUN };
        let wall = batch.run(&mut lost).expect("it runs").wall;
        assert!(wall < 41.0 * SUBMIT, "{wall}");
    }

    #[test]
    fn steps_that_were_submitted_at_once_do_not_wait() {
        let step =
            |started, ended| StepTimes { queued: started, submitted: started, started, ended };
        assert_eq!(waits_for_host(&[step(0.0, 1.0), step(3.0, 4.0), step(6.0, 7.0)]), None);
        assert_eq!(waits_for_host(&[]), None);
    }

    #[test]
    fn what_a_batch_waits_for_stays_what_it_was() {
        let mut batch = launches(1);
        batch.push(Queue(1), vec![StepId(0)], batch.steps[0].op.clone());
        let all = behind(launches(3), &batch);
        assert_eq!((all.steps.len(), &all.steps[4].after), (5, &vec![StepId(3)]));
    }
}
