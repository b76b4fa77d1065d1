//! A recording is checked, and what its commands will refer to is brought about: mappable
//! buffers, parameter blocks, bind groups.

use super::context::Context;
use super::encode::Parts;
use super::images;
use super::kernel::Kernel;
use super::memory::Memory;
use super::params::Params;
use crate::validation::{self, no_kernel};
use ::wgpu::{
    BindGroup, BindGroupDescriptor, BindGroupEntry, BindingResource, BufferBinding, BufferSize,
    Sampler, TextureView,
};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{Argument, KernelId, MemoryKind, Op, Recording, Slice};

/// Checks and prepares.
///
/// # Errors
/// `Unsupported` where the device cannot do what is requested, `Device` where the recording names
/// what is not there.
pub(super) fn prepare(parts: &mut Parts<'_>, recording: &Recording) -> Result<()> {
    parts.params.blocks.begin();
    let mut stale = false;
    for step in &recording.steps {
        match &step.op {
            Op::Dispatch { kernel, groups, buffers, params } => {
                check_dispatch(parts, *kernel, *groups, buffers, params)?;
                if let Some(kernel) = parts.kernels.get(kernel) {
                    parts.params.blocks.place(&kernel.arguments, params);
                }
            }
            Op::Upload { from, to } => stale |= prepare_copy(parts, *from, *to, *from, *to)?,
            Op::Download { from, to } => stale |= prepare_copy(parts, *from, *to, *to, *from)?,
            Op::Copy { from, to } => {
                check_copy(parts, *from, *to)?;
                if from.buffer == to.buffer {
                    let reason = "wgpu does not copy within one buffer";
                    return Err(Error::Unsupported(reason.into()));
                }
            }
            Op::Map { .. } | Op::Unmap { .. } => return Err(validation::no_zero_copy()),
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

/// What is bound at a place.
enum Resource<'a> {
    Buffer(BufferBinding<'a>),
    Image(TextureView),
    Sampler(Sampler),
}

impl Resource<'_> {
    fn bound(&self) -> BindingResource<'_> {
        match self {
            Self::Buffer(buffer) => BindingResource::Buffer(buffer.clone()),
            Self::Image(view) => BindingResource::TextureView(view),
            Self::Sampler(sampler) => BindingResource::Sampler(sampler),
        }
    }
}

fn bind_group(
    context: &Context,
    memory: &Memory,
    params: &Params,
    kernel: &Kernel,
    buffers: &[Slice],
) -> Result<BindGroup> {
    let mut resources = Vec::with_capacity(kernel.arguments.len());
    let alignment = context.constant_limits().alignment;
    for (binding, argument) in (0..).zip(&kernel.arguments) {
        match argument {
            Argument::Buffer(i) => {
                let part = buffers[*i as usize];
                resources.push(match kernel.images[*i as usize] {
                    Some(kind) => Resource::Image(images::view(context, memory, part, kind)?),
                    None => {
                        let slice = kernel.constant_memory.bound(binding, part, alignment)?;
                        let (offset, size) = (slice.offset.0, BufferSize::new(slice.len.0));
                        let buffer = memory.buffer(slice.buffer)?;
                        Resource::Buffer(BufferBinding { buffer, offset, size })
                    }
                });
            }
            Argument::Sampler(i) => {
                let filter = kernel.images[*i as usize].and_then(|(image, _)| image.filter);
                resources.push(Resource::Sampler(images::sampler(context, filter)));
            }
            other => {
                let bound = other.bytes().and_then(|(_, len)| params.binding(len as u32));
                resources.extend(bound.map(Resource::Buffer));
            }
        }
    }
    let entry =
        |(binding, resource)| BindGroupEntry { binding, resource: Resource::bound(resource) };
    let entries: Vec<_> = (0..).zip(&resources).map(entry).collect();
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
    let kernel = parts.kernels.get(&id).ok_or_else(|| no_kernel(id))?;
    let takes = (kernel.buffers, kernel.params as usize);
    validation::launch(groups, (buffers.len(), params.len()), takes, parts.info)?;
    for slice in buffers {
        parts.memory.check(*slice)?;
        expect_kind(parts, *slice, |kind| kind == MemoryKind::Device, "in device memory")?;
        validation::argument(slice, parts.info)?;
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
    validation::copy(&from, &to)
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
