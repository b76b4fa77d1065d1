//! What is checked of a recording, and made for it, before its clock begins.

use super::memory::Memory;
use super::run::{Built, Kernels};
use crate::validation::{self, no_kernel};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{DeviceInfo, Op, Recording};
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;

/// Checks that the device can do what is requested, and creates the parts of buffers it needs, so
/// that nothing of this happens on the clock.
pub(super) fn prepare(
    recording: &Recording,
    info: &DeviceInfo,
    kernels: &Kernels,
    (memory, context, queue): (&mut Memory, &Context, &CommandQueue),
) -> Result<()> {
    memory.begin();
    let mut before: Option<&Op> = None;
    for (position, step) in recording.steps.iter().enumerate() {
        if step.queue.0 >= info.queues {
            return Err(Error::Unsupported(format!(
                "queue {}; the device has {} of them",
                step.queue.0, info.queues
            )));
        }
        validation::order(position, step)?;
        memory.map_or_use(&step.op)?;
        // A batch repeats one operation: it is checked once.
        if before != Some(&step.op) {
            prepare_op(&step.op, info, kernels, (memory, context, queue))?;
            before = Some(&step.op);
        }
    }
    Ok(())
}

fn prepare_op(
    op: &Op,
    info: &DeviceInfo,
    kernels: &Kernels,
    (memory, context, queue): (&mut Memory, &Context, &CommandQueue),
) -> Result<()> {
    let alignment = info.offset_alignment;
    match op {
        Op::Dispatch { kernel, groups, buffers, params } => {
            let kernel = kernels.get(kernel).ok_or_else(|| no_kernel(*kernel))?;
            validation::launch(*groups, (buffers.len(), params.len()), kernel.takes(), info)?;
            if let Built::Compiled(kernel) = kernel {
                kernel.check_constant_memory(buffers)?;
                for (slice, kind) in kernel.images(buffers) {
                    memory.image(context, queue, (slice, kind))?;
                }
            }
            buffers.iter().try_for_each(|slice| memory.prepare(queue, slice, alignment, true))
        }
        Op::Upload { from: host, to: device } | Op::Download { from: device, to: host } => {
            validation::copy(host, device)?;
            memory.check_host(host)?;
            memory.prepare(queue, device, alignment, false)
        }
        Op::Copy { from, to } => {
            validation::copy(from, to)?;
            memory.prepare(queue, from, alignment, false)?;
            memory.prepare(queue, to, alignment, false)
        }
        Op::Map { part, .. } | Op::Unmap { part } => memory.mapping(part).map(drop),
    }
}
