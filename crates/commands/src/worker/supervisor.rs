//! A device, or several that begin together, over a whole run: a worker when one is needed, another
//! when it dies, none when the device has failed too often.

use super::circuit_breaker::CircuitBreaker;
use super::client::Client;
use super::deadlines::Deadlines;
use super::page;
use super::protocol::{Reply, Request};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::{Flag, Outcome, Record};
use gpubench_device::sim::Sim;
use gpubench_experiments::plan::Case;
use gpubench_experiments::{Measurement, Policy, Stage, StageTimer};
use std::path::Path;
use std::time::Duration;

/// Devices and whoever serves them.
#[derive(Debug)]
pub struct WorkerSupervisor {
    devices: Vec<DeviceInfo>,
    /// The user's deadline for every stage.
    limit: Option<Duration>,
    /// How a simulated device is described, and scatters.
    sim: Sim,
    client: Option<Client>,
    circuit_breaker: CircuitBreaker,
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
            devices,
            limit,
            sim,
            client: None,
            circuit_breaker: CircuitBreaker::default(),
            reference_kernel: None,
        }
    }

    /// From the next worker on, a simulated device scatters by `seed` and its own number.
    pub fn scatter(&mut self, seed: u64) {
        self.sim = self.sim.scattering(seed.wrapping_add(self.device().index as u64));
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

    /// Measures a case, whatever happens to the worker. A crash is tried once more, which shows
    /// a flake from a fault. Device and round of the record are the caller's to fill in.
    pub fn measure(
        &mut self,
        case: &Case,
        policy: &Policy,
        stage: &mut dyn FnMut(Stage),
    ) -> Record {
        let (asked, reference_kernel) = (Box::new(case.clone()), self.reference_kernel);
        let request = Request::Measure { case: asked, policy: policy.clone(), reference_kernel };
        page::begin(self.device(), &case.key);
        let found = self.answered(case, &request, policy, stage);
        page::end(self.device(), &case.key, &found);
        self.recall(&found);
        found
    }

    /// Measures a case over all devices, of which each has its own variant of it in `cases`; else as
    /// [`WorkerSupervisor::measure`].
    pub fn measure_multi_device(
        &mut self,
        cases: &[Case],
        policy: &Policy,
        stage: &mut dyn FnMut(Stage),
    ) -> Record {
        let request = Request::MultiDevice { cases: cases.to_vec(), policy: policy.clone() };
        self.answered(&cases[0], &request, policy, stage)
    }

    fn answered(
        &mut self,
        case: &Case,
        request: &Request,
        policy: &Policy,
        stage: &mut dyn FnMut(Stage),
    ) -> Record {
        if let Some(why) = self.circuit_breaker.quarantine() {
            return record(case, Outcome::Skipped(why.into()));
        }
        let mut attempt = || {
            let mut stage_timer = StageTimer::default();
            let reply = self.ask(request, policy, &mut |now| {
                stage_timer.enter(Some(now));
                stage(now);
            });
            let failed = match reply {
                Ok(Reply::Record(record)) => return *record,
                Ok(Reply::Failed(outcome)) | Err(outcome) => outcome,
                Ok(other) => Outcome::Failed(format!("unexpected reply {other:?}")),
            };
            // A worker that is gone cannot report where its time went.
            Record { wall: stage_timer.end(), ..record(case, failed) }
        };
        let mut found = attempt();
        if let Outcome::Crash { how: first, .. } = &found.outcome {
            let first = first.clone();
            found = attempt();
            match &mut found.outcome {
                Outcome::Crash { how, .. } if *how == first => how.push_str(", twice"),
                Outcome::Crash { how, .. } => *how = format!("{first}, then {how}"),
                _ => found.flags.push(Flag::Flake(first)),
            }
        }
        self.circuit_breaker.note(&found.outcome);
        found
    }

    /// Has the device compute what `case` writes, into `file`.
    ///
    /// # Errors
    /// The error instead.
    pub fn compute(
        &mut self,
        case: &Case,
        file: &Path,
        policy: &Policy,
        stage: &mut dyn FnMut(Stage),
    ) -> Result<(), Outcome> {
        if let Some(why) = self.circuit_breaker.quarantine() {
            return Err(Outcome::Skipped(why.into()));
        }
        let request = Request::Compute { case: Box::new(case.clone()), file: file.to_owned() };
        match self.ask(&request, policy, stage) {
            Ok(Reply::Computed) => Ok(()),
            Ok(Reply::Failed(outcome)) | Err(outcome) => Err(outcome),
            Ok(other) => Err(Outcome::Failed(format!("unexpected reply {other:?}"))),
        }
    }

    /// Has the device's compiler build the kernel of `case`.
    ///
    /// # Errors
    /// The error instead.
    pub fn build(&mut self, case: &Case, policy: &Policy) -> Result<(), Outcome> {
        let request = Request::Build { case: Box::new(case.clone()) };
        match self.ask(&request, policy, &mut |_| {}) {
            Ok(Reply::Built) => Ok(()),
            Ok(Reply::Failed(outcome)) | Err(outcome) => Err(outcome),
            Ok(other) => Err(Outcome::Failed(format!("unexpected reply {other:?}"))),
        }
    }

    /// Ends the worker: the next case starts a fresh one.
    pub fn leave(&mut self) {
        if let Some(client) = self.client.take() {
            client.close();
        }
    }

    /// Asks the worker, starting one where there is none; a worker that failed is gone after.
    fn ask(
        &mut self,
        request: &Request,
        policy: &Policy,
        stage: &mut dyn FnMut(Stage),
    ) -> Result<Reply, Outcome> {
        let deadlines = Deadlines::new(policy, self.limit);
        let mut client = match self.client.take() {
            Some(client) => client,
            None => Client::open(&self.devices, &self.sim, deadlines.open)?,
        };
        let reply = client.ask(request, &deadlines, stage)?;
        let reusable = match &reply {
            Reply::Record(record) => record.outcome.leaves_worker_reusable(),
            Reply::Failed(outcome) => outcome.leaves_worker_reusable(),
            _ => true,
        };
        // What a faulty kernel did to the driver must not fall on the next case; and only a fresh
        // process may use a lost device again.
        if reusable {
            self.client = Some(client);
        }
        Ok(reply)
    }
}

fn record(case: &Case, outcome: Outcome) -> Record {
    let measurement = Measurement { outcome: Some(outcome), ..Measurement::default() };
    measurement.into_record(case, 0, 0)
}
