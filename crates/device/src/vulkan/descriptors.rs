//! Descriptors: what binds a kernel's arguments, and room for sets of them.

use super::context::{Context, Owned};
use super::status::checked;
use crate::wgpu::ConstantMemory;
use ash::vk;
use gpubench_core::error::Result;
use gpubench_core::gpu::{Argument, ImageOf};
use std::rc::Rc;

/// Descriptor sets of one pool.
pub(super) const SETS: u32 = 64;

/// An argument that a descriptor binds.
pub(super) struct Descriptor<'a> {
    pub binding: u32,
    pub argument: &'a Argument,
    pub r#type: vk::DescriptorType,
}

/// A descriptor of a set, and what it is given.
pub(super) struct Given {
    pub binding: u32,
    pub r#type: vk::DescriptorType,
    pub info: Info,
}

/// What a descriptor is given.
pub(super) enum Info {
    Buffer([vk::DescriptorBufferInfo; 1]),
    Image([vk::DescriptorImageInfo; 1]),
}

/// The arguments that descriptors bind.
pub(super) fn bound<'a>(
    arguments: &'a [Argument],
    (constant_memory, images): (&'a ConstantMemory, &'a [Option<ImageOf>]),
    pushed: bool,
) -> impl Iterator<Item = Descriptor<'a>> {
    let of = move |(binding, argument): (u32, &'a Argument)| {
        let r#type = match argument {
            Argument::Buffer(_) if constant_memory.bytes(binding).is_some() => {
                vk::DescriptorType::UNIFORM_BUFFER
            }
            Argument::Buffer(i) if images[*i as usize].is_some() => {
                vk::DescriptorType::SAMPLED_IMAGE
            }
            Argument::Buffer(_) => vk::DescriptorType::STORAGE_BUFFER,
            Argument::Sampler(_) => vk::DescriptorType::SAMPLER,
            _ if pushed => return None,
            _ => vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC,
        };
        Some(Descriptor { binding, argument, r#type })
    };
    (0..).zip(arguments).filter_map(of)
}

#[expect(unsafe_code, reason = "Vulkan call")]
pub(super) fn set_layout<'a>(
    context: &Rc<Context>,
    bound: impl Iterator<Item = Descriptor<'a>>,
) -> Result<Owned<vk::DescriptorSetLayout>> {
    let bindings: Vec<_> = bound
        .map(|one| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(one.binding)
                .descriptor_type(one.r#type)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
        })
        .collect();
    let request = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
    // SAFETY: the structures live through the call.
    let made = unsafe { context.device.create_descriptor_set_layout(&request, None) };
    let made = checked("making a descriptor set's layout", made)?;
    Ok(Owned::new(context, made, ash::Device::destroy_descriptor_set_layout))
}

/// Room for so many sets of a kernel's arguments.
#[expect(unsafe_code, reason = "Vulkan call")]
pub(super) fn pool(
    context: &Rc<Context>,
    arguments: &[Argument],
) -> Result<Owned<vk::DescriptorPool>> {
    // One more of each than there are arguments: no size may be 0.
    let count = SETS * (arguments.len() as u32 + 1);
    let sizes = [
        vk::DescriptorType::STORAGE_BUFFER,
        vk::DescriptorType::UNIFORM_BUFFER,
        vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC,
        vk::DescriptorType::SAMPLED_IMAGE,
        vk::DescriptorType::SAMPLER,
    ]
    .map(|ty| vk::DescriptorPoolSize { ty, descriptor_count: count });
    let request = vk::DescriptorPoolCreateInfo::default().max_sets(SETS).pool_sizes(&sizes);
    // SAFETY: the structures live through the call.
    let made = unsafe { context.device.create_descriptor_pool(&request, None) };
    let made = checked("making descriptor sets", made)?;
    Ok(Owned::new(context, made, ash::Device::destroy_descriptor_pool))
}
