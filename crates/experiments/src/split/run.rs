//! One workload on several devices at once: a job that is partitioned into blocks, the first by what each
//! device did alone, every later one by what those before showed.
//!
//! Each device does its part in chunks, one's copies while another is computed, where that is faster and it has three queues.
//!
//! Ten blocks are a calibration: they show how soon devices are in balance, and whether they gain over the fastest alone.
//! If so, the job is done in turn by the fastest device alone and by all of them, each time anew, so
//! that what else the machine does falls on both; for as long as the slowdown that this may bring fits
//! its budget. The rest is left to the fastest device.

use super::partitioner::{Partitioner, Wanted};
use super::split_run::SplitRun;
use crate::chunks::set_up;
use crate::expected::expected;
use crate::plan::{Case, multi_device_division};
use crate::split::data::{Job, Split};
use crate::{Bench, DeviceGroup, Policy, Stage, memory};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::Clock;
use gpubench_core::record::Detail;
use gpubench_model::load_balance::Balancer;
use gpubench_model::slowdown_budget::{MAX_SLOWDOWN, SlowdownBudget, max_speedup, worth_trying};
use gpubench_reference::Data;
use gpubench_stats::{Decision, median_of};

/// Of the time, the devices alone get this share; what they do in turn gets the rest.
const ISOLATED_SHARE: f64 = 0.2;
/// Samples of a device alone, at least, and jobs in turn: six give an interval with 95 % confidence.
const MIN_SAMPLES: usize = 6;
/// Samples of a number of chunks that is tried.
const TRIAL_SAMPLES: usize = 3;
/// Seconds of a job on the fastest device alone, at least: 3 % of a shorter one buys no block that
/// could be distinguished from the cost of starting it.
const MIN_JOB_SECONDS: f64 = 1.0;
/// The same on simulated devices, where starting costs nothing that is not described, and every second
/// costs the host many.
const MIN_SIMULATED_JOB_SECONDS: f64 = 0.1;
/// Work-groups of every device that the first block of a job holds, at least: with fewer it could
/// not be shared as the devices' speeds change.
const GROUPS: f64 = 2.0;
/// Problems that the first block of a job holds, at least, where a device overlaps: at either end of a block a chunk's copies
/// are not hidden, which of a single problem is as much as a slower device may add.
const OVERLAPPED_PROBLEMS: f64 = 4.0;
/// Times as long as the least that a job may take for that.
const LONGEST: f64 = 4.0;
/// The same on simulated devices: a simulated second.
const LONGEST_SIMULATED: f64 = 10.0;
/// Blocks of a calibration.
const BLOCKS: usize = 10;

/// Measures the devices of `bench`.
pub(super) fn measure(cases: &[Case], bench: &mut Bench<DeviceGroup>) -> Result<()> {
    cases.iter().try_for_each(|case| multi_device_division(case).map(drop))?;
    bench.enter(Stage::Prepare);
    let initial = memory::initial(&cases[0]);
    let (clock, devices) = (bench.session.clock(), bench.session.names());
    let each = cases.iter().zip(&devices).enumerate().map(|(member, (case, name))| {
        set_up(case, &initial, &mut bench.member(member)).map_err(|error| of_device(error, name))
    });
    let (variants, host_memory): (Vec<_>, Vec<_>) =
        each.collect::<Result<Vec<_>>>()?.into_iter().unzip();
    bench.enter(Stage::Verify);
    let wanted = expected(&cases[0], variants[0].candidate, || initial.clone(), bench.policy)?;
    let policy = bench.policy;
    let partitioner = Partitioner::new(bench.lend(), cases, variants)?;
    let rows = partitioner.rows;
    let mut jobs = Jobs { partitioner, initial, wanted };
    let first = jobs.right("first blocks", Partitioner::equally)?;
    if first.is_none() || policy.verify_only {
        return Ok(());
    }
    let Some((isolated, overlapped)) = jobs.on_each_device()? else { return Ok(()) };
    let (min_seconds, longest) = match clock {
        Clock::Simulated => (MIN_SIMULATED_JOB_SECONDS, LONGEST_SIMULATED),
        _ => (MIN_JOB_SECONDS, LONGEST),
    };
    let min_seconds =
        min_seconds.max((1.0 - ISOLATED_SHARE) * policy.seconds / (2 * MIN_SAMPLES) as f64);
    let range = [min_seconds, longest * min_seconds];
    let plan = Plan::new(&overlapped, &jobs.partitioner, range);
    let calibrated = jobs.right("calibration blocks", |partitioner| {
        let balancer = partitioner.balancer(&plan.speeds);
        SplitRun::new(partitioner, balancer, u64::MAX).calibrate(BLOCKS, plan.fastest)
    })?;
    let Some((blocks, balancer)) = calibrated else { return Ok(()) };
    let combined_speed = Split::combined_speed(&blocks).unwrap_or(0.0);
    let pays =
        combined_speed >= plan.speeds[plan.fastest] && worth_trying(max_speedup(&plan.speeds));
    let in_turn = match pays {
        true => jobs.in_turn(&plan, &balancer, combined_speed)?,
        false => Some((vec![], vec![])),
    };
    let (busy, chunks) = (jobs.partitioner.busy, jobs.partitioner.chunks.clone());
    let Some((jobs, fastest_device_seconds)) = in_turn else { return Ok(()) };
    let Plan { fastest, times, .. } = plan;
    bench.measurement.wall.busy += busy;
    bench.measurement.detail = Some(Detail::new(&Split {
        clock,
        devices,
        host_memory,
        rows,
        isolated,
        chunks,
        overlapped,
        fastest,
        times,
        jobs,
        fastest_device_seconds,
        blocks,
    }));
    Ok(())
}

/// Says which device it is that takes too long.
fn of_device(error: Error, name: &str) -> Error {
    match error {
        Error::OverBudget(why) => Error::OverBudget(why.at(name)),
        other => other,
    }
}

/// Of each device, the seconds of the whole problem, sample by sample.
type Samples = Vec<Vec<f64>>;

fn middle(samples: &[f64]) -> f64 {
    median_of(samples.iter().copied()).unwrap_or(f64::NAN)
}

/// What is done in turn.
struct Plan {
    /// Rows a second of each device alone.
    speeds: Vec<f64>,
    fastest: usize,
    /// How often a job has the whole problem computed.
    times: u64,
    /// Rows of a job.
    job_rows: f64,
}

impl Plan {
    /// For devices with these samples of all rows alone: a job takes seconds in `range`, as many as its first block needs
    /// to have work-groups for every device and, where one overlaps, [`OVERLAPPED_PROBLEMS`].
    fn new(alone: &[Vec<f64>], partitioner: &Partitioner, range: [f64; 2]) -> Self {
        let rows = partitioner.rows as f64;
        let alone: Vec<f64> = alone.iter().map(|samples| middle(samples).max(1e-9)).collect();
        let by_seconds = |&a: &usize, &b: &usize| alone[a].total_cmp(&alone[b]);
        let fastest = (0..alone.len()).min_by(by_seconds).unwrap_or(0);
        let speeds: Vec<f64> = alone.iter().map(|seconds| rows / seconds).collect();
        let groups =
            partitioner.grain.iter().zip(&speeds).map(|(&grain, s)| GROUPS * grain as f64 / s);
        let first = groups.fold(0.0, f64::max) * speeds.iter().sum::<f64>();
        let overlapping = partitioner.chunks.iter().any(|chunks| *chunks > 1);
        let first = if overlapping { first.max(OVERLAPPED_PROBLEMS * rows) } else { first };
        let [shortest, longest] = range;
        let seconds = (first / MAX_SLOWDOWN / speeds[fastest]).clamp(shortest, longest);
        let times = (seconds / alone[fastest]).ceil().max(1.0);
        Self { speeds, fastest, times: times as u64, job_rows: times * rows }
    }
}

/// Jobs of a partitioner whose results are verified.
struct Jobs<'a> {
    partitioner: Partitioner<'a>,
    initial: Vec<Data>,
    wanted: Option<Wanted>,
}

impl<'a> Jobs<'a> {
    /// What `action` returns, run over poisoned buffers; `None` where it leaves a wrong result.
    fn right<T>(
        &mut self,
        when: &str,
        action: impl FnOnce(&mut Partitioner<'a>) -> Result<T>,
    ) -> Result<Option<T>> {
        let Self { partitioner, initial, wanted } = self;
        partitioner.poison(initial)?;
        let given = action(partitioner)?;
        let right = partitioner.right(initial, wanted.as_ref(), when)?;
        Ok(right.then_some(given))
    }

    /// Samples of the whole problem on each device alone: in order, and as the device does its part.
    fn on_each_device(&mut self) -> Result<Option<(Samples, Samples)>> {
        let members = self.partitioner.members();
        let seconds = ISOLATED_SHARE * self.partitioner.bench.policy.seconds / members as f64;
        let (mut isolated, mut overlapped) = (vec![], vec![]);
        for member in 0..members {
            let possible = self.partitioner.possible_chunks(member);
            let share = if possible.is_empty() { seconds } else { seconds / 3.0 };
            let in_order = self.on_one_device(member, share, MIN_SAMPLES)?;
            let Some(in_order) = in_order else { return Ok(None) };
            let Some(samples) = self.in_chunks(member, &possible, &in_order, share)? else {
                return Ok(None);
            };
            isolated.push(in_order);
            overlapped.push(samples);
        }
        Ok(Some((isolated, overlapped)))
    }

    /// The same of one device in the number of chunks that is fastest; `in_order` where that is one. The fastest number
    /// is measured anew, since the best of several tries is better than it is.
    fn in_chunks(
        &mut self,
        member: usize,
        possible: &[u64],
        in_order: &[f64],
        seconds: f64,
    ) -> Result<Option<Vec<f64>>> {
        let (mut fastest, mut best) = (1, middle(in_order));
        let repeats_in_order = self.partitioner.repeats[member];
        for &chunks in possible {
            self.partitioner.chunks[member] = chunks;
            let share = seconds / possible.len() as f64;
            let tried = self.on_one_device(member, share, TRIAL_SAMPLES)?;
            let Some(tried) = tried else { return Ok(None) };
            if middle(&tried) < best {
                (fastest, best) = (chunks, middle(&tried));
            }
        }
        self.partitioner.chunks[member] = fastest;
        if fastest == 1 {
            self.partitioner.repeats[member] = repeats_in_order;
            return Ok(Some(in_order.to_vec()));
        }
        self.on_one_device(member, seconds, MIN_SAMPLES)
    }

    /// Samples of the whole problem on one device, a given number of them at least.
    fn on_one_device(
        &mut self,
        member: usize,
        seconds: f64,
        min_samples: usize,
    ) -> Result<Option<Vec<f64>>> {
        let policy = self.partitioner.bench.policy;
        let min_samples = policy.min_samples.min(min_samples);
        let policy = Policy { min_samples, ..policy.clone() };
        let when = self.partitioner.when_on_one_device(member);
        self.right(&when, |partitioner| partitioner.on_one_device(member, &policy, seconds))
    }

    /// The job on all devices, partitioned as calibrated, in which they did a given number of rows a second
    /// (`combined_speed`), and the seconds of the same job on the fastest alone, in turn.
    fn in_turn(
        &mut self,
        plan: &Plan,
        calibrated: &Balancer,
        combined_speed: f64,
    ) -> Result<Option<(Vec<Job>, Vec<f64>)>> {
        let (mut jobs, mut fastest_device_seconds) = (vec![], vec![]);
        let policy = self.partitioner.bench.policy;
        let max_samples = policy.max_samples.max(MIN_SAMPLES);
        let policy = Policy { min_samples: MIN_SAMPLES, max_samples, ..policy.clone() };
        let mut ratios = policy.sampling((1.0 - ISOLATED_SHARE) * policy.seconds);
        let job = |jobs: &mut Self, when: &str, budget| {
            jobs.right(when, |partitioner| {
                let split_run = SplitRun::new(partitioner, calibrated.clone(), plan.times);
                split_run.run(budget, plan.fastest)
            })
        };
        loop {
            let when = self.partitioner.when_on_one_device(plan.fastest);
            let Some(alone) = job(self, &when, None)? else { return Ok(None) };
            fastest_device_seconds.push(alone.seconds);
            // What it has taken for the job so far, rather than for single problems.
            let middle = median_of(fastest_device_seconds.iter().copied()).unwrap_or(alone.seconds);
            let fastest = plan.job_rows / middle.max(1e-9);
            // Its time before the calibration may have been disturbed: it is measured again.
            let budget =
                (combined_speed >= fastest).then(|| SlowdownBudget::new(plan.job_rows, fastest));
            let Some(shared) = job(self, "timed jobs", budget)? else { return Ok(None) };
            let ratio = alone.seconds / shared.seconds.max(1e-12);
            let took = alone.seconds + shared.seconds;
            jobs.push(shared);
            if ratios.feed(ratio, took) != Decision::Continue {
                return Ok(Some((jobs, fastest_device_seconds)));
            }
        }
    }
}
