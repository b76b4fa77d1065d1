//! Concurrent kernels: in pairs on two queues, in either order, and in many copies.
//!
//! A pair's kernels, isolated and concurrent, are timed in turn, so that a change of pace is in all of them alike. Copies
//! are not: a number of copies is tried only where half as many were short enough.
//! Everything is timed on the host's clock, from the first command queued to the last one's end:
//! the speedup of running at once is measured by that alone, since intervals of events can overlap
//! without any speedup. With one queue the launches stand one behind the other on it,
//! independent of each other, and the driver may do with them what it likes.

use super::plan::{CoRunning, concurrent_launches};
use crate::autotune::{BuiltVariant, autotune};
use crate::check::Check;
use crate::concurrency::data::{Concurrency, Launched, Pair};
use crate::expected::{Expected, expected};
use crate::plan::{Candidate, Case};
use crate::timing::MIN_SAMPLES_IN_TURN;
use crate::timing::in_turn;
use crate::{Bench, Policy, Stage, memory};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{Clock, HOST_RESOLUTION, KernelId, Recording};
use gpubench_core::record::{Detail, Measured, Timed};
use gpubench_core::workload::Comparison;
use gpubench_reference::Data;
use serde_json::Value;
use std::rc::Rc;

/// When results are compared, for messages.
const BEFORE: &str = "";
const BEHIND: &str = ", behind the timed ones";

/// Measures `case` with `bench`.
pub(super) fn measure(case: &Case, bench: &mut Bench) -> Result<()> {
    let co_running: CoRunning = case.planned()?;
    let queues = bench.device().info().queues;
    let policy = &shared(bench.policy);
    let mut launches = Launches { bench: bench.with_policy(policy), queues, clock: Clock::Host };
    let itself = Case { plan: Value::Null, ..case.clone() };
    let (mut pairs, mut skipped) = (vec![], co_running.skipped);
    let mut kernel = None;
    for second in std::iter::once(&itself).chain(&co_running.cases) {
        match launches.pair(&itself, second) {
            Ok(Some((first, pair))) => {
                kernel.get_or_insert(first);
                pairs.push(pair);
            }
            Ok(None) => return Ok(()),
            // The second's, since the case ran concurrently with itself.
            Err(Error::Unsupported(reason)) if kernel.is_some() => {
                skipped.push((second.key.to_string(), reason));
            }
            Err(Error::OverBudget(reason)) if kernel.is_some() => {
                skipped.push((second.key.to_string(), reason.to_string()));
            }
            Err(error) => return Err(error),
        }
    }
    let Some(copies) = launches.copies(&itself, co_running.copies)? else { return Ok(()) };
    let clock = launches.clock;
    if policy.verify_only {
        return Ok(());
    }
    bench.measurement.measured = pairs.first().map(with_itself);
    bench.measurement.detail = kernel.map(|kernel| {
        let queues = queues.min(2);
        Detail::new(&Concurrency { clock, queues, kernel, pairs, skipped, copies })
    });
    bench.measurement.flag_if_not_converged(policy);
    Ok(())
}

/// The policy for one of the case's recordings, of which there are a dozen or two.
fn shared(policy: &Policy) -> Policy {
    Policy {
        min_samples: policy.min_samples.min(MIN_SAMPLES_IN_TURN),
        seconds: policy.seconds / 4.0,
        ..policy.clone()
    }
}

/// The pair of a case with itself stands for it in tables, by its time alone: what a pair does a
/// second says nothing of either kernel.
fn with_itself(pair: &Pair) -> Measured {
    Measured::of(pair.concurrent_a_first.walls.clone(), Clock::Host, HOST_RESOLUTION)
}

/// A case ready to be launched.
struct Ready {
    case: Case,
    kernel: KernelId,
    candidate: Rc<Candidate>,
    initial: Rc<Vec<Data>>,
    wanted: Rc<Option<(Expected, Comparison)>>,
    launched: Launched,
}

/// Launches that are queued at the same moment.
struct Launches<'a> {
    bench: Bench<'a>,
    queues: u32,
    /// The clock of the steps.
    clock: Clock,
}

impl Launches<'_> {
    /// Each isolated, both at once with A first, both at once with B first; `None` where a result is wrong.
    fn pair(&mut self, first: &Case, second: &Case) -> Result<Option<(Launched, Pair)>> {
        self.bench.device().reset();
        let first = self.ready(first.at_place(0))?;
        let second = if *second == first.case {
            self.copy(&first, 1)?
        } else {
            let kernel = self.bench.measurement.kernel.clone();
            let second = self.ready(second.at_place(1));
            // The record is the first's.
            self.bench.measurement.kernel = kernel;
            second?
        };
        let orders: [&[&Ready]; 2] = [&[&first, &second], &[&second, &first]];
        if !self.verified(&orders, BEFORE)? {
            return Ok(None);
        }
        // Behind launches on two queues some drivers take longer to go back to the first one than a kernel takes:
        // the launch that follows them does not count.
        let back: &[&Ready] = &[&first];
        let [_, first_isolated, second_isolated, concurrent_a_first, _, concurrent_b_first] =
            self.timed([back, &[&first], &[&second], orders[0], back, orders[1]])?;
        if !self.bench.policy.verify_only && !self.verified(&orders, BEHIND)? {
            return Ok(None);
        }
        let other = second.launched;
        let pair = Pair {
            second: other,
            first_isolated,
            second_isolated,
            concurrent_a_first,
            concurrent_b_first,
        };
        Ok(Some((first.launched, pair)))
    }

    /// Two, four, eight … up to `max_copies` copies at once; `None` where a result is wrong.
    fn copies(&mut self, case: &Case, max_copies: u32) -> Result<Option<Vec<(u32, Timed)>>> {
        let mut timed = vec![];
        if max_copies < 2 {
            return Ok(Some(timed));
        }
        self.bench.device().reset();
        let first = self.ready(case.at_place(0))?;
        let rest: Vec<Ready> =
            (1..max_copies).map(|place| self.copy(&first, place)).collect::<Result<_>>()?;
        let all: Vec<&Ready> = std::iter::once(&first).chain(&rest).collect();
        if !self.verified(&[&all], BEFORE)? {
            return Ok(None);
        }
        for count in counts(max_copies) {
            let [copies] = self.timed([&all[..count as usize]])?;
            let seconds = copies.median().unwrap_or(0.0);
            timed.push((count, copies));
            // Twice as many would take too long.
            if seconds > 2.0 * self.bench.policy.seconds {
                break;
            }
        }
        if !self.bench.policy.verify_only && !self.verified(&[&all], BEHIND)? {
            return Ok(None);
        }
        Ok(Some(timed))
    }

    fn ready(&mut self, case: Case) -> Result<Ready> {
        self.bench.enter(Stage::Prepare);
        let initial = memory::set_up(self.bench.device(), &case)?;
        let BuiltVariant { candidate, .. } = autotune(&case, &mut self.bench)?;
        let candidate = Rc::new(candidate.clone());
        self.bench.enter(Stage::Verify);
        let wanted = expected(&case, &candidate, || initial.clone(), self.bench.policy)?;
        let report = self.bench.measurement.kernel.as_ref().map(|kernel| &kernel.report);
        let local = report.and_then(|report| report.local_bytes);
        // A register has four bytes. OpenCL drivers that report none say 0.
        let reported = report.and_then(|report| report.private_bytes).filter(|bytes| *bytes > 0);
        let reported = reported.and_then(|bytes| u32::try_from(bytes.div_ceil(4)).ok());
        let groups = candidate.groups.iter().fold(1u32, |all, n| all.saturating_mul(*n));
        let launched = Launched {
            name: case.key.to_string(),
            groups,
            group_size: u32::try_from(candidate.kernel.group_size()).unwrap_or(u32::MAX),
            local_bytes: local.unwrap_or(0),
            registers: reported.or(candidate.kernel.settings.registers),
            bytes: Some(candidate.bytes).filter(|bytes| *bytes > 0.0),
        };
        let (initial, wanted) = (Rc::new(initial), Rc::new(wanted));
        Ok(Ready { kernel: case.kernel(), case, candidate, initial, wanted, launched })
    }

    /// The same launch on buffers of its own.
    fn copy(&mut self, of: &Ready, place: u32) -> Result<Ready> {
        self.bench.enter(Stage::Prepare);
        let case = of.case.at_place(place);
        let device = self.bench.device();
        memory::allocate(device, &case)?;
        memory::write(device, &case, &of.initial, false)?;
        Ok(Ready {
            case,
            kernel: of.kernel,
            candidate: of.candidate.clone(),
            initial: of.initial.clone(),
            wanted: of.wanted.clone(),
            launched: of.launched.clone(),
        })
    }

    /// Of each of these sets: poisons what its kernels write, runs them at once, and compares.
    fn verified(&mut self, sets: &[&[&Ready]], when: &str) -> Result<bool> {
        self.bench.enter(Stage::Verify);
        for all in sets {
            for ready in *all {
                memory::write(self.bench.device(), &ready.case, &ready.initial, true)?;
            }
            self.bench.session.device.run(&self.recording(all))?;
            let when = format!("{} kernels at once{when}", all.len());
            for Ready { case, initial, wanted, .. } in *all {
                let check = Check { case, initial, wanted: wanted.as_ref().as_ref() };
                if !check.results(&mut self.bench, &when)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Each of these run at once, one after the other in every turn.
    fn timed<const N: usize>(&mut self, turns: [&[&Ready]; N]) -> Result<[Timed; N]> {
        if self.bench.policy.verify_only {
            return Ok(turns.map(|_| Timed { walls: vec![], steps: vec![] }));
        }
        let name = |one: &&Ready| format!("{} ({})", one.launched.name, one.case.place);
        let recordings =
            turns.map(|all| (self.recording(all), all.iter().map(name).collect::<Vec<_>>()));
        let seconds = self.bench.policy.seconds / 2.0;
        let (timed, clock) = in_turn(&mut self.bench, recordings, seconds)?;
        self.clock = clock;
        Ok(timed)
    }

    fn recording(&self, all: &[&Ready]) -> Recording {
        let launches: Vec<_> =
            all.iter().map(|r| (&r.case, r.candidate.as_ref(), r.kernel)).collect();
        concurrent_launches(&launches, self.queues)
    }
}

/// One, and powers of two up to `max_copies`, which is among them.
fn counts(max_copies: u32) -> Vec<u32> {
    let doubling = std::iter::successors(Some(1u32), |n| n.checked_mul(2));
    let mut counts: Vec<u32> = doubling.take_while(|&n| n < max_copies).collect();
    counts.push(max_copies);
    counts
}
