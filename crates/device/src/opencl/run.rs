//! Executing a recording that was prepared: everything is queued, then waited for.

use super::clblast::Gemm;
use super::kernel::Kernel;
use super::memory::Memory;
use super::object::Owned;
use super::status::{checked, error};
use super::transfer::{self, Direction, Transfer};
use crate::timeline::{self, Stamps};
use crate::validation::no_kernel;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{DeviceInfo, KernelId, MemoryKind, Op, Recording, Slice, Step, Timeline};
use opencl3::command_queue::CommandQueue;
use opencl3::error_codes::ClError;
use opencl3::event::{Event, cl_event};
use opencl3::memory::ClMem;
use std::collections::BTreeMap;
use std::ptr;
use std::rc::Rc;
use std::time::Instant;

/// Every kernel of a device.
pub(super) type Kernels = BTreeMap<KernelId, Built>;

/// What does a kernel's work.
pub(super) enum Built {
    /// A program that was compiled.
    Compiled(Kernel),
    /// A routine of a library.
    Routine(Gemm),
}

impl Built {
    /// How many buffers it takes, and bytes of parameters.
    pub(super) fn takes(&self) -> (usize, usize) {
        match self {
            Self::Compiled(kernel) => kernel.takes(),
            Self::Routine(_) => Gemm::takes(),
        }
    }

    /// Forgets the arguments: the memory behind them has changed.
    pub(super) fn unbind(&mut self) {
        if let Self::Compiled(kernel) = self {
            kernel.unbind();
        }
    }
}

/// A device at work on one recording.
pub(super) struct Run<'a> {
    pub(super) info: &'a DeviceInfo,
    /// One command queue for each queue that the recording needs.
    pub(super) queues: &'a [Rc<Owned<CommandQueue>>],
    pub(super) kernels: &'a mut Kernels,
    pub(super) memory: &'a Memory,
}

/// The events of a step: one, or two where the host takes part (a map and its unmap).
pub(super) struct Issued {
    first: Option<Owned<Event>>,
    last: Owned<Event>,
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
        Ok(timeline::of(stamps, 1e-9, self.info.timestamp_resolution, wall))
    }

    fn enqueue_all(&mut self, steps: &[Step], issued: &mut Vec<Issued>) -> Result<()> {
        let mut waits: Vec<cl_event> = vec![];
        for step in steps {
            waits.clear();
            // A queue runs in order anyway: only steps of other queues need to be waited for.
            let others = step.after.iter().map(|id| id.0 as usize);
            let others = others.filter(|&id| steps[id].queue != step.queue);
            waits.extend(others.map(|id| issued[id].last.get()));
            issued.push(self.enqueue(step, &waits)?);
        }
        Ok(())
    }

    fn enqueue(&mut self, step: &Step, waits: &[cl_event]) -> Result<Issued> {
        let queue: &CommandQueue = &self.queues[step.queue.0 as usize];
        match &step.op {
            Op::Dispatch { kernel, groups, buffers, params } => {
                let memory = self.memory;
                let at = |slice: &Slice| memory.device(slice).map(|(buffer, _)| buffer.get());
                let seen = |slice: &Slice, kind| match kind {
                    Some(kind) => memory.images.get(slice, kind),
                    None => at(slice),
                };
                match self.kernels.get_mut(kernel).ok_or_else(|| no_kernel(*kernel))? {
                    Built::Compiled(kernel) => {
                        kernel.bind(buffers, params, seen)?;
                        launch(queue, kernel, *groups, waits)
                    }
                    // It takes three buffers: that was checked.
                    Built::Routine(gemm) => {
                        let buffers = [at(&buffers[0])?, at(&buffers[1])?, at(&buffers[2])?];
                        gemm.enqueue(queue, buffers, params, waits)
                    }
                }
            }
            Op::Upload { from: host, to: device } => {
                self.transfer(queue, Direction::ToDevice, host, device, waits)
            }
            Op::Download { from: device, to: host } => {
                self.transfer(queue, Direction::ToHost, host, device, waits)
            }
            Op::Copy { from, to } => {
                let (from_at, to_at) = (self.memory.device(from)?, self.memory.device(to)?);
                transfer::copy(queue, from_at, to_at, from.len, waits)
            }
            Op::Map { part, access } => {
                // The host waits for the map: what it depends on must be under way.
                self.flush()?;
                self.memory.mapping(part)?.map(queue, *access, waits)
            }
            Op::Unmap { part } => self.memory.mapping(part)?.unmap(queue, waits),
        }
    }

    fn transfer(
        &self,
        queue: &CommandQueue,
        direction: Direction,
        host: &Slice,
        device: &Slice,
        waits: &[cl_event],
    ) -> Result<Issued> {
        let (buffer, offset) = self.memory.device(device)?;
        let memory = self.memory.host(host.buffer)?;
        let (start, len) = (memory.at(host.offset), host.len.as_usize());
        let transfer = Transfer { direction, buffer, offset, host: start, len };
        if memory.kind != MemoryKind::Mapped {
            return transfer.enqueue(queue, waits);
        }
        // The host waits for the map: what it depends on must be under way.
        self.flush()?;
        transfer.through_a_map(queue, waits)
    }

    fn flush(&self) -> Result<()> {
        self.queues.iter().try_for_each(|queue| checked("submitting", queue.flush()))
    }

    /// Waits until every queue is empty. All are flushed first: they may wait for each other.
    fn finish(&self) -> Result<()> {
        if self.queues.len() > 1 {
            self.flush()?;
        }
        self.queues.iter().try_for_each(|queue| checked("waiting", queue.finish()))
    }
}

#[expect(unsafe_code, reason = "OpenCL call")]
fn launch(
    queue: &CommandQueue,
    kernel: &Kernel,
    groups: [u32; 3],
    waits: &[cl_event],
) -> Result<Issued> {
    let group = kernel.group;
    let mut global = [0; 3];
    for i in 0..3 {
        global[i] = group[i].checked_mul(groups[i] as usize).ok_or_else(|| {
            Error::Unsupported(format!("{groups:?} work-groups of {group:?} work-items"))
        })?;
    }
    // Trailing dimensions of one work-item are left out, as a program without them would do.
    let dimensions = (1..3).rev().find(|&i| global[i] > 1).unwrap_or(0) as u32 + 1;
    // SAFETY: all arguments of the kernel are set; the sizes live through the call; the
    // buffers are not freed before the queue has finished.
    let event = unsafe {
        queue.enqueue_nd_range_kernel(
            kernel.object.get(),
            dimensions,
            ptr::null(),
            global.as_ptr(),
            group.as_ptr(),
            waits,
        )
    };
    Issued::one("launching", event)
}

impl Issued {
    /// The step's only command.
    pub(super) fn one(what: &str, event: Result<Event, ClError>) -> Result<Self> {
        Ok(Self { first: None, last: Owned::new(checked(what, event)?) })
    }

    /// The step's last command, which came after `first`.
    pub(super) fn after(
        first: Owned<Event>,
        what: &str,
        event: Result<Event, ClError>,
    ) -> Result<Self> {
        Ok(Self { first: Some(first), last: Owned::new(checked(what, event)?) })
    }
}

/// The first step whose command ended in an error, as that error.
fn first_failure(issued: &[Issued]) -> Result<()> {
    for (step, events) in issued.iter().enumerate() {
        if let Ok(status) = events.last.command_execution_status()
            && status.0 < 0
        {
            return Err(error(&format!("step {step}"), status.0));
        }
    }
    Ok(())
}

/// The timestamps of all steps, or why there are none.
fn stamps(issued: &[Issued]) -> Result<Vec<Stamps>, String> {
    let of = |events: &Issued| {
        let (first, last) = (events.first.as_ref().unwrap_or(&events.last), &events.last);
        Ok([
            first.profiling_command_queued()?,
            first.profiling_command_submit()?,
            first.profiling_command_start()?,
            last.profiling_command_end()?,
        ])
    };
    let stamps: Result<_, ClError> = issued.iter().map(of).collect();
    stamps.map_err(|code| error("reading timestamps", code.0).to_string())
}
