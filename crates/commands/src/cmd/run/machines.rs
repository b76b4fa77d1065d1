//! A plan is carried out: the devices of each machine one after the other, and the machines at the same time, since
//! they share nothing. All records go to one file.

use super::cross_device_oracle::CrossDeviceOracle;
use super::deferred::Deferred;
use super::multi_device::MultiDeviceCase;
use super::planned::Plan;
use super::session::Session;
use super::{locks, resume};
use crate::store::{Scratch, Writer, now};
use crate::worker::{Remotes, WorkerSupervisor};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::reason::Reason;
use gpubench_core::record::{Footer, Header, Record};
use gpubench_experiments::Policy;
use gpubench_experiments::plan::Case;
use gpubench_report::progress::{Progress, say};
use std::path::{Path, PathBuf};
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

/// What the sessions of a run have in common.
struct Common<'a> {
    header: &'a Header,
    writer: &'a Mutex<Writer>,
    /// Today's view of the header's devices, and those that compute expected results.
    devices: &'a [DeviceInfo],
    others: &'a [DeviceInfo],
    remotes: &'a Remotes,
    folder: &'a Path,
    policy: &'a Policy,
    /// Of an earlier invocation.
    records: &'a [Record],
    too_long: &'a [(usize, Case, Reason)],
}

impl<'a> Plan<'a> {
    /// Runs on `devices`, today's view of the header's. `None` when interrupted before it began.
    pub(super) fn run(
        mut self,
        (devices, remotes): (&[DeviceInfo], &Remotes),
        writer: impl FnOnce(&Header) -> Result<Writer>,
        mut records: Vec<Record>,
    ) -> Result<Option<Ended>> {
        let _locks = match self.args.no_lock {
            true => vec![],
            false => match locks::take(devices, remotes, self.args.no_wait)? {
                Some(locks) => locks,
                None => return Ok(None),
            },
        };
        if records.is_empty() {
            // It begins when the devices are free.
            self.header.started = now()?;
        }
        if !self.args.quiet {
            say(&self.outlook());
        }
        let scratch = Scratch::new()?;
        let disk = self.disk()?;
        // With a budget that is set anew they may fit.
        let too_long = match self.args.budget {
            Some(_) => vec![],
            None => resume::too_long(&records, &self.cases),
        };
        let header = self.header.clone();
        let writer = Mutex::new(writer(&header)?);
        let common = Common {
            header: &header,
            writer: &writer,
            devices,
            others: &self.others(devices, remotes)?,
            remotes,
            folder: scratch.path(),
            policy: &self.policy(&scratch, disk.as_ref()),
            records: &records,
            too_long: &too_long,
        };
        let begun = Instant::now();
        let parts = std::mem::take(&mut self.shares).into_iter().enumerate();
        let mut sessions: Vec<Session<'_>> =
            parts.map(|(at, own)| self.session(at, own, &common)).collect();
        let estimated = sessions.iter().map(Session::estimated).fold(0.0, f64::max);
        let interrupted = at_the_same_time(&mut sessions, self.args.quiet)?;
        let resumed_at = records.len();
        let new = |session: Session<'_>| session.records.into_iter().skip(session.resumed_at);
        let new: Vec<Record> = sessions.into_iter().flat_map(new).collect();
        records.extend(new);
        let seconds = begun.elapsed().as_secs_f64();
        let writer = writer.into_inner().unwrap_or_else(PoisonError::into_inner);
        let path = match interrupted {
            true => writer.leave()?,
            false => finished(writer, seconds, estimated)?,
        };
        Ok(Some(Ended { header, records, resumed_at, seconds, estimated, path, interrupted }))
    }

    /// The session of the devices with these numbers, the share at a position.
    fn session<'s>(&mut self, at: usize, own: Vec<usize>, common: &Common<'s>) -> Session<'s>
    where
        'a: 's,
    {
        let (devices, remotes, sim) =
            (common.devices, common.remotes, self.args.selector.simulation());
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
        let records: Vec<Record> = common.records.iter().filter(is_own).cloned().collect();
        let (folder, others) = (common.folder, common.others);
        let mut session = Session {
            cross_device_oracle: CrossDeviceOracle::new(
                self.suite,
                self.limits,
                folder,
                others,
                (&sim, remotes),
                limit,
            ),
            header: common.header,
            writer: common.writer,
            supervisors: devices.iter().map(supervisor).collect(),
            multi_device_cases: theirs.into_iter().map(with_supervisor).collect(),
            cases,
            time_budgets: devices
                .iter()
                .map(|d| self.time_budget.clone().with_pauses(self.args.cool_down, d.kind))
                .collect(),
            multi_device_budget: self.time_budget.clone(),
            estimate: self.estimates.machines[at].clone(),
            rounds: self.rounds,
            deferred: vec![Deferred::default(); devices.len()],
            too_long: common.too_long.to_vec(),
            resumed_at: records.len(),
            records,
            policy: common.policy.clone(),
            own,
        };
        session.recall();
        session
    }
}

/// Runs all of them to their ends; whether one was interrupted.
fn at_the_same_time(sessions: &mut [Session<'_>], quiet: bool) -> Result<bool> {
    let counts = sessions.iter().map(Session::count);
    let (all, done) = counts.fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
    let longest = |longest: f64, session: &Session<'_>| Some(longest.max(session.time_left()?));
    let time_left = sessions.iter().try_fold(0.0, longest);
    let progress = Progress::new(all, done, time_left, quiet);
    let interrupted = match sessions {
        [one] => one.run(&mut progress.clone()),
        several => std::thread::scope(|scope| {
            let begin = |session| begun(scope, session, progress.clone());
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
    session: &'scope mut Session<'_>,
    mut progress: Progress,
) -> Result<Thread<'scope>> {
    let thread = Builder::new().spawn_scoped(scope, move || session.run(&mut progress));
    thread.map_err(|error| Error::Device(format!("a thread for a machine: {error}")))
}

fn ended(thread: Thread<'_>) -> Result<bool> {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
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
