//! The other side: a process that is to the workers of its machine what a run is to those of its own.

use super::super::deadlines::Deadlines;
use super::super::group::kill_all;
use super::super::host::{host, version};
use super::super::local::LocalWorker;
use super::super::protocol::Request;
use super::super::transport::take_stdout;
use super::frame::{FrameReader, FrameWriter};
use super::message::{
    Answer, Ask, CHUNK, Greeting, LONGEST_LINE, PULSE, SILENCE, from_hex, to_hex,
};
use super::{files, trusted};
use crate::store::{Attempt, DeviceLock, Lines, LockFolder, Scratch};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::hash::sha256_of;
use gpubench_core::record::Outcome;
use gpubench_device::device_choice::Selector;
use gpubench_device::sim::Sim;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The devices that a selector's backends have here, and what is to be said of those that failed.
type Listing<'a> = &'a dyn Fn(&Selector) -> Result<(Vec<DeviceInfo>, Vec<String>)>;

/// Serves a run in another machine until stdin ends, or is silent for long.
///
/// # Errors
/// `Io` and `Device` where it cannot begin.
pub fn relay(list: Listing<'_>) -> Result<()> {
    let device =
        |what: &'static str| move |error: std::io::Error| Error::Device(format!("{what}: {error}"));
    let out = take_stdout().map_err(device("moving stdout away"))?;
    let scratch = Scratch::new()?;
    let out = Out::new(out);
    let asks = listen(scratch.path().to_owned()).map_err(device("listening to the run"))?;
    out.send(&Greeting { gpubench: version(), host: host() })?;
    pulse(out.clone(), scratch.path().to_owned()).map_err(device("a thread"))?;
    let mut relay = Relay { list, scratch, out, worker: None, locks: BTreeMap::new() };
    while let Ok(ask) = asks.recv() {
        let answer = relay.answer(ask);
        relay.out.send(&answer)?;
    }
    Ok(())
}

/// What a run has here.
struct Relay<'a> {
    list: Listing<'a>,
    scratch: Scratch,
    out: Out,
    worker: Option<LocalWorker>,
    /// By key; held until the run's link ends.
    locks: BTreeMap<String, DeviceLock>,
}

impl Relay<'_> {
    fn answer(&mut self, ask: Ask) -> Answer {
        let answered = match ask {
            Ask::Pulse => Ok(Answer::Pulse),
            Ask::Hash => own_hash().map(Answer::Hash),
            Ask::List(selector) => (self.list)(&selector)
                .map(|(devices, notes)| Answer::Listed { devices, notes })
                .map_err(|error| Outcome::Failed(error.to_string())),
            Ask::Lock(devices) => self.lock(&devices).map_err(Outcome::from),
            Ask::Work { devices, sim_seed, sim_files, request, deadlines, trusted } => {
                let sim = Sim::new(sim_files.into_iter().map(PathBuf::from).collect(), sim_seed);
                self.work((devices, sim), *request, &deadlines, trusted)
            }
            Ask::Leave => {
                self.leave();
                Ok(Answer::Left)
            }
            Ask::Put { hash, data, is_last } => self.put(&hash, &data, is_last),
            Ask::Get { offset } => self.get(offset),
        };
        answered.unwrap_or_else(Answer::Failed)
    }

    fn lock(&mut self, devices: &[DeviceInfo]) -> Result<Answer> {
        let folder = LockFolder::find();
        let mut taken = vec![];
        // A run asks again for each of its parts: what is its own stays its own.
        let wanted: BTreeMap<String, &DeviceInfo> = devices
            .iter()
            .flat_map(|device| DeviceLock::keys(device).into_iter().map(move |key| (key, device)))
            .filter(|(key, _)| !self.locks.contains_key(key))
            .collect();
        for (key, device) in wanted {
            match DeviceLock::attempt(&folder, &key)? {
                Attempt::Taken(lock) => taken.push((key, lock)),
                Attempt::HeldBy(pid) => return Ok(Answer::HeldBy(pid, device.name.clone())),
            }
        }
        self.locks.extend(taken);
        Ok(Answer::Locked)
    }

    /// Has the worker of these devices do a request.
    fn work(
        &mut self,
        (devices, sim): (Vec<DeviceInfo>, Sim),
        request: Request,
        deadlines: &Deadlines,
        is_trusted: bool,
    ) -> Result<Answer, Outcome> {
        if let Some(why) = trusted::objection(&request, is_trusted) {
            return Err(Outcome::Unsupported(why.into()));
        }
        // A run's simulated devices are the shipped ones: this machine's files are not asked for.
        let shipped = |file: &PathBuf| {
            file.to_str().is_some_and(|name| {
                Sim::machines().contains(&name) || Sim::small_devices().contains(&name)
            })
        };
        if !sim.files().iter().all(shipped) {
            return Err(Outcome::Failed("a description that is not shipped".into()));
        }
        let request = files::received(request, self.scratch.path())?;
        if self.worker.as_ref().is_some_and(|worker| !worker.is_for(&devices, &sim)) {
            self.leave();
        }
        let worker = self.worker.get_or_insert_with(|| LocalWorker::new(devices, sim));
        let out = &self.out;
        // A stage that cannot be sent shows that the run is gone: the answer will fail too.
        let mut stage = |stage| drop(out.send(&Answer::Stage(stage)));
        worker.ask(&request, deadlines, &mut stage).map(|reply| Answer::Reply(Box::new(reply)))
    }

    fn leave(&mut self) {
        if let Some(mut worker) = self.worker.take() {
            worker.leave();
        }
    }

    /// Appends to a file that arrives in parts.
    fn put(&self, hash: &str, data: &str, is_last: bool) -> Result<Answer, Outcome> {
        if !files::is_hash(hash) {
            return Err(Outcome::Failed("a file whose name is no hash".into()));
        }
        let path = self.scratch.path().join(hash);
        let part = path.with_extension("part");
        let failed = |error| Outcome::Failed(Error::io(&part, error).to_string());
        let bytes = from_hex(data).ok_or_else(|| Outcome::Failed("no bytes".into()))?;
        let file = OpenOptions::new().create(true).append(true).open(&part);
        file.and_then(|mut file| file.write_all(&bytes)).map_err(failed)?;
        if is_last {
            let found = File::open(&part).and_then(sha256_of).map_err(failed)?;
            if found != hash {
                let _ = std::fs::remove_file(&part);
                return Err(Outcome::Failed("a file arrived with another hash".into()));
            }
            std::fs::rename(&part, &path).map_err(failed)?;
        }
        Ok(Answer::Stored)
    }

    /// A part of what a case computed.
    fn get(&self, offset: u64) -> Result<Answer, Outcome> {
        let path = self.scratch.path().join(files::RESULT);
        let failed = |error| Outcome::Failed(Error::io(&path, error).to_string());
        let mut file = File::open(&path).map_err(failed)?;
        file.seek(SeekFrom::Start(offset)).map_err(failed)?;
        let mut bytes = Vec::with_capacity(CHUNK);
        file.take(CHUNK as u64).read_to_end(&mut bytes).map_err(failed)?;
        Ok(Answer::Data { data: to_hex(&bytes), is_last: bytes.len() < CHUNK })
    }
}

fn own_hash() -> Result<String, Outcome> {
    let path = std::env::current_exe();
    let hash = path.and_then(File::open).and_then(sha256_of);
    hash.map_err(|error| Outcome::Failed(format!("reading the binary: {error}")))
}

/// The way to the run; clones share it.
#[derive(Clone)]
struct Out(Arc<Mutex<(FrameWriter, Box<dyn Write + Send>)>>);

impl Out {
    fn new(out: Box<dyn Write + Send>) -> Self {
        Self(Arc::new(Mutex::new((FrameWriter::default(), out))))
    }

    fn send(&self, message: &impl Serialize) -> Result<()> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (frames, out) = &mut *held;
        let line = frames.line(message).map_err(|e| Error::Device(format!("answer: {e}")))?;
        let sent = out.write_all(line.as_bytes()).and_then(|()| out.flush());
        sent.map_err(|e| Error::Device(format!("the run does not listen: {e}")))
    }
}

/// Says every few seconds that this side lives, also while a case is measured, and ends it where nobody listens.
fn pulse(out: Out, scratch: PathBuf) -> std::io::Result<()> {
    let beat = move || {
        while out.send(&Answer::Pulse).is_ok() {
            std::thread::sleep(PULSE);
        }
        end(&scratch);
    };
    std::thread::Builder::new().spawn(beat).map(drop)
}

/// Reads what the run asks, in a thread. When stdin ends, or a line is bad, or there is none for long, this process
/// ends with its workers, and `scratch` is removed: whatever is in hand, nobody waits for it any more.
fn listen(scratch: PathBuf) -> std::io::Result<Receiver<Ask>> {
    const SLICE: Duration = Duration::from_millis(500);
    let (send, asks) = channel();
    let heard = Arc::new(AtomicU64::new(0));
    let (lines_heard, folder) = (Arc::clone(&heard), scratch.clone());
    std::thread::Builder::new().spawn(move || {
        let mut lines = Lines::new(BufReader::new(std::io::stdin()), LONGEST_LINE);
        let mut frames = FrameReader::default();
        while let Ok(Some((line, _))) = lines.next_line() {
            heard.fetch_add(1, Ordering::Relaxed);
            match frames.message(&String::from_utf8_lossy(&line.into_bytes())) {
                Ok(None | Some(Ask::Pulse)) => {}
                Ok(Some(ask)) => {
                    if send.send(ask).is_err() {
                        break;
                    }
                }
                Err(why) => {
                    eprintln!("{why}");
                    break;
                }
            }
        }
        end(&folder);
    })?;
    std::thread::Builder::new().spawn(move || {
        // In slices, so that a machine that slept does not count its sleep.
        let (mut silence, mut known) = (Duration::ZERO, 0);
        while silence < SILENCE {
            std::thread::sleep(SLICE);
            let now = lines_heard.load(Ordering::Relaxed);
            silence = if now == known { silence + SLICE } else { Duration::ZERO };
            known = now;
        }
        eprintln!("nothing was heard for {} s", SILENCE.as_secs());
        end(&scratch);
    })?;
    Ok(asks)
}

/// Ends this process and its workers at once.
fn end(scratch: &Path) -> ! {
    kill_all();
    let _ = std::fs::remove_dir_all(scratch);
    std::process::exit(0)
}
