//! Buffers on devices that give kernels no part of one: no sub-buffers, or none that begins where a guard zone ends.
//!
//! A kernel is given the whole buffer there, its contents turned so that the part that it sees comes first and what
//! lies before that comes last. Offsets of everybody else are turned with it.

use super::object::Buffer;
use super::object::Owned;
use super::status::checked;
use super::transfer::{Direction, Transfer};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::Slice;
use gpubench_core::units::Bytes;
use opencl3::command_queue::CommandQueue;
use opencl3::types::CL_BLOCKING;

/// Where the byte at `slice.offset` lies in a buffer of `len` bytes that was turned by `by`.
///
/// # Errors
/// `Unsupported` where the slice's end lies before its beginning.
pub(super) fn offset(slice: &Slice, len: Bytes, by: Bytes) -> Result<Bytes> {
    let first = match slice.offset.0.checked_sub(by.0) {
        Some(behind) => behind,
        None => slice.offset.0 + len.0 - by.0,
    };
    if first + slice.len.0 > len.0 {
        return Err(Error::Unsupported(
            "a copy over the end of a buffer that was turned, since the driver makes no sub-buffers"
                .into(),
        ));
    }
    Ok(Bytes(first))
}

/// How a buffer is placed.
#[derive(Clone, Copy)]
pub(super) struct Placement {
    /// Its bytes.
    pub(super) len: Bytes,
    /// The byte that it begins with.
    pub(super) by: Bytes,
    /// Whether the host reads and writes it through a map, as a program does with a zero-copy buffer: what is
    /// verified then came and went that way.
    pub(super) maps: bool,
}

/// The contents of a buffer that was turned.
#[expect(unsafe_code, reason = "OpenCL call")]
pub(super) fn read(queue: &CommandQueue, buffer: &Buffer, placement: Placement) -> Result<Vec<u8>> {
    let mut data = vec![0_u8; placement.len.as_usize()];
    if placement.maps {
        let (host, len) = (data.as_mut_ptr(), data.len());
        let transfer = Transfer { direction: Direction::ToHost, buffer, offset: 0, host, len };
        transfer.through_a_map(queue, &[]).map(drop)?;
        checked("reading a buffer", queue.finish())?;
    } else {
        // SAFETY: buffer and `data` have the same length; the call blocks.
        let event = unsafe { queue.enqueue_read_buffer(buffer, CL_BLOCKING, 0, &mut data, &[]) };
        checked("reading a buffer", event).map(Owned::new).map(drop)?;
    }
    data.rotate_right(placement.by.as_usize());
    Ok(data)
}

/// Writes `data` to the beginning of a buffer that was turned.
#[expect(unsafe_code, reason = "OpenCL call")]
pub(super) fn write(
    queue: &CommandQueue,
    buffer: &mut Buffer,
    placement: Placement,
    data: &[u8],
) -> Result<()> {
    let (last, first) = data.split_at(data.len().min(placement.by.as_usize()));
    for (part, offset) in [(last, placement.len.as_usize() - placement.by.as_usize()), (first, 0)] {
        if part.is_empty() {
            continue;
        }
        if placement.maps {
            let (host, len) = (part.as_ptr().cast_mut(), part.len());
            let transfer = Transfer { direction: Direction::ToDevice, buffer, offset, host, len };
            transfer.through_a_map(queue, &[]).map(drop)?;
            checked("writing a buffer", queue.finish())?;
            continue;
        }
        // SAFETY: the buffer holds the part behind `offset`; the call blocks.
        let event = unsafe { queue.enqueue_write_buffer(buffer, CL_BLOCKING, offset, part, &[]) };
        checked("writing a buffer", event).map(Owned::new).map(drop)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::gpu::BufferId;

    #[test]
    fn what_lies_before_the_first_part_lies_behind_the_others() {
        let at = |first, bytes, by| {
            let slice = Slice { buffer: BufferId(0), offset: Bytes(first), len: Bytes(bytes) };
            offset(&slice, Bytes(100), Bytes(by)).ok().map(|at| at.0)
        };
        assert_eq!(at(10, 80, 0), Some(10));
        assert_eq!(at(10, 80, 10), Some(0));
        assert_eq!(at(90, 10, 10), Some(80));
        assert_eq!(at(0, 10, 10), Some(90));
        assert_eq!(at(0, 100, 10), None);
        assert_eq!(at(5, 10, 10), None);
    }
}
