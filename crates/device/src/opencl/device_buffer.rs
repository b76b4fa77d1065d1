//! A buffer that kernels are given, in the device's memory or in zero-copy memory.

use super::object::{self, Owned};
use super::pages::{Page, zeroed_pages};
use super::parts::Parts;
use super::turned::{self, Placement};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{MemoryKind, Slice};
use gpubench_core::units::Bytes;
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::memory::CL_MEM_ALLOC_HOST_PTR;
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;

/// The most that a driver may want host memory aligned to: the largest page of any processor's Linux. A whole
/// number of pages is a whole number of cache lines, without which some drivers copy after all.
pub(super) const HOST_POINTER_ALIGNMENT: Bytes = Bytes(65_536);

/// A buffer in the device's memory or in zero-copy memory, and the parts of it that kernels were given.
pub(super) struct DeviceBuffer {
    pub(super) kind: MemoryKind,
    pub(super) parts: Parts,
    pub(super) whole: Owned<object::Buffer>,
    pub(super) len: Bytes,
    /// Where the byte lies that the whole begins with, where the driver makes no parts: bytes before it come last.
    pub(super) turned: Bytes,
    /// Whether a kernel of the recording at hand sees it as it is.
    pub(super) is_seen: bool,
    /// Where the host has a part of it; null where it has none.
    pub(super) mapped: Cell<*mut c_void>,
    /// The host's memory that it lies in: freed after everything above.
    _pages: Vec<Page>,
}

impl DeviceBuffer {
    /// A buffer of a kind that kernels take.
    #[expect(unsafe_code, reason = "lends the host's memory to OpenCL")]
    pub(super) fn new(context: &Context, len: Bytes, kind: MemoryKind) -> Result<Self> {
        let mut pages = vec![];
        let whole = match kind {
            MemoryKind::HostPointer => {
                let aligned = Bytes(len.0.next_multiple_of(HOST_POINTER_ALIGNMENT.0));
                let edge = HOST_POINTER_ALIGNMENT.as_usize();
                pages = zeroed_pages(Bytes(aligned.0 + HOST_POINTER_ALIGNMENT.0))?;
                let start = pages.as_mut_ptr().cast::<u8>();
                let start = start.wrapping_add(start.align_offset(edge));
                // SAFETY: one alignment more than the buffer takes was allocated, and the pages live as long as
                // the buffer; nothing here reads or writes them but through a map.
                unsafe { object::buffer_over(context, start.cast(), aligned) }?
            }
            MemoryKind::ZeroCopy => object::buffer(context, CL_MEM_ALLOC_HOST_PTR, len)?,
            _ => object::buffer(context, 0, len)?,
        };
        let (parts, turned, is_seen) = (Parts::default(), Bytes(0), false);
        let mapped = Cell::new(ptr::null_mut());
        Ok(Self { kind, parts, whole, len, turned, is_seen, mapped, _pages: pages })
    }

    pub(super) fn placement(&self) -> Placement {
        Placement { len: self.len, by: self.turned, maps: self.kind.is_zero_copy() }
    }

    /// Whether a kernel that is given the whole buffer, or a part that was made, sees `slice`.
    pub(super) fn has(&self, slice: &Slice) -> bool {
        let part = (slice.offset, slice.len);
        let is_whole = match self.turned {
            Bytes(0) => part == (Bytes(0), self.len),
            turned => slice.offset == turned,
        };
        is_whole || self.parts.get(slice).is_some()
    }

    /// Makes the part of it that is `slice`.
    ///
    /// # Errors
    /// `Unsupported` where the driver makes no such part.
    pub(super) fn part(&mut self, slice: &Slice, alignment: Bytes) -> Result<()> {
        let first = turned::offset(slice, self.len, self.turned)?;
        if !first.0.is_multiple_of(alignment.0) {
            return Err(Error::Unsupported(format!(
                "a kernel's buffer begins at byte {}; the device wants multiples of {}",
                first.0, alignment.0
            )));
        }
        let made = object::sub_buffer(&self.whole, first, slice.len);
        let part = made.map_err(|error| match error {
            Error::Device(why) => Error::Unsupported(format!("a kernel's part of a buffer: {why}")),
            other => other,
        })?;
        self.parts.keep(slice, part);
        Ok(())
    }

    /// Turns it so that a kernel that is given the whole of it sees `slice`.
    ///
    /// # Errors
    /// `why` there is no part of it, where a kernel of the same recording sees it otherwise, or `slice` begins
    /// where no guard zone ends.
    pub(super) fn turn(&mut self, queue: &CommandQueue, slice: &Slice, why: Error) -> Result<()> {
        if slice.offset == self.turned {
            return Ok(());
        }
        if self.is_seen || !slice.offset.0.is_multiple_of(size_of::<Page>() as u64) {
            return Err(why);
        }
        let mut data = turned::read(queue, &self.whole, self.placement())?;
        data.rotate_left(slice.offset.as_usize());
        self.parts = Parts::default();
        self.turned = slice.offset;
        let placement = Placement { by: Bytes(0), ..self.placement() };
        turned::write(queue, &mut self.whole, placement, &data)
    }
}
