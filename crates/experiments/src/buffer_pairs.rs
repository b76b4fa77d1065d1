//! The two pairs of buffers between which copies go both ways at once, and what they must hold.

use crate::copied::verify_copied;
use crate::{Bench, Session};
use gpubench_core::error::Result;
use gpubench_core::gpu::{BufferId, MemoryKind};
use gpubench_core::units::Bytes;
use gpubench_reference::Data;

/// Uploads use one pair of buffers, downloads another.
pub(crate) const UPLOAD_BUFFERS: (BufferId, BufferId) = (BufferId(1), BufferId(0));
pub(crate) const DOWNLOAD_BUFFERS: (BufferId, BufferId) = (BufferId(2), BufferId(3));

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
