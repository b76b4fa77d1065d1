//! What a kernel owes its outputs: every element is written, and none is read before that.

use super::machine::Machine;
use super::mask::Mask;
use super::memory::elements;
use super::program::{Access, Output, Program, Space};
use super::{Buffer, Fault, FaultKind, Launch};

impl Machine<'_> {
    /// Looks for words of an output that are read before anything has written them.
    pub(super) fn note_read(&mut self, launch: &Launch, access: &Access, reach: &Mask) {
        let Some(buffer) = output(launch, access) else { return };
        for lane in reach.lanes() {
            let mut halves = access.halves(self.memory.addresses[lane]);
            if halves.all(|half| buffer.is_written(half)) {
                continue;
            }
            self.fault(FaultKind::ReadBeforeWrite, access.line, |machine| {
                let (element, count) = machine.element(launch, access, lane);
                let (item, name) = (machine.item(lane), &access.place.name);
                format!("{item} reads element {element} of {count} in `{name}`")
            });
        }
    }

    /// Notes which words of an output are written now.
    pub(super) fn note_write(&self, launch: &mut Launch, access: &Access, reach: &Mask) {
        let Space::Buffer(i) = access.place.space else { return };
        let Some(buffer) = launch.buffers.get_mut(i as usize).filter(|b| b.is_tracked()) else {
            return;
        };
        for lane in reach.lanes() {
            access.halves(self.memory.addresses[lane]).for_each(|half| buffer.mark(half));
        }
    }

    /// The element that a lane goes to, and how many there are.
    pub(super) fn element(&self, launch: &Launch, access: &Access, lane: usize) -> (u32, u32) {
        let length = self.length(launch, access);
        match access.place.indices.first() {
            Some(index) => {
                let count = index.count.unwrap_or_else(|| elements(length, access, index.stride));
                (self.row(index.row)[lane], count)
            }
            None => (self.memory.addresses[lane], length),
        }
    }
}

fn output<'l>(launch: &'l Launch, access: &Access) -> Option<&'l Buffer> {
    let Space::Buffer(i) = access.place.space else { return None };
    launch.buffers.get(i as usize).filter(|buffer| buffer.is_tracked())
}

/// Elements of outputs that were never written: one fault for each array or member.
pub(super) fn never_written(program: &Program, launch: &Launch) -> Vec<Fault> {
    let mut faults = vec![];
    for (binding, buffer) in (0..).zip(&launch.buffers).filter(|(_, b)| b.is_tracked()) {
        let declared = program.outputs.iter().filter(|output| output.binding == binding);
        let mut all: Vec<_> = declared.cloned().collect();
        if all.is_empty() {
            all.push(Output::undeclared(binding));
        }
        faults.extend(all.iter().filter_map(|output| missing(program, output, buffer)));
    }
    faults
}

fn missing(program: &Program, output: &Output, buffer: &Buffer) -> Option<Fault> {
    let end = 2 * buffer.len();
    let behind = end.saturating_sub(output.offset as usize);
    let count = output.count.map_or(behind / output.stride as usize, |count| count as usize);
    let is_missing = |element: &usize| {
        let first = output.offset as usize + element * output.stride as usize;
        let mut halves = output.halves.iter().map(|half| first + *half as usize);
        halves.any(|half| half < end && !buffer.is_written(half))
    };
    let mut missing = (0..count).filter(is_missing);
    let first = missing.next()?;
    Some(Fault {
        kind: FaultKind::NeverWritten,
        file: program.file.clone(),
        line: output.line,
        what: format!("no work-item writes element {first} of {count} in `{}`", output.name),
        times: 1 + missing.count() as u64,
    })
}
