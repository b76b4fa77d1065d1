//! A worker of this machine: started when one is needed, another when it dies.

use super::client::Client;
use super::deadlines::Deadlines;
use super::memory::would_exceed;
use super::protocol::{Reply, Request};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::Outcome;
use gpubench_device::sim::Sim;
use gpubench_experiments::Stage;
use std::time::Duration;

/// Devices of this machine and the process that owns them, where there is one.
#[derive(Debug)]
pub(super) struct LocalWorker {
    devices: Vec<DeviceInfo>,
    /// How a simulated device is described, and scatters.
    sim: Sim,
    client: Option<Client>,
}

impl LocalWorker {
    pub fn new(devices: Vec<DeviceInfo>, sim: Sim) -> Self {
        Self { devices, sim, client: None }
    }

    /// Whether it is the one for these devices.
    pub fn is_for(&self, devices: &[DeviceInfo], sim: &Sim) -> bool {
        self.devices == devices && self.sim == *sim
    }

    /// From the next process on, a simulated device scatters by `seed`.
    pub fn scatter(&mut self, seed: u64) {
        self.sim = self.sim.scattering(seed);
    }

    /// Ends the process: the next request starts a fresh one.
    pub fn leave(&mut self) {
        if let Some(client) = self.client.take() {
            client.close();
        }
    }

    /// Asks the process, starting one where there is none or the old one has no room; one that failed is gone after.
    pub fn ask(
        &mut self,
        request: &Request,
        deadlines: &Deadlines,
        stage: &mut dyn FnMut(Stage),
    ) -> Result<Reply, Outcome> {
        let mut client = self.client(request, deadlines)?;
        let reply = client.ask(request, deadlines, stage)?;
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

    /// Asks the process and kills it when it has measured for so long; the reply, where it has ended before that.
    pub fn kill_during(
        &mut self,
        request: &Request,
        deadlines: &Deadlines,
        moment: Duration,
    ) -> Result<Option<Reply>, Outcome> {
        let mut client = self.client(request, deadlines)?;
        let reply = client.kill_during(request, deadlines, moment)?;
        self.client = reply.is_some().then_some(client);
        Ok(reply)
    }

    /// The process, a new one where there is none or the old one has no room.
    fn client(&mut self, request: &Request, deadlines: &Deadlines) -> Result<Client, Outcome> {
        if let Some(full) = self.client.take_if(|client| would_exceed(client.process(), request)) {
            full.close();
        }
        match self.client.take() {
            Some(client) => Ok(client),
            None => Client::open(&self.devices, &self.sim, request.compiled_in(), deadlines.open),
        }
    }
}
