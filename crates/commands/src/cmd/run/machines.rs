//! A plan is carried out, or two in turn: the devices of each machine one after the other, and the machines at the same
//! time, since they share nothing. All records of a plan go to one file.

use super::cross_device_oracle::CrossDeviceOracle;
use super::deferred::Deferred;
use super::locks::{self, IfTaken};
use super::multi_device::MultiDeviceCase;
use super::planned::Plan;
use super::session::Session;
use super::turns::Turns;
use super::{Args, resume};
use crate::store::{Scratch, Writer, now};
use crate::worker::{Remotes, WorkerSupervisor};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::reason::Reason;
use gpubench_core::record::{Footer, Header, Record};
use gpubench_experiments::Policy;
use gpubench_experiments::plan::Case;
use gpubench_report::progress::{Progress, say};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// What a run leaves.
pub struct Ended {
    /// What the run was.
    pub header: Header,
    /// All records.
    pub records: Vec<Record>,
    /// Of these, made before the run was resumed.
    pub resumed_at: usize,
    /// Seconds since it began or was resumed.
    pub seconds: f64,
    /// Seconds that were estimated when it began or was resumed.
    pub estimated: f64,
    /// The result file.
    pub path: PathBuf,
    /// Whether it was interrupted: then it can be resumed.
    pub interrupted: bool,
}

/// The devices' numbers by machine, in the run's order.
pub(super) fn shares(devices: &[DeviceInfo]) -> Vec<Vec<usize>> {
    let mut shares: Vec<Vec<usize>> = vec![];
    for (number, device) in devices.iter().enumerate() {
        match shares.iter_mut().find(|share| devices[share[0]].remote == device.remote) {
            Some(share) => share.push(number),
            None => shares.push(vec![number]),
        }
    }
    shares
}

/// What makes or opens the result file of a run.
pub(super) type Open<'a> = Box<dyn FnOnce(&Header) -> Result<Writer> + 'a>;

/// A plan to carry out: what there is of it, and where its records go.
pub(super) struct Part<'a> {
    pub plan: Plan<'a>,
    /// Its result file.
    pub writer: Open<'a>,
    /// Of an earlier invocation.
    pub records: Vec<Record>,
}

/// What the sessions of a part need for as long as it runs.
struct Setting {
    header: Header,
    writer: Mutex<Writer>,
    others: Vec<DeviceInfo>,
    policy: Policy,
    records: Vec<Record>,
    too_long: Vec<(usize, Case, Reason)>,
    /// What its workers share; no other suite's do.
    scratch: Scratch,
    /// Where cases save states.
    _disk: Option<Scratch>,
}

/// Runs the parts on `devices`, today's view of their headers': one plan, or two in turn. `None` when interrupted before
/// they began.
///
/// # Errors
/// A device, a folder or a file that is not to be had.
pub(super) fn carry_out(
    parts: Vec<Part<'_>>,
    (devices, remotes): (&[DeviceInfo], &Remotes),
    args: &Args,
) -> Result<Option<Vec<Ended>>> {
    let Some(_locks) = locks::take(devices, remotes, IfTaken::of(args.no_lock, args.no_wait))?
    else {
        return Ok(None);
    };
    let (mut plans, mut settings): (Vec<Plan<'_>>, Vec<Setting>) = (vec![], vec![]);
    let started = now()?;
    for part in parts {
        match part.set_up((devices, remotes), &started) {
            Ok((plan, setting)) => {
                plans.push(plan);
                settings.push(setting);
            }
            Err(error) => {
                settings.into_iter().for_each(Setting::discard);
                return Err(error);
            }
        }
    }
    if let Some(both) = Plan::outlook_of_both(&plans).filter(|_| !args.quiet) {
        say(&both);
    }
    let begun = Instant::now();
    let shares = plans.first().map_or_else(Vec::new, |plan| plan.shares.clone());
    let mut machines: Vec<Turns<'_>> = vec![];
    for (at, own) in shares.iter().enumerate() {
        let sessions = plans
            .iter_mut()
            .zip(&settings)
            .map(|(plan, setting)| plan.session((at, own), (devices, remotes), setting));
        machines.push(Turns(sessions.collect()));
    }
    let estimates: Vec<f64> = longest(&machines, settings.len(), |session| session.estimated());
    let interrupted = at_the_same_time(&mut machines, args.quiet)?;
    let seconds = match settings.len() {
        1 => vec![begun.elapsed().as_secs_f64()],
        // The other's turns are not its own.
        count => longest(&machines, count, |session| session.spent()),
    };
    let mut new: Vec<Vec<Record>> = settings.iter().map(|_| vec![]).collect();
    let sessions = machines.into_iter().flat_map(|turns| turns.0.into_iter().enumerate());
    for (part, session) in sessions {
        new[part].extend(session.records.into_iter().skip(session.resumed_at));
    }
    let ends = settings.into_iter().zip(new).zip(seconds.into_iter().zip(estimates));
    ends.map(|((setting, new), times)| setting.end(new, interrupted, times))
        .collect::<Result<_>>()
        .map(Some)
}

/// What something is for each suite, on the machine where it is the most.
fn longest(machines: &[Turns<'_>], suites: usize, of: fn(&Session<'_>) -> f64) -> Vec<f64> {
    let on = |suite: usize| machines.iter().filter_map(move |turns| turns.0.get(suite)).map(of);
    (0..suites).map(|suite| on(suite).fold(0.0, f64::max)).collect()
}

impl<'a> Part<'a> {
    fn set_up(
        self,
        (devices, remotes): (&[DeviceInfo], &Remotes),
        started: &str,
    ) -> Result<(Plan<'a>, Setting)> {
        let Self { mut plan, writer, records } = self;
        if records.is_empty() {
            // It begins when the devices are free.
            started.clone_into(&mut plan.header.started);
        }
        if !plan.args.quiet {
            say(&plan.outlook());
        }
        let (scratch, disk) = (Scratch::new()?, plan.disk()?);
        // With a budget that is set anew they may fit.
        let too_long = match plan.args.budget {
            Some(_) => vec![],
            None => resume::too_long(&records, &plan.cases),
        };
        let setting = Setting {
            header: plan.header.clone(),
            writer: Mutex::new(writer(&plan.header)?),
            others: plan.others(devices, remotes)?,
            policy: plan.policy(&scratch, disk.as_ref()),
            records,
            too_long,
            scratch,
            _disk: disk,
        };
        Ok((plan, setting))
    }
}

impl<'a> Plan<'a> {
    /// The session of the devices with these numbers, the share at a position.
    fn session<'s>(
        &mut self,
        (at, own): (usize, &[usize]),
        (devices, remotes): (&[DeviceInfo], &Remotes),
        setting: &'s Setting,
    ) -> Session<'s>
    where
        'a: 's,
    {
        let sim = self.args.selector.simulation();
        let limit = self.args.timeout.map(Duration::from_secs_f64);
        let supervisor = |device: &DeviceInfo| {
            WorkerSupervisor::new(device.clone(), sim.clone(), limit).among(remotes, &sim)
        };
        let with_supervisor = |case: MultiDeviceCase| {
            let members = case.members.iter().map(|&member| devices[member].clone()).collect();
            let supervisor = WorkerSupervisor::multi_device(members, sim.clone(), limit);
            (case, supervisor.among(remotes, &sim))
        };
        let mut cases = vec![super::cases::Cases::default(); devices.len()];
        own.iter().for_each(|&device| cases[device] = std::mem::take(&mut self.cases[device]));
        let all = std::mem::take(&mut self.multi_device_cases).into_iter();
        let (theirs, rest): (Vec<_>, _) = all.partition(|case| own.contains(&case.first()));
        self.multi_device_cases = rest;
        let is_own = |record: &&Record| own.contains(&record.device);
        let records: Vec<Record> = setting.records.iter().filter(is_own).cloned().collect();
        let mut session = Session {
            cross_device_oracle: CrossDeviceOracle::new(
                self.suite,
                self.limits,
                setting.scratch.path(),
                setting.others.iter().map(supervisor).collect(),
            ),
            header: &setting.header,
            writer: &setting.writer,
            supervisors: devices.iter().map(supervisor).collect(),
            multi_device_cases: theirs.into_iter().map(with_supervisor).collect(),
            cases,
            time_budgets: devices
                .iter()
                .map(|d| self.time_budget.clone().with_pauses(self.header.cool_down, d.kind))
                .collect(),
            multi_device_budget: self.time_budget.clone(),
            estimate: self.estimates[at].clone(),
            rounds: self.rounds,
            deferred: vec![Deferred::default(); devices.len()],
            too_long: setting.too_long.clone(),
            resumed_at: records.len(),
            records,
            policy: setting.policy.clone(),
            own: own.to_vec(),
        };
        session.recall();
        session
    }
}

/// Runs all machines to their ends; whether one was interrupted.
fn at_the_same_time(machines: &mut [Turns<'_>], quiet: bool) -> Result<bool> {
    let counts = machines.iter().flat_map(|turns| &turns.0).map(Session::count);
    let (all, done) = counts.fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
    let longest = |longest: f64, turns: &Turns<'_>| Some(longest.max(turns.time_left()?));
    let time_left = machines.iter().try_fold(0.0, longest);
    let progress = Progress::new(all, done, time_left, quiet);
    let interrupted = match machines {
        [one] => one.run(&mut progress.clone()),
        several => std::thread::scope(|scope| {
            let begin = |turns| begun(scope, turns, progress.clone());
            let threads: Vec<_> = several.iter_mut().map(begin).collect();
            let ends: Vec<Result<bool>> =
                threads.into_iter().map(|thread| ended(thread?)).collect();
            ends.into_iter().try_fold(false, |any, end| Ok(any | end?))
        }),
    };
    progress.finish();
    interrupted
}

type Thread<'scope> = ScopedJoinHandle<'scope, Result<bool>>;

fn begun<'scope>(
    scope: &'scope Scope<'scope, '_>,
    turns: &'scope mut Turns<'_>,
    mut progress: Progress,
) -> Result<Thread<'scope>> {
    let thread = Builder::new().spawn_scoped(scope, move || turns.run(&mut progress));
    thread.map_err(|error| Error::Device(format!("a thread for a machine: {error}")))
}

fn ended(thread: Thread<'_>) -> Result<bool> {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

impl Setting {
    /// Removes what was made for it, since it does not begin.
    fn discard(self) {
        self.writer.into_inner().unwrap_or_else(PoisonError::into_inner).discard();
    }

    /// Closes the result file behind the new records.
    fn end(
        self,
        new: Vec<Record>,
        interrupted: bool,
        (seconds, estimated): (f64, f64),
    ) -> Result<Ended> {
        let Self { header, writer, mut records, .. } = self;
        let resumed_at = records.len();
        records.extend(new);
        let writer = writer.into_inner().unwrap_or_else(PoisonError::into_inner);
        let path = match interrupted {
            true => writer.leave()?,
            false => finished(writer, seconds, estimated)?,
        };
        Ok(Ended { header, records, resumed_at, seconds, estimated, path, interrupted })
    }
}

fn finished(writer: Writer, seconds: f64, estimated: f64) -> Result<PathBuf> {
    let footer = Footer {
        ended: now()?,
        wall: seconds,
        estimated: Some(estimated),
        records: writer.records(),
    };
    writer.finish(&footer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::sample::device;

    #[test]
    fn each_machine_has_a_share_in_the_order_of_the_run() {
        let at = |remote: Option<&str>| DeviceInfo {
            remote: remote.map(str::to_owned),
            ..device("opencl")
        };
        let devices = [Some("a"), Some("b"), Some("a"), Some("c")].map(at);
        assert_eq!(shares(&devices), [vec![0, 2], vec![1], vec![3]]);
        assert_eq!(shares(&[at(None), at(None)]), [vec![0, 1]]);
        assert!(shares(&[]).is_empty());
    }
}
