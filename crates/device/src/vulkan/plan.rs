//! A recording becomes submissions, and what the host does between them.
//!
//! Steps of one queue are one batch until another queue waits for one of them, or one of them waits for
//! another queue. Everything is handed over in the recording's order, so that a queue never waits for
//! what stands behind it on the same queue of the device. The host's half of a copy from pageable memory
//! comes before the device's; that of a copy to it is put off until the bytes are wanted, or their slot of
//! the staging ring, or to the end. A long copy ends its batch, so that the host sees its end.

use super::pieces::{SLOTS, is_long, slot_of};
use gpubench_core::gpu::{Op, Recording, Slice};
use std::collections::BTreeMap;

/// Who does a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// The device alone.
    Device,
    /// The device, after the host has copied pageable memory to staging, or before it copies it from
    /// there.
    Staged,
    /// As `Staged`, from this byte of the ring on. Places are taken slot after slot.
    Ring(u64),
    /// The host alone: a copy into or out of the device's memory, a map, an unmap.
    Direct,
}

/// Steps that the device does one after the other on one of its queues.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Batch {
    /// Positions in the recording.
    pub steps: Vec<usize>,
    /// Steps of other queues that must have ended before, by queue: the last of each.
    pub waits: BTreeMap<usize, usize>,
}

/// What the host does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostCopy {
    /// Pageable memory to staging.
    ToStaging(Slice, How),
    /// Staging to pageable memory.
    FromStaging(Slice, How),
    /// A whole step, by its position.
    Direct(usize),
}

/// What is done one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Batches for one of the device's queues.
    Submit { queue: usize, batches: Vec<Batch> },
    /// The host copies, once these steps have ended, by queue: the last of each.
    Host { after: BTreeMap<usize, usize>, copy: HostCopy },
}

/// Plans a recording whose queues are those of the device that `assigned` says.
pub(super) fn plan(recording: &Recording, assigned: &[usize], hows: &[How]) -> Vec<Stage> {
    let mut planner = Planner {
        recording,
        hows,
        queues: recording.steps.iter().map(|step| assigned[step.queue.0 as usize]).collect(),
        waited: vec![],
        last: BTreeMap::new(),
        open: BTreeMap::new(),
        ends: BTreeMap::new(),
        pending: vec![],
        slot: 0,
        uploads: [None; SLOTS],
        stages: vec![],
    };
    planner.waited = planner.waited();
    for step in 0..recording.steps.len() {
        planner.step(step);
    }
    planner.close_all();
    planner.collect(|_, _| true);
    planner.stages
}

struct Planner<'a> {
    recording: &'a Recording,
    hows: &'a [How],
    /// The device's queue of each step.
    queues: Vec<usize>,
    /// Whether another queue waits for a step.
    waited: Vec<bool>,
    /// The last step so far of each queue.
    last: BTreeMap<usize, usize>,
    open: BTreeMap<usize, Batch>,
    /// The last step of the batch of each staged copy, once that is closed. It is what the batch signals;
    /// Khronos' layer never sees the end of a wait for any other.
    ends: BTreeMap<usize, usize>,
    /// Copies to pageable memory whose bytes are still in staging.
    pending: Vec<usize>,
    /// The slot of the ring that copies take places in.
    slot: usize,
    /// Of each slot the last copy from pageable memory.
    uploads: [Option<usize>; SLOTS],
    stages: Vec<Stage>,
}

impl Planner<'_> {
    /// The steps of other queues that a step waits for: the last of each. What the host did has ended
    /// before anything behind it is handed over.
    fn waits(&self, step: usize) -> BTreeMap<usize, usize> {
        let mut waits = BTreeMap::new();
        for id in &self.recording.steps[step].after {
            let earlier = id.0 as usize;
            let queue = self.queues[earlier];
            if queue != self.queues[step] && self.hows[earlier] != How::Direct {
                let last = waits.entry(queue).or_insert(earlier);
                *last = earlier.max(*last);
            }
        }
        waits
    }

    fn waited(&self) -> Vec<bool> {
        let mut waited = vec![false; self.queues.len()];
        for step in 0..self.queues.len() {
            self.waits(step).into_values().for_each(|earlier| waited[earlier] = true);
        }
        waited
    }

    fn step(&mut self, step: usize) {
        let (queue, waits) = (self.queues[step], self.waits(step));
        let op = &self.recording.steps[step].op;
        match (self.hows[step], op) {
            (How::Direct, _) => {
                let own = self.last.get(&queue).map(|&last| (queue, last));
                let after = waits.into_iter().chain(own).collect();
                self.host(after, HostCopy::Direct(step));
                return;
            }
            (how @ (How::Staged | How::Ring(_)), Op::Upload { from, .. }) => {
                self.collect(|_, to| overlap(to, from));
                let after = self.enter(how);
                self.host(after, HostCopy::ToStaging(*from, how));
                if let How::Ring(at) = how {
                    self.uploads[slot_of(at)] = Some(step);
                }
            }
            (how @ (How::Staged | How::Ring(_)), _) => {
                // A ring has one way: the host waits for no copy to the device.
                self.enter(how);
                self.pending.push(step);
            }
            (How::Device, _) => {}
        }
        if !waits.is_empty() {
            self.close(queue);
        }
        let batch = self.open.entry(queue).or_default();
        batch.steps.push(step);
        batch.waits.extend(waits);
        self.last.insert(queue, step);
        let host_waits = self.hows[step] != How::Device && is_long(op);
        if self.waited[step] || host_waits {
            self.close(queue);
        }
    }

    /// A copy takes its place in the ring: the bytes that were in a slot are collected when it is entered
    /// again, or the host waits for what this returns before it overwrites them.
    fn enter(&mut self, how: How) -> BTreeMap<usize, usize> {
        let How::Ring(at) = how else { return BTreeMap::new() };
        let slot = slot_of(at);
        if slot == self.slot {
            return BTreeMap::new();
        }
        self.slot = slot;
        self.close_all();
        self.collect(|how, _| matches!(how, How::Ring(at) if slot_of(at) == slot));
        let upload = self.uploads[slot].take();
        upload.map(|step| self.end(step)).into_iter().collect()
    }

    /// The queue and the step by whose end the host knows that a staged copy has ended.
    fn end(&self, step: usize) -> (usize, usize) {
        (self.queues[step], self.ends.get(&step).copied().unwrap_or(step))
    }

    /// The host's half of the copies to pageable memory that are wanted, and of earlier ones to the same bytes, which
    /// must not overwrite theirs.
    fn collect(&mut self, is_wanted: impl Fn(How, &Slice) -> bool) {
        let mut wanted: Vec<(usize, Slice)> = vec![];
        for step in std::mem::take(&mut self.pending).into_iter().rev() {
            let Op::Download { to, .. } = &self.recording.steps[step].op else { continue };
            let is_earlier = || wanted.iter().any(|(_, later)| overlap(later, to));
            match is_wanted(self.hows[step], to) || is_earlier() {
                true => wanted.push((step, *to)),
                false => self.pending.push(step),
            }
        }
        self.pending.reverse();
        for (step, to) in wanted.into_iter().rev() {
            self.close_all();
            let after = BTreeMap::from([self.end(step)]);
            self.host(after, HostCopy::FromStaging(to, self.hows[step]));
        }
    }

    /// The host copies: what came before is handed over first, so that the device need not wait.
    fn host(&mut self, after: BTreeMap<usize, usize>, copy: HostCopy) {
        self.close_all();
        self.stages.push(Stage::Host { after, copy });
    }

    fn close_all(&mut self) {
        let open: Vec<usize> = self.open.keys().copied().collect();
        open.into_iter().for_each(|queue| self.close(queue));
    }

    fn close(&mut self, on: usize) {
        let Some(batch) = self.open.remove(&on) else { return };
        if let Some(&end) = batch.steps.last() {
            let staged = batch.steps.iter().filter(|step| self.hows[**step] != How::Device);
            self.ends.extend(staged.map(|&step| (step, end)));
        }
        match self.stages.last_mut() {
            Some(Stage::Submit { queue, batches }) if *queue == on => batches.push(batch),
            _ => self.stages.push(Stage::Submit { queue: on, batches: vec![batch] }),
        }
    }
}

/// Whether two slices have bytes in common.
pub(super) fn overlap(a: &Slice, b: &Slice) -> bool {
    let end = |slice: &Slice| slice.offset.0 + slice.len.0;
    a.buffer == b.buffer && a.offset.0 < end(b) && b.offset.0 < end(a)
}

#[cfg(test)]
mod tests {
    use super::super::pieces::RING;
    use super::*;
    use gpubench_core::gpu::{BufferId, Queue, StepId};
    use gpubench_core::units::Bytes;

    fn slice(buffer: u32) -> Slice {
        Slice { buffer: BufferId(buffer), offset: Bytes(0), len: Bytes(4) }
    }

    /// Steps on queues, each after others: downloads to buffer 9 where staged or direct.
    fn recording(steps: &[(u32, &[u32])]) -> Recording {
        let mut recording = Recording::default();
        for (queue, after) in steps {
            let after = after.iter().map(|&id| StepId(id)).collect();
            recording.push(Queue(*queue), after, Op::Download { from: slice(0), to: slice(9) });
        }
        recording
    }

    fn batch(steps: &[usize], waits: &[(usize, usize)]) -> Batch {
        Batch { steps: steps.to_vec(), waits: waits.iter().copied().collect() }
    }

    fn submit(queue: usize, batches: &[Batch]) -> Stage {
        Stage::Submit { queue, batches: batches.to_vec() }
    }

    #[test]
    fn queues_without_dependencies_have_one_submission_each() {
        let recording = recording(&[(0, &[]), (1, &[]), (0, &[]), (1, &[2, 0])]);
        let apart = plan(&recording, &[0, 1], &[How::Device; 4]);
        // Step 3 waits for step 2, the last of its queue, and that ends its batch.
        let first = submit(0, &[batch(&[0, 2], &[])]);
        assert_eq!(apart, [first, submit(1, &[batch(&[1], &[]), batch(&[3], &[(0, 2)])])]);
        let shared = plan(&recording, &[0, 0], &[How::Device; 4]);
        assert_eq!(shared, [submit(0, &[batch(&[0, 1, 2, 3], &[])])]);
    }

    #[test]
    fn a_queue_is_handed_over_what_it_waits_for_first() {
        let recording = recording(&[(0, &[]), (1, &[0]), (0, &[1]), (1, &[2])]);
        let stages = plan(&recording, &[0, 1], &[How::Device; 4]);
        let wanted = [
            submit(0, &[batch(&[0], &[])]),
            submit(1, &[batch(&[1], &[(0, 0)])]),
            submit(0, &[batch(&[2], &[(1, 1)])]),
            submit(1, &[batch(&[3], &[(0, 2)])]),
        ];
        assert_eq!(stages, wanted);
    }

    #[test]
    fn the_host_waits_for_what_comes_before_its_copy() {
        let recording = recording(&[(0, &[]), (1, &[]), (1, &[0]), (0, &[2])]);
        let hows = [How::Device, How::Device, How::Direct, How::Device];
        let stages = plan(&recording, &[0, 1], &hows);
        let after = BTreeMap::from([(0, 0), (1, 1)]);
        let wanted = [
            submit(0, &[batch(&[0], &[])]),
            submit(1, &[batch(&[1], &[])]),
            Stage::Host { after, copy: HostCopy::Direct(2) },
            submit(0, &[batch(&[3], &[])]),
        ];
        assert_eq!(stages, wanted);
    }

    #[test]
    fn bytes_in_staging_are_collected_when_they_are_wanted() {
        let mut recording = recording(&[(0, &[]), (0, &[])]);
        recording.push(Queue(0), vec![], Op::Upload { from: slice(9), to: slice(0) });
        let stages = plan(&recording, &[0], &[How::Staged; 3]);
        let host = |step: Option<usize>, copy| Stage::Host {
            after: step.map(|step| (0, step)).into_iter().collect(),
            copy,
        };
        let wanted = [
            submit(0, &[batch(&[0, 1], &[])]),
            host(Some(1), HostCopy::FromStaging(slice(9), How::Staged)),
            host(Some(1), HostCopy::FromStaging(slice(9), How::Staged)),
            host(None, HostCopy::ToStaging(slice(9), How::Staged)),
            submit(0, &[batch(&[2], &[])]),
        ];
        assert_eq!(stages, wanted);
        recording.steps.truncate(1);
        let at_the_end = plan(&recording, &[0], &[How::Staged]);
        assert_eq!(at_the_end[1], host(Some(0), HostCopy::FromStaging(slice(9), How::Staged)));
    }

    #[test]
    fn an_earlier_copy_to_the_host_never_overwrites_a_later_one() {
        let mut recording = recording(&[(0, &[])]);
        let other = |offset| Slice { offset: Bytes(offset), ..slice(9) };
        recording.push(Queue(0), vec![], Op::Download { from: slice(0), to: other(2) });
        recording.push(Queue(0), vec![], Op::Upload { from: other(4), to: slice(0) });
        // The upload wants the second's bytes; the first's two last are the second's, too.
        let stages = plan(&recording, &[0], &[How::Staged; 3]);
        let copies = stages.iter().filter_map(|stage| match stage {
            Stage::Host { copy, .. } => Some(*copy),
            Stage::Submit { .. } => None,
        });
        let wanted = [
            HostCopy::FromStaging(slice(9), How::Staged),
            HostCopy::FromStaging(other(2), How::Staged),
            HostCopy::ToStaging(other(4), How::Staged),
        ];
        assert_eq!(copies.collect::<Vec<_>>(), wanted);
    }

    /// Copies of one queue that take whole slots of the ring, one more than there are.
    fn around_the_ring(op: Op) -> Vec<Stage> {
        let slots = (0..=SLOTS).map(|slot| (slot % SLOTS) as u64 * RING / SLOTS as u64);
        let hows: Vec<How> = slots.map(How::Ring).collect();
        let recording = Recording::one_queue(vec![op; hows.len()]);
        plan(&recording, &[0], &hows)
    }

    #[test]
    fn the_host_overwrites_a_slot_once_the_device_has_copied_it() {
        let stages = around_the_ring(Op::Upload { from: slice(9), to: slice(0) });
        let waited = stages.iter().filter_map(|stage| match stage {
            Stage::Host { after, .. } => Some(after.clone()),
            Stage::Submit { .. } => None,
        });
        let mut wanted = vec![BTreeMap::new(); SLOTS];
        wanted.push(BTreeMap::from([(0, 0)]));
        assert_eq!(waited.collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn a_slot_is_collected_before_the_device_overwrites_it_while_it_copies_others() {
        let stages = around_the_ring(Op::Download { from: slice(0), to: slice(9) });
        let first = (0..SLOTS).map(|step| batch(&[step], &[])).collect::<Vec<_>>();
        assert_eq!(stages[0], submit(0, &first));
        let copy = HostCopy::FromStaging(slice(9), How::Ring(0));
        assert_eq!(stages[1], Stage::Host { after: BTreeMap::from([(0, 0)]), copy });
        assert_eq!(stages[2], submit(0, &[batch(&[SLOTS], &[])]));
    }
}
