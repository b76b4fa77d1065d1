//! Buffers on the device and in zero-copy memory, the three kinds of host memory, and parts of buffers.

use super::device_buffer::DeviceBuffer;
use super::images::Images;
use super::object::{self, Owned};
use super::pages::{Page, zeroed_pages};
use super::status::checked;
use super::transfer;
use super::turned;
use crate::validation::{self, MappedParts, no_buffer};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{BufferId, DeviceInfo, ImageOf, MemoryKind, Op, Slice};
use gpubench_core::units::Bytes;
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::memory::{CL_MAP_READ, CL_MAP_WRITE, CL_MEM_ALLOC_HOST_PTR, ClMem};
use opencl3::types::CL_BLOCKING;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr;
use std::rc::Rc;

/// All buffers of a device.
#[derive(Default)]
pub(super) struct Memory {
    buffers: BTreeMap<BufferId, Buffer>,
    /// Whether preparing the recording took parts away that a kernel may still be bound to.
    pub(super) has_turned: bool,
    mapped: MappedParts,
    /// Of buffers that kernels read as images.
    pub(super) images: Images,
}

enum Buffer {
    Device(DeviceBuffer),
    Host(HostBuffer),
}

/// Host memory that stays where it is until it is dropped.
pub(super) struct HostBuffer {
    /// How the device reaches it.
    pub(super) kind: MemoryKind,
    start: *mut u8,
    len: Bytes,
    _owner: Owner,
}

#[expect(dead_code, reason = "held for what dropping it frees")]
enum Owner {
    Pages(Vec<Page>),
    Mapping(Mapping),
}

/// A buffer in memory that the device's copy engine reaches, mapped for as long as it lives.
struct Mapping {
    buffer: Owned<object::Buffer>,
    queue: Rc<Owned<CommandQueue>>,
    start: *mut c_void,
}

impl Drop for Mapping {
    #[expect(unsafe_code, reason = "unmaps what was mapped")]
    fn drop(&mut self) {
        // SAFETY: `start` is what mapping this buffer on this queue returned, and nothing
        // points there any more: no command outlives `Device::run`.
        let unmapped =
            unsafe { self.queue.enqueue_unmap_mem_object(self.buffer.get(), self.start, &[]) };
        let finished = unmapped.map(Owned::new).and_then(|_event| self.queue.finish());
        if let Err(error) = finished {
            tracing::debug!(code = error.0, "unmapping pinned memory failed");
        }
    }
}

impl Memory {
    /// Allocates a buffer, replacing (and first freeing) an earlier one of that number.
    pub(super) fn alloc(
        &mut self,
        (context, queue): (&Context, &Rc<Owned<CommandQueue>>),
        info: &DeviceInfo,
        (id, bytes, kind): (BufferId, Bytes, MemoryKind),
    ) -> Result<()> {
        self.buffers.remove(&id);
        self.mapped.forget(id);
        self.images.forget(id);
        if bytes == Bytes(0) {
            return Err(Error::Unsupported("OpenCL has no buffers of 0 bytes".into()));
        }
        if bytes > info.max_buffer && !matches!(kind, MemoryKind::Pageable | MemoryKind::Mapped) {
            return Err(Error::Unsupported(format!(
                "a buffer of {bytes}; the device's largest is {}",
                info.max_buffer
            )));
        }
        let buffer = match kind {
            MemoryKind::Device | MemoryKind::ZeroCopy | MemoryKind::HostPointer => {
                Buffer::Device(DeviceBuffer::new(context, bytes, kind)?)
            }
            MemoryKind::Pinned => Buffer::Host(pinned(context, queue, bytes)?),
            MemoryKind::Pageable | MemoryKind::Mapped => Buffer::Host(pageable(bytes, kind)?),
        };
        self.buffers.insert(id, buffer);
        Ok(())
    }

    /// A recording is to be prepared: no kernel of it has been seen.
    pub(super) fn begin(&mut self) {
        self.has_turned = false;
        for buffer in self.buffers.values_mut() {
            if let Buffer::Device(buffer) = buffer {
                buffer.is_seen = false;
            }
        }
    }

    /// Notes what a step maps and unmaps, and checks that it uses nothing that is mapped.
    pub(super) fn map_or_use(&mut self, op: &Op) -> Result<()> {
        let buffers = &self.buffers;
        self.mapped.step(op, |id| match buffers.get(&id) {
            Some(Buffer::Device(buffer)) => Ok(buffer.kind),
            Some(Buffer::Host(buffer)) => Ok(buffer.kind),
            None => Err(no_buffer(id, "")),
        })
    }

    /// What is mapped or unmapped of a zero-copy buffer: of the whole, whatever parts kernels are given.
    pub(super) fn mapping(&self, part: &Slice) -> Result<transfer::Mapping<'_>> {
        let Some(Buffer::Device(buffer)) = self.buffers.get(&part.buffer) else {
            return Err(no_buffer(part.buffer, "zero-copy "));
        };
        validation::within(part, buffer.len.0)?;
        let offset = turned::offset(part, buffer.len, buffer.turned)?.as_usize();
        let (len, start) = (part.len.as_usize(), &buffer.mapped);
        Ok(transfer::Mapping { buffer: &buffer.whole, offset, len, start })
    }

    /// Creates the parts of device buffers that `slice` needs, and checks that it lies within
    /// its buffer. A dispatch needs a part, or what stands for one; a copy does without where there is none.
    pub(super) fn prepare(
        &mut self,
        queue: &CommandQueue,
        slice: &Slice,
        alignment: Bytes,
        dispatch: bool,
    ) -> Result<()> {
        let buffer = match self.buffers.get_mut(&slice.buffer) {
            Some(Buffer::Device(buffer)) => buffer,
            _ => return Err(no_buffer(slice.buffer, "device ")),
        };
        validation::within(slice, buffer.len.0)?;
        if !buffer.has(slice) && (buffer.turned == Bytes(0) || dispatch) {
            match buffer.part(slice, alignment) {
                Err(why) if dispatch => {
                    buffer.turn(queue, slice, why)?;
                    self.has_turned = true;
                }
                Err(Error::Unsupported(_)) | Ok(()) => {}
                Err(other) => return Err(other),
            }
        }
        buffer.is_seen |= dispatch;
        turned::offset(slice, buffer.len, buffer.turned).map(drop)
    }

    /// Makes the image of a part of a device buffer.
    pub(super) fn image(
        &mut self,
        context: &Context,
        queue: &CommandQueue,
        of: (&Slice, ImageOf),
    ) -> Result<()> {
        let mut images = std::mem::take(&mut self.images);
        let contents = || {
            let id = of.0.buffer;
            self.read_device(queue, id).unwrap_or_else(|| Err(no_buffer(id, "device ")))
        };
        let made = images.make(context, of, contents);
        self.images = images;
        made
    }

    /// Checks that `slice` lies within a host buffer.
    pub(super) fn check_host(&self, slice: &Slice) -> Result<()> {
        validation::within(slice, self.host(slice.buffer)?.len.0)
    }

    /// The OpenCL buffer behind a prepared slice, and the slice's first byte in it.
    pub(super) fn device(&self, slice: &Slice) -> Result<(&object::Buffer, usize)> {
        let Some(Buffer::Device(buffer)) = self.buffers.get(&slice.buffer) else {
            return Err(no_buffer(slice.buffer, "device "));
        };
        Ok(match buffer.parts.get(slice) {
            Some(part) => (part, 0),
            None => {
                let first = turned::offset(slice, buffer.len, buffer.turned)?;
                (&*buffer.whole, first.as_usize())
            }
        })
    }

    /// The host buffer of that number.
    pub(super) fn host(&self, id: BufferId) -> Result<&HostBuffer> {
        match self.buffers.get(&id) {
            Some(Buffer::Host(buffer)) => Ok(buffer),
            _ => Err(no_buffer(id, "host ")),
        }
    }

    /// The contents of a device buffer; `None` where there is none of that number.
    pub(super) fn read_device(
        &self,
        queue: &CommandQueue,
        id: BufferId,
    ) -> Option<Result<Vec<u8>>> {
        match self.buffers.get(&id)? {
            Buffer::Device(buffer) => {
                if let Err(why) = self.mapped.unused(id) {
                    return Some(Err(why));
                }
                Some(turned::read(queue, &buffer.whole, buffer.placement()))
            }
            Buffer::Host(_) => None,
        }
    }

    /// Writes `data` to the beginning of a device buffer.
    pub(super) fn write_device(
        &mut self,
        queue: &CommandQueue,
        id: BufferId,
        data: &[u8],
    ) -> Result<()> {
        self.mapped.unused(id)?;
        let Some(Buffer::Device(buffer)) = self.buffers.get_mut(&id) else {
            return Err(no_buffer(id, ""));
        };
        if data.len() > buffer.len.as_usize() {
            return Err(too_long(data, buffer.len));
        }
        let placement = buffer.placement();
        turned::write(queue, &mut buffer.whole, placement, data)
    }

    /// Writes `data` to the beginning of a host buffer; false where there is none of that number.
    pub(super) fn write_host(&mut self, id: BufferId, data: &[u8]) -> Result<bool> {
        let Some(Buffer::Host(buffer)) = self.buffers.get_mut(&id) else { return Ok(false) };
        let len = buffer.len;
        let target = buffer.bytes_mut().get_mut(..data.len()).ok_or_else(|| too_long(data, len))?;
        target.copy_from_slice(data);
        Ok(true)
    }

    pub(super) fn clear(&mut self) {
        self.images.clear();
        self.buffers.clear();
        self.mapped = MappedParts::default();
    }
}

impl HostBuffer {
    /// Where the byte at `offset` lies.
    pub(super) fn at(&self, offset: Bytes) -> *mut u8 {
        self.start.wrapping_add(offset.as_usize())
    }

    /// Its contents.
    #[expect(unsafe_code, reason = "reads memory shared with the driver")]
    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: `start` points to `len` initialised bytes (zeroed, or the driver's), which
        // nobody writes while no recording runs.
        unsafe { std::slice::from_raw_parts(self.start, self.len.as_usize()) }
    }

    /// Its contents, to be changed.
    #[expect(unsafe_code, reason = "writes memory shared with the driver")]
    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`, and `self` is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.len.as_usize()) }
    }
}

/// More data than the buffer holds.
fn too_long(data: &[u8], len: Bytes) -> Error {
    Error::Usage(format!("{} do not fit a buffer of {len}", Bytes(data.len() as u64)))
}

fn pageable(bytes: Bytes, kind: MemoryKind) -> Result<HostBuffer> {
    let mut pages = zeroed_pages(bytes)?;
    Ok(HostBuffer {
        kind,
        start: pages.as_mut_ptr().cast(),
        len: bytes,
        _owner: Owner::Pages(pages),
    })
}

#[expect(unsafe_code, reason = "OpenCL call")]
fn pinned(context: &Context, queue: &Rc<Owned<CommandQueue>>, bytes: Bytes) -> Result<HostBuffer> {
    let buffer = object::buffer(context, CL_MEM_ALLOC_HOST_PTR, bytes)?;
    let mut start = ptr::null_mut();
    // SAFETY: the range is the whole buffer; the call blocks, so `start` is valid after it.
    let event = unsafe {
        let flags = CL_MAP_READ | CL_MAP_WRITE;
        queue.enqueue_map_buffer(&buffer, CL_BLOCKING, flags, 0, bytes.as_usize(), &mut start, &[])
    };
    checked(&format!("mapping {bytes} of pinned memory"), event).map(Owned::new).map(drop)?;
    let mapping = Mapping { buffer, queue: Rc::clone(queue), start };
    let mut host = HostBuffer {
        kind: MemoryKind::Pinned,
        start: start.cast(),
        len: bytes,
        _owner: Owner::Mapping(mapping),
    };
    // What the driver hands over may never have been written; pages must exist before timing.
    host.bytes_mut().fill(0);
    Ok(host)
}
