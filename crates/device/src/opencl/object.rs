//! OpenCL's objects: each is owned once and released on drop.

use super::status::checked;
use cl3::device::cl_device_id;
use cl3::{command_queue, context, event, kernel, memory, program};
use gpubench_core::error::Result;
use gpubench_core::units::Bytes;
use std::ffi::{CStr, c_void};
use std::ptr;

/// One reference to an OpenCL object of any type.
pub(super) struct Object {
    raw: *mut c_void,
    release: unsafe fn(*mut c_void) -> Result<(), i32>,
}

impl Object {
    /// The handle; it is valid as long as `self`.
    pub(super) fn raw(&self) -> *mut c_void {
        self.raw
    }

    /// Takes over the reference that a creating call returned.
    pub(super) fn event(raw: event::cl_event) -> Self {
        Self { raw, release: event::release_event }
    }
}

impl Drop for Object {
    #[expect(unsafe_code, reason = "releases the one reference that this object owns")]
    fn drop(&mut self) {
        // SAFETY: `raw` came from the creating call that `release` belongs to, and nobody
        // else releases this reference.
        if let Err(code) = unsafe { (self.release)(self.raw) } {
            tracing::debug!(code, "releasing an OpenCL object failed");
        }
    }
}

pub(super) fn context(device: cl_device_id) -> Result<Object> {
    let raw = context::create_context(&[device], ptr::null(), None, ptr::null_mut());
    Ok(Object { raw: checked("opening the device", raw)?, release: context::release_context })
}

/// An in-order queue whose events carry timestamps.
#[expect(unsafe_code, reason = "OpenCL call")]
pub(super) fn queue(context: &Object, device: cl_device_id) -> Result<Object> {
    // SAFETY: the context was made for this device.
    let raw = unsafe {
        command_queue::create_command_queue(
            context.raw,
            device,
            command_queue::CL_QUEUE_PROFILING_ENABLE,
        )
    };
    Ok(Object {
        raw: checked("creating a queue", raw)?,
        release: command_queue::release_command_queue,
    })
}

/// A buffer that kernels read and write; `flags` add to that.
#[expect(unsafe_code, reason = "OpenCL call")]
pub(super) fn buffer(context: &Object, flags: u64, bytes: Bytes) -> Result<Object> {
    // SAFETY: no host pointer is handed over.
    let raw = unsafe {
        memory::create_buffer(
            context.raw,
            memory::CL_MEM_READ_WRITE | flags,
            bytes.as_usize(),
            ptr::null_mut(),
        )
    };
    Ok(Object {
        raw: checked(&format!("allocating {bytes}"), raw)?,
        release: memory::release_mem_object,
    })
}

/// A part of a buffer as a buffer of its own.
#[expect(unsafe_code, reason = "OpenCL call")]
pub(super) fn sub_buffer(parent: &Object, offset: Bytes, len: Bytes) -> Result<Object> {
    let region = memory::cl_buffer_region { origin: offset.as_usize(), size: len.as_usize() };
    // SAFETY: the region lives through the call and is what the create type says.
    let raw = unsafe {
        memory::create_sub_buffer(
            parent.raw,
            memory::CL_MEM_READ_WRITE,
            memory::CL_BUFFER_CREATE_TYPE_REGION,
            (&raw const region).cast(),
        )
    };
    Ok(Object { raw: checked("creating a sub-buffer", raw)?, release: memory::release_mem_object })
}

pub(super) fn program(context: &Object, text: &str) -> Result<Object> {
    let raw = program::create_program_with_source(context.raw, &[text]);
    Ok(Object { raw: checked("creating a program", raw)?, release: program::release_program })
}

/// The kernel called `entry`, or OpenCL's status code.
pub(super) fn kernel(program: &Object, entry: &CStr) -> Result<Object, i32> {
    let raw = kernel::create_kernel(program.raw, entry)?;
    Ok(Object { raw, release: kernel::release_kernel })
}
