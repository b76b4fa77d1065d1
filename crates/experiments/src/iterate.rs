//! An iteration whose states are kept in a file on the way, so that it goes on from there when its
//! process was killed.

use super::checkpoint_store::CheckpointStore;
use super::{Session, Stage, chunks, memory};
use crate::iteration::{Iteration, save_buffer, shadow, state, state_bytes};
use crate::plan::{Case, GUARD};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::MemoryKind;
use gpubench_core::units::Bytes;
use gpubench_device::Device;
use std::path::Path;
use std::thread::ScopedJoinHandle;

/// How often a state is saved on the way.
const SAVES: usize = 16;

/// An iteration that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Iterated {
    /// The pass it went on from; 0 where there was no file.
    pub from: u64,
    /// The state it ended in: the bytes of every written buffer, one after the other.
    pub state: Vec<u8>,
}

/// Runs the iteration that `case` is (in its first variant), with its states kept in `file`, on a given number of
/// queues; from the state in `file`, where there is one.
///
/// # Errors
/// `Usage` where the file is not one of this iteration; `Unsupported` where the case is none;
/// `Mismatch` when a pass wrote outside a buffer; whatever the device says.
pub fn iterate(
    session: &mut Session,
    case: &Case,
    queues: u32,
    file: &Path,
    stage: &mut dyn FnMut(Stage),
) -> Result<Iterated> {
    let candidate = case.first_variant()?;
    let iteration = Iteration { case, candidate };
    let checkpoint_store = CheckpointStore::new(file.to_owned(), iteration);
    session.device.reset();
    stage(Stage::Prepare);
    let loaded = checkpoint_store.load()?;
    memory::set_up(session.device.as_mut(), case)?;
    let kind = chunks::best_kind(&session.device.info().host_memory);
    allocate(session.device.as_mut(), case, 1, kind)?;
    stage(Stage::Build);
    session.device.build(case.kernel(), &candidate.kernel)?;
    stage(Stage::Measure);
    let from = loaded.as_ref().map_or(0, |loaded| loaded.done as usize);
    if let Some(loaded) = &loaded {
        session.device.write(save_buffer(case, 0), &loaded.state)?;
        session.device.run(&iteration.restore(queues))?;
    }
    let to_file = ToFile { iteration, queues, checkpoint_store: &checkpoint_store };
    to_file.run(session, from, &iteration.saves(SAVES))?;
    if let Some(breach) = memory::breach(session.device.as_mut(), case)? {
        return Err(Error::Mismatch(breach.text(case)));
    }
    let state = read_state(session.device.as_mut(), case)?;
    session.device.reset();
    Ok(Iterated { from: from as u64, state })
}

/// A copy of the state on the device, and a given number on the host.
pub(super) fn allocate(
    device: &mut dyn Device,
    case: &Case,
    saves: usize,
    kind: MemoryKind,
) -> Result<()> {
    for part in state(case) {
        device.alloc(shadow(case, part.buffer), Bytes(part.len), MemoryKind::Device)?;
    }
    for save in 0..saves {
        device.alloc(save_buffer(case, save), state_bytes(case), kind)?;
    }
    Ok(())
}

/// The state as it is on the device now.
pub(super) fn read_state(device: &mut dyn Device, case: &Case) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(state_bytes(case).as_usize());
    for part in state(case) {
        bytes.extend_from_slice(memory::read(device, case, part.buffer)?.as_bytes());
    }
    Ok(bytes)
}

/// Writes a state to its place on the device, by the host.
pub(super) fn write_state(device: &mut dyn Device, case: &Case, bytes: &[u8]) -> Result<()> {
    for part in state(case) {
        let (from, to) = (part.offset as usize, (part.offset + part.len) as usize);
        let guard = [memory::GUARD_PATTERN; GUARD.0 as usize];
        let guarded = [&guard, &bytes[from..to], &guard].concat();
        device.write(case.buffer(part.buffer), &guarded)?;
    }
    Ok(())
}

/// An iteration with its states kept in a file.
#[derive(Clone, Copy)]
pub(super) struct ToFile<'a> {
    pub iteration: Iteration<'a>,
    pub queues: u32,
    pub checkpoint_store: &'a CheckpointStore,
}

impl ToFile<'_> {
    /// All passes from number `from` on, with the states after those of `saves` kept on the way, the
    /// last of which is on the disk in the end. With one queue the passes wait for each. With more, a
    /// state is downloaded beside the passes until the next save, and written beside those after that.
    pub fn run(self, session: &mut Session, from: usize, saves: &[usize]) -> Result<()> {
        let Self { iteration, queues, checkpoint_store } = self;
        std::thread::scope(|scope| {
            let (mut at, mut copied, mut writing) = (from, None, None);
            for (stop, save) in self.stops(from, saves) {
                let segment = iteration.segment(queues, at..stop, copied.is_some(), save);
                session.device.run(&segment)?;
                at = stop;
                let now = save.then_some(stop);
                let downloaded =
                    if queues == 1 { now } else { std::mem::replace(&mut copied, now) };
                let Some(done) = downloaded else { continue };
                let state = session.device.read(save_buffer(iteration.case, 0))?;
                settle(writing.take())?;
                if queues == 1 {
                    checkpoint_store.save(done, state)?;
                } else {
                    writing = Some(scope.spawn(move || checkpoint_store.save(done, state)));
                }
            }
            settle(writing)
        })
    }

    /// Where the iteration stops for a moment: to save, and once between the last save and the end, so
    /// that something goes on while that save is written.
    fn stops(self, from: usize, saves: &[usize]) -> Vec<(usize, bool)> {
        let end = self.iteration.passes();
        let mut stops: Vec<_> =
            saves.iter().filter(|&&save| save > from).map(|&save| (save, true)).collect();
        if let Some((last, _)) = stops.last().filter(|_| self.queues > 1) {
            let between = last.midpoint(end);
            stops.extend((between > *last).then_some((between, false)));
        }
        stops.push((end, false));
        stops
    }
}

fn settle(writing: Option<ScopedJoinHandle<Result<()>>>) -> Result<()> {
    match writing.map(ScopedJoinHandle::join) {
        Some(Ok(written)) => written,
        None => Ok(()),
        Some(Err(_)) => Err(Error::Device("the thread that writes states has panicked".into())),
    }
}
