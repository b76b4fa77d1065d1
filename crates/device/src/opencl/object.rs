//! OpenCL's objects: opencl3's types, each owned once and released on drop.

use super::status::{allocated, checked};
use gpubench_core::error::Result;
use gpubench_core::units::Bytes;
use opencl3::command_queue::{self, CL_QUEUE_PROFILING_ENABLE, CommandQueue};
use opencl3::context::{self, Context};
use opencl3::error_codes::{CL_INVALID_QUEUE_PROPERTIES, ClError};
use opencl3::event::{self, Event};
use opencl3::kernel::{self, Kernel};
use opencl3::memory::{self, CL_MEM_READ_WRITE, CL_MEM_USE_HOST_PTR, ClMem, Sampler};
use opencl3::program::{self, Program};
use opencl3::types::{cl_device_id, cl_int};
use std::ffi::{CStr, c_void};
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr;

/// A buffer of bytes.
pub(super) type Buffer = memory::Buffer<u8>;
/// An image.
pub(super) type Image = memory::Image;

/// An object of opencl3's whose release may fail.
///
/// opencl3 panics where a driver refuses a release, and drivers do so once a device is lost: the
/// panic would hide that very error, and a second one while unwinding ends the process. Here a
/// refused release is a line of the log.
pub(super) struct Owned<T: Release>(ManuallyDrop<T>);

impl<T: Release> Owned<T> {
    pub(super) fn new(object: T) -> Self {
        Self(ManuallyDrop::new(object))
    }
}

impl<T: Release> Deref for Owned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Release> DerefMut for Owned<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T: Release> Drop for Owned<T> {
    #[expect(unsafe_code, reason = "releases the one reference that this object owns")]
    fn drop(&mut self) {
        // SAFETY: the handle came from the creating call that `RELEASE` belongs to, and nobody
        // else releases this reference: opencl3's own drop never runs.
        if let Err(code) = unsafe { T::RELEASE(self.0.handle()) } {
            tracing::debug!(code, "releasing an OpenCL object failed");
        }
    }
}

/// How an object is released.
pub(super) trait Release {
    const RELEASE: unsafe fn(*mut c_void) -> Result<(), cl_int>;

    fn handle(&self) -> *mut c_void;
}

macro_rules! released_by {
    ($($object:ty: $release:path),+ $(,)?) => {$(
        impl Release for $object {
            const RELEASE: unsafe fn(*mut c_void) -> Result<(), cl_int> = $release;

            fn handle(&self) -> *mut c_void {
                self.get()
            }
        }
    )+};
}

released_by! {
    Context: context::context::release_context,
    CommandQueue: command_queue::release_command_queue,
    Buffer: memory::release_mem_object,
    Image: memory::release_mem_object,
    Sampler: cl3::sampler::release_sampler,
    Program: program::release_program,
    Kernel: kernel::release_kernel,
    Event: event::release_event,
}

pub(super) fn context(device: cl_device_id) -> Result<Owned<Context>> {
    let made = Context::from_devices(&[device], &[], None, ptr::null_mut());
    checked("opening the device", made).map(Owned::new)
}

/// An in-order queue, and whether its events carry timestamps: some drivers have no such queues.
#[expect(unsafe_code, reason = "OpenCL call")]
pub(super) fn queue(
    context: &Context,
    device: cl_device_id,
) -> Result<(Owned<CommandQueue>, bool)> {
    // SAFETY: the context was made for this device.
    let create = |properties| unsafe { CommandQueue::create(context, device, properties) };
    let (made, has_timestamps) = match create(CL_QUEUE_PROFILING_ENABLE) {
        Err(ClError(CL_INVALID_QUEUE_PROPERTIES)) => (create(0), false),
        made => (made, true),
    };
    checked("creating a queue", made).map(|queue| (Owned::new(queue), has_timestamps))
}

/// A buffer that kernels read and write; `flags` add to that.
#[expect(unsafe_code, reason = "OpenCL call")]
pub(super) fn buffer(context: &Context, flags: u64, bytes: Bytes) -> Result<Owned<Buffer>> {
    let flags = CL_MEM_READ_WRITE | flags;
    // SAFETY: no host pointer is handed over.
    let made = unsafe { Buffer::create(context, flags, bytes.as_usize(), ptr::null_mut()) };
    allocated(&format!("allocating {bytes}"), made).map(Owned::new)
}

/// A buffer over memory of the host's, of which it takes the first `bytes`.
///
/// # Safety
/// `start` points to so many bytes, which stay where they are until the buffer is released, and which the host
/// reaches through a map of the buffer only.
#[expect(unsafe_code, reason = "OpenCL call")]
pub(super) unsafe fn buffer_over(
    context: &Context,
    start: *mut c_void,
    bytes: Bytes,
) -> Result<Owned<Buffer>> {
    let flags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
    // SAFETY: as the caller promises.
    let made = unsafe { Buffer::create(context, flags, bytes.as_usize(), start) };
    allocated(&format!("using {bytes} of the host's memory"), made).map(Owned::new)
}

/// A part of a buffer as a buffer of its own.
#[expect(unsafe_code, reason = "OpenCL call")]
pub(super) fn sub_buffer(parent: &Buffer, offset: Bytes, len: Bytes) -> Result<Owned<Buffer>> {
    let (origin, count) = (offset.as_usize(), len.as_usize());
    // SAFETY: the parent is a whole buffer, as the call wants it; a region that does not lie in
    // it is refused by OpenCL.
    let made = unsafe { parent.create_sub_buffer(CL_MEM_READ_WRITE, origin, count) };
    checked("creating a sub-buffer", made).map(Owned::new)
}

pub(super) fn program(context: &Context, text: &str) -> Result<Owned<Program>> {
    let made = Program::create_from_source(context, text);
    checked("creating a program", made).map(Owned::new)
}

/// A program in SPIR-V.
pub(super) fn program_of_spirv(context: &Context, bytes: &[u8]) -> Result<Owned<Program>> {
    let made = Program::create_from_il(context, bytes);
    checked("creating a program of SPIR-V", made).map(Owned::new)
}

/// The kernel called `entry`, or OpenCL's status code. Not by `Kernel::create`, which panics where
/// a name contains a null character.
pub(super) fn kernel(program: &Program, entry: &CStr) -> Result<Owned<Kernel>, ClError> {
    let raw = kernel::create_kernel(program.get(), entry)?;
    Ok(Owned::new(Kernel::new(raw)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    static REJECTED: AtomicUsize = AtomicUsize::new(0);

    /// As a driver answers once the device is lost.
    fn reject(_: *mut c_void) -> Result<(), cl_int> {
        REJECTED.fetch_add(1, Ordering::Relaxed);
        Err(opencl3::error_codes::CL_INVALID_CONTEXT)
    }

    struct OfALostDevice;

    impl Release for OfALostDevice {
        const RELEASE: unsafe fn(*mut c_void) -> Result<(), cl_int> = reject;

        fn handle(&self) -> *mut c_void {
            ptr::null_mut()
        }
    }

    #[test]
    fn a_rejected_release_is_no_panic_and_is_not_tried_again() {
        drop([Owned::new(OfALostDevice), Owned::new(OfALostDevice)]);
        assert_eq!(REJECTED.load(Ordering::Relaxed), 2);
    }
}
