//! A device, or several that begin together, over a whole run: a worker when one is needed, another
//! when it dies, none when the device has failed too often.

use super::circuit_breaker::CircuitBreaker;
use super::deadlines::Deadlines;
use super::fatal_variants::FatalVariants;
use super::local::LocalWorker;
use super::page;
use super::protocol::{Reply, Request};
use super::remote::{RemoteWorker, Remotes};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::{Flag, Outcome, Record};
use gpubench_device::sim::Sim;
use gpubench_experiments::plan::Case;
use gpubench_experiments::{Measurement, Policy, Stage, StageTimer};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Where the process is that owns the devices.
#[derive(Debug)]
enum Worker {
    Local(LocalWorker),
    Remote(RemoteWorker),
}

/// Devices and whoever serves them.
#[derive(Debug)]
pub struct WorkerSupervisor {
    devices: Vec<DeviceInfo>,
    /// The user's deadline for every stage.
    limit: Option<Duration>,
    worker: Worker,
    circuit_breaker: CircuitBreaker,
    fatal_variants: FatalVariants,
    /// Seconds of the reference kernel when the run began on this device.
    reference_kernel: Option<f64>,
}

impl WorkerSupervisor {
    /// For `device`, a simulated one as `sim` has it; `limit` overrides every stage's deadline.
    pub fn new(device: DeviceInfo, sim: Sim, limit: Option<Duration>) -> Self {
        Self::multi_device(vec![device], sim, limit)
    }

    /// For several devices (at least one), which one worker opens.
    pub fn multi_device(devices: Vec<DeviceInfo>, sim: Sim, limit: Option<Duration>) -> Self {
        Self {
            worker: Worker::Local(LocalWorker::new(devices.clone(), sim)),
            devices,
            limit,
            circuit_breaker: CircuitBreaker::default(),
            fatal_variants: FatalVariants::default(),
            reference_kernel: None,
        }
    }

    /// The same, where the devices are in one of `remotes`: there.
    pub fn among(mut self, remotes: &Remotes, sim: &Sim) -> Self {
        if let Some(remote) = remotes.of(self.device()) {
            let worker = RemoteWorker::new(Arc::clone(remote), &self.devices, sim.clone());
            self.worker = Worker::Remote(worker);
        }
        self
    }

    /// From the next worker on, a simulated device scatters by `seed` and its own number.
    pub fn scatter(&mut self, seed: u64) {
        let seed = seed.wrapping_add(self.device().index as u64);
        match &mut self.worker {
            Worker::Local(worker) => worker.scatter(seed),
            Worker::Remote(worker) => worker.scatter(seed),
        }
    }

    /// Learns from a record of this device what the reference kernel took when the run began; the first
    /// that knows decides.
    pub fn recall(&mut self, record: &Record) {
        self.reference_kernel = self.reference_kernel.or(record.monitor.began);
    }

    /// The device, of several the first.
    pub fn device(&self) -> &DeviceInfo {
        &self.devices[0]
    }

    /// Measures a case, whatever happens to the worker. A crash, or a lost link, is tried once more, which
    /// shows a flake from a fault; a search is made without the variant that ended the worker. Device and round of
    /// the record are the caller's to fill in.
    pub fn measure(
        &mut self,
        case: &Case,
        policy: &Policy,
        stage: &mut dyn FnMut(Stage),
    ) -> Record {
        page::begin(self.device(), &case.key);
        let found = self.measure_without_fatal_variants(case, policy, stage);
        page::end(self.device(), &case.key, &found);
        self.circuit_breaker.note(&found.outcome);
        self.recall(&found);
        found
    }

    /// Measures a case without the variants that end a worker, as they become known.
    fn measure_without_fatal_variants(
        &mut self,
        case: &Case,
        policy: &Policy,
        stage: &mut dyn FnMut(Stage),
    ) -> Record {
        let mut discarded = 0.0;
        loop {
            let spared = self.fatal_variants.spare(case);
            let (asked, reference_kernel) = (Box::new(spared.clone()), self.reference_kernel);
            let request =
                Request::Measure { case: asked, policy: policy.clone(), reference_kernel };
            let (mut found, variant) = self.answered(&spared, &request, policy, stage);
            if self.fatal_variants.learn(&spared, variant, &found.outcome) {
                discarded += found.wall.total();
                continue;
            }
            found.wall.discarded += discarded;
            if !matches!(found.outcome, Outcome::Skipped(_)) {
                found.flags.extend(self.fatal_variants.flags(case));
            }
            return found;
        }
    }

    /// Measures a case over all devices, of which each has its own variant of it in `cases`; a crash and a lost link are
    /// tried once more, as in [`WorkerSupervisor::measure`].
    pub fn measure_multi_device(
        &mut self,
        cases: &[Case],
        policy: &Policy,
        stage: &mut dyn FnMut(Stage),
    ) -> Record {
        let request = Request::MultiDevice { cases: cases.to_vec(), policy: policy.clone() };
        let (found, _) = self.answered(&cases[0], &request, policy, stage);
        self.circuit_breaker.note(&found.outcome);
        found
    }

    /// The record, and the variant of a search at which the worker ended, twice where it crashed.
    fn answered(
        &mut self,
        case: &Case,
        request: &Request,
        policy: &Policy,
        stage: &mut dyn FnMut(Stage),
    ) -> (Record, Option<usize>) {
        if let Some(why) = self.circuit_breaker.quarantine() {
            return (record(case, Outcome::Skipped(why.into())), None);
        }
        let mut attempt = || {
            let (mut stage_timer, mut last) = (StageTimer::default(), None);
            let reply = self.ask(request, policy, &mut |now| {
                stage_timer.enter(Some(now));
                last = Some(now);
                stage(now);
            });
            let failed = match reply {
                Ok(Reply::Record(record)) => return (*record, None),
                Ok(other) => other.failure(),
                Err(outcome) => outcome,
            };
            // A worker that is gone cannot report where its time went.
            let failed = Record { wall: stage_timer.end(), ..record(case, failed) };
            (failed, last.and_then(Stage::variant))
        };
        let (mut found, mut variant) = attempt();
        if let Some(first) = fault(&found.outcome) {
            let (before, discarded) = (variant, found.wall.total());
            (found, variant) = attempt();
            found.wall.discarded += discarded;
            let second = fault(&found.outcome);
            variant = variant.filter(|_| second.is_none() || variant == before);
            match &mut found.outcome {
                Outcome::Crash { how, .. } | Outcome::LinkLost(how) => {
                    match second == Some(first.clone()) {
                        true => how.push_str(", twice"),
                        false => *how = format!("{first}, then {how}"),
                    }
                }
                _ => found.flags.push(Flag::Flake(first)),
            }
        }
        (found, variant)
    }

    /// Has the device compute what `case` writes, into `file`.
    ///
    /// # Errors
    /// The error instead.
    pub fn compute(&mut self, case: &Case, file: &Path, policy: &Policy) -> Result<(), Outcome> {
        if let Some(why) = self.circuit_breaker.quarantine() {
            return Err(Outcome::Skipped(why.into()));
        }
        let case = Box::new(self.fatal_variants.spare(case));
        let request = Request::Compute { case, file: file.to_owned() };
        match self.ask(&request, policy, &mut |_| {})? {
            Reply::Computed => Ok(()),
            other => Err(other.failure()),
        }
    }

    /// Has the device's compiler build the kernel of `case`.
    ///
    /// # Errors
    /// The error instead.
    pub fn build(&mut self, case: &Case, policy: &Policy) -> Result<(), Outcome> {
        let request = Request::Build { case: Box::new(case.clone()) };
        match self.ask(&request, policy, &mut |_| {})? {
            Reply::Built => Ok(()),
            other => Err(other.failure()),
        }
    }

    /// Ends the worker: the next case starts a fresh one.
    pub fn leave(&mut self) {
        match &mut self.worker {
            Worker::Local(worker) => worker.leave(),
            Worker::Remote(worker) => worker.leave(),
        }
    }

    /// Asks the worker, wherever it is.
    fn ask(
        &mut self,
        request: &Request,
        policy: &Policy,
        stage: &mut dyn FnMut(Stage),
    ) -> Result<Reply, Outcome> {
        let deadlines = Deadlines::new(policy, self.limit);
        match &mut self.worker {
            Worker::Local(worker) => worker.ask(request, &deadlines, stage),
            Worker::Remote(worker) => worker.ask(request, &deadlines, stage),
        }
    }
}

/// What to try again shows by: that a worker crashed, or that the link to it was lost.
fn fault(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Crash { how, .. } => Some(how.clone()),
        Outcome::LinkLost(how) => Some(format!("link lost: {how}")),
        _ => None,
    }
}

fn record(case: &Case, outcome: Outcome) -> Record {
    let measurement = Measurement { outcome: Some(outcome), ..Measurement::default() };
    measurement.into_record(case, 0, 0)
}
