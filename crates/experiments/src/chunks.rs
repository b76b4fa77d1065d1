//! A divisible problem on a device, in whatever chunks: copied, computed, timed over poison, and
//! what the timed runs left compared.

use super::autotune::{BuiltVariant, KERNEL, autotune};
use super::check::Check;
use super::expected::{Expected, expected};
use super::timing::{all_in_turn, time};
use super::{Bench, Stage, memory};
use crate::plan::{
    Candidate, Case, Chunked, Division, Parts, StageOf, equal_chunks, host_mirror, in_parts,
};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{Access, Clock, MemoryKind};
use gpubench_core::record::Timed;
use gpubench_core::workload::Comparison;
use gpubench_device::Device;
use gpubench_reference::Data;

/// A case whose kernel is built and whose buffers are filled, on the device and on the host.
pub(super) struct Chunks<'a> {
    pub bench: Bench<'a>,
    pub check: Check<'a>,
    pub candidate: &'a Candidate,
    pub division: &'a Division,
    /// Queues that upload, kernel and download have together: 3, or 1 where there are not as many.
    pub queues: u32,
}

/// Every stage of the whole problem alone, and the clock of its steps.
pub(super) struct Alone {
    pub upload: Timed,
    pub kernel: Timed,
    pub download: Timed,
    pub clock: Clock,
}

/// A divisible case whose kernel is built and whose buffers are filled, and what it must give.
pub(super) struct Prepared<'a> {
    pub case: &'a Case,
    pub candidate: &'a Candidate,
    pub host_memory: MemoryKind,
    pub division: &'a Division,
    initial: Vec<Data>,
    wanted: Option<(Expected, Comparison)>,
}

impl<'a> Prepared<'a> {
    /// `case` on the device.
    ///
    /// # Errors
    /// `Unsupported` where it is not divisible; whatever the device says.
    pub(super) fn new(case: &'a Case, bench: &mut Bench) -> Result<Self> {
        let division = case.divided()?;
        bench.enter(Stage::Prepare);
        let initial = memory::initial(case);
        let (variant, host_memory) = set_up(case, &initial, bench)?;
        let candidate = variant.candidate;
        bench.enter(Stage::Verify);
        let wanted = expected(case, candidate, || initial.clone(), bench.policy)?;
        Ok(Self { case, candidate, host_memory, division, initial, wanted })
    }

    /// It, to be run in chunks.
    pub(super) fn chunks<'b>(&'b self, mut bench: Bench<'b>) -> Chunks<'b> {
        let queues = if bench.device().info().queues >= 3 { 3 } else { 1 };
        let check = Check { case: self.case, initial: &self.initial, wanted: self.wanted.as_ref() };
        let (candidate, division) = (self.candidate, self.division);
        Chunks { bench, check, candidate, division, queues }
    }
}

/// Allocates everything and autotunes the kernel; the kind of host memory is reported too.
pub(super) fn set_up<'a>(
    case: &'a Case,
    initial: &[Data],
    bench: &mut Bench,
) -> Result<(BuiltVariant<'a>, MemoryKind)> {
    let host_memory = allocate(bench.device(), case, initial)?;
    Ok((autotune(case, bench)?, host_memory))
}

/// Device buffers with their guards, and a host mirror of each in the best kind of memory.
fn allocate(device: &mut dyn Device, case: &Case, initial: &[Data]) -> Result<MemoryKind> {
    let kind = case.key.host_memory.unwrap_or_else(|| best_kind(&device.info().host_memory));
    memory::allocate(device, case)?;
    memory::write(device, case, initial, false)?;
    for (i, data) in initial.iter().enumerate() {
        device.alloc(host_mirror(case, i), case.buffers[i].bytes(), kind)?;
        device.write(host_mirror(case, i), data.as_bytes())?;
    }
    Ok(kind)
}

/// The kind of host memory that copies are fastest with.
pub(super) fn best_kind(kinds: &[MemoryKind]) -> MemoryKind {
    if kinds.contains(&MemoryKind::Pinned) { MemoryKind::Pinned } else { MemoryKind::Pageable }
}

impl Chunks<'_> {
    /// `count` equal chunks on `queues` queues.
    fn equal(&self, count: u64, queues: u32) -> Result<Chunked> {
        let rows = equal_chunks(self.division.rows, count)?;
        let parts = Parts { rows: &rows, upload_all_first: false, download_all_last: false };
        self.parts(parts, queues)
    }

    /// The same; `None` where a halo is larger than so small chunks.
    pub(super) fn equal_that_hold_a_halo(
        &self,
        count: u64,
        queues: u32,
    ) -> Result<Option<Chunked>> {
        match self.equal(count, queues) {
            Err(Error::Unsupported(_)) if count > 1 => Ok(None),
            work => work.map(Some),
        }
    }

    /// Chunks of any sizes.
    pub(super) fn parts(&self, parts: Parts, queues: u32) -> Result<Chunked> {
        in_parts(self.check.case, self.candidate, KERNEL, parts, queues)
    }

    /// Runs over poison, and compares what was downloaded and the guards on the device; the seconds that the run
    /// took, or `None` where a result is wrong.
    pub(super) fn verified(&mut self, work: &Chunked) -> Result<Option<f64>> {
        self.bench.enter(Stage::Verify);
        self.poison()?;
        let seconds = self.bench.device().run(&work.recording)?.wall;
        Ok(self.right(&format!("{} chunks", chunks(work)))?.then_some(seconds))
    }

    /// Times the recording over poison and compares what it left; `None` where a result is wrong.
    pub(super) fn measured(&mut self, work: &Chunked) -> Result<Option<(Timed, Clock)>> {
        // Of a kernel that works in place nothing is known after many runs.
        if self.check.in_place() {
            let right = self.verified(work)?.is_some();
            return if right { self.timed(work).map(Some) } else { Ok(None) };
        }
        self.bench.enter(Stage::Verify);
        self.poison()?;
        let timed = self.timed(work)?;
        self.bench.enter(Stage::Verify);
        Ok(self.right(&format!("{} timed chunks", chunks(work)))?.then_some(timed))
    }

    /// Times all of these in turn, each once in every turn, `seconds` in all, and compares what the last one left;
    /// `None` where it is wrong. Each is verified already.
    pub(super) fn in_turn(
        &mut self,
        jobs: &[&Chunked],
        seconds: f64,
    ) -> Result<Option<(Vec<Timed>, Clock)>> {
        self.bench.enter(Stage::Verify);
        self.poison()?;
        let named = |work: &&Chunked| (work.recording.clone(), names(work));
        let recordings = jobs.iter().map(named).collect();
        let timed = all_in_turn(&mut self.bench, recordings, seconds / jobs.len() as f64)?;
        self.bench.enter(Stage::Verify);
        // Of a kernel that works in place nothing is known after many runs.
        let right = self.check.in_place() || self.right("chunks timed in turn")?;
        Ok(right.then_some(timed))
    }

    /// Upload, kernel and download of the whole problem on one queue, each a recording.
    pub(super) fn stages(&self) -> Result<[Chunked; 3]> {
        let whole = self.equal(1, 1)?;
        Ok([StageOf::Upload, StageOf::Kernel, StageOf::Download].map(|stage| only(&whole, stage)))
    }

    /// Upload, kernel and download of the whole problem, each alone on one queue.
    pub(super) fn alone(&mut self) -> Result<Alone> {
        let [upload, kernel, download] = self.stages()?;
        let (upload, _) = self.timed(&upload)?;
        let (kernel, clock) = self.timed(&kernel)?;
        let (download, _) = self.timed(&download)?;
        Ok(Alone { upload, kernel, download, clock })
    }

    fn timed(&mut self, work: &Chunked) -> Result<(Timed, Clock)> {
        self.bench.enter(Stage::Measure);
        let seconds = self.bench.policy.seconds / 4.0;
        let names = names(work);
        time(&mut self.bench, &work.recording, seconds, |i| names[i].clone())
    }

    /// Poisons everything a recording writes (inputs on the device too, since it uploads them).
    fn poison(&mut self) -> Result<()> {
        let (device, case) = (self.bench.device(), self.check.case);
        memory::poison(device, case)?;
        for (i, buffer) in case.buffers.iter().enumerate() {
            if buffer.access != Access::Read {
                device.write(host_mirror(case, i), self.check.initial[i].as_bytes())?;
            }
        }
        Ok(())
    }

    /// Compares what was downloaded, and the guards on the device.
    fn right(&mut self, when: &str) -> Result<bool> {
        let case = self.check.case;
        self.check.results_by(&mut self.bench, when, |device, i| {
            let bytes = device.read(host_mirror(case, i))?;
            Ok(Data::from_bytes(case.buffers[i].element.scalar, &bytes))
        })
    }
}

fn chunks(work: &Chunked) -> usize {
    work.steps.iter().filter(|(_, stage)| *stage == StageOf::Kernel).count()
}

/// What its steps are called: `upload 3`.
fn names(work: &Chunked) -> Vec<String> {
    let name = |&(chunk, stage): &(_, StageOf)| format!("{stage:?} {chunk}").to_lowercase();
    work.steps.iter().map(name).collect()
}

/// The steps of one stage, which then depend on nothing else.
fn only(whole: &Chunked, wanted: StageOf) -> Chunked {
    let mut part = Chunked::default();
    for (step, &(chunk, stage)) in whole.recording.steps.iter().zip(&whole.steps) {
        if stage == wanted {
            part.recording.push(step.queue, vec![], step.op.clone());
            part.steps.push((chunk, stage));
        }
    }
    part
}
