//! Copies from and to pageable memory go through a small ring of staging memory. A long one is cut into
//! pieces, so that the host copies one while the device copies another, and what lies between the two
//! copies stays in the processor's caches. Drivers of devices with memory of their own do the same.

use super::plan::How;
use gpubench_core::gpu::{Op, Recording, Slice, Step, StepId};
use gpubench_core::units::Bytes;
use std::borrow::Cow;

/// Bytes of the longest piece and of a slot of the ring: long against what a submission costs, short
/// against a processor's last cache.
const PIECE: u64 = 1 << 20;

/// Slots of the ring.
pub(super) const SLOTS: usize = 4;

/// Bytes of the ring.
pub(super) const RING: u64 = SLOTS as u64 * PIECE;

/// The slot that a byte of the ring lies in.
pub(super) fn slot(at: u64) -> usize {
    (at / PIECE) as usize
}

/// The recording with its long staged copies in pieces, and who does each step of it: each staged one has
/// its place in the ring.
pub(super) fn cut<'r>(
    recording: &'r Recording,
    mut hows: Vec<How>,
) -> (Cow<'r, Recording>, Vec<How>) {
    let is_long =
        |(step, how): (&Step, &How)| matches!(how, How::Staged(_)) && bytes(&step.op) > PIECE;
    let mut cut = Cow::Borrowed(recording);
    if recording.steps.iter().zip(&hows).any(is_long) {
        let (pieces, of_pieces) = in_pieces(recording, &hows, is_long);
        (cut, hows) = (Cow::Owned(pieces), of_pieces);
    }
    let mut next = 0;
    for (step, how) in cut.steps.iter().zip(&mut hows) {
        let How::Staged(at) = how else { continue };
        let len = bytes(&step.op);
        if next % PIECE + len > PIECE {
            next = next.next_multiple_of(PIECE);
        }
        *at = next % RING;
        next = *at + len.next_multiple_of(ALIGNMENT);
    }
    (cut, hows)
}

/// Of places in the ring.
const ALIGNMENT: u64 = 64;

fn in_pieces(
    recording: &Recording,
    hows: &[How],
    is_long: impl Fn((&Step, &How)) -> bool,
) -> (Recording, Vec<How>) {
    let (mut cut, mut of_pieces) = (Recording::default(), vec![]);
    // The last piece of each step.
    let mut ends: Vec<StepId> = vec![];
    for (step, how) in recording.steps.iter().zip(hows) {
        let mut after: Vec<_> = step.after.iter().map(|id| ends[id.0 as usize]).collect();
        let ops = match is_long((step, how)) {
            true => pieces(&step.op),
            false => vec![step.op.clone()],
        };
        of_pieces.extend(ops.iter().map(|_| *how));
        // A queue's steps are in order: the first piece waits for all.
        let pushed = ops.into_iter().map(|op| cut.push(step.queue, std::mem::take(&mut after), op));
        ends.extend(pushed.last());
    }
    (cut, of_pieces)
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
        Op::Upload { from, to } => Op::Upload { from: part(from, first), to: part(to, first) },
        Op::Download { from, to } => Op::Download { from: part(from, first), to: part(to, first) },
        other => other.clone(),
    };
    (0..bytes(op)).step_by(PIECE as usize).map(piece).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::gpu::{BufferId, Queue};

    fn slice(buffer: u32, offset: u64, len: u64) -> Slice {
        Slice { buffer: BufferId(buffer), offset: Bytes(offset), len: Bytes(len) }
    }

    fn upload(offset: u64, len: u64) -> Op {
        Op::Upload { from: slice(9, offset, len), to: slice(0, offset + 4, len) }
    }

    #[test]
    fn long_copies_are_cut_and_what_waits_for_them_waits_for_the_last_piece() {
        let mut recording = Recording::default();
        let first = recording.push(Queue(0), vec![], upload(8, 2 * PIECE + 4));
        let copy = Op::Copy { from: slice(0, 0, 3 * PIECE), to: slice(1, 0, 3 * PIECE) };
        let second = recording.push(Queue(1), vec![first], copy.clone());
        recording.push(Queue(0), vec![second], upload(0, PIECE + 4));
        let (cut, hows) = cut(&recording, vec![How::Staged(0), How::Device, How::Staged(0)]);
        let step = |queue, after: &[u32], op| {
            let after = after.iter().map(|&id| StepId(id)).collect();
            Step { queue: Queue(queue), after, op }
        };
        let wanted = [
            step(0, &[], upload(8, PIECE)),
            step(0, &[], upload(8 + PIECE, PIECE)),
            step(0, &[], upload(8 + 2 * PIECE, 4)),
            step(1, &[2], copy),
            step(0, &[3], upload(0, PIECE)),
            step(0, &[], upload(PIECE, 4)),
        ];
        assert_eq!(cut.steps, wanted);
        use How::{Device, Staged};
        let at = [0, PIECE, 2 * PIECE, 3 * PIECE, 0].map(Staged);
        assert_eq!(hows, [at[0], at[1], at[2], Device, at[3], at[4]]);
    }

    #[test]
    fn short_and_direct_copies_stay_as_they_are() {
        let mut recording = Recording::default();
        recording.push(Queue(0), vec![], upload(0, PIECE));
        recording.push(Queue(0), vec![], upload(0, 2 * PIECE));
        let (cut, _) = cut(&recording, vec![How::Staged(0), How::Direct]);
        assert!(matches!(cut, Cow::Borrowed(_)));
    }

    #[test]
    fn short_copies_share_a_slot_and_none_lies_in_two() {
        let mut recording = Recording::default();
        let lens = [100, 4, PIECE - 100, 4, PIECE, PIECE, PIECE, 8];
        for len in lens {
            recording.push(Queue(0), vec![], upload(0, len));
        }
        let (_, hows) = cut(&recording, vec![How::Staged(0); lens.len()]);
        let wanted = [0, 128, PIECE, 2 * PIECE - 64, 2 * PIECE, 3 * PIECE, 0, PIECE];
        assert_eq!(hows, wanted.map(How::Staged));
        assert_eq!(wanted.map(slot), [0, 0, 1, 1, 2, 3, 0, 1]);
    }
}
