//! Whether iterations with saves are in the same states as those without, to the bit: what is saved, what is
//! restored, and what each ends in.

use super::{Iterations, QUEUE_COUNTS, States};
use crate::Stage;
use crate::iterate::write_state;
use crate::iteration::{save_buffer, state};
use crate::plan::Case;
use gpubench_core::error::{Error, Result};
use gpubench_core::record::Mismatch;
use gpubench_reference::Data;

impl Iterations<'_> {
    /// Runs without saves; `None` where what it ends in is not what is expected.
    pub(super) fn states(&mut self) -> Result<Option<States>> {
        self.begin()?;
        let (mut at, mut saved) = (0, vec![]);
        for &save in self.saves {
            self.bench.device().run(&self.iteration.straight(at..save))?;
            saved.push(self.read()?);
            at = save;
        }
        self.bench.device().run(&self.iteration.straight(at..self.iteration.passes()))?;
        let last = self.read()?;
        let right = self.check.results(&mut self.bench, "iteration without saves")?;
        Ok(right.then_some(States { saved, last }))
    }

    /// Whether saving on so many queues, to memory and to a file, leaves the right states there and in
    /// the end, and whether the iteration goes on from each of them to the right end.
    pub(super) fn verified(&mut self, queues: u32, states: &States) -> Result<bool> {
        self.bench.enter(Stage::Verify);
        let poison = vec![0xff; states.last.len()];
        for save in 0..self.saves.len() {
            self.bench.device().write(save_buffer(self.iteration.case, save), &poison)?;
        }
        self.begin()?;
        self.bench.device().run(&self.iteration.saving(queues, self.saves))?;
        let when = format!("iteration with saves to memory on {queues} queues");
        if !self.ended(&states.last, &when)? || !self.memory_holds(states, queues)? {
            return Ok(false);
        }
        // From another save on each number of queues.
        let at = QUEUE_COUNTS.iter().position(|&n| n == queues).unwrap_or(0) % self.saves.len();
        if !self.goes_on(queues, self.saves[at], &states.saved[at], &states.last)? {
            return Ok(false);
        }
        self.begin()?;
        // One that was saved before would be right, too.
        self.checkpoint_store.remove()?;
        self.save_to_file(queues)?;
        let when = format!("iteration with saves to a file on {queues} queues");
        if !self.ended(&states.last, &when)? {
            return Ok(false);
        }
        self.file_holds(states, queues)
    }

    /// Whether every save in memory is the state of its pass.
    fn memory_holds(&mut self, states: &States, queues: u32) -> Result<bool> {
        for (save, wanted) in states.saved.iter().enumerate() {
            let found = self.bench.device().read(save_buffer(self.iteration.case, save))?;
            let when = format!("state after pass {}, saved on {queues} queues", self.saves[save]);
            if !self.same(wanted, &found, &when) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the file is the state of the last pass that is saved.
    fn file_holds(&mut self, states: &States, queues: u32) -> Result<bool> {
        let missing = || Error::Device("the file of the saved state is gone".into());
        let loaded = self.checkpoint_store.load()?.ok_or_else(missing)?;
        let last = self.saves.last().copied().unwrap_or(0);
        let wanted = states.saved.last().unwrap_or(&states.last);
        if loaded.done != last as u64 {
            let why = format!("the file is of pass {} and not of {last}", loaded.done);
            return Err(Error::Device(why));
        }
        let when = format!("state in the file, saved on {queues} queues");
        Ok(self.same(wanted, &loaded.state, &when))
    }

    /// Whether the iteration ends as it should, restored from the state after `done` passes.
    fn goes_on(&mut self, queues: u32, done: usize, state: &[u8], last: &[u8]) -> Result<bool> {
        let case = self.iteration.case;
        write_state(self.bench.device(), case, &vec![0xff; state.len()])?;
        self.bench.device().write(save_buffer(case, 0), state)?;
        self.bench.device().run(&self.iteration.restore(queues))?;
        let found = self.read()?;
        let when = format!("state after pass {done}, restored on {queues} queues");
        if !self.same(state, &found, &when) {
            return Ok(false);
        }
        self.bench.device().run(&self.iteration.straight(done..self.iteration.passes()))?;
        self.ended(last, &format!("iteration gone on from pass {done}"))
    }

    /// Whether timed runs wrote nothing beside their buffers. What they left in them is not compared:
    /// each goes on in place from where the one before ended.
    pub(super) fn untouched(&mut self, when: &str) -> Result<bool> {
        self.check.guards(&mut self.bench, when)
    }

    /// Whether the iteration has ended in the state `last`, with nothing else overwritten.
    fn ended(&mut self, last: &[u8], when: &str) -> Result<bool> {
        let found = self.read()?;
        Ok(self.check.guards(&mut self.bench, when)? && self.same(last, &found, when))
    }

    /// Whether two states are equal to the bit; else the first scalar that is not is reported.
    fn same(&mut self, wanted: &[u8], found: &[u8], when: &str) -> bool {
        let mismatch = difference(self.iteration.case, wanted, found, when);
        mismatch.map(|mismatch| self.bench.measurement.mismatch(mismatch)).is_none()
    }
}

fn difference(case: &Case, wanted: &[u8], found: &[u8], when: &str) -> Option<Mismatch> {
    let at = wanted.iter().zip(found).position(|(a, b)| a != b);
    if at.is_none() && wanted.len() == found.len() {
        return None;
    }
    let byte = at.unwrap_or(wanted.len().min(found.len()));
    let parts = state(case);
    let part = parts.iter().rev().find(|part| part.offset <= byte as u64)?;
    let buffer = &case.buffers[part.buffer];
    let (scalar, size) = (buffer.element.scalar, buffer.element.scalar.size());
    let index = (byte - part.offset as usize) / size;
    let first = part.offset as usize + index * size;
    let scalars = || wanted.chunks_exact(size).zip(found.chunks_exact(size));
    let shown = |bytes: &[u8]| {
        let bytes = bytes.get(first..first + size).unwrap_or_default();
        let value = Data::from_bytes(scalar, bytes).get(0);
        value.map_or_else(|| "nothing".into(), |value| value.to_string())
    };
    Some(Mismatch {
        buffer: buffer.name.clone(),
        index: index as u64,
        found: shown(found),
        expected: shown(wanted),
        wrong: scalars().filter(|(a, b)| a != b).count().max(1) as u64,
        of: (wanted.len() / size) as u64,
        when: when.to_owned(),
    })
}
