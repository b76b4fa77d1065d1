//! A case becomes recordings.

use super::{Candidate, Case, GUARD, Pass};
use gpubench_core::gpu::{BufferId, KernelId, Op, Queue, Recording, Slice};
use gpubench_core::units::Bytes;
use std::iter::repeat_n;

/// The part of each device buffer of `case` that the kernel sees, in binding order: buffer `i`
/// has a guard on either side that no kernel may touch.
pub fn slices(case: &Case) -> Vec<Slice> {
    let slices = case.buffers.iter().enumerate().map(|(i, buffer)| Slice {
        buffer: case.buffer(i),
        offset: GUARD,
        len: buffer.bytes(),
    });
    slices.collect()
}

/// `count` launches of a candidate, each with all its passes, one after the other on one queue.
pub fn launches(case: &Case, candidate: &Candidate, kernel: KernelId, count: u32) -> Recording {
    let passes = candidate.passes();
    let all = std::iter::repeat_n(passes.as_slice(), count as usize);
    recording_of(case, kernel, all.flatten())
}

/// These passes, one after the other on one queue; `kernel` is the number of the first of their kernels.
pub fn recording_of<'a>(
    case: &Case,
    kernel: KernelId,
    passes: impl IntoIterator<Item = &'a Pass>,
) -> Recording {
    let buffers = slices(case);
    let mut recording = Recording::default();
    for pass in passes {
        let dispatch = Op::Dispatch {
            kernel: program_kernel(kernel, pass.kernel),
            groups: pass.groups,
            buffers: in_order(&buffers, &pass.order),
            params: pass.param_bytes(),
        };
        recording.push(Queue(0), vec![], dispatch);
    }
    recording
}

/// The number of a program's kernel at this position; `first` is that of its first.
pub fn program_kernel(first: KernelId, position: u32) -> KernelId {
    KernelId(first.0 + position)
}

/// `buffers` by the names that stand for them.
fn in_order(buffers: &[Slice], order: &[u32]) -> Vec<Slice> {
    match order {
        [] => buffers.to_vec(),
        order => order.iter().map(|i| buffers[*i as usize]).collect(),
    }
}

/// One launch of a part of the candidate's groups, to learn what a whole one will cost: `groups` of
/// the [`max_groups_in_line`] along its largest dimension, all along the others; of several passes
/// it is the first.
pub fn partial_launch(
    case: &Case,
    candidate: &Candidate,
    kernel: KernelId,
    groups: u32,
) -> Recording {
    let mut part = Candidate { later: vec![], ..candidate.clone() };
    part.groups[longest_axis(candidate)] = groups.clamp(1, max_groups_in_line(candidate));
    launches(case, &part, kernel, 1)
}

/// One launch of the first `groups` groups along the candidate's largest dimension, at most
/// [`max_groups_in_line`] of them.
pub fn line_launch(case: &Case, candidate: &Candidate, kernel: KernelId, groups: u32) -> Recording {
    let mut part = candidate.clone();
    part.groups = [1; 3];
    part.groups[longest_axis(candidate)] = groups.clamp(1, max_groups_in_line(candidate));
    launches(case, &part, kernel, 1)
}

/// Groups along the candidate's largest dimension.
pub fn max_groups_in_line(candidate: &Candidate) -> u32 {
    candidate.groups[longest_axis(candidate)]
}

/// The dimension with the most groups, the first of several.
fn longest_axis(candidate: &Candidate) -> usize {
    (0..3).rev().max_by_key(|&axis| candidate.groups[axis]).unwrap_or(0)
}

/// The host's side of a transfer: one buffer behind all of the device's.
pub fn host_buffer(case: &Case) -> Slice {
    Slice {
        buffer: BufferId(case.buffers.len() as u32),
        offset: Bytes(0),
        len: case.buffers.first().map_or(Bytes(0), super::BufferPlan::bytes),
    }
}

/// `count` copies between the host buffer and the case's first device buffer, on one queue.
pub fn copies(case: &Case, to_device: bool, count: u32) -> Recording {
    let host = host_buffer(case);
    let device = Slice { buffer: BufferId(0), offset: Bytes(0), len: host.len };
    let op = if to_device {
        Op::Upload { from: host, to: device }
    } else {
        Op::Download { from: device, to: host }
    };
    Recording::one_queue(repeat_n(op, count as usize))
}
