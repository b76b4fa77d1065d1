//! A recording becomes commands, and what the host does between them.
//!
//! Commands that the device can do without the host are encoded one after the other; where the
//! host has to act (pageable and mapped memory), the commands so far are closed and a host stage
//! follows. Nothing here runs on the device: encoding is not part of what is measured.

use super::context::Context;
use super::kernel::Kernel;
use super::memory::Memory;
use super::params::Params;
use super::timestamps::{Queries, STEPS_PER_SET};
use crate::error::{Error, Result};
use crate::gpu::{DeviceInfo, KernelId, MemoryKind, Op, Recording, Slice};
use ::wgpu::{
    BindGroup, BindGroupDescriptor, BindGroupEntry, BindingResource, BufferBinding, BufferSize,
    CommandBuffer, CommandEncoder, ComputePassDescriptor, ComputePassTimestampWrites,
};
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
    MapSend { from: Slice, to: Slice },
    /// The host copies out of the mapped device buffer.
    MapReceive { from: Slice, to: Slice },
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
/// `Unsupported` where the device cannot do what is asked, `Device` where the recording names
/// what is not there.
pub(super) fn encode(parts: &mut Parts<'_>, recording: &Recording) -> Result<Script> {
    let lanes = recording.lanes();
    if lanes > 1 {
        return Err(Error::Unsupported(format!("{lanes} lanes: wgpu has one queue")));
    }
    prepare(parts, recording)?;
    let timed = is_timed(parts, recording)?;
    if timed {
        parts.queries.reserve(parts.context, recording.steps.len())?;
    }
    let context = parts.context;
    context.scoped(|| {
        let mut writer = Writer { parts, timed, stages: vec![], encoder: None, pending: vec![] };
        for (number, step) in recording.steps.iter().enumerate() {
            if number % STEPS_PER_SET == 0 {
                writer.close();
            }
            writer.step(number, &step.op)?;
        }
        Ok(Script { stages: writer.finish(), timed })
    })
}

/// Checks all operations, and brings about what the commands will refer to: mappable buffers,
/// parameter blocks, bind groups.
fn prepare(parts: &mut Parts<'_>, recording: &Recording) -> Result<()> {
    parts.params.begin();
    let mut stale = false;
    for step in &recording.steps {
        match &step.op {
            Op::Dispatch { kernel, groups, buffers, params } => {
                check_dispatch(parts, *kernel, *groups, buffers, params)?;
                if !params.is_empty() {
                    parts.params.place(params);
                }
            }
            Op::Send { from, to } => stale |= prepare_copy(parts, *from, *to, *from, *to)?,
            Op::Receive { from, to } => stale |= prepare_copy(parts, *from, *to, *to, *from)?,
            Op::Copy { from, to } => {
                check_copy(parts, *from, *to)?;
                if from.buffer == to.buffer {
                    let reason = "wgpu does not copy within one buffer";
                    return Err(Error::Unsupported(reason.into()));
                }
            }
        }
    }
    stale |= parts.params.upload(parts.context)?;
    if stale {
        parts.kernels.values_mut().for_each(|kernel| kernel.groups.clear());
    }
    bind(parts, recording)
}

/// Makes the bind groups that are not there yet.
fn bind(parts: &mut Parts<'_>, recording: &Recording) -> Result<()> {
    for step in &recording.steps {
        let Op::Dispatch { kernel, buffers, .. } = &step.op else { continue };
        let Some(kernel) = parts.kernels.get_mut(kernel) else { continue };
        if !kernel.groups.contains_key(&buffers[..]) {
            let group = bind_group(parts.context, parts.memory, parts.params, kernel, buffers)?;
            kernel.groups.insert(buffers.clone(), group);
        }
    }
    Ok(())
}

fn bind_group(
    context: &Context,
    memory: &Memory,
    params: &Params,
    kernel: &Kernel,
    buffers: &[Slice],
) -> Result<BindGroup> {
    let mut bindings = Vec::with_capacity(buffers.len() + 1);
    for slice in buffers {
        let buffer = memory.buffer(slice.buffer)?;
        let (offset, size) = (slice.offset.0, BufferSize::new(slice.len.0));
        bindings.push(BufferBinding { buffer, offset, size });
    }
    if kernel.params > 0 {
        bindings.extend(params.binding(kernel.params));
    }
    let entries: Vec<_> = (0..)
        .zip(bindings)
        .map(|(binding, buffer)| BindGroupEntry {
            binding,
            resource: BindingResource::Buffer(buffer),
        })
        .collect();
    context.scoped(|| {
        Ok(context.device.create_bind_group(&BindGroupDescriptor {
            label: None,
            layout: &kernel.layout,
            entries: &entries,
        }))
    })
}

fn check_dispatch(
    parts: &Parts<'_>,
    id: KernelId,
    groups: [u32; 3],
    buffers: &[Slice],
    params: &[u8],
) -> Result<()> {
    let kernel = parts.kernels.get(&id).ok_or_else(|| missing(id))?;
    for (axis, (count, limit)) in
        ["x", "y", "z"].iter().zip(groups.iter().zip(parts.info.max_groups))
    {
        if *count > limit {
            return Err(Error::Unsupported(format!(
                "{count} groups along {axis}; the device takes {limit}"
            )));
        }
    }
    if buffers.len() != kernel.buffers || params.len() != kernel.params as usize {
        return Err(Error::Device(format!(
            "kernel {} takes {} buffers and {} bytes of parameters, not {} and {}",
            id.0,
            kernel.buffers,
            kernel.params,
            buffers.len(),
            params.len()
        )));
    }
    for slice in buffers {
        parts.memory.check(*slice)?;
        expect_kind(parts, *slice, |kind| kind == MemoryKind::Device, "in device memory")?;
        if slice.len > parts.info.max_binding {
            return Err(Error::Unsupported(format!(
                "a kernel argument of {}; the device's largest is {}",
                slice.len, parts.info.max_binding
            )));
        }
        if slice.offset.0 % parts.info.offset_alignment.0 != 0 || slice.len.0 == 0 {
            return Err(Error::Unsupported(format!(
                "a kernel argument of {} from byte {} on; the device takes multiples of {} bytes, \
                 and not nothing",
                slice.len, slice.offset.0, parts.info.offset_alignment.0
            )));
        }
    }
    Ok(())
}

/// Checks a copy between `host` and `device`. True when the device's buffer was replaced.
fn prepare_copy(
    parts: &mut Parts<'_>,
    from: Slice,
    to: Slice,
    host: Slice,
    device: Slice,
) -> Result<bool> {
    check_copy(parts, from, to)?;
    expect_kind(parts, device, |kind| kind == MemoryKind::Device, "in device memory")?;
    expect_kind(parts, host, |kind| kind != MemoryKind::Device, "in host memory")?;
    match parts.memory.kind(host.buffer)? {
        MemoryKind::Mapped => parts.memory.make_mappable(parts.context, device.buffer),
        MemoryKind::Pageable if to == host => {
            parts.memory.staging(parts.context, host.buffer).map(|_| false)
        }
        _ => Ok(false),
    }
}

fn check_copy(parts: &Parts<'_>, from: Slice, to: Slice) -> Result<()> {
    parts.memory.check(from)?;
    parts.memory.check(to)?;
    if from.len != to.len {
        return Err(Error::Device(format!("a copy from {} to {}", from.len, to.len)));
    }
    Ok(())
}

fn expect_kind(
    parts: &Parts<'_>,
    slice: Slice,
    is_right: impl Fn(MemoryKind) -> bool,
    what: &str,
) -> Result<()> {
    if is_right(parts.memory.kind(slice.buffer)?) {
        Ok(())
    } else {
        Err(Error::Device(format!("buffer {} is not {what}", slice.buffer.0)))
    }
}

/// Whether the device can put a timestamp on either side of every step.
fn is_timed(parts: &Parts<'_>, recording: &Recording) -> Result<bool> {
    for step in &recording.steps {
        let timed = match &step.op {
            Op::Dispatch { .. } => parts.queries.passes,
            Op::Copy { .. } => parts.queries.commands,
            Op::Send { from: host, .. } | Op::Receive { to: host, .. } => {
                parts.queries.commands && parts.memory.kind(host.buffer)? == MemoryKind::Pinned
            }
        };
        if !timed {
            return Ok(false);
        }
    }
    Ok(!recording.steps.is_empty())
}

/// Writes stages.
struct Writer<'p, 'a> {
    parts: &'p mut Parts<'a>,
    timed: bool,
    stages: Vec<Stage>,
    encoder: Option<CommandEncoder>,
    /// Slices of pageable memory whose bytes are still in staging when the commands end.
    pending: Vec<Slice>,
}

impl Writer<'_, '_> {
    fn step(&mut self, number: usize, op: &Op) -> Result<()> {
        match op {
            Op::Dispatch { kernel, groups, buffers, params } => {
                self.dispatch(number, *kernel, *groups, buffers, params)
            }
            Op::Copy { from, to } => self.copy(number, *from, *to),
            Op::Send { from, to } => match self.parts.memory.kind(from.buffer)? {
                MemoryKind::Pageable => {
                    self.collect(Some(*from));
                    self.host(Stage::Upload { from: *from, to: *to });
                    Ok(())
                }
                MemoryKind::Mapped => {
                    self.host(Stage::MapSend { from: *from, to: *to });
                    Ok(())
                }
                _ => self.copy(number, *from, *to),
            },
            Op::Receive { from, to } => match self.parts.memory.kind(to.buffer)? {
                MemoryKind::Pageable => self.stage(*from, *to),
                MemoryKind::Mapped => {
                    self.host(Stage::MapReceive { from: *from, to: *to });
                    Ok(())
                }
                _ => self.copy(number, *from, *to),
            },
        }
    }

    fn dispatch(
        &mut self,
        number: usize,
        id: KernelId,
        groups: [u32; 3],
        buffers: &[Slice],
        params: &[u8],
    ) -> Result<()> {
        let encoder = encoder(&mut self.encoder, self.parts.context);
        let kernel = self.parts.kernels.get(&id).ok_or_else(|| missing(id))?;
        let offset = (!params.is_empty()).then(|| self.parts.params.place(params));
        let writes = self.timed.then(|| {
            let (query_set, first, second) = self.parts.queries.of(number);
            ComputePassTimestampWrites {
                query_set,
                beginning_of_pass_write_index: Some(first),
                end_of_pass_write_index: Some(second),
            }
        });
        let mut pass = encoder
            .begin_compute_pass(&ComputePassDescriptor { label: None, timestamp_writes: writes });
        pass.set_pipeline(&kernel.pipeline);
        pass.set_bind_group(0, kernel.groups.get(buffers), offset.as_slice());
        pass.dispatch_workgroups(groups[0], groups[1], groups[2]);
        Ok(())
    }

    /// A copy that the device does alone.
    fn copy(&mut self, number: usize, from: Slice, to: Slice) -> Result<()> {
        let source = self.parts.memory.buffer(from.buffer)?;
        let target = self.parts.memory.buffer(to.buffer)?;
        let encoder = encoder(&mut self.encoder, self.parts.context);
        let queries = self.timed.then(|| self.parts.queries.of(number));
        if let Some((set, first, _)) = queries {
            encoder.write_timestamp(set, first);
        }
        encoder.copy_buffer_to_buffer(source, from.offset.0, target, to.offset.0, from.len.0);
        if let Some((set, _, second)) = queries {
            encoder.write_timestamp(set, second);
        }
        Ok(())
    }

    /// The device's half of a copy to pageable memory.
    fn stage(&mut self, from: Slice, to: Slice) -> Result<()> {
        let staging = self.parts.memory.staging(self.parts.context, to.buffer)?;
        let source = self.parts.memory.buffer(from.buffer)?;
        let encoder = encoder(&mut self.encoder, self.parts.context);
        encoder.copy_buffer_to_buffer(source, from.offset.0, &staging, to.offset.0, from.len.0);
        self.pending.push(to);
        Ok(())
    }

    /// The host's half of earlier copies to pageable memory: of those that `wanted` is to be
    /// sent from, or of all.
    fn collect(&mut self, wanted: Option<Slice>) {
        let is_due = |slice: &Slice| wanted.is_none_or(|w| w.buffer == slice.buffer);
        let (due, pending) = std::mem::take(&mut self.pending).into_iter().partition(is_due);
        self.pending = pending;
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
        let Some(encoder) = self.encoder.take() else { return };
        let commands = encoder.finish();
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

/// The open encoder, or a new one.
fn encoder<'e>(open: &'e mut Option<CommandEncoder>, context: &Context) -> &'e mut CommandEncoder {
    open.get_or_insert_with(|| context.device.create_command_encoder(&Default::default()))
}

fn missing(id: KernelId) -> Error {
    Error::Device(format!("there is no kernel {}", id.0))
}
