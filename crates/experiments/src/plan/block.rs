//! A part of a divided problem on one of several devices: uploaded, computed and downloaded, in order or in chunks
//! whose copies run while others are computed.

use super::divide::{dispatch, slices_of};
use super::{Candidate, Case, Division};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{Access, KernelId, Op, Queue, Recording, StepId};
use gpubench_core::workload::Split;
use std::ops::Range;

/// How the case is cut, where its rows can be partitioned over several devices.
///
/// # Errors
/// `Unsupported` where the suite does not say how to cut it, a row has no whole number of
/// elements, or rows are not all that is written.
pub fn multi_device_division(case: &Case) -> Result<&Division> {
    let unsupported = |why: String| Err(Error::Unsupported(why));
    let division = case.divided()?;
    for buffer in &case.buffers {
        let name = &buffer.name;
        match (buffer.access, &buffer.split) {
            (Access::ReadWrite, _) => {
                return unsupported(format!("`{name}` is updated in place: no part can be redone"));
            }
            (Access::Write, Split::Broadcast) => {
                return unsupported(format!("no device alone has written the whole of `{name}`"));
            }
            (_, Split::Rows { .. }) if buffer.count % division.rows != 0 => {
                return unsupported(format!(
                    "buffer `{name}` of {} elements has no whole number of elements a row ({} rows)",
                    buffer.count, division.rows
                ));
            }
            _ => {}
        }
    }
    Ok(division)
}

/// How a device does its part of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunking {
    /// Chunks, at most.
    pub chunks: u64,
    /// Rows of a chunk are a multiple of so many, but for the last.
    pub grain: u64,
    /// Queues of the device. On three or more one chunk's copies run while another is computed; on fewer
    /// there is one chunk, in order.
    pub queues: u32,
}

/// The rows of `range`, `repeats` times: what the kernel reads of them is uploaded (halo rows on either side with them,
/// and with `shared` what every part reads), then they are computed, then downloaded.
///
/// # Errors
/// As [`multi_device_division`], and where the launch is larger than the device takes.
pub fn record_rows(
    case: &Case,
    candidate: &Candidate,
    kernel: KernelId,
    (range, repeats): (&Range<u64>, u64),
    chunking: Chunking,
    shared: bool,
) -> Result<Recording> {
    let division = multi_device_division(case)?;
    let chunks = chunks_of(range, chunking);
    let overlapping = chunks.len() > 1;
    let mut part = Part { case, division, overlapping, recording: Recording::default() };
    let mut before = vec![];
    for repeat in 0..repeats {
        let mut done = vec![];
        for (at, rows) in chunks.iter().enumerate() {
            let launch = dispatch(case, candidate, division, kernel, rows)?;
            // Every repeat stands for a problem of its own, which is uploaded whole.
            let mut ready = part.upload(&chunks, at, shared || repeat > 0, &before);
            ready.extend(before.get(at).and_then(|done: &Done| done.downloaded));
            let computed = part.push(1, ready, launch);
            done.push(Done { computed, downloaded: part.download(rows, computed) });
        }
        before = done;
    }
    Ok(part.recording)
}

/// Nearly equal chunks of whole work-groups; one where there are not three queues.
fn chunks_of(range: &Range<u64>, Chunking { chunks, grain, queues }: Chunking) -> Vec<Range<u64>> {
    let groups = (range.end - range.start).div_ceil(grain);
    let count = if queues >= 3 { chunks.clamp(1, groups.max(1)) } else { 1 };
    let at = |i: u64| (range.start + groups * i / count * grain).min(range.end);
    (0..count).map(|i| at(i)..at(i + 1)).filter(|rows| !rows.is_empty()).collect()
}

/// The last steps of a chunk.
struct Done {
    computed: StepId,
    downloaded: Option<StepId>,
}

/// A device's part while it is recorded.
struct Part<'a> {
    case: &'a Case,
    division: &'a Division,
    /// Uploads, kernels and downloads have a queue each.
    overlapping: bool,
    recording: Recording,
}

impl Part<'_> {
    fn push(&mut self, queue: u32, after: Vec<StepId>, op: Op) -> StepId {
        match self.overlapping {
            true => self.recording.push(Queue(queue), after, op),
            false => self.recording.push(Queue(0), vec![], op),
        }
    }

    /// Uploads what chunk number `at` reads and no earlier one has uploaded. What the same rows held `before` is
    /// not overwritten until the last chunk that reads it is computed; earlier ones are then, too, since a queue is in order.
    fn upload(
        &mut self,
        chunks: &[Range<u64>],
        at: usize,
        shared: bool,
        before: &[Done],
    ) -> Vec<StepId> {
        let (case, division) = (self.case, self.division);
        let mut uploads = vec![];
        for (i, buffer) in case.buffers.iter().enumerate() {
            let (rows, halo) = match &buffer.split {
                _ if buffer.access == Access::Write => continue,
                Split::Broadcast if !shared || at > 0 => continue,
                Split::Broadcast => (0..division.rows, division.rows),
                Split::Rows { halo } => {
                    let halo = u64::from(*halo);
                    let from = match at {
                        0 => chunks[at].start.saturating_sub(halo),
                        _ => (chunks[at - 1].end + halo).min(division.rows),
                    };
                    (from..(chunks[at].end + halo).min(division.rows), halo)
                }
            };
            if rows.is_empty() {
                continue;
            }
            let reads = |chunk: &Range<u64>| chunk.start.saturating_sub(halo) < rows.end;
            let last = chunks.iter().rposition(reads).and_then(|last| before.get(last));
            let (from, to) = slices_of(case, i, division, &rows);
            let after = last.map(|done| done.computed).into_iter().collect();
            uploads.push(self.push(0, after, Op::Upload { from, to }));
        }
        uploads
    }

    /// Downloads what a chunk wrote; the last step of it.
    fn download(&mut self, rows: &Range<u64>, computed: StepId) -> Option<StepId> {
        let mut last = None;
        for (i, buffer) in self.case.buffers.iter().enumerate() {
            if buffer.access == Access::Write {
                let (to, from) = slices_of(self.case, i, self.division, rows);
                last = Some(self.push(2, vec![computed], Op::Download { from, to }));
            }
        }
        last
    }
}

/// The bytes of buffer `i` that hold the rows of `range`.
pub fn bytes_of(case: &Case, i: usize, division: &Division, range: &Range<u64>) -> Range<usize> {
    let (host, _) = slices_of(case, i, division, range);
    host.offset.as_usize()..host.offset.as_usize() + host.len.as_usize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Limits, Planned};
    use crate::planner::plan;
    use gpubench_core::gpu::{BufferId, Slice};
    use gpubench_device::by_name;

    const KERNEL: KernelId = KernelId(0);

    /// A workload of the suite `devices` at its smallest size.
    fn case(workload: &str) -> Case {
        let (suite, device) = (crate::load("devices").unwrap(), by_name("sim").unwrap());
        let device = device.devices().unwrap().remove(0);
        let limits = Limits { memory: None, seconds: 60.0, seed: 1, cores: 1, host_memory: None };
        let planned = plan(&suite, &device, &limits).into_iter();
        let mut cases = planned.filter_map(|planned| match planned {
            Planned::Case(case) if case.key.workload == workload => Some(*case),
            _ => None,
        });
        cases.next().unwrap()
    }

    /// Bytes of a device's buffer, and whether they are written.
    type Touched = (BufferId, Range<u64>, bool);

    /// What each step touches; launches are those of `chunks`, repeat after repeat.
    fn touched(case: &Case, recording: &Recording, chunks: &[Range<u64>]) -> Vec<Vec<Touched>> {
        let division = case.division.as_ref().unwrap();
        let mut launches = chunks.iter().cycle();
        let bytes = |slice: &Slice| slice.offset.0..slice.offset.0 + slice.len.0;
        let step = |op: &Op| match op {
            Op::Upload { to, .. } => vec![(to.buffer, bytes(to), true)],
            Op::Download { from, .. } => vec![(from.buffer, bytes(from), false)],
            _ => {
                let rows = launches.next().unwrap();
                let buffers = case.buffers.iter().enumerate().map(|(i, buffer)| {
                    let rows = match buffer.split {
                        Split::Broadcast => 0..division.rows,
                        Split::Rows { halo } => {
                            let halo = u64::from(halo);
                            rows.start.saturating_sub(halo)..(rows.end + halo).min(division.rows)
                        }
                    };
                    let (_, device) = slices_of(case, i, division, &rows);
                    (device.buffer, bytes(&device), buffer.access == Access::Write)
                });
                buffers.collect()
            }
        };
        recording.steps.iter().map(|at| &at.op).map(step).collect()
    }

    /// Whether each step surely ends before each later one that touches the same bytes begins, one of them writing.
    fn is_ordered(recording: &Recording, touched: &[Vec<Touched>]) -> bool {
        let mut ended: Vec<Vec<bool>> = vec![];
        for (at, step) in recording.steps.iter().enumerate() {
            let of_queue =
                (0..at).rev().find(|&before| recording.steps[before].queue == step.queue);
            let direct = step.after.iter().map(|id| id.0 as usize).chain(of_queue);
            let mut before = vec![false; at];
            for earlier in direct {
                before[earlier] = true;
                (0..earlier).for_each(|i| before[i] |= ended[earlier][i]);
            }
            ended.push(before);
        }
        let conflict = |(a, b, writes_a): &Touched, (c, d, writes_b): &Touched| {
            a == c && b.start < d.end && d.start < b.end && (*writes_a || *writes_b)
        };
        let meet = |a: usize, b: usize| {
            touched[a].iter().any(|one| touched[b].iter().any(|other| conflict(one, other)))
        };
        (0..touched.len()).all(|later| (0..later).all(|i| !meet(i, later) || ended[later][i]))
    }

    #[test]
    fn what_is_still_read_is_never_overwritten() {
        // Neighbours' rows, and a matrix that every part reads.
        for workload in ["split_linear", "split_matmul", "split_black_scholes"] {
            let case = case(workload);
            let candidate = &case.candidates[0];
            let rows = case.division.as_ref().unwrap().rows;
            for (range, chunks, grain) in [(0..rows, 4, 1), (7..rows - 9, 16, 3), (5..8, 16, 1)] {
                let chunking = Chunking { chunks, grain, queues: 3 };
                let part = record_rows(&case, candidate, KERNEL, (&range, 3), chunking, true);
                let (part, chunks) = (part.unwrap(), chunks_of(&range, chunking));
                assert_eq!(part.queues(), 3, "{workload}");
                let touched = touched(&case, &part, &chunks);
                assert!(is_ordered(&part, &touched), "{workload} {range:?} {chunking:?}");
                // Without what it waits for it would not be.
                let mut free = part.clone();
                free.steps.iter_mut().for_each(|step| step.after.clear());
                assert!(!is_ordered(&free, &touched), "{workload}");
            }
        }
    }

    #[test]
    fn each_row_is_uploaded_once_a_repeat_and_downloaded_once() {
        let case = case("split_linear");
        let (candidate, rows) = (&case.candidates[0], case.division.as_ref().unwrap().rows);
        let moved = |chunking: Chunking| {
            let range = 10..rows - 10;
            let part = record_rows(&case, candidate, KERNEL, (&range, 2), chunking, true).unwrap();
            let bytes = |up: bool| -> u64 {
                let of = |op: &Op| match op {
                    Op::Upload { to, .. } if up => to.len.0,
                    Op::Download { from, .. } if !up => from.len.0,
                    _ => 0,
                };
                part.steps.iter().map(|step| of(&step.op)).sum()
            };
            (bytes(true), bytes(false), part.queues())
        };
        let row = case.buffers[0].bytes().0 / rows;
        let whole = (2 * row * (rows - 18), 2 * row * (rows - 20));
        for (chunks, queues, used) in [(1, 3, 1), (8, 3, 3), (8, 1, 1)] {
            let expected = (whole.0, whole.1, used);
            assert_eq!(moved(Chunking { chunks, grain: 4, queues }), expected, "{chunks} {queues}");
        }
    }

    #[test]
    fn chunks_are_whole_work_groups() {
        let chunks =
            |range, chunks, grain| chunks_of(&range, Chunking { chunks, grain, queues: 3 });
        assert_eq!(chunks(3..25, 3, 4), [3..11, 11..19, 19..25]);
        assert_eq!(chunks(0..8, 16, 4), [0..4, 4..8]);
        assert_eq!(chunks(0..5, 1, 1), vec![0..5]);
    }
}
