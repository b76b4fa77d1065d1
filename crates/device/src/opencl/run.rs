//! Executing a recording that was prepared: everything is queued, then waited for.

use super::kernel::Kernel;
use super::memory::Memory;
use super::object::Object;
use super::prepare::no_kernel;
use super::status::{checked, error};
use super::timeline::{self, Stamps};
use cl3::command_queue::{self as cl, cl_command_queue};
use cl3::event::{
    self, CL_EVENT_COMMAND_EXECUTION_STATUS, CL_PROFILING_COMMAND_END, CL_PROFILING_COMMAND_QUEUED,
    CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_SUBMIT, cl_event,
};
use cl3::info_type::InfoType;
use cl3::memory::{CL_MAP_READ, CL_MAP_WRITE_INVALIDATE_REGION};
use cl3::types::{CL_FALSE, CL_TRUE};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{DeviceInfo, KernelId, MemoryKind, Op, Recording, Slice, Step, Timeline};
use std::collections::BTreeMap;
use std::ptr;
use std::rc::Rc;
use std::time::Instant;

/// Every kernel of a device.
pub(super) type Kernels = BTreeMap<KernelId, Kernel>;

/// A device at work on one recording.
pub(super) struct Run<'a> {
    pub(super) info: &'a DeviceInfo,
    /// One command queue for each queue that the recording needs.
    pub(super) queues: &'a [Rc<Object>],
    pub(super) kernels: &'a mut Kernels,
    pub(super) memory: &'a Memory,
}

/// The events of a step: one, or two where the host takes part (a map and its unmap).
struct Issued {
    first: Option<Object>,
    last: Object,
}

impl Run<'_> {
    /// Executes a prepared recording.
    pub(super) fn execute(mut self, recording: &Recording) -> Result<Timeline> {
        let mut issued = Vec::with_capacity(recording.steps.len());
        let begun = Instant::now();
        let queued = self.enqueue_all(&recording.steps, &mut issued);
        let finished = queued.and_then(|()| self.finish());
        let wall = begun.elapsed().as_secs_f64();
        if finished.is_err() {
            // Commands that are still running use memory that the caller may free next.
            let _ = self.finish();
        }
        // A failed command knows better what went wrong than the wait for it.
        let stamps = first_failure(&issued).and(finished).map(|()| stamps(&issued))?;
        Ok(timeline::of(stamps, self.info.timestamp_resolution, wall))
    }

    fn enqueue_all(&mut self, steps: &[Step], issued: &mut Vec<Issued>) -> Result<()> {
        let mut waits: Vec<cl_event> = vec![];
        for step in steps {
            waits.clear();
            // A queue runs in order anyway: only steps of other queues need to be waited for.
            let others = step.after.iter().map(|id| id.0 as usize);
            let others = others.filter(|&id| steps[id].queue != step.queue);
            waits.extend(others.map(|id| issued[id].last.raw()));
            issued.push(self.enqueue(step, &waits)?);
        }
        Ok(())
    }

    fn enqueue(&mut self, step: &Step, waits: &[cl_event]) -> Result<Issued> {
        let queue = self.queues[step.queue.0 as usize].raw();
        match &step.op {
            Op::Dispatch { kernel, groups, buffers, params } => {
                let memory = self.memory;
                let kernel = self.kernels.get_mut(kernel).ok_or_else(|| no_kernel(*kernel))?;
                kernel.bind(buffers, params, |slice| memory.device(slice).map(|(raw, _)| raw))?;
                launch(queue, kernel, *groups, waits)
            }
            Op::Upload { from: host, to: device } => {
                self.transfer(queue, Direction::ToDevice, host, device, waits)
            }
            Op::Download { from: device, to: host } => {
                self.transfer(queue, Direction::ToHost, host, device, waits)
            }
            Op::Copy { from, to } => self.copy(queue, from, to, waits),
        }
    }

    fn transfer(
        &self,
        queue: cl_command_queue,
        direction: Direction,
        host: &Slice,
        device: &Slice,
        waits: &[cl_event],
    ) -> Result<Issued> {
        let buffer = self.memory.host(host.buffer)?;
        let memory = self.memory.device(device)?;
        let part = Part { memory, host: buffer.at(host.offset), len: host.len.as_usize() };
        if buffer.kind != MemoryKind::Mapped {
            return part.enqueue(queue, direction, waits);
        }
        // The host waits for the map: what it depends on must be under way.
        self.flush()?;
        part.through_a_map(queue, direction, waits)
    }

    #[expect(unsafe_code, reason = "OpenCL call")]
    fn copy(
        &self,
        queue: cl_command_queue,
        from: &Slice,
        to: &Slice,
        waits: &[cl_event],
    ) -> Result<Issued> {
        let (source, source_offset) = self.memory.device(from)?;
        let (target, target_offset) = self.memory.device(to)?;
        let (count, list) = wait_list(waits);
        // SAFETY: both ranges were checked to lie in their buffers; the events live in `issued`.
        let event = unsafe {
            cl::enqueue_copy_buffer(
                queue,
                source,
                target,
                source_offset,
                target_offset,
                from.len.as_usize(),
                count,
                list,
            )
        };
        Issued::one("copying", event)
    }

    fn flush(&self) -> Result<()> {
        self.queues.iter().try_for_each(|queue| checked("submitting", cl::flush(queue.raw())))
    }

    /// Waits until every queue is empty. All are flushed first: they may wait for each other.
    fn finish(&self) -> Result<()> {
        if self.queues.len() > 1 {
            self.flush()?;
        }
        self.queues.iter().try_for_each(|queue| checked("waiting", cl::finish(queue.raw())))
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    ToDevice,
    ToHost,
}

/// Two places of equal length to copy between.
struct Part {
    memory: (cl3::types::cl_mem, usize),
    host: *mut u8,
    len: usize,
}

impl Part {
    #[expect(unsafe_code, reason = "OpenCL call")]
    fn enqueue(
        self,
        queue: cl_command_queue,
        direction: Direction,
        waits: &[cl_event],
    ) -> Result<Issued> {
        let (memory, offset) = self.memory;
        let (count, list) = wait_list(waits);
        // SAFETY: both ranges were checked to lie in their buffers, and neither is freed
        // before the queue has finished.
        let event = unsafe {
            let host = self.host.cast();
            match direction {
                Direction::ToDevice => cl::enqueue_write_buffer(
                    queue, memory, CL_FALSE, offset, self.len, host, count, list,
                ),
                Direction::ToHost => cl::enqueue_read_buffer(
                    queue, memory, CL_FALSE, offset, self.len, host, count, list,
                ),
            }
        };
        Issued::one("transferring", event)
    }

    #[expect(unsafe_code, reason = "OpenCL calls and a copy through the mapped pointer")]
    fn through_a_map(
        self,
        queue: cl_command_queue,
        direction: Direction,
        waits: &[cl_event],
    ) -> Result<Issued> {
        let (memory, offset) = self.memory;
        let flags = match direction {
            Direction::ToDevice => CL_MAP_WRITE_INVALIDATE_REGION,
            Direction::ToHost => CL_MAP_READ,
        };
        let (count, list) = wait_list(waits);
        let mut mapped = ptr::null_mut();
        // SAFETY: the range was checked to lie in the buffer; the call blocks.
        let map = unsafe {
            cl::enqueue_map_buffer(
                queue,
                memory,
                CL_TRUE,
                flags,
                offset,
                self.len,
                &mut mapped,
                count,
                list,
            )
        };
        let first = Object::event(checked("mapping", map)?);
        // SAFETY: `mapped` and `host` each point to `len` bytes, of different allocations;
        // `mapped` is what the map returned and is not used after the unmap.
        let unmap = unsafe {
            match direction {
                Direction::ToDevice => {
                    mapped.cast::<u8>().copy_from_nonoverlapping(self.host, self.len)
                }
                Direction::ToHost => self.host.copy_from_nonoverlapping(mapped.cast(), self.len),
            }
            cl::enqueue_unmap_mem_object(queue, memory, mapped, 0, ptr::null())
        };
        Ok(Issued { first: Some(first), last: Object::event(checked("unmapping", unmap)?) })
    }
}

#[expect(unsafe_code, reason = "OpenCL call")]
fn launch(
    queue: cl_command_queue,
    kernel: &Kernel,
    groups: [u32; 3],
    waits: &[cl_event],
) -> Result<Issued> {
    let group = kernel.group();
    let mut global = [0; 3];
    for i in 0..3 {
        global[i] = group[i].checked_mul(groups[i] as usize).ok_or_else(|| {
            Error::Unsupported(format!("{groups:?} work-groups of {group:?} work-items"))
        })?;
    }
    // Trailing dimensions of one work-item are left out, as a program without them would do.
    let dimensions = (1..3).rev().find(|&i| global[i] > 1).unwrap_or(0) as u32 + 1;
    let (count, list) = wait_list(waits);
    // SAFETY: all arguments of the kernel are set; the sizes live through the call; the
    // buffers are not freed before the queue has finished.
    let event = unsafe {
        cl::enqueue_nd_range_kernel(
            queue,
            kernel.raw(),
            dimensions,
            ptr::null(),
            global.as_ptr(),
            group.as_ptr(),
            count,
            list,
        )
    };
    Issued::one("launching", event)
}

impl Issued {
    fn one(what: &str, event: Result<cl_event, i32>) -> Result<Self> {
        Ok(Self { first: None, last: Object::event(checked(what, event)?) })
    }
}

/// A wait list as OpenCL wants it: no events, no pointer.
fn wait_list(events: &[cl_event]) -> (u32, *const cl_event) {
    match events.len() {
        0 => (0, ptr::null()),
        count => (super::query::saturating(count as u64), events.as_ptr()),
    }
}

/// The first step whose command ended in an error, as that error.
fn first_failure(issued: &[Issued]) -> Result<()> {
    for (step, events) in issued.iter().enumerate() {
        let status = event::get_event_info(events.last.raw(), CL_EVENT_COMMAND_EXECUTION_STATUS);
        if let Ok(InfoType::Int(code)) = status
            && code < 0
        {
            return Err(error(&format!("step {step}"), code));
        }
    }
    Ok(())
}

/// The timestamps of all steps, or why there are none.
fn stamps(issued: &[Issued]) -> Result<Vec<Stamps>, String> {
    let stamp = |event: &Object, what| match event::get_event_profiling_info(event.raw(), what) {
        Ok(InfoType::Ulong(nanoseconds)) => Ok(nanoseconds),
        Ok(_) => Err("the driver's timestamps have another type".to_owned()),
        Err(code) => Err(error("reading timestamps", code).to_string()),
    };
    let of = |events: &Issued| {
        let first = events.first.as_ref().unwrap_or(&events.last);
        Ok([
            stamp(first, CL_PROFILING_COMMAND_QUEUED)?,
            stamp(first, CL_PROFILING_COMMAND_SUBMIT)?,
            stamp(first, CL_PROFILING_COMMAND_START)?,
            stamp(&events.last, CL_PROFILING_COMMAND_END)?,
        ])
    };
    issued.iter().map(of).collect()
}
