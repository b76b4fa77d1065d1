//! An iteration of several passes whose state is saved while it goes on, as recordings.
//!
//! The state is what the passes write. With one queue it is downloaded between two passes, which wait.
//! With more, it is copied on the device between two passes, and downloaded from that copy on all
//! queues but the first while the passes go on: a pass that works in place must not change what is
//! being downloaded.

use crate::plan::{BufferPlan, Candidate, Case, GUARD, Limits, available, device_bytes, slices};
use gpubench_core::gpu::{Access, BufferId, DeviceInfo, Op, Queue, Recording, Slice, StepId};
use gpubench_core::reason::{Reason, Room};
use gpubench_core::units::Bytes;
use std::ops::Range;

/// Most saves on the way.
const SAVES: usize = 4;
/// States that the host holds at a time: each save's as it must be and as it is downloaded, the last one,
/// and one that is read, written to a file or compared.
const HOST_STATES: u64 = 2 * SAVES as u64 + 4;
/// Pieces of a buffer are multiples of this, but for the last: at 6 GB/s one of them takes four times as
/// long as beginning another copy does (10 µs), so that cutting costs little where copies take turns.
const PIECE: u64 = 256 << 10;

/// Whether `case` has a state to be saved, and the device room for a copy of it.
///
/// # Errors
/// Why not.
pub fn check_state(case: &Case, device: &DeviceInfo, limits: &Limits) -> Result<(), Reason> {
    let passes = case.candidates.first().map_or(0, Candidate::pass_count);
    if passes < 2 {
        return Err(format!("an iteration of {passes} pass has nothing to save on the way").into());
    }
    let state = state_bytes(case).0;
    if state == 0 {
        return Err("the passes write no buffer: there is no state to save".into());
    }
    let on_host = state.saturating_mul(HOST_STATES);
    Room::Host.check("saving and comparing its states", on_host, limits.host_memory)?;
    let bytes = device_bytes(case).saturating_add(state);
    Room::Device.check("it with a copy of its state", bytes, available(device, limits))
}

/// A part of the state: a buffer that the passes write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatePart {
    /// The buffer, by position.
    pub buffer: usize,
    /// Where it begins in a saved state.
    pub offset: u64,
    /// Its bytes.
    pub len: u64,
}

/// The state of `case`, part behind part.
pub fn state(case: &Case) -> Vec<StatePart> {
    let written = |(_, buffer): &(usize, &BufferPlan)| buffer.access != Access::Read;
    let mut offset = 0;
    let part = |(buffer, plan): (usize, &BufferPlan)| {
        let part = StatePart { buffer, offset, len: plan.bytes().0 };
        offset += part.len;
        part
    };
    case.buffers.iter().enumerate().filter(written).map(part).collect()
}

/// Bytes of a saved state.
pub fn state_bytes(case: &Case) -> Bytes {
    Bytes(state(case).iter().map(|part| part.len).sum())
}

/// Number of the device buffer that holds the copy of buffer `i` of the state. Behind the
/// case's buffers and their host mirrors.
pub fn shadow(case: &Case, i: usize) -> BufferId {
    case.buffer(2 * case.buffers.len() + i)
}

/// Number of the host buffer that downloads save number `save`, or that is restored from.
pub fn save_buffer(case: &Case, save: usize) -> BufferId {
    case.buffer(3 * case.buffers.len() + save)
}

/// An iteration: a variant of a case's kernel, pass after pass.
#[derive(Clone, Copy, Debug)]
pub struct Iteration<'a> {
    /// The case.
    pub case: &'a Case,
    /// The variant.
    pub candidate: &'a Candidate,
}

impl<'a> Iteration<'a> {
    /// How many passes it has.
    pub fn passes(self) -> usize {
        self.candidate.pass_count()
    }

    /// After how many passes the state is saved: at most `max_saves` times, evenly, and so that two
    /// intervals are left behind the last, in which it can be downloaded and written to a file.
    pub fn saves(self, max_saves: usize) -> Vec<usize> {
        let passes = self.passes();
        let saves = max_saves.min(passes.saturating_sub(2)).max(1);
        let mut all: Vec<usize> = (1..=saves).map(|m| (m * passes / (saves + 2)).max(1)).collect();
        all.dedup();
        all
    }

    /// The saves of a measured iteration.
    pub fn few_saves(self) -> Vec<usize> {
        self.saves(SAVES)
    }

    /// Some of its passes, on one queue.
    pub fn straight(self, passes: Range<usize>) -> Recording {
        let mut builder = Builder::new(self, 1);
        builder.passes(passes);
        builder.recording
    }

    /// All passes, and after those of `saves` the state to the host, each save to its buffer.
    pub fn saving(self, queues: u32, saves: &[usize]) -> Recording {
        let mut builder = Builder::new(self, queues);
        let mut done = 0;
        for (save, &at) in saves.iter().enumerate() {
            builder.passes(done..at);
            builder.snapshot();
            builder.download(save_buffer(self.case, save));
            done = at;
        }
        builder.passes(done..self.passes());
        builder.recording
    }

    /// Some of its passes. With more queues than one the state as it was copied before is downloaded
    /// beside them (`downloaded`), and the state behind them copied (`saved`); with one queue the state
    /// behind them is downloaded (`saved`).
    pub fn segment(
        self,
        queues: u32,
        passes: Range<usize>,
        downloaded: bool,
        save: bool,
    ) -> Recording {
        let mut builder = Builder::new(self, queues);
        if downloaded && queues > 1 {
            builder.download(save_buffer(self.case, 0));
        }
        builder.passes(passes);
        if save {
            builder.snapshot();
        }
        if save && queues == 1 {
            builder.download(save_buffer(self.case, 0));
        }
        builder.recording
    }

    /// The copy of the state on the device, alone.
    pub fn snapshot(self) -> Recording {
        let mut builder = Builder::new(self, 2);
        builder.snapshot();
        builder.recording
    }

    /// The state to the host, alone, as it is downloaded with so many queues.
    pub fn download(self, queues: u32) -> Recording {
        let mut builder = Builder::new(self, queues);
        builder.download(save_buffer(self.case, 0));
        builder.recording
    }

    /// A saved state back into its buffers, on all of so many queues.
    pub fn restore(self, queues: u32) -> Recording {
        let host = save_buffer(self.case, 0);
        let mut recording = Recording::default();
        for part in state(self.case) {
            for (queue, piece) in pieces(part.len, queues).into_iter().enumerate() {
                let (from, to) =
                    (in_save_buffer(host, part, &piece), in_state(self.case, part, &piece));
                recording.push(Queue(queue as u32), vec![], Op::Upload { from, to });
            }
        }
        recording
    }
}

/// A recording as it grows.
struct Builder<'a> {
    iteration: Iteration<'a>,
    queues: u32,
    recording: Recording,
    /// The steps that copied the state last.
    copied: Vec<StepId>,
    /// The steps that download that copy: the next copy waits for them.
    downloading: Vec<StepId>,
}

impl<'a> Builder<'a> {
    fn new(iteration: Iteration<'a>, queues: u32) -> Self {
        let (copied, downloading) = (vec![], vec![]);
        Self { iteration, queues, recording: Recording::default(), copied, downloading }
    }

    fn passes(&mut self, passes: Range<usize>) {
        let Iteration { case, candidate } = self.iteration;
        let buffers = slices(case);
        for pass in candidate.passes().get(passes).unwrap_or_default() {
            let op = Op::Dispatch {
                kernel: case.kernel(),
                groups: pass.groups,
                buffers: buffers.clone(),
                params: pass.param_bytes(),
            };
            self.recording.push(Queue(0), vec![], op);
        }
    }

    /// With one queue there is nothing to copy: nothing goes on beside downloading.
    fn snapshot(&mut self) {
        if self.queues == 1 {
            return;
        }
        let case = self.iteration.case;
        let after = std::mem::take(&mut self.downloading);
        self.copied.clear();
        for part in state(case) {
            let whole = 0..part.len;
            let (from, to) = (in_state(case, part, &whole), in_shadow(case, part, &whole));
            let copy = self.recording.push(Queue(0), after.clone(), Op::Copy { from, to });
            self.copied.push(copy);
        }
    }

    fn download(&mut self, host: BufferId) {
        let case = self.iteration.case;
        for part in state(case) {
            for (i, piece) in pieces(part.len, (self.queues - 1).max(1)).into_iter().enumerate() {
                let to = in_save_buffer(host, part, &piece);
                let (queue, from) = match self.queues {
                    1 => (0, in_state(case, part, &piece)),
                    _ => (1 + i as u32, in_shadow(case, part, &piece)),
                };
                let after = self.copied.clone();
                let step = self.recording.push(Queue(queue), after, Op::Download { from, to });
                self.downloading.push(step);
            }
        }
    }
}

/// `len` bytes in at most `count` pieces.
fn pieces(len: u64, count: u32) -> Vec<Range<u64>> {
    let each = len.div_ceil(u64::from(count.max(1))).max(1).next_multiple_of(PIECE);
    (0..len).step_by(each as usize).map(|from| from..len.min(from + each)).collect()
}

fn in_state(case: &Case, part: StatePart, piece: &Range<u64>) -> Slice {
    let offset = Bytes(GUARD.0 + piece.start);
    Slice { buffer: case.buffer(part.buffer), offset, len: Bytes(piece.end - piece.start) }
}

fn in_shadow(case: &Case, part: StatePart, piece: &Range<u64>) -> Slice {
    let len = Bytes(piece.end - piece.start);
    Slice { buffer: shadow(case, part.buffer), offset: Bytes(piece.start), len }
}

fn in_save_buffer(buffer: BufferId, part: StatePart, piece: &Range<u64>) -> Slice {
    let offset = Bytes(part.offset + piece.start);
    Slice { buffer, offset, len: Bytes(piece.end - piece.start) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_and_no_smaller_than_is_worth_a_copy() {
        let ends = |len, count| -> Vec<[u64; 2]> {
            pieces(len, count).iter().map(|piece| [piece.start, piece.end]).collect()
        };
        assert_eq!(ends(100, 8), [[0, 100]]);
        assert!(ends(0, 8).is_empty());
        assert_eq!(ends(PIECE + 4, 7), [[0, PIECE], [PIECE, PIECE + 4]]);
        for (len, count) in [(7 * PIECE, 7), (10 * PIECE + 8, 3), (1 << 30, 7)] {
            let pieces = pieces(len, count);
            assert!(pieces.len() <= count as usize, "{len} in {count}: {}", pieces.len());
            assert!(pieces.windows(2).all(|two| two[0].end == two[1].start));
            assert_eq!((pieces[0].start, pieces[pieces.len() - 1].end), (0, len));
        }
    }
}
