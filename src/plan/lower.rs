//! A case becomes recordings.

use super::{Candidate, Case};
use crate::gpu::{BufferId, KernelId, Lane, Op, Recording, Slice};

/// Numbers of a case's buffers: the device's in binding order, each host twin after all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffers {
    /// Device buffers in binding order.
    pub device: Vec<Slice>,
}

impl Buffers {
    /// The buffers of `case`, numbered from 0.
    pub fn of(case: &Case) -> Self {
        let device = case.buffers.iter().zip(0..).map(|(buffer, i)| Slice {
            buffer: BufferId(i),
            offset: crate::units::Bytes(0),
            len: buffer.bytes(),
        });
        Self { device: device.collect() }
    }
}

/// `count` launches of a candidate, one after the other on one lane.
pub fn launches(case: &Case, candidate: &Candidate, kernel: KernelId, count: u32) -> Recording {
    let buffers = Buffers::of(case).device;
    let params = candidate.param_bytes();
    let mut recording = Recording::default();
    for _ in 0..count {
        let op = Op::Dispatch {
            kernel,
            groups: candidate.groups,
            buffers: buffers.clone(),
            params: params.clone(),
        };
        recording.push(Lane(0), vec![], op);
    }
    recording
}
