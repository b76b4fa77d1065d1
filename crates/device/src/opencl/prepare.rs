//! What is checked of a recording, and made for it, before its clock begins.

use super::memory::Memory;
use super::run::Kernels;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{DeviceInfo, KernelId, Op, Recording, Slice};

/// Checks that the device can do what is requested, and creates the parts of buffers it needs, so
/// that nothing of this happens on the clock.
pub(super) fn prepare(
    recording: &Recording,
    info: &DeviceInfo,
    kernels: &Kernels,
    memory: &mut Memory,
) -> Result<()> {
    let mut before: Option<&Op> = None;
    for (position, step) in recording.steps.iter().enumerate() {
        if step.queue.0 >= info.queues {
            return Err(Error::Unsupported(format!(
                "queue {}; the device has {} of them",
                step.queue.0, info.queues
            )));
        }
        if let Some(id) = step.after.iter().find(|id| id.0 as usize >= position) {
            return Err(Error::Usage(format!(
                "step {position} waits for step {}, which is not before it",
                id.0
            )));
        }
        // A batch repeats one operation: it is checked once.
        if before != Some(&step.op) {
            prepare_op(&step.op, info, kernels, memory)?;
            before = Some(&step.op);
        }
    }
    Ok(())
}

fn prepare_op(op: &Op, info: &DeviceInfo, kernels: &Kernels, memory: &mut Memory) -> Result<()> {
    let alignment = info.offset_alignment;
    match op {
        Op::Dispatch { kernel, groups, buffers, params } => {
            let kernel = kernels.get(kernel).ok_or_else(|| no_kernel(*kernel))?;
            kernel.accepts(buffers, params)?;
            check_groups(*groups, info)?;
            buffers.iter().try_for_each(|slice| memory.prepare(slice, alignment, true))
        }
        Op::Upload { from: host, to: device } | Op::Download { from: device, to: host } => {
            same_length(host, device)?;
            memory.check_host(host)?;
            memory.prepare(device, alignment, false)
        }
        Op::Copy { from, to } => {
            same_length(from, to)?;
            memory.prepare(from, alignment, false)?;
            memory.prepare(to, alignment, false)
        }
    }
}

pub(super) fn no_kernel(id: KernelId) -> Error {
    Error::Usage(format!("there is no kernel {}", id.0))
}

fn check_groups(groups: [u32; 3], info: &DeviceInfo) -> Result<()> {
    if groups.contains(&0) {
        return Err(Error::Usage(format!("a launch of {groups:?} work-groups does nothing")));
    }
    if groups.iter().zip(info.max_groups).any(|(&n, limit)| n > limit) {
        return Err(Error::Unsupported(format!(
            "a launch of {groups:?} work-groups; the device takes {:?}",
            info.max_groups
        )));
    }
    Ok(())
}

fn same_length(a: &Slice, b: &Slice) -> Result<()> {
    if a.len == b.len {
        return Ok(());
    }
    Err(Error::Usage(format!("a copy of {} bytes to {} bytes", a.len.0, b.len.0)))
}
