//! Whether a case can be run in zero-copy memory, and what is run: maps and copies around launches.

use crate::experiment::Planning;
use crate::plan::{Case, available, device_bytes, host_mirror, slices};
use gpubench_core::gpu::{Access, Op, Recording, Slice};
use gpubench_core::reason::{Reason, Room};
use gpubench_core::units::Bytes;

/// Where in a launch's life the host has a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// It writes what the kernel reads.
    Before,
    /// It reads what the kernel wrote.
    Behind,
}

impl Side {
    fn takes(self, access: Access) -> bool {
        match self {
            Self::Before => access != Access::Write,
            Self::Behind => access != Access::Read,
        }
    }

    /// The buffers of `case` that the host has then, by position.
    fn buffers(self, case: &Case) -> impl Iterator<Item = usize> + '_ {
        let all = case.buffers.iter().enumerate();
        all.filter(move |(_, buffer)| self.takes(buffer.access)).map(|(i, _)| i)
    }

    /// Bytes of them.
    pub(super) fn bytes(self, case: &Case) -> u64 {
        self.buffers(case).map(|i| case.buffers[i].bytes().0).sum()
    }
}

/// Why a case cannot be run.
///
/// # Errors
/// Its reason.
pub(super) fn check(case: &Case, planning: &Planning) -> Result<(), Reason> {
    let device = planning.device;
    if device.zero_copy.is_empty() {
        return Err(match device.backend.as_str() {
            "wgpu" | "browser" => "WebGPU lets no kernel use a buffer that the host maps",
            _ => "no memory of this device is within the host's reach",
        }
        .into());
    }
    if Side::Before.buffers(case).next().is_none() || Side::Behind.buffers(case).next().is_none() {
        return Err("the host writes no buffer of it, or reads none".into());
    }
    // One set of buffers for the copies, and one that is mapped.
    let bytes = device_bytes(case).saturating_mul(2);
    Room::Device.check("it in both memories", bytes, available(device, planning.limits))
}

/// Maps all buffers of a side.
pub(super) fn map(case: &Case, side: Side) -> Recording {
    let access = if side == Side::Before { Access::Write } else { Access::Read };
    each(case, side, |part| Op::Map { part, access })
}

/// Unmaps them.
pub(super) fn unmap(case: &Case, side: Side) -> Recording {
    each(case, side, |part| Op::Unmap { part })
}

/// Copies all buffers of a side from the host's mirrors, or to them.
pub(super) fn copy(case: &Case, side: Side) -> Recording {
    let parts = slices(case);
    let op = |i: usize| {
        let (device, len) = (parts[i], parts[i].len);
        let host = Slice { buffer: host_mirror(case, i), offset: Bytes(0), len };
        match side {
            Side::Before => Op::Upload { from: host, to: device },
            Side::Behind => Op::Download { from: device, to: host },
        }
    };
    Recording::one_queue(side.buffers(case).map(op))
}

fn each(case: &Case, side: Side, op: impl Fn(Slice) -> Op) -> Recording {
    let parts = slices(case);
    Recording::one_queue(side.buffers(case).map(|i| op(parts[i])))
}

/// Recordings as one, in order on one queue.
pub(super) fn in_order(all: impl IntoIterator<Item = Recording>) -> Recording {
    Recording { steps: all.into_iter().flat_map(|recording| recording.steps).collect() }
}
