//! The two pairs of buffers between which copies go both ways at once, and what they must hold.

use crate::copied::verify_copied;
use crate::{Bench, Session};
use gpubench_core::error::Result;
use gpubench_core::gpu::{BufferId, MemoryKind, Op, Queue, Recording, Slice};
use gpubench_core::units::Bytes;
use gpubench_reference::Data;
use serde::{Deserialize, Serialize};

/// Uploads use one pair of buffers, downloads another.
const UPLOAD_BUFFERS: (BufferId, BufferId) = (BufferId(1), BufferId(0));
const DOWNLOAD_BUFFERS: (BufferId, BufferId) = (BufferId(2), BufferId(3));

/// Which way a copy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Host to device.
    Upload,
    /// Device to host.
    Download,
    /// One copy each way at the same time.
    Both,
}

impl Direction {
    /// Each of the three.
    pub const ALL: [Self; 3] = [Self::Upload, Self::Download, Self::Both];

    /// What tables call it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Upload => "upload",
            Self::Download => "download",
            Self::Both => "both",
        }
    }
}

/// Both directions get a queue each where the device has two.
pub(crate) fn queues(session: &Session) -> u32 {
    session.device.info().queues.min(2)
}

/// Allocates both pairs: the first is filled on the host, the second on the device.
pub(crate) fn allocate(
    session: &mut Session,
    bytes: Bytes,
    kind: MemoryKind,
    data: &Data,
) -> Result<()> {
    let device = session.device.as_mut();
    for ((from, to), from_host) in [(UPLOAD_BUFFERS, true), (DOWNLOAD_BUFFERS, false)] {
        let kinds = if from_host { [kind, MemoryKind::Device] } else { [MemoryKind::Device, kind] };
        device.alloc(from, bytes, kinds[0])?;
        device.alloc(to, bytes, kinds[1])?;
        device.write(from, data.as_bytes())?;
    }
    Ok(())
}

/// Fills both targets with what no byte of the sources' `data` is equal to.
pub(crate) fn poison(session: &mut Session, data: &mut Data) -> Result<()> {
    data.invert();
    let targets = [UPLOAD_BUFFERS.1, DOWNLOAD_BUFFERS.1];
    let written = targets.into_iter().try_for_each(|to| session.device.write(to, data.as_bytes()));
    data.invert();
    written
}

/// Both targets must hold the source's bytes.
pub(crate) fn verified(bench: &mut Bench, data: &Data, when: &str) -> Result<bool> {
    for (target, name) in [(UPLOAD_BUFFERS.1, "uploaded"), (DOWNLOAD_BUFFERS.1, "downloaded")] {
        if !verify_copied(bench, (target, name), data, when)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Copies that move so many bytes to and from a device, the directions in turn: on a queue each
/// where there are two.
pub(crate) fn recording([mut upload, mut download]: [u64; 2], copy: u64, queues: u32) -> Recording {
    let mut recording = Recording::default();
    let part = |buffer, len| Slice { buffer, offset: Bytes(0), len: Bytes(len) };
    while upload > 0 || download > 0 {
        let (out, back) = (upload.min(copy), download.min(copy));
        if out > 0 {
            let op =
                Op::Upload { from: part(UPLOAD_BUFFERS.0, out), to: part(UPLOAD_BUFFERS.1, out) };
            recording.push(Queue(0), vec![], op);
        }
        if back > 0 {
            let op = Op::Download {
                from: part(DOWNLOAD_BUFFERS.0, back),
                to: part(DOWNLOAD_BUFFERS.1, back),
            };
            recording.push(Queue(queues - 1), vec![], op);
        }
        (upload, download) = (upload - out, download - back);
    }
    recording
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_take_turns_and_the_last_copy_is_what_is_left() {
        let made = recording([25, 10], 10, 2);
        let queues: Vec<u32> = made.steps.iter().map(|step| step.queue.0).collect();
        assert_eq!(queues, [0, 1, 0, 0]);
        let uploaded: u64 = made
            .steps
            .iter()
            .map(|step| match step.op {
                Op::Upload { from, .. } => from.len.0,
                _ => 0,
            })
            .sum();
        assert_eq!(uploaded, 25);
        assert!(recording([0, 0], 10, 1).steps.is_empty());
    }
}
