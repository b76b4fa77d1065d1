//! A batch becomes commands: each step behind a barrier, between two timestamps where it is timed.

use super::plan::How;
use super::prepare::Parts;
use super::topology::DeviceQueue;
use crate::validation::no_kernel;
use ash::vk;
use ash::vk::{AccessFlags as Access, PipelineStageFlags as Stages};
use gpubench_core::error::Result;
use gpubench_core::gpu::{KernelId, Op, Recording, Slice};

/// What the open command buffer has bound.
#[derive(PartialEq, Eq)]
struct Bound<'r> {
    kernel: KernelId,
    buffers: &'r [Slice],
    params: &'r [u8],
}

/// Writes the commands of one batch for one queue.
struct Writer<'p, 'a, 'r> {
    parts: &'p mut Parts<'a>,
    commands: vk::CommandBuffer,
    computes: bool,
    queries: Option<vk::QueryPool>,
    bound: Option<Bound<'r>>,
}

/// Encodes the steps of a batch, by their positions; `queries` where they are timed.
pub(super) fn encode(
    parts: &mut Parts<'_>,
    (recording, hows, steps): (&Recording, &[How], &[usize]),
    queue: DeviceQueue,
    queries: Option<vk::QueryPool>,
) -> Result<vk::CommandBuffer> {
    let commands = parts.pools.begin(queue.family)?;
    let computes = queue.computes;
    let mut writer = Writer { parts, commands, computes, queries, bound: None };
    for &step in steps {
        writer.step(step, &recording.steps[step].op, hows[step])?;
    }
    writer.show_host();
    writer.parts.pools.end(commands)?;
    Ok(commands)
}

impl<'r> Writer<'_, '_, 'r> {
    fn step(&mut self, number: usize, op: &'r Op, how: How) -> Result<()> {
        self.barrier();
        self.stamp(number * 2);
        match op {
            Op::Dispatch { kernel, groups, buffers, params } => {
                self.launch(Bound { kernel: *kernel, buffers, params }, *groups)?;
            }
            Op::Upload { from, to } | Op::Download { from, to } | Op::Copy { from, to } => {
                self.copy(*from, *to, how)?;
            }
            // The host's to do.
            Op::Map { .. } | Op::Unmap { .. } => {}
        }
        self.stamp(number * 2 + 1);
        Ok(())
    }

    /// What follows comes after all that stands before on this queue, and sees what it wrote.
    fn barrier(&self) {
        let (stages, written) = self.writes();
        let read = match self.computes {
            true => Access::SHADER_READ | Access::UNIFORM_READ | Access::TRANSFER_READ,
            false => Access::TRANSFER_READ,
        };
        self.depend((stages, written), (stages, read | written));
    }

    /// The host sees what was written: it may read any of it where its memory is mapped.
    fn show_host(&self) {
        self.depend(self.writes(), (Stages::HOST, Access::HOST_READ));
    }

    /// How the steps of this queue write.
    fn writes(&self) -> (Stages, Access) {
        match self.computes {
            true => (
                Stages::COMPUTE_SHADER | Stages::TRANSFER,
                Access::SHADER_WRITE | Access::TRANSFER_WRITE,
            ),
            false => (Stages::TRANSFER, Access::TRANSFER_WRITE),
        }
    }

    #[expect(unsafe_code, reason = "Vulkan call")]
    fn depend(&self, from: (Stages, Access), to: (Stages, Access)) {
        let all = [vk::MemoryBarrier::default().src_access_mask(from.1).dst_access_mask(to.1)];
        let none = vk::DependencyFlags::empty();
        // SAFETY: the command buffer is begun, and its family has these stages.
        unsafe {
            let device = &self.parts.context.device;
            device.cmd_pipeline_barrier(self.commands, from.0, to.0, none, &all, &[], &[]);
        }
    }

    /// A timestamp, once all before has ended.
    #[expect(unsafe_code, reason = "Vulkan call")]
    fn stamp(&self, query: usize) {
        let Some(queries) = self.queries else { return };
        let stage = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
        // SAFETY: the pool has two queries for each step, which were reset.
        unsafe {
            let device = &self.parts.context.device;
            device.cmd_write_timestamp(self.commands, stage, queries, query as u32);
        }
    }

    #[expect(unsafe_code, reason = "Vulkan calls")]
    fn launch(&mut self, bound: Bound<'r>, groups: [u32; 3]) -> Result<()> {
        let (context, commands) = (self.parts.context, self.commands);
        if self.bound.as_ref() != Some(&bound) {
            let kernel =
                self.parts.kernels.get(&bound.kernel).ok_or_else(|| no_kernel(bound.kernel))?;
            let point = vk::PipelineBindPoint::COMPUTE;
            let sets: Vec<_> = kernel.set(bound.buffers).into_iter().collect();
            let offsets = match kernel.pushed {
                true => vec![],
                false => self.parts.params.blocks.place(&kernel.arguments, bound.params),
            };
            // SAFETY: pipeline, layout and set belong together and are kept until the queue is idle.
            unsafe {
                let (device, layout) = (&context.device, *kernel.layout);
                device.cmd_bind_pipeline(commands, point, *kernel.pipeline);
                device.cmd_bind_descriptor_sets(commands, point, layout, 0, &sets, &offsets);
                if kernel.pushed {
                    let mut params = bound.params.to_vec();
                    params.resize(params.len().next_multiple_of(4), 0);
                    let stages = vk::ShaderStageFlags::COMPUTE;
                    device.cmd_push_constants(commands, layout, stages, 0, &params);
                }
            }
            self.bound = Some(bound);
        }
        // SAFETY: all that the kernel takes is bound; the groups are within the limits.
        unsafe { context.device.cmd_dispatch(commands, groups[0], groups[1], groups[2]) };
        Ok(())
    }

    #[expect(unsafe_code, reason = "Vulkan call")]
    fn copy(&mut self, from: Slice, to: Slice, how: How) -> Result<()> {
        if from.len.0 == 0 {
            return Ok(());
        }
        let memory = &self.parts.memory;
        let (source, src_offset) = memory.place(from, how)?;
        let (target, dst_offset) = memory.place(to, how)?;
        let region = vk::BufferCopy { src_offset, dst_offset, size: from.len.0 };
        // SAFETY: both ranges were checked to lie in their buffers, or are places in the ring; these outlive the
        // command.
        unsafe {
            self.parts.context.device.cmd_copy_buffer(self.commands, source, target, &[region]);
        }
        Ok(())
    }
}
