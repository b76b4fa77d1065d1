//! A recording becomes commands, and what the host does between them.
//!
//! Commands that the device can do without the host are encoded one after the other; where the
//! host has to act (pageable and mapped memory), the commands so far are closed and a host stage
//! follows. Nothing here runs on the device: encoding is not part of what is measured.

use super::commands::{Bound, Commands};
use super::context::Context;
use super::kernel::Kernel;
use super::memory::Memory;
use super::params::Params;
use super::prepare::prepare;
use super::timestamps::{Queries, STEPS_PER_SET, Stamps};
use crate::validation::{no_kernel, no_zero_copy};
use ::wgpu::CommandBuffer;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{DeviceInfo, KernelId, MemoryKind, Op, Recording, Slice};
use std::collections::HashMap;

/// What is done one after the other.
pub(super) enum Stage {
    /// The device executes commands.
    Submit(Vec<CommandBuffer>),
    /// Pageable memory goes to the device through wgpu's staging.
    Upload { from: Slice, to: Slice },
    /// What arrived in the staging buffer goes to pageable memory.
    Collect { to: Slice },
    /// The host copies into the mapped device buffer.
    MapUpload { from: Slice, to: Slice },
    /// The host copies out of the mapped device buffer.
    MapDownload { from: Slice, to: Slice },
}

/// Everything that encoding needs of a device.
pub(super) struct Parts<'a> {
    pub context: &'a Context,
    pub info: &'a DeviceInfo,
    pub kernels: &'a mut HashMap<KernelId, Kernel>,
    pub memory: &'a mut Memory,
    pub params: &'a mut Params,
    pub queries: &'a mut Queries,
}

/// A recording ready to be executed.
pub(super) struct Script {
    pub stages: Vec<Stage>,
    /// Whether every step is between two timestamps.
    pub timed: bool,
}

/// Encodes a recording.
///
/// # Errors
/// `Unsupported` where the device cannot do what is requested, `Device` where the recording names
/// what is not there.
pub(super) fn encode(parts: &mut Parts<'_>, recording: &Recording) -> Result<Script> {
    let queues = recording.queues();
    if queues > 1 {
        return Err(Error::Unsupported(format!("{queues} queues: wgpu has one queue")));
    }
    prepare(parts, recording)?;
    let timed = is_timed(parts, recording)?;
    if timed {
        parts.queries.reserve(parts.context, recording.steps.len())?;
    }
    let context = parts.context;
    context.scoped(|| {
        let mut writer = Writer {
            parts,
            timed,
            stages: vec![],
            commands: Commands::new(context),
            pending: vec![],
        };
        for (number, step) in recording.steps.iter().enumerate() {
            if number % STEPS_PER_SET == 0 {
                writer.close();
            }
            writer.step(number, &step.op)?;
        }
        Ok(Script { stages: writer.finish(), timed })
    })
}

/// Whether the device can put a timestamp on either side of every step.
fn is_timed(parts: &Parts<'_>, recording: &Recording) -> Result<bool> {
    for step in &recording.steps {
        let timed = match &step.op {
            Op::Dispatch { .. } => parts.queries.passes,
            Op::Copy { .. } => parts.queries.commands,
            Op::Upload { from: host, .. } | Op::Download { to: host, .. } => {
                parts.queries.commands && parts.memory.kind(host.buffer)? == MemoryKind::Pinned
            }
            Op::Map { .. } | Op::Unmap { .. } => return Err(no_zero_copy()),
        };
        if !timed {
            return Ok(false);
        }
    }
    Ok(!recording.steps.is_empty())
}

/// Writes stages.
struct Writer<'p, 'a, 'r> {
    parts: &'p mut Parts<'a>,
    timed: bool,
    stages: Vec<Stage>,
    commands: Commands<'r>,
    /// Slices of pageable memory whose bytes are still in staging when the commands end.
    pending: Vec<Slice>,
}

impl<'r> Writer<'_, '_, 'r> {
    fn step(&mut self, number: usize, op: &'r Op) -> Result<()> {
        match op {
            Op::Dispatch { kernel, groups, buffers, params } => {
                let known = self.parts.kernels.get(kernel).ok_or_else(|| no_kernel(*kernel))?;
                let params = self.parts.params.blocks.place(&known.arguments, params);
                let bound = Bound { kernel: *kernel, buffers, params };
                let stamps = stamps(self.parts, self.timed, number);
                self.commands.launch(known, bound, *groups, stamps);
            }
            Op::Copy { from, to } => self.copy(number, *from, *to)?,
            Op::Upload { from, to } => match self.parts.memory.kind(from.buffer)? {
                MemoryKind::Pageable => {
                    self.collect(Some(*from));
                    self.host(Stage::Upload { from: *from, to: *to });
                }
                MemoryKind::Mapped => self.host(Stage::MapUpload { from: *from, to: *to }),
                _ => self.copy(number, *from, *to)?,
            },
            Op::Download { from, to } => match self.parts.memory.kind(to.buffer)? {
                MemoryKind::Pageable => self.stage(*from, *to)?,
                MemoryKind::Mapped => self.host(Stage::MapDownload { from: *from, to: *to }),
                _ => self.copy(number, *from, *to)?,
            },
            Op::Map { .. } | Op::Unmap { .. } => return Err(no_zero_copy()),
        }
        Ok(())
    }

    /// A copy that the device does alone.
    fn copy(&mut self, number: usize, from: Slice, to: Slice) -> Result<()> {
        let source = (self.parts.memory.buffer(from.buffer)?, from.offset.0);
        let target = (self.parts.memory.buffer(to.buffer)?, to.offset.0);
        self.commands.copy(source, target, from.len.0, stamps(self.parts, self.timed, number));
        Ok(())
    }

    /// The device's half of a copy to pageable memory.
    fn stage(&mut self, from: Slice, to: Slice) -> Result<()> {
        let staging = self.parts.memory.staging(self.parts.context, to.buffer)?;
        let source = (self.parts.memory.buffer(from.buffer)?, from.offset.0);
        self.commands.copy(source, (&staging, to.offset.0), from.len.0, None);
        self.pending.push(to);
        Ok(())
    }

    /// The host's half of earlier copies to pageable memory: of those that `wanted` is to be
    /// uploaded from, or of all.
    fn collect(&mut self, wanted: Option<Slice>) {
        let is_due = |slice: &Slice| wanted.is_none_or(|w| w.buffer == slice.buffer);
        let pending = std::mem::take(&mut self.pending);
        let (due, rest): (Vec<_>, Vec<_>) = pending.into_iter().partition(is_due);
        self.pending = rest;
        for to in due {
            self.host(Stage::Collect { to });
        }
    }

    /// A stage of the host's, after all commands so far.
    fn host(&mut self, stage: Stage) {
        self.close();
        self.stages.push(stage);
    }

    fn close(&mut self) {
        let Some(commands) = self.commands.close() else { return };
        match self.stages.last_mut() {
            Some(Stage::Submit(batch)) => batch.push(commands),
            _ => self.stages.push(Stage::Submit(vec![commands])),
        }
    }

    fn finish(mut self) -> Vec<Stage> {
        self.close();
        self.collect(None);
        self.stages
    }
}

/// Where the timestamps of a step go, if it is to have any.
fn stamps<'q>(parts: &'q Parts<'_>, timed: bool, number: usize) -> Option<Stamps<'q>> {
    if timed { parts.queries.of(number) } else { None }
}
