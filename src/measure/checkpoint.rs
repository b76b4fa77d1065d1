//! What it costs an iteration to have its state saved while it goes on, to memory and to a file, by
//! the number of lanes, and what it takes to go on from a saved state.
//!
//! The iteration is first run without saves, pass after pass, and its states are read between them:
//! every state saved later must be equal to the one of its pass, to the bit, and so must the end of
//! every run, with saves or gone on from one. All times are the host's, until the last save is safe.

use super::check::Check;
use super::choose::choose;
use super::chunks::best_kind;
use super::expected::expected;
use super::iterate::{ToFile, allocate, read_state, write_state};
use super::keep::Keep;
use super::timing::{time, wall_clock};
use super::{Finding, Policy, Session, Stage, memory};
use crate::error::{Error, Result};
use crate::gpu::{Clock, DeviceKind, HOST_RESOLUTION, Recording};
use crate::plan::{Case, Iteration, saved, state, state_bytes};
use crate::record::{Checkpoint, CheckpointRun, Detail, Measured, Mismatch};
use crate::reference::Data;
use crate::stats::{Decision, Sampling};
use std::time::Instant;

/// Numbers of lanes that are tried, as in L14.
const LANES: [u32; 3] = [1, 4, 8];
/// Samples of each, at least.
const LEAST: usize = 5;
/// Samples of each, at most: a simulated device's time tells nothing of how long it takes.
const MOST: usize = 25;
/// Whole iterations that are sampled: alone, and on each number of lanes to memory and to a file.
const ITERATIONS: f64 = 7.0;
/// Among how many the case's time is shared: these, and shorter ones.
const SHARES: f64 = 16.0;

/// Measures `case` into `finding`.
pub(super) fn measure(
    session: &mut Session,
    case: &Case,
    policy: &Policy,
    stage: &mut dyn FnMut(Stage),
    finding: &mut Finding,
) -> Result<()> {
    stage(Stage::Prepare);
    let initial = memory::initial(case);
    memory::allocate(session.device.as_mut(), case)?;
    memory::write(session.device.as_mut(), case, &initial, false)?;
    let least = policy.least.min(LEAST);
    // One launch is a whole iteration, and many of them must fit.
    let each = Policy { least, seconds: policy.seconds / ITERATIONS, ..policy.clone() };
    let candidate = choose(session, case, &each, stage, finding)?.candidate;
    let iteration = Iteration { case, candidate };
    let saves = iteration.few_saves();
    let info = session.device.info();
    let host_memory = best_kind(&info.host_memory);
    let simulated = info.kind == DeviceKind::Simulated;
    let (lanes, beyond): (Vec<u32>, Vec<u32>) = LANES.into_iter().partition(|&n| n <= info.lanes);
    let mut left_out: Vec<(String, String)> = beyond
        .into_iter()
        .map(|n| (format!("{n} lanes"), format!("the device has {}", info.lanes)))
        .collect();
    if simulated {
        let why = "saved and gone on from, but not timed: the simulated clock has no disk";
        left_out.push(("to a file".into(), why.into()));
    }
    allocate(session.device.as_mut(), case, saves.len(), host_memory)?;
    stage(Stage::Verify);
    let wanted = expected(case, candidate, &initial, policy)?;
    let check = Check { case, initial: &initial, wanted: wanted.as_ref() };
    let temporary = std::env::temp_dir();
    let folder = policy.disk.as_ref().unwrap_or(&temporary);
    let folder = tempfile::tempdir_in(folder).map_err(|error| Error::io(folder, error))?;
    let keep = Keep::new(folder.path().join("state.checkpoint"), iteration);
    let most = policy.most.min(MOST);
    let policy = Policy { least, most, seconds: policy.seconds / SHARES, ..policy.clone() };
    let mut bench = Bench {
        session,
        check,
        policy: &policy,
        stage,
        finding,
        iteration,
        saves: &saves,
        keep: &keep,
    };
    let Some(states) = bench.states()? else { return Ok(()) };
    for &lanes in &lanes {
        if !bench.verified(lanes, &states)? {
            return Ok(());
        }
    }
    if policy.verify_only {
        return Ok(());
    }
    let Some(mut detail) = bench.timed(&lanes, simulated, &states)? else { return Ok(()) };
    detail.host_memory = host_memory;
    detail.left_out = left_out;
    finding.measured = Some(measured(&detail, candidate.flops, candidate.bytes));
    finding.detail = Some(Detail::Checkpoint(detail));
    finding.flag_if_wide(&policy);
    Ok(())
}

/// The states that a run without saves is in: after each pass that is saved, and in the end.
struct States {
    saved: Vec<Vec<u8>>,
    last: Vec<u8>,
}

struct Bench<'a> {
    session: &'a mut Session,
    check: Check<'a>,
    policy: &'a Policy,
    stage: &'a mut dyn FnMut(Stage),
    finding: &'a mut Finding,
    iteration: Iteration<'a>,
    saves: &'a [usize],
    keep: &'a Keep,
}

impl Bench<'_> {
    /// Runs without saves; `None` where what it ends in is not what is expected.
    fn states(&mut self) -> Result<Option<States>> {
        self.begin()?;
        let (mut at, mut saved) = (0, vec![]);
        for &save in self.saves {
            self.session.device.run(&self.iteration.straight(at..save))?;
            saved.push(self.read()?);
            at = save;
        }
        self.session.device.run(&self.iteration.straight(at..self.iteration.passes()))?;
        let last = self.read()?;
        let right = self.check.results(self.session, "iteration without saves", self.finding)?;
        Ok(right.then_some(States { saved, last }))
    }

    /// Whether saving on so many lanes, to memory and to a file, leaves the right states there and in
    /// the end, and whether the iteration goes on from each of them to the right end.
    fn verified(&mut self, lanes: u32, states: &States) -> Result<bool> {
        (self.stage)(Stage::Verify);
        let poison = vec![0xff; states.last.len()];
        for save in 0..self.saves.len() {
            self.session.device.write(saved(self.iteration.case, save), &poison)?;
        }
        self.begin()?;
        self.session.device.run(&self.iteration.saving(lanes, self.saves))?;
        let when = format!("iteration with saves to memory on {lanes} lanes");
        if !self.ended(&states.last, &when)? || !self.memory_holds(states, lanes)? {
            return Ok(false);
        }
        // From another save on each number of lanes.
        let at = LANES.iter().position(|&n| n == lanes).unwrap_or(0) % self.saves.len();
        if !self.goes_on(lanes, self.saves[at], &states.saved[at], &states.last)? {
            return Ok(false);
        }
        self.begin()?;
        // One that was saved before would be right, too.
        self.keep.remove()?;
        self.save_to_file(lanes)?;
        let when = format!("iteration with saves to a file on {lanes} lanes");
        if !self.ended(&states.last, &when)? {
            return Ok(false);
        }
        self.file_holds(states, lanes)
    }

    /// Whether every save in memory is the state of its pass.
    fn memory_holds(&mut self, states: &States, lanes: u32) -> Result<bool> {
        for (save, wanted) in states.saved.iter().enumerate() {
            let found = self.session.device.read(saved(self.iteration.case, save))?;
            let when = format!("state after pass {}, saved on {lanes} lanes", self.saves[save]);
            if !self.same(wanted, &found, &when) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the file is the state of the last pass that is saved.
    fn file_holds(&mut self, states: &States, lanes: u32) -> Result<bool> {
        let missing = || Error::Device("the file of the saved state is gone".into());
        let kept = self.keep.load()?.ok_or_else(missing)?;
        let last = self.saves.last().copied().unwrap_or(0);
        let wanted = states.saved.last().unwrap_or(&states.last);
        if kept.done != last as u64 {
            let why = format!("the file is of pass {} and not of {last}", kept.done);
            return Err(Error::Device(why));
        }
        Ok(self.same(wanted, &kept.state, &format!("state in the file, saved on {lanes} lanes")))
    }

    /// Whether the iteration ends as it should, restored from the state after `done` passes.
    fn goes_on(&mut self, lanes: u32, done: usize, state: &[u8], last: &[u8]) -> Result<bool> {
        let case = self.iteration.case;
        write_state(self.session.device.as_mut(), case, &vec![0xff; state.len()])?;
        self.session.device.write(saved(case, 0), state)?;
        self.session.device.run(&self.iteration.restore(lanes))?;
        let found = self.read()?;
        let when = format!("state after pass {done}, restored on {lanes} lanes");
        if !self.same(state, &found, &when) {
            return Ok(false);
        }
        self.session.device.run(&self.iteration.straight(done..self.iteration.passes()))?;
        self.ended(last, &format!("iteration gone on from pass {done}"))
    }

    /// Times everything; `None` where what the timed runs left is wrong.
    fn timed(
        &mut self,
        lanes: &[u32],
        simulated: bool,
        states: &States,
    ) -> Result<Option<Checkpoint>> {
        let whole = self.iteration.straight(0..self.iteration.passes());
        let saving = lanes.iter().map(|&lanes| self.iteration.saving(lanes, self.saves));
        let recordings: Vec<Recording> = std::iter::once(whole).chain(saving).collect();
        let (mut all, clock) = self.in_turn(&recordings)?;
        let alone = all.remove(0);
        if !self.untouched("timed iterations")? {
            return Ok(None);
        }
        let snapshot = match lanes.iter().any(|&n| n > 1) {
            true => self.sampled(&self.iteration.snapshot())?,
            false => vec![],
        };
        let mut runs = vec![];
        for (&lanes, saving) in lanes.iter().zip(all) {
            let receiving = self.sampled(&self.iteration.receive(lanes))?;
            let restoring = self.sampled(&self.iteration.restore(lanes))?;
            runs.push(CheckpointRun { lanes, to_file: false, saving, receiving, restoring });
        }
        let mut writing = vec![];
        if !simulated {
            let state = states.saved.last().unwrap_or(&states.last);
            let done = self.saves.last().copied().unwrap_or(0);
            writing = self.by_host(|bench| bench.keep.save(done, state.clone()))?;
            for at in 0..lanes.len() {
                let lanes = lanes[at];
                let saving = self.by_host(|bench| bench.save_to_file(lanes))?;
                if !self.untouched(&format!("timed saves to a file on {lanes} lanes"))? {
                    return Ok(None);
                }
                let restoring = self.by_host(|bench| bench.restore_from_file(lanes))?;
                let receiving = runs[at].receiving.clone();
                runs.push(CheckpointRun { lanes, to_file: true, saving, receiving, restoring });
            }
        }
        // Once more after all of them.
        for &lanes in lanes {
            if !self.verified(lanes, states)? {
                return Ok(None);
            }
        }
        Ok(Some(Checkpoint {
            clock: wall_clock(clock),
            host_memory: crate::gpu::MemoryKind::Pageable,
            passes: self.iteration.passes() as u64,
            saves: self.saves.len() as u64,
            bytes: state_bytes(self.iteration.case).0,
            alone,
            snapshot,
            writing,
            runs,
            left_out: vec![],
        }))
    }

    /// Wall times of recordings run in turn, so that a drift of the device falls on all of them and not
    /// on what tells them apart; and the clock of their steps.
    fn in_turn(&mut self, recordings: &[Recording]) -> Result<(Vec<Vec<f64>>, Clock)> {
        (self.stage)(Stage::Measure);
        self.begin()?;
        let Policy { target, least, most, seconds, .. } = *self.policy;
        let mut samplings: Vec<Sampling> =
            recordings.iter().map(|_| Sampling::new(target, least, most, seconds)).collect();
        let mut clock = Clock::Host;
        for recording in recordings {
            self.session.device.run(recording)?;
        }
        let mut open = true;
        while open {
            open = false;
            for (recording, sampling) in recordings.iter().zip(&mut samplings) {
                let timeline = self.session.device.run(recording)?;
                self.finding.wall.busy += timeline.wall;
                clock = timeline.clock;
                open |= sampling.feed(timeline.wall, timeline.wall) == Decision::Continue;
            }
        }
        Ok((samplings.into_iter().map(Sampling::into_samples).collect(), clock))
    }

    /// Wall times of a recording.
    fn sampled(&mut self, recording: &Recording) -> Result<Vec<f64>> {
        (self.stage)(Stage::Measure);
        let (policy, seconds) = (self.policy, self.policy.seconds);
        let (timed, _) = time(self.session, recording, policy, seconds, |_| String::new())?;
        self.finding.wall.busy += timed.walls.iter().sum::<f64>();
        Ok(timed.walls)
    }

    /// Seconds on the host's clock of what the device alone does not do.
    fn by_host(&mut self, mut once: impl FnMut(&mut Self) -> Result<()>) -> Result<Vec<f64>> {
        (self.stage)(Stage::Measure);
        self.begin()?;
        once(self)?;
        let Policy { target, least, most, seconds, .. } = *self.policy;
        let mut sampling = Sampling::new(target, least, most, seconds);
        loop {
            let begun = Instant::now();
            once(self)?;
            let seconds = begun.elapsed().as_secs_f64();
            if sampling.feed(seconds, seconds) != Decision::Continue {
                return Ok(sampling.into_samples());
            }
        }
    }

    fn save_to_file(&mut self, lanes: u32) -> Result<()> {
        let Self { iteration, keep, .. } = *self;
        ToFile { iteration, lanes, keep }.run(self.session, 0, self.saves)
    }

    /// From the file until the iteration could go on.
    fn restore_from_file(&mut self, lanes: u32) -> Result<()> {
        let missing = || Error::Device("the file of the saved state is gone".into());
        let kept = self.keep.load()?.ok_or_else(missing)?;
        self.session.device.write(saved(self.iteration.case, 0), &kept.state)?;
        self.session.device.run(&self.iteration.restore(lanes)).map(drop)
    }

    /// Everything as it was before the first pass.
    fn begin(&mut self) -> Result<()> {
        memory::write(self.session.device.as_mut(), self.check.case, self.check.initial, true)
    }

    /// Whether timed runs wrote nothing beside their buffers. What they left in them is not compared:
    /// each goes on in place from where the one before ended.
    fn untouched(&mut self, when: &str) -> Result<bool> {
        self.check.guards(self.session, when, self.finding)
    }

    fn read(&mut self) -> Result<Vec<u8>> {
        read_state(self.session.device.as_mut(), self.iteration.case)
    }

    /// Whether the iteration has ended in the state `last`, with nothing else overwritten.
    fn ended(&mut self, last: &[u8], when: &str) -> Result<bool> {
        let found = self.read()?;
        Ok(self.check.guards(self.session, when, self.finding)? && self.same(last, &found, when))
    }

    /// Whether two states are equal to the bit; else the first scalar that is not is told.
    fn same(&mut self, wanted: &[u8], found: &[u8], when: &str) -> bool {
        let mismatch = difference(self.iteration.case, wanted, found, when);
        let same = mismatch.is_none();
        if let Some(mismatch) = mismatch {
            self.finding.mismatch(mismatch);
        }
        same
    }
}

fn difference(case: &Case, wanted: &[u8], found: &[u8], when: &str) -> Option<Mismatch> {
    let words = || wanted.chunks_exact(4).zip(found.chunks_exact(4));
    let at = words().position(|(a, b)| a != b);
    if at.is_none() && wanted.len() == found.len() {
        return None;
    }
    let byte = 4 * at.unwrap_or(wanted.len().min(found.len()) / 4);
    let parts = state(case);
    let part = parts.iter().rev().find(|part| part.offset <= byte as u64)?;
    let buffer = &case.buffers[part.buffer];
    let shown = |bytes: &[u8]| {
        let word = bytes.get(byte..byte + 4).unwrap_or_default();
        let value = Data::from_bytes(buffer.element.scalar, word).get(0);
        value.map_or_else(|| "nothing".into(), |value| value.to_string())
    };
    Some(Mismatch {
        buffer: buffer.name.clone(),
        index: (byte as u64 - part.offset) / 4,
        found: shown(found),
        expected: shown(wanted),
        wrong: words().filter(|(a, b)| a != b).count().max(1) as u64,
        of: (wanted.len() / 4) as u64,
        when: when.to_owned(),
    })
}

/// The fastest iteration with saves to memory stands for the case in tables.
fn measured(detail: &Checkpoint, flops: f64, bytes: f64) -> Measured {
    let middle = |run: &&CheckpointRun| {
        crate::stats::Summary::of(&run.saving).map_or(f64::INFINITY, |summary| summary.median)
    };
    let runs = detail.runs.iter().filter(|run| !run.to_file);
    let fastest = runs.min_by(|a, b| middle(a).total_cmp(&middle(b)));
    Measured {
        samples: fastest.map_or_else(Vec::new, |run| run.saving.clone()),
        batch: 1,
        clock: detail.clock,
        resolution: HOST_RESOLUTION,
        flops,
        bytes,
        warmup: 0.0,
        dropped: 0,
    }
}
