//! Commands that move bytes: between host and device, through a map, and within the device.
//!
//! Writes, reads and copies that run on their own call what is below opencl3's wrappers, which ask
//! for more than Rust allows here: a slice of host memory that an earlier command may still write,
//! and exclusive use of a target that may be the source's buffer.

use super::object::{Buffer, Owned};
use super::query::saturating;
use super::run::Issued;
use super::status::checked;
use gpubench_core::error::Result;
use gpubench_core::gpu::Access;
use gpubench_core::units::Bytes;
use opencl3::command_queue::{
    CommandQueue, enqueue_copy_buffer, enqueue_read_buffer, enqueue_write_buffer,
};
use opencl3::error_codes::ClError;
use opencl3::event::{Event, cl_event};
use opencl3::memory::{CL_MAP_READ, CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION, ClMem};
use opencl3::types::{CL_BLOCKING, CL_NON_BLOCKING};
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;

#[derive(Clone, Copy)]
pub(super) enum Direction {
    ToDevice,
    ToHost,
}

/// Two places of equal length to copy between.
pub(super) struct Transfer<'a> {
    pub(super) direction: Direction,
    pub(super) buffer: &'a Buffer,
    /// The first byte in `buffer`.
    pub(super) offset: usize,
    pub(super) host: *mut u8,
    pub(super) len: usize,
}

impl Transfer<'_> {
    #[expect(unsafe_code, reason = "OpenCL call")]
    pub(super) fn enqueue(self, queue: &CommandQueue, waits: &[cl_event]) -> Result<Issued> {
        let Self { direction, buffer, offset, host, len } = self;
        let (count, list) = wait_list(waits);
        let (queue, buffer, host) = (queue.get(), buffer.get(), host.cast());
        let wait = CL_NON_BLOCKING;
        // SAFETY: both ranges were checked to lie in their buffers, and neither is freed
        // before the queue has finished.
        let event = unsafe {
            match direction {
                Direction::ToDevice => {
                    enqueue_write_buffer(queue, buffer, wait, offset, len, host, count, list)
                }
                Direction::ToHost => {
                    enqueue_read_buffer(queue, buffer, wait, offset, len, host, count, list)
                }
            }
        };
        issued("transferring", event)
    }

    #[expect(unsafe_code, reason = "OpenCL calls and a copy through the mapped pointer")]
    pub(super) fn through_a_map(self, queue: &CommandQueue, waits: &[cl_event]) -> Result<Issued> {
        let Self { direction, buffer, offset, host, len } = self;
        let flags = match direction {
            Direction::ToDevice => CL_MAP_WRITE_INVALIDATE_REGION,
            Direction::ToHost => CL_MAP_READ,
        };
        let mut mapped = ptr::null_mut();
        // SAFETY: the range was checked to lie in the buffer; the call blocks.
        let map = unsafe {
            queue.enqueue_map_buffer(buffer, CL_BLOCKING, flags, offset, len, &mut mapped, waits)
        };
        let first = Owned::new(checked("mapping", map)?);
        // SAFETY: `mapped` and `host` each point to `len` bytes, of different allocations;
        // `mapped` is what the map returned and is not used after the unmap.
        let unmap = unsafe {
            match direction {
                Direction::ToDevice => mapped.cast::<u8>().copy_from_nonoverlapping(host, len),
                Direction::ToHost => host.copy_from_nonoverlapping(mapped.cast(), len),
            }
            queue.enqueue_unmap_mem_object(buffer.get(), mapped, &[])
        };
        Issued::after(first, "unmapping", unmap)
    }
}

/// A part of a zero-copy buffer that the host gets, or has.
pub(super) struct Mapping<'a> {
    pub(super) buffer: &'a Buffer,
    pub(super) offset: usize,
    pub(super) len: usize,
    /// Where the host has it; null before.
    pub(super) start: &'a Cell<*mut c_void>,
}

impl Mapping<'_> {
    /// Gives the host the part, and waits until it has it. What it holds stays.
    #[expect(unsafe_code, reason = "OpenCL call")]
    pub(super) fn map(
        self,
        queue: &CommandQueue,
        access: Access,
        waits: &[cl_event],
    ) -> Result<Issued> {
        let flags = match access {
            Access::Read => CL_MAP_READ,
            Access::Write => CL_MAP_WRITE,
            Access::ReadWrite => CL_MAP_READ | CL_MAP_WRITE,
        };
        let Self { buffer, offset, len, start } = self;
        let mut mapped = ptr::null_mut();
        // SAFETY: the range was checked to lie in the buffer; the call blocks.
        let event = unsafe {
            queue.enqueue_map_buffer(buffer, CL_BLOCKING, flags, offset, len, &mut mapped, waits)
        };
        start.set(mapped);
        Issued::one("mapping", event)
    }

    /// Gives the part back to the device.
    #[expect(unsafe_code, reason = "OpenCL call")]
    pub(super) fn unmap(self, queue: &CommandQueue, waits: &[cl_event]) -> Result<Issued> {
        let start = self.start.replace(ptr::null_mut());
        // SAFETY: `start` is what mapping this buffer returned, and nobody uses it any more.
        let event = unsafe { queue.enqueue_unmap_mem_object(self.buffer.get(), start, waits) };
        Issued::one("unmapping", event)
    }
}

/// Copies `len` bytes within the device; a place is a buffer and its first byte there.
#[expect(unsafe_code, reason = "OpenCL call")]
pub(super) fn copy(
    queue: &CommandQueue,
    (source, source_offset): (&Buffer, usize),
    (target, target_offset): (&Buffer, usize),
    len: Bytes,
    waits: &[cl_event],
) -> Result<Issued> {
    let (count, list) = wait_list(waits);
    // SAFETY: both ranges were checked to lie in their buffers; the caller holds the events.
    let event = unsafe {
        enqueue_copy_buffer(
            queue.get(),
            source.get(),
            target.get(),
            source_offset,
            target_offset,
            len.as_usize(),
            count,
            list,
        )
    };
    issued("copying", event)
}

fn issued(what: &str, event: Result<cl_event, i32>) -> Result<Issued> {
    Issued::one(what, event.map(Event::new).map_err(ClError))
}

/// A wait list as OpenCL wants it: no events, no pointer.
fn wait_list(events: &[cl_event]) -> (u32, *const cl_event) {
    match events.len() {
        0 => (0, ptr::null()),
        count => (saturating(count as u64), events.as_ptr()),
    }
}
