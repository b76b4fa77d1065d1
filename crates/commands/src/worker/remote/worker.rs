//! A worker of another machine, as this side sees it.

use super::super::deadlines::Deadlines;
use super::super::protocol::{Reply, Request};
use super::link::Link;
use super::message::{Answer, Ask};
use super::route::{Remote, SHORT, as_there};
use super::{files, trusted};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::Outcome;
use gpubench_device::sim::Sim;
use gpubench_experiments::Stage;
use std::sync::Arc;
use std::time::Duration;

/// How long after its deadline the other side may take to say that it has passed.
const MARGIN: Duration = Duration::from_secs(5);

/// Devices of another machine; the relay there starts and ends the process that owns them.
#[derive(Debug)]
pub(in super::super) struct RemoteWorker {
    remote: Arc<Remote>,
    devices: Vec<DeviceInfo>,
    sim: Sim,
}

impl RemoteWorker {
    pub fn new(remote: Arc<Remote>, devices: &[DeviceInfo], sim: Sim) -> Self {
        Self { remote, devices: devices.iter().map(as_there).collect(), sim }
    }

    /// As a local worker's.
    pub fn scatter(&mut self, seed: u64) {
        self.sim = self.sim.scattering(seed);
    }

    /// As a local worker's.
    pub fn leave(&mut self) {
        self.remote.if_linked(|link| link.ask_once(Ask::Leave, "ending the worker", SHORT));
    }

    /// As a local worker's; a lost link is one of the errors.
    pub fn ask(
        &mut self,
        request: &Request,
        deadlines: &Deadlines,
        stage: &mut dyn FnMut(Stage),
    ) -> Result<Reply, Outcome> {
        let is_trusted = self.remote.is_trusted();
        if let Some(why) = trusted::objection(request, is_trusted) {
            return Err(Outcome::Unsupported(why.into()));
        }
        let remote = Arc::clone(&self.remote);
        remote.with_link(|link, state| {
            let (request, result) = files::prepared(link, state, request)?;
            let ask = self.work(request, *deadlines, is_trusted)?;
            let reply = work(link, ask, deadlines, stage)?;
            if let (Reply::Computed, Some(awaited)) = (&reply, result) {
                files::fetch(link, &awaited)?;
            }
            Ok(reply)
        })
    }

    fn work(&self, request: Request, deadlines: Deadlines, trusted: bool) -> Result<Ask, Outcome> {
        let file = |file: &std::path::PathBuf| file.to_str().map(str::to_owned);
        let sim_files = self.sim.files().iter().map(file).collect::<Option<Vec<String>>>();
        let unnamed = || Outcome::Failed("a description whose name is no text".into());
        Ok(Ask::Work {
            devices: self.devices.clone(),
            sim_seed: self.sim.seed(),
            sim_files: sim_files.ok_or_else(unnamed)?,
            request: Box::new(request),
            deadlines,
            trusted,
        })
    }
}

/// Has the relay do a request, to its end.
fn work(
    link: &mut Link,
    ask: Ask,
    deadlines: &Deadlines,
    stage: &mut dyn FnMut(Stage),
) -> Result<Reply, Outcome> {
    link.ask(ask);
    let mut limit = deadlines.open + deadlines.prepare + MARGIN;
    loop {
        match link.answer("measuring", limit)? {
            Answer::Stage(now) => {
                stage(now);
                limit = deadlines.of(now) + MARGIN;
            }
            Answer::Reply(reply) => return Ok(*reply),
            Answer::Failed(outcome) => return Err(outcome),
            other => return Err(link.confused(&other)),
        }
    }
}
