//! A batch behind a blocking kernel (the word is nvbench's): where a host needs longer to submit a launch than the
//! device to run it, the device falls idle after each, and what its clock says of the next one holds its beginning
//! anew: 2 to 4 µs of 6 to 8 on an NVIDIA H100 by OpenCL, another part in every process (docs/results). Behind
//! launches of the reference kernel that last until all of the batch are submitted, it runs without a pause.

use super::Session;
use super::waking::sleeps;
use gpubench_core::error::Result;
use gpubench_core::gpu::{Recording, Step, StepId, StepTimes, Timeline};
use gpubench_core::record::Flag;
use gpubench_core::text::counted;
use gpubench_device::Device;

/// Steps of so many seconds a host submits in time.
const LONG: f64 = 2e-4;
/// A host that needs less than this share of its launches' time to submit them keeps the device at work. Between this
/// and all of it there is little to gain; but a host is faster in one process than in another, and a case is to be
/// timed alike in all.
const KEEPS_UP: f64 = 0.5;
/// Times as many launches ahead as would just do, in one try after the other: one disturbed run decides nothing.
const MARGINS: [f64; 3] = [1.5, 1.5, 3.0];
/// Most launches ahead.
const MAX_LAUNCHES: f64 = 1000.0;

/// A batch of launches, and what runs ahead of it.
pub(super) struct Batch {
    /// The launches alone.
    alone: Recording,
    /// The same behind the blocking kernel, where the device would wait for its host, and how many steps that has.
    blocked: Option<(Recording, usize)>,
    /// Whether the device waits for its host all the same.
    waits: bool,
}

impl Batch {
    /// A batch of about so many seconds: behind a blocking kernel, if the device is a GPU that waits for its host
    /// otherwise and does not then.
    pub fn of(session: &mut Session, alone: Recording, seconds: f64) -> Result<Self> {
        let count = alone.steps.len();
        let mut batch = Self { alone, blocked: None, waits: false };
        if !sleeps(session.device.info().kind) || count < 2 || seconds > LONG * count as f64 {
            return Ok(batch);
        }
        // The first run pays for what drivers put off.
        session.device.run(&batch.alone)?;
        let submission = slow_submission(&session.device.run(&batch.alone)?.steps);
        let Some(submission) = submission else { return Ok(batch) };
        let each = submission / (count - 1) as f64;
        // Without it the batch is timed all the same.
        batch.blocked = MARGINS.into_iter().find_map(|margin| {
            let blocking =
                session.blocking_kernel(|launch| ahead(margin * submission, each, launch));
            let blocking = blocking.ok().flatten()?;
            let first = blocking.steps.len();
            let blocked = behind(blocking, &batch.alone);
            session.device.run(&blocked).ok()?;
            let steps = session.device.run(&blocked).ok()?.steps;
            is_submitted_before(&steps, first).then_some((blocked, first))
        });
        batch.waits = batch.blocked.is_none();
        Ok(batch)
    }

    /// The batch's own steps. Where the device's clock is lost, the host's must not count what ran ahead: the launches
    /// run again, alone, by that clock.
    pub fn run(&self, device: &mut dyn Device) -> Result<Timeline> {
        let Some((blocked, first)) = &self.blocked else { return device.run(&self.alone) };
        let mut timeline = device.run(blocked)?;
        if timeline.steps.is_empty() {
            let wall = device.run(&self.alone)?.wall;
            return Ok(Timeline { wall, ..timeline });
        }
        timeline.steps.drain(..first);
        Ok(timeline)
    }

    /// The launches alone.
    pub fn alone(&self) -> &Recording {
        &self.alone
    }

    /// What to know of times that were taken so.
    pub fn flag(&self) -> Option<Flag> {
        let what = match &self.blocked {
            Some((_, first)) => {
                format!("they ran behind the reference kernel, {}", counted(*first, "time"))
            }
            None if self.waits => {
                "the device waited for it, since no blocking kernel was long enough".into()
            }
            None => return None,
        };
        Some(Flag::BlockingKernel(format!(
            "the host takes long to submit a launch, compared with what the device takes to run it: {what}"
        )))
    }
}

/// Seconds in which the host submitted these steps, where that is long for what the device did meanwhile. Where a clock
/// does not know when a step was queued, it says the step's start: such steps were submitted at once.
fn slow_submission(steps: &[StepTimes]) -> Option<f64> {
    let ([first, ..], [before @ .., last]) = (steps, steps) else { return None };
    let busy: f64 = before.iter().map(|step| step.ended - step.started).sum();
    let submission = last.queued - first.queued;
    (last.queued < last.started && submission > KEEPS_UP * busy).then_some(submission)
}

/// Whether all of these steps were submitted before the one at `first` began.
fn is_submitted_before(steps: &[StepTimes], first: usize) -> bool {
    let (Some(first), Some(last)) = (steps.get(first), steps.last()) else { return false };
    last.submitted <= first.started
}

/// How many launches of so many seconds are to run ahead of a batch that is submitted in `submission` seconds, where
/// `each` launch, theirs too, is submitted in that time; `None` where they would wait for the host themselves, or be
/// many.
fn ahead(submission: f64, each: f64, launch: f64) -> Option<u32> {
    let count = submission / (launch - each);
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
    use crate::invented_device::{InventedDevice, timeline};
    use gpubench_core::gpu::{Clock, DeviceKind, KernelId, Op, Queue};

    const KERNEL: KernelId = KernelId(0);
    /// Seconds in which the host queues a launch, after which that is submitted, and can begin at the earliest.
    const QUEUE: f64 = 12e-6;
    const SUBMIT: f64 = 3e-6;
    const START: f64 = 7e-6;
    /// Seconds of a kernel, and of the reference kernel.
    const RUN: f64 = 4e-6;
    const REFERENCE: f64 = 40e-6;
    /// Seconds of beginning on an idle device.
    const BEGIN: f64 = 3e-6;

    /// One queue in order, whose host submits one launch after the other; a kernel takes `run`, and the reference kernel
    /// what `reference` says of a run.
    fn slow(
        kind: DeviceKind,
        run: f64,
        reference: impl Fn(u32) -> f64 + 'static,
    ) -> InventedDevice {
        InventedDevice::new(kind, move |number, recording| {
            let (mut steps, mut now, mut free) = (vec![], 0.0, 0.0);
            for step in &recording.steps {
                let is_ours = matches!(step.op, Op::Dispatch { kernel: KERNEL, .. });
                let run = if is_ours { run } else { reference(number) };
                let begin = if free <= now + START { BEGIN } else { 0.0 };
                let started = f64::max(now + START, free);
                let ended = started + begin + run;
                steps.push(StepTimes { queued: now, submitted: now + SUBMIT, started, ended });
                (now, free) = (now + QUEUE, ended);
            }
            timeline(steps, f64::max(now, free))
        })
    }

    fn steady(_: u32) -> f64 {
        REFERENCE
    }

    /// Microseconds of one of `count` launches, and what is noted of them.
    fn each(device: InventedDevice, run: f64, count: u32) -> (f64, Option<Flag>) {
        let seconds = run * f64::from(count);
        let mut session = Session::new(Box::new(device));
        let batch = Batch::of(&mut session, launches(count), seconds).expect("it runs");
        let timeline = batch.run(session.device.as_mut()).expect("it runs");
        assert_eq!(timeline.steps.len(), count as usize);
        let each = timeline.busy().expect("timestamps") / f64::from(count);
        (1e6 * each, batch.flag())
    }

    fn launches(count: u32) -> Recording {
        let dispatch =
            Op::Dispatch { kernel: KERNEL, groups: [1; 3], buffers: vec![], params: vec![] };
        Recording::one_queue(vec![dispatch; count as usize])
    }

    #[test]
    fn a_gpu_runs_a_batch_without_a_pause() {
        let close = |kind, run: f64, count: u32, wanted: f64, noted: &str| {
            let (each, flag) = each(slow(kind, run, steady), run, count);
            assert!((each - wanted).abs() < 1e-6, "{each}, {wanted}");
            let is_noted = flag.is_some_and(|flag| format!("{flag:?}").contains(noted));
            assert_eq!(is_noted, !noted.is_empty(), "{run} {noted}");
        };
        let gpu = DeviceKind::Discrete;
        close(gpu, RUN, 40, 4.0, "ran behind");
        close(gpu, 8e-6, 40, 8.0, "ran behind");
        close(gpu, 20e-6, 40, 20.0, "ran behind");
        close(gpu, 30e-6, 40, 30.0 + 3.0 / 40.0, "");
        close(gpu, RUN, 1, 7.0, "");
        close(DeviceKind::Cpu, RUN, 40, 7.0, "");
        // As many as that are not put ahead.
        close(gpu, RUN, 3000, 7.0, "the device waited");
    }

    #[test]
    fn what_ran_ahead_must_last_until_all_are_submitted() {
        // The reference kernel's time is read in five runs, behind two of the batch.
        let shrinks = |run| if run < 7 { REFERENCE } else { REFERENCE / 10.0 };
        let (each, flag) = each(slow(DeviceKind::Discrete, RUN, shrinks), RUN, 40);
        assert!((each - 7.0).abs() < 1e-6, "{each}");
        assert!(format!("{flag:?}").contains("the device waited"), "{flag:?}");
    }

    #[test]
    fn a_host_s_clock_does_not_count_what_ran_ahead() {
        let mut session = Session::new(Box::new(slow(DeviceKind::Discrete, RUN, steady)));
        let batch = Batch::of(&mut session, launches(40), 40.0 * RUN).expect("it runs");
        assert!(batch.blocked.is_some());
        // Now it loses the timestamps of many steps.
        let mut lost = InventedDevice::new(DeviceKind::Discrete, |_, recording| {
            let step = StepTimes { queued: 0.0, submitted: 0.0, started: 0.0, ended: 1.0 };
            let count = recording.steps.len();
            timeline(if count > 40 { vec![] } else { vec![step; count] }, count as f64)
        });
        let timeline = batch.run(&mut lost).expect("it runs");
        assert_eq!((timeline.wall, timeline.steps.len()), (40.0, 0));
        assert_eq!((timeline.clock, timeline.dropped), (Clock::Host, Some("zero".into())));
    }

    /// Of an H100 by OpenCL, in nanoseconds (docs/results/h100/opencl-probe.txt, clock): kernels of 256, 65,536 and
    /// 4,194,304 work-items.
    #[test]
    fn the_stamps_of_a_gpu_say_whether_it_waited() {
        let steps = |stamps: [[f64; 4]; 3]| {
            stamps.map(|stamps| {
                let [queued, submitted, started, ended] = stamps.map(|stamp| 1e-9 * stamp);
                StepTimes { queued, submitted, started, ended }
            })
        };
        let small = steps([
            [-7744.0, -4768.0, 0.0, 9024.0],
            [8864.0, 11936.0, 15904.0, 21312.0],
            [20320.0, 23104.0, 27104.0, 32096.0],
        ]);
        let medium = steps([
            [-6848.0, -3968.0, 0.0, 6080.0],
            [5088.0, 7968.0, 11936.0, 17664.0],
            [16480.0, 19264.0, 23200.0, 27488.0],
        ]);
        // Here the device just keeps up.
        let large = steps([
            [-7616.0, -4000.0, 0.0, 16640.0],
            [7200.0, 10048.0, 17888.0, 31360.0],
            [21056.0, 23840.0, 32608.0, 45408.0],
        ]);
        let submissions = [&small, &medium, &large];
        let submissions = submissions.map(|steps| slow_submission(steps).map(|s| 1e6 * s));
        assert!(
            matches!(submissions, [Some(28.0..28.2), Some(23.3..23.4), Some(28.6..28.7)]),
            "{submissions:?}"
        );
        assert!(!is_submitted_before(&small, 0));
        let at_once = steps([[0.0, 1.0, 5.0, 9.0], [1.0, 2.0, 9.0, 13.0], [2.0, 3.0, 13.0, 17.0]]);
        assert_eq!(slow_submission(&at_once), None);
        assert!(is_submitted_before(&at_once, 0) && !is_submitted_before(&at_once, 3));
        let recorded = [0.0, 4.0, 8.0].map(|at| [at, at, at, at + 1.0]);
        assert_eq!([slow_submission(&steps(recorded)), slow_submission(&[])], [None, None]);
    }

    #[test]
    fn what_a_batch_waits_for_stays_what_it_was() {
        let mut batch = launches(1);
        batch.push(Queue(1), vec![StepId(0)], batch.steps[0].op.clone());
        let all = behind(launches(3), &batch);
        assert_eq!((all.steps.len(), &all.steps[4].after), (5, &vec![StepId(3)]));
    }
}
