//! A worker that is killed in the middle of an iteration, and another that goes on from its file.

use super::deadlines::Deadlines;
use super::local::LocalWorker;
use super::protocol::{Reply, Request};
use gpubench_core::error::Error;
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::Outcome;
use gpubench_device::sim::Sim;
use gpubench_experiments::plan::Case;
use gpubench_experiments::{Policy, Stage};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// An iteration on a device, to be killed again and again.
#[derive(Debug)]
pub struct Drill<'a> {
    case: &'a Case,
    folder: PathBuf,
    deadlines: Deadlines,
    worker: LocalWorker,
    /// What the iteration ends in where nothing disturbs it and nothing is saved.
    undisturbed: Vec<u8>,
}

/// The result of one try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Try {
    /// Whether the worker was killed; else it had ended before.
    pub killed: bool,
    /// Whether a state was being written to the file in that moment.
    pub writing: bool,
    /// The pass that was gone on from; 0: from the beginning.
    pub from: u64,
    /// Whether what it ended in is, to the bit, what it ends in undisturbed.
    pub equal: bool,
}

impl<'a> Drill<'a> {
    /// Of `case` on `device`, a simulated one as `sim` has it; its files lie in `folder`, alone.
    ///
    /// # Errors
    /// The result of the undisturbed run.
    pub fn new(
        device: &DeviceInfo,
        sim: Sim,
        case: &'a Case,
        folder: &Path,
    ) -> Result<Self, Outcome> {
        let (folder, deadlines) = (folder.to_owned(), Deadlines::new(&Policy::default(), None));
        let worker = LocalWorker::new(vec![device.clone()], sim);
        let mut drill = Self { case, folder, deadlines, worker, undisturbed: vec![] };
        let request = Request::Compute { case: Box::new(case.clone()), file: drill.result() };
        match drill.worker.ask(&request, &drill.deadlines, &mut |_| {})? {
            Reply::Computed => drill.undisturbed = read(&drill.result())?,
            other => return Err(other.failure()),
        }
        Ok(drill)
    }

    /// Seconds that the iteration takes on a given number of queues where nothing disturbs it.
    ///
    /// # Errors
    /// The error instead; `Failed` where saving changes what it ends in.
    pub fn seconds(&mut self, queues: u32) -> Result<f64, Outcome> {
        let mut began = Instant::now();
        self.forget();
        let from = self.iterate(queues, &mut |stage| {
            if stage == Stage::Measure {
                began = Instant::now();
            }
        })?;
        let seconds = began.elapsed().as_secs_f64();
        match from == 0 && read(&self.result())? == self.undisturbed {
            true => Ok(seconds),
            false => Err(Outcome::Failed("saving its state changes what it ends in".into())),
        }
    }

    /// Kills the worker `moment` after it has begun the iteration on a given number of queues, and has another go
    /// on from the file that is left.
    ///
    /// # Errors
    /// Either worker's error instead.
    pub fn once(&mut self, queues: u32, moment: Duration) -> Result<Try, Outcome> {
        self.forget();
        let request = self.request(queues);
        let killed = match self.worker.kill_during(&request, &self.deadlines, moment)? {
            None => true,
            Some(Reply::Iterated(_)) => false,
            Some(other) => return Err(other.failure()),
        };
        let writing = killed && self.states().with_extension("part").exists();
        let _ = std::fs::remove_file(self.result());
        let from = self.iterate(queues, &mut |_| {})?;
        let equal = read(&self.result())? == self.undisturbed;
        Ok(Try { killed, writing, from, equal })
    }

    /// Runs the iteration to its end; the pass it went on from.
    fn iterate(&mut self, queues: u32, stage: &mut dyn FnMut(Stage)) -> Result<u64, Outcome> {
        let request = self.request(queues);
        match self.worker.ask(&request, &self.deadlines, stage)? {
            Reply::Iterated(from) => Ok(from),
            other => Err(other.failure()),
        }
    }

    fn request(&self, queues: u32) -> Request {
        let (states, file) = (self.states(), self.result());
        Request::Iterate { case: Box::new(self.case.clone()), queues, states, file }
    }

    /// Removes all files.
    fn forget(&self) {
        let states = self.states();
        for file in [states.with_extension("part"), states, self.result()] {
            let _ = std::fs::remove_file(file);
        }
    }

    fn states(&self) -> PathBuf {
        self.folder.join("state.checkpoint")
    }

    fn result(&self) -> PathBuf {
        self.folder.join("result")
    }
}

fn read(file: &Path) -> Result<Vec<u8>, Outcome> {
    std::fs::read(file).map_err(|error| Outcome::Failed(Error::io(file, error).to_string()))
}
