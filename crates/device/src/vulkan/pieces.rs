//! Long copies from and to pageable memory are cut into pieces, so that the host copies one while the device
//! copies another, and copies of several queues go on at once.

use super::plan::How;
use gpubench_core::gpu::{Op, Recording, Slice, Step, StepId};
use gpubench_core::units::Bytes;
use std::borrow::Cow;

/// Bytes of the longest piece and of a slot of the ring: long against what a submission costs, short
/// against a processor's last cache.
const PIECE: u64 = 1 << 20;

/// Slots of the ring.
pub(super) const SLOTS: usize = 4;

/// The host must find another slot while the device has one.
const _: () = assert!(SLOTS > 1);

/// Bytes of the ring.
pub(super) const RING: u64 = SLOTS as u64 * PIECE;

/// Places in the ring begin at a line of most processors' caches.
const LINE: u64 = 64;

/// The slot that a place in the ring lies in.
pub(super) fn slot_of(at: u64) -> usize {
    (at / PIECE) as usize
}

/// Whether a copy is so long that the host begins with it before the device has ended the next: a whole piece.
pub(super) fn is_long(op: &Op) -> bool {
    bytes(op) >= PIECE
}

/// The recording, whose queues are those of the device that `assigned` says, with its long staged copies in pieces,
/// and who does each step of it.
pub(super) fn in_pieces<'r>(
    recording: &'r Recording,
    assigned: &[usize],
    hows: Vec<How>,
) -> (Cow<'r, Recording>, Vec<How>) {
    let is_cut =
        |step: usize| hows[step] == How::Staged && bytes(&recording.steps[step].op) > PIECE;
    if !(0..hows.len()).any(is_cut) {
        return (Cow::Borrowed(recording), hows);
    }
    let one_way = is_one_way(recording, &hows);
    let mut cutter = Cutter {
        recording,
        assigned,
        hows: &hows,
        cut: Recording::default(),
        cut_hows: vec![],
        ends: vec![StepId(0); hows.len()],
        turn: vec![],
    };
    for step in 0..hows.len() {
        if is_cut(step) {
            cutter.take_turns(step);
        } else {
            cutter.end_turns();
            cutter.push(step, 0, recording.steps[step].op.clone());
        }
    }
    cutter.end_turns();
    let Cutter { cut, mut cut_hows, .. } = cutter;
    if one_way {
        take_places(&cut, &mut cut_hows);
    }
    (Cow::Owned(cut), cut_hows)
}

/// Whether it only copies, on one queue, and only from or only to pageable memory. Then a small ring is enough, whose
/// bytes stay in the processor's caches. Else the host, waiting for a slot, would hold up what other steps could do.
fn is_one_way(recording: &Recording, hows: &[How]) -> bool {
    let is_upload = |step: &Step| matches!(step.op, Op::Upload { .. });
    let uploads = recording.steps.iter().filter(|step| is_upload(step)).count();
    let staged = hows.iter().all(|how| *how == How::Staged);
    staged && recording.queues() == 1 && (uploads == 0 || uploads == recording.steps.len())
}

/// Gives each copy its place in the ring: slot after slot, and none in two.
fn take_places(recording: &Recording, hows: &mut [How]) {
    let mut next = 0;
    for (step, how) in recording.steps.iter().zip(hows) {
        let len = bytes(&step.op);
        if next % PIECE + len > PIECE {
            next = next.next_multiple_of(PIECE);
        }
        let at = next % RING;
        *how = How::Ring(at);
        next = at + len.next_multiple_of(LINE);
    }
}

struct Cutter<'a> {
    recording: &'a Recording,
    /// The device's queue of each of the recording's.
    assigned: &'a [usize],
    hows: &'a [How],
    cut: Recording,
    cut_hows: Vec<How>,
    /// What has ended when a step has: its last piece.
    ends: Vec<StepId>,
    /// Steps to be cut whose pieces take turns.
    turn: Vec<usize>,
}

impl Cutter<'_> {
    /// A further step to be cut: copies on queues of the device of their own that do not wait for each other take
    /// turns.
    fn take_turns(&mut self, step: usize) {
        let queue = |step: usize| self.assigned[self.recording.steps[step].queue.0 as usize];
        let after = &self.recording.steps[step].after;
        let waits = |other: usize| after.iter().any(|id| id.0 as usize == other);
        if self.turn.iter().any(|&other| queue(other) == queue(step) || waits(other)) {
            self.end_turns();
        }
        self.turn.push(step);
    }

    /// Those to pageable memory are handed over first: the host has its half of them later, and goes on with the
    /// others.
    fn end_turns(&mut self) {
        let is_upload = |step: &usize| matches!(self.recording.steps[*step].op, Op::Upload { .. });
        let (uploads, downloads) = std::mem::take(&mut self.turn).into_iter().partition(is_upload);
        self.in_turn(downloads);
        self.in_turn(uploads);
    }

    fn in_turn(&mut self, turn: Vec<usize>) {
        let ops: Vec<_> = turn.iter().map(|&step| pieces(&self.recording.steps[step].op)).collect();
        let longest = ops.iter().map(Vec::len).max().unwrap_or(0);
        for piece in 0..longest {
            for (&step, ops) in turn.iter().zip(&ops) {
                if let Some(op) = ops.get(piece) {
                    self.push(step, piece, op.clone());
                }
            }
        }
    }

    /// One piece of a step. A queue's steps are in order: the first waits for all of them.
    fn push(&mut self, step: usize, piece: usize, op: Op) {
        let Step { queue, after, .. } = &self.recording.steps[step];
        let after =
            after.iter().filter(|_| piece == 0).map(|id| self.ends[id.0 as usize]).collect();
        self.ends[step] = self.cut.push(*queue, after, op);
        self.cut_hows.push(self.hows[step]);
    }
}

fn bytes(op: &Op) -> u64 {
    match op {
        Op::Upload { from, .. } | Op::Download { from, .. } => from.len.0,
        _ => 0,
    }
}

fn pieces(op: &Op) -> Vec<Op> {
    let part = |slice: &Slice, first: u64| Slice {
        buffer: slice.buffer,
        offset: Bytes(slice.offset.0 + first),
        len: Bytes(PIECE.min(slice.len.0 - first)),
    };
    let piece = |first| match op {
        Op::Download { from, to } => Op::Download { from: part(from, first), to: part(to, first) },
        Op::Upload { from, to } => Op::Upload { from: part(from, first), to: part(to, first) },
        uncut => uncut.clone(),
    };
    (0..bytes(op)).step_by(PIECE as usize).map(piece).collect()
}

#[cfg(test)]
mod tests {
    use super::How::{Device, Direct, Ring, Staged};
    use super::*;
    use gpubench_core::gpu::{BufferId, Queue};

    fn slice(buffer: u32, offset: u64, len: u64) -> Slice {
        Slice { buffer: BufferId(buffer), offset: Bytes(offset), len: Bytes(len) }
    }

    fn upload(offset: u64, len: u64) -> Op {
        Op::Upload { from: slice(9, offset, len), to: slice(0, offset + 4, len) }
    }

    fn download(offset: u64, len: u64) -> Op {
        Op::Download { from: slice(1, offset, len), to: slice(8, offset, len) }
    }

    fn recording(steps: &[(u32, &[u32], Op)]) -> Recording {
        let mut recording = Recording::default();
        for (queue, after, op) in steps {
            let after = after.iter().map(|&id| StepId(id)).collect();
            recording.push(Queue(*queue), after, op.clone());
        }
        recording
    }

    #[test]
    fn what_waits_for_a_long_copy_waits_for_its_last_piece() {
        let copy = Op::Copy { from: slice(0, 0, 3 * PIECE), to: slice(1, 0, 3 * PIECE) };
        let whole = recording(&[
            (0, &[], upload(8, 2 * PIECE + 4)),
            (1, &[0], copy.clone()),
            (0, &[1], upload(0, PIECE + 4)),
        ]);
        let (cut, hows) = in_pieces(&whole, &[0, 1], vec![Staged, Device, Staged]);
        let wanted = recording(&[
            (0, &[], upload(8, PIECE)),
            (0, &[], upload(8 + PIECE, PIECE)),
            (0, &[], upload(8 + 2 * PIECE, 4)),
            (1, &[2], copy),
            (0, &[3], upload(0, PIECE)),
            (0, &[], upload(PIECE, 4)),
        ]);
        assert_eq!(*cut, wanted);
        assert_eq!(hows, [Staged, Staged, Staged, Device, Staged, Staged]);
    }

    #[test]
    fn copies_of_several_queues_take_turns() {
        let whole = recording(&[
            (0, &[], upload(0, 2 * PIECE)),
            (1, &[], upload(8, 3 * PIECE)),
            (2, &[1], upload(4, 2 * PIECE)),
        ]);
        let (cut, hows) = in_pieces(&whole, &[0, 1, 2], vec![Staged; 3]);
        let wanted = recording(&[
            (0, &[], upload(0, PIECE)),
            (1, &[], upload(8, PIECE)),
            (0, &[], upload(PIECE, PIECE)),
            (1, &[], upload(8 + PIECE, PIECE)),
            (1, &[], upload(8 + 2 * PIECE, PIECE)),
            (2, &[4], upload(4, PIECE)),
            (2, &[], upload(4 + PIECE, PIECE)),
        ]);
        assert_eq!(*cut, wanted);
        assert_eq!(hows, [Staged; 7], "the ring is for one queue");
    }

    #[test]
    fn copies_from_the_device_are_handed_over_before_those_to_it() {
        let whole = recording(&[(0, &[], upload(0, 2 * PIECE)), (1, &[], download(0, 2 * PIECE))]);
        let both = || vec![Staged; 2];
        let (cut, _) = in_pieces(&whole, &[0, 1], both());
        let wanted = recording(&[
            (1, &[], download(0, PIECE)),
            (1, &[], download(PIECE, PIECE)),
            (0, &[], upload(0, PIECE)),
            (0, &[], upload(PIECE, PIECE)),
        ]);
        assert_eq!(*cut, wanted);
        // One queue of the device has them in the recording's order.
        let (cut, hows) = in_pieces(&whole, &[0, 0], both());
        let wanted = recording(&[
            (0, &[], upload(0, PIECE)),
            (0, &[], upload(PIECE, PIECE)),
            (1, &[], download(0, PIECE)),
            (1, &[], download(PIECE, PIECE)),
        ]);
        assert_eq!(*cut, wanted);
        assert_eq!(hows, [Staged; 4], "the ring is for one way");
    }

    #[test]
    fn short_and_direct_copies_stay_as_they_are() {
        let whole = recording(&[(0, &[], upload(0, PIECE)), (0, &[], upload(0, 2 * PIECE))]);
        let (cut, hows) = in_pieces(&whole, &[0], vec![Staged, Direct]);
        assert!(matches!(cut, Cow::Borrowed(_)));
        assert_eq!(hows, [Staged, Direct]);
    }

    #[test]
    fn copies_one_way_go_around_the_ring_and_none_lies_in_two_slots() {
        let lens = [100, 4, PIECE - 100, 4, 2 * PIECE, PIECE, 8];
        let whole = recording(&lens.map(|len| (0, &[][..], upload(0, len))));
        let (_, hows) = in_pieces(&whole, &[0], vec![Staged; lens.len()]);
        let wanted = [0, 128, PIECE, 2 * PIECE - 64, 2 * PIECE, 3 * PIECE, 0, PIECE];
        assert_eq!(hows, wanted.map(Ring));
        assert_eq!(wanted.map(slot_of), [0, 0, 1, 1, 2, 3, 0, 1]);
    }
}
