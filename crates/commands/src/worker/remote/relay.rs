//! The other side: a process that is to the workers of its machine what a run is to those of its own.

use super::super::deadlines::Deadlines;
use super::super::group::kill_all;
use super::super::host::{host, version};
use super::super::local::LocalWorker;
use super::super::protocol::Request;
use super::super::transport::take_stdout;
use super::frame::{FrameReader, FrameWriter};
use super::life::{Life, Silence};
use super::message::{Answer, Ask, CHUNK, Greeting, LONGEST_LINE, pulse};
use super::{files, trusted};
use crate::store::{Attempt, DeviceLock, Lines, LockFolder, LockKey, Scratch};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::hash::{from_hex, hex, sha256_of};
use gpubench_core::record::Outcome;
use gpubench_device::device_choice::Selector;
use gpubench_device::sim::Sim;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The devices that a selector's backends have here, and notes about those that failed.
type Listing<'a> = &'a dyn Fn(&Selector) -> Result<(Vec<DeviceInfo>, Vec<String>)>;

/// Names the folder on whose disk states are saved; else it is the one in which the relay begins.
const DISK: &str = "GPUBENCH_DISK";
/// How many questions are read before they are answered: a run asks one after the other.
const AHEAD: usize = 4;

/// Serves a run in another machine until stdin ends, or is silent for so long.
///
/// # Errors
/// `Io` and `Device` where it cannot begin.
pub fn relay(list: Listing<'_>, silence: Duration) -> Result<()> {
    let device =
        |what: &'static str| move |error: std::io::Error| Error::Device(format!("{what}: {error}"));
    let out = take_stdout().map_err(device("moving stdout away"))?;
    let scratch = Scratch::new()?;
    let folders = Folders::default();
    folders.add(&scratch);
    let out = Out::new(out);
    let asks = listen(folders.clone(), silence).map_err(device("listening to the run"))?;
    let identities = LockFolder::find().identities();
    out.send(&Greeting { gpubench: version(), host: host(), identities })?;
    beat(out.clone(), pulse(silence), folders.clone()).map_err(device("a thread"))?;
    let (disk, worker, locks) = (None, None, BTreeMap::new());
    let mut relay = Relay { list, scratch, disk, folders, out, worker, locks };
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
    /// Where states are saved, once a case does.
    disk: Option<Scratch>,
    folders: Folders,
    out: Out,
    worker: Option<LocalWorker>,
    /// By key; held until the run gives them back, or its link ends.
    locks: BTreeMap<LockKey, DeviceLock>,
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
            Ask::Unlock => {
                self.locks.clear();
                Ok(Answer::Unlocked)
            }
            Ask::Work { devices, sim_seed, sim_files, request, deadlines, trusted } => {
                let sim = Sim::new(sim_files.into_iter().map(PathBuf::from).collect(), sim_seed);
                self.work((devices, sim), *request, &deadlines, trusted)
            }
            Ask::Leave => {
                self.leave();
                Ok(Answer::Left)
            }
            Ask::Put { hash, offset, data, is_last } => self.put(&hash, offset, &data, is_last),
            Ask::Get { offset } => self.get(offset),
        };
        answered.unwrap_or_else(Answer::Failed)
    }

    fn lock(&mut self, devices: &[DeviceInfo]) -> Result<Answer> {
        let folder = LockFolder::find();
        let mut taken = vec![];
        // A run asks again for each of its parts: what is its own stays its own.
        for (key, device) in LockKey::all(devices) {
            if self.locks.keys().any(|held| held.name == key.name && held.hold <= key.hold) {
                continue;
            }
            // What it shared so far would keep it from having it alone.
            self.locks.retain(|held, _| held.name != key.name);
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
        if !sim.files().iter().all(|file| Sim::is_shipped(file)) {
            return Err(Outcome::Failed("a description that is not shipped".into()));
        }
        let folder = self.scratch.path().to_owned();
        let request = files::received(request, &folder, || self.disk())?;
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

    /// A folder on the disk on which states are saved: what is measured is that disk, and temporary files may lie in
    /// memory. Where it takes no such folder, it is that of temporary files after all; the record names it.
    fn disk(&mut self) -> PathBuf {
        if self.disk.is_none() {
            let named = std::env::var_os(DISK).filter(|folder| !folder.is_empty());
            let folder = named.map_or_else(std::env::current_dir, |folder| Ok(folder.into()));
            self.disk = folder.ok().and_then(|folder| Scratch::next_to(&folder).ok());
            self.disk.iter().for_each(|disk| self.folders.add(disk));
        }
        self.disk.as_ref().unwrap_or(&self.scratch).path().to_owned()
    }

    /// Takes a part of a file.
    fn put(&self, hash: &str, offset: u64, data: &str, is_last: bool) -> Result<Answer, Outcome> {
        if !files::is_hash(hash) {
            return Err(Outcome::Failed("a file whose name is no hash".into()));
        }
        let path = self.scratch.path().join(hash);
        let part = path.with_extension("part");
        let failed = |error| Outcome::Failed(Error::io(&part, error).to_string());
        let bytes = from_hex(data).ok_or_else(|| Outcome::Failed("no bytes".into()))?;
        // What an earlier try has left is not gone on from.
        let file = OpenOptions::new().create(true).write(true).truncate(offset == 0).open(&part);
        let placed = file.and_then(|mut file| file.seek(SeekFrom::Start(offset)).map(|_| file));
        placed.and_then(|mut file| file.write_all(&bytes)).map_err(failed)?;
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
        Ok(Answer::Data { data: hex(&bytes), is_last: bytes.len() < CHUNK })
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

/// What is to be removed when this process ends, however it does; clones share it.
#[derive(Clone, Debug, Default)]
struct Folders(Arc<Mutex<Vec<PathBuf>>>);

impl Folders {
    fn add(&self, scratch: &Scratch) {
        self.all().push(scratch.path().to_owned());
    }

    fn all(&self) -> MutexGuard<'_, Vec<PathBuf>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes them. Whoever was writing there may write once more meanwhile.
    fn remove(&self) {
        const TRIES: usize = 20;
        for folder in self.all().iter() {
            let mut tries = 0;
            while std::fs::remove_dir_all(folder).is_err() && folder.exists() && tries < TRIES {
                tries += 1;
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }
}

/// Says now and then that this side lives, also while a case is measured, and ends it where nobody listens.
fn beat(out: Out, pulse: Duration, folders: Folders) -> std::io::Result<()> {
    let beat = move || {
        while out.send(&Answer::Pulse).is_ok() {
            std::thread::sleep(pulse);
        }
        end(&folders);
    };
    std::thread::Builder::new().spawn(beat).map(drop)
}

/// Reads what the run asks, in a thread. When stdin ends, or a line is bad, or not a byte comes for as long as
/// `silence`, this process ends with its workers and its folders: whatever is in hand, nobody waits for it any more.
fn listen(folders: Folders, silence: Duration) -> std::io::Result<Receiver<Ask>> {
    let (send, asks) = sync_channel(AHEAD);
    let life = Life::default();
    let stdin = life.of(std::io::stdin());
    let of_reader = folders.clone();
    std::thread::Builder::new().spawn(move || {
        let mut frames = FrameReader::default();
        for line in Lines::new(BufReader::new(stdin), LONGEST_LINE).kept() {
            match frames.message(&String::from_utf8_lossy(&line)) {
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
        end(&of_reader);
    })?;
    std::thread::Builder::new().spawn(move || {
        // In slices, so that a machine that slept does not count its sleep.
        let slice = silence / 40;
        let mut quiet = Silence::of(&life);
        loop {
            std::thread::sleep(slice);
            if quiet.after(slice) >= silence {
                break;
            }
        }
        eprintln!("nothing was heard for {} s", silence.as_secs_f64());
        end(&folders);
    })?;
    Ok(asks)
}

/// Ends this process and its workers at once.
fn end(folders: &Folders) -> ! {
    kill_all();
    folders.remove();
    std::process::exit(0)
}

#[cfg(test)]
mod tests {
    use super::super::trusted::tests::cases;
    use super::*;
    use gpubench_core::gpu::Origin;
    use gpubench_experiments::Policy;

    fn relay(list: Listing<'_>) -> Relay<'_> {
        let (scratch, folders) = (Scratch::new().unwrap(), Folders::default());
        let (out, locks) = (Out::new(Box::new(vec![])), BTreeMap::new());
        Relay { list, scratch, disk: None, folders, out, worker: None, locks }
    }

    #[test]
    fn a_kernel_that_the_run_does_not_vouch_for_is_rejected_here_too() {
        let mut cases = cases("quick").into_iter();
        let mut case = cases.find(|case| !case.candidates.is_empty()).unwrap();
        case.candidates[0].kernel.origin = Origin::User("mine.cl".into());
        let work = Ask::Work {
            devices: vec![],
            sim_seed: 0,
            sim_files: vec![],
            request: Box::new(Request::Build { case: Box::new(case) }),
            deadlines: Deadlines::new(&Policy::default(), None),
            trusted: false,
        };
        let answer = relay(&|_| Ok((vec![], vec![]))).answer(work);
        let Answer::Failed(Outcome::Unsupported(why)) = answer else { panic!("{answer:?}") };
        assert!(why.to_string().contains("mine.cl"), "{why}");
    }

    #[test]
    fn a_file_that_is_sent_anew_begins_anew() {
        let relay = relay(&|_| Ok((vec![], vec![])));
        let bytes = b"whole";
        let hash = sha256_of(&bytes[..]).unwrap();
        let put =
            |offset: u64, bytes: &[u8], is_last| relay.put(&hash, offset, &hex(bytes), is_last);
        assert_eq!(put(0, b"what a lost try has left", false), Ok(Answer::Stored));
        assert_eq!(put(0, b"who", false), Ok(Answer::Stored));
        assert!(put(4, b"e", true).is_err(), "a part is missing");
        assert_eq!(put(0, b"who", false), Ok(Answer::Stored));
        assert_eq!(put(3, b"le", true), Ok(Answer::Stored));
        assert_eq!(std::fs::read(relay.scratch.path().join(&hash)).unwrap(), bytes);
    }
}
