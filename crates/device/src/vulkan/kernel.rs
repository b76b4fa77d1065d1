//! Pipelines, and the descriptor sets that they were launched with.

use super::commands::Pools;
use super::context::{Context, Owned};
use super::descriptors::{Given, Info, SETS, bound, pool, set_layout};
use super::images::{self, Texture};
use super::memory::Memory;
use super::module;
use super::params::Params;
use super::spirv::{self, Spirv, Target};
use super::statistics;
use super::status::{checked, error};
use crate::image_limits::samplers;
use crate::wgpu::{ConstantMemory, Examined, check_values, name, options};
use ash::vk;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{Argument, BuildReport, ImageOf, KernelSource, Slice};
use std::collections::HashMap;
use std::ffi::CString;
use std::rc::Rc;
use std::time::Instant;

/// A compiled kernel.
pub(super) struct Kernel {
    pub pipeline: Owned<vk::Pipeline>,
    pub layout: Owned<vk::PipelineLayout>,
    /// Whether its parameters are push constants.
    pub pushed: bool,
    /// What it takes, by binding.
    pub arguments: Vec<Argument>,
    /// Buffers of a launch.
    pub buffers: usize,
    /// Which of them are read from constant memory.
    constant_memory: ConstantMemory,
    /// The images that they are read as, by position, and their samplers.
    images: Vec<Option<ImageOf>>,
    samplers: Vec<Option<Owned<vk::Sampler>>>,
    /// Bytes of a launch's parameters.
    pub params: u32,
    set_layout: Owned<vk::DescriptorSetLayout>,
    pools: Vec<Owned<vk::DescriptorPool>>,
    sets: HashMap<Vec<Slice>, vk::DescriptorSet>,
    /// Of the sets' buffers.
    textures: Vec<Texture>,
}

/// Compiles an examined kernel.
///
/// # Errors
/// `Build` with naga's or the driver's text.
pub(super) fn build(
    context: &Rc<Context>,
    source: &KernelSource,
    examined: &Examined,
) -> Result<(Kernel, BuildReport)> {
    let (arguments, constant_memory) = (source.arguments(), examined.constant_memory.clone());
    check_limits(context, source, &constant_memory)?;
    images::check(context, source)?;
    let began = Instant::now();
    let failed = |log| Error::Build { kernel: name(source), log };
    let spirv = match source.settings.spirv {
        true => module::given(source, &context.abilities, context.limits.max_push_constants_size)?,
        false => spirv::compile(source, &examined.text, target(context)).map_err(failed)?,
    };
    check_subgroups(context, source, &spirv)?;
    let images = source.images();
    let samplers = samplers(&images, |filter| images::sampler(context, filter))?;
    let bound = bound(&arguments, (&constant_memory, &images), spirv.pushed);
    let set_layout = set_layout(context, bound)?;
    let layout = layout(context, *set_layout, &arguments, spirv.pushed)?;
    let pipeline = pipeline(context, source, &spirv, *layout).map_err(|code| {
        match error("compiling", code) {
            Error::Device(log) | Error::Unsupported(log) => failed(log),
            other => other,
        }
    })?;
    let seconds = began.elapsed().as_secs_f64();
    let facts = statistics::of(context, *pipeline);
    let report = BuildReport {
        seconds,
        local_bytes: (!source.settings.spirv).then_some(examined.local.0),
        options: options(source.bounds_checks()).to_owned(),
        private_bytes: facts.private_bytes,
        subgroup: facts.subgroup,
        log: facts.text,
        ..BuildReport::default()
    };
    let kernel = Kernel {
        pipeline,
        layout,
        pushed: spirv.pushed,
        arguments,
        constant_memory,
        images,
        samplers,
        buffers: source.bindings.len(),
        params: source.params_bytes,
        set_layout,
        pools: vec![],
        sets: HashMap::new(),
        textures: vec![],
    };
    Ok((kernel, report))
}

/// What the device takes.
fn target(context: &Context) -> Target {
    Target {
        capabilities: context.abilities.capabilities(),
        max_pushed: context.limits.max_push_constants_size,
        zeroed_local: context.abilities.zeroed_local,
        packed_dot: context.abilities.packed_dot,
    }
}

/// A layout beyond the device's limits is no error to a driver: anything may follow.
fn check_limits(
    context: &Context,
    source: &KernelSource,
    constant_memory: &ConstantMemory,
) -> Result<()> {
    let limits = &context.limits;
    constant_memory.check(&name(source), context.constant_limits())?;
    let max_values = limits
        .max_descriptor_set_uniform_buffers_dynamic
        .min(limits.max_per_stage_descriptor_uniform_buffers);
    check_values(source, max_values)
}

/// Subgroups have the size that is asked for, and with matrices all must be full, along the first dimension.
fn check_subgroups(context: &Context, source: &KernelSource, spirv: &Spirv) -> Result<()> {
    let (subgroups, asked) = (&context.abilities.subgroups, source.settings.subgroup);
    if let Some(size) = asked {
        let fits = subgroups.check(size, source.group_size());
        fits.map_err(|why| Error::Unsupported(format!("{} asks for {why}", name(source))))?;
    }
    let subgroup = asked.or(subgroups.range.map(|[_, largest]| largest)).unwrap_or(1);
    let [x, ..] = source.group;
    if !spirv.has_matrices() || x.is_multiple_of(subgroup) {
        return Ok(());
    }
    Err(Error::Unsupported(format!(
        "{} multiplies matrices with a work-group of {x} along x; the device wants a multiple of its subgroup, {subgroup}",
        name(source)
    )))
}

#[expect(unsafe_code, reason = "Vulkan call")]
fn layout(
    context: &Rc<Context>,
    sets: vk::DescriptorSetLayout,
    arguments: &[Argument],
    pushed: bool,
) -> Result<Owned<vk::PipelineLayout>> {
    let sets = [sets];
    let constants = [vk::PushConstantRange {
        stage_flags: vk::ShaderStageFlags::COMPUTE,
        offset: 0,
        size: spirv::pushed_bytes(arguments),
    }];
    let constants = if pushed { &constants[..] } else { &[] };
    let request =
        vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(constants);
    // SAFETY: the structures live through the call.
    let made = unsafe { context.device.create_pipeline_layout(&request, None) };
    let made = checked("making a pipeline's layout", made)?;
    Ok(Owned::new(context, made, ash::Device::destroy_pipeline_layout))
}

/// The pipeline, without a cache: building is measured.
#[expect(unsafe_code, reason = "Vulkan calls")]
fn pipeline(
    context: &Rc<Context>,
    source: &KernelSource,
    spirv: &Spirv,
    layout: vk::PipelineLayout,
) -> Result<Owned<vk::Pipeline>, vk::Result> {
    let request = vk::ShaderModuleCreateInfo::default().code(&spirv.words);
    // SAFETY: naga wrote the module for what the device can do, and validated it before; or it is a user's who trusts
    // it, with no capability that the device was not opened with.
    let module = unsafe { context.device.create_shader_module(&request, None) }?;
    let module = Owned::new(context, module, ash::Device::destroy_shader_module);
    let entry = CString::new(source.entry.as_str()).unwrap_or_default();
    let full = match spirv.has_matrices() {
        true => vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS,
        false => vk::PipelineShaderStageCreateFlags::empty(),
    };
    let (entries, values) = module::entries(&spirv.constants);
    let constants = vk::SpecializationInfo::default().map_entries(&entries).data(&values);
    let mut stage = vk::PipelineShaderStageCreateInfo::default()
        .flags(full)
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(*module)
        .name(&entry);
    if !entries.is_empty() {
        stage = stage.specialization_info(&constants);
    }
    // Where there is but one size, the device may not know the request.
    let has_choice = context.abilities.subgroups.max_of_size.is_some();
    let mut size = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default();
    if let Some(asked) = source.settings.subgroup.filter(|_| has_choice) {
        size = size.required_subgroup_size(asked);
        stage = stage.push_next(&mut size);
    }
    let flags = match context.abilities.statistics {
        true => vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR,
        false => vk::PipelineCreateFlags::empty(),
    };
    let request = vk::ComputePipelineCreateInfo::default().flags(flags).stage(stage).layout(layout);
    let cache = vk::PipelineCache::null();
    // SAFETY: module and layout are alive, and the entry point is in the module.
    let made = unsafe { context.device.create_compute_pipelines(cache, &[request], None) };
    match made.map_err(|(_, code)| code)?[..] {
        [pipeline] => Ok(Owned::new(context, pipeline, ash::Device::destroy_pipeline)),
        _ => Err(vk::Result::ERROR_UNKNOWN),
    }
}

impl Kernel {
    /// Buffers and bytes of parameters of a launch.
    pub fn takes(&self) -> (usize, usize) {
        (self.buffers, self.params as usize)
    }

    /// The descriptor set of buffers that [`Self::bind`] was given.
    pub fn set(&self, buffers: &[Slice]) -> Option<vk::DescriptorSet> {
        self.sets.get(buffers).copied()
    }

    /// Forgets all descriptor sets; none is in use.
    pub fn unbind(&mut self) {
        self.sets.clear();
        self.pools.clear();
        self.textures.clear();
    }

    /// Whether it reads a buffer as an image.
    pub fn has_images(&self) -> bool {
        self.images.iter().any(Option::is_some)
    }

    /// Makes the descriptor set of these buffers, where there is none yet.
    #[expect(unsafe_code, reason = "Vulkan call")]
    pub fn bind(
        &mut self,
        context: &Rc<Context>,
        (memory, pools): (&Memory, &mut Pools),
        params: &Params,
        buffers: &[Slice],
    ) -> Result<()> {
        if self.sets.contains_key(buffers) {
            return Ok(());
        }
        let (given, textures) = self.given(context, (memory, pools), params, buffers)?;
        let set = self.next_set(context)?;
        self.textures.extend(textures);
        let writes: Vec<_> = given
            .iter()
            .map(|one| {
                let write = vk::WriteDescriptorSet::default()
                    .dst_set(set)
                    .dst_binding(one.binding)
                    .descriptor_type(one.r#type);
                match &one.info {
                    Info::Buffer(info) => write.buffer_info(info),
                    Info::Image(info) => write.image_info(info),
                }
            })
            .collect();
        // SAFETY: the set is new, and the buffers outlive it: it is forgotten before one of them goes.
        unsafe { context.device.update_descriptor_sets(&writes, &[]) };
        self.sets.insert(buffers.to_vec(), set);
        Ok(())
    }

    /// What descriptors are given, and the textures among it.
    fn given(
        &self,
        context: &Rc<Context>,
        (memory, pools): (&Memory, &mut Pools),
        params: &Params,
        buffers: &[Slice],
    ) -> Result<(Vec<Given>, Vec<Texture>)> {
        let (mut given, mut textures) = (vec![], vec![]);
        for one in bound(&self.arguments, (&self.constant_memory, &self.images), self.pushed) {
            let info = match one.argument {
                Argument::Buffer(i) => {
                    let (part, kind) = (buffers[*i as usize], self.images[*i as usize]);
                    match kind {
                        Some(kind) => {
                            let from = (memory.buffer(part.buffer)?, part);
                            let texture = Texture::new(context, pools, from, kind)?;
                            let bound = texture.bound();
                            textures.push(texture);
                            Info::Image([bound])
                        }
                        None => Info::Buffer([self.buffer(context, memory, one.binding, part)?]),
                    }
                }
                Argument::Sampler(i) => {
                    let sampler = self.samplers[*i as usize].as_deref().copied();
                    let sampler = sampler.unwrap_or(vk::Sampler::null());
                    Info::Image([vk::DescriptorImageInfo::default().sampler(sampler)])
                }
                other => {
                    let bytes = other.bytes().map_or(0, |(_, len)| len);
                    let bound = params.binding(bytes);
                    Info::Buffer([bound.ok_or_else(|| Error::Device("no parameters".into()))?])
                }
            };
            given.push(Given { binding: one.binding, r#type: one.r#type, info });
        }
        Ok((given, textures))
    }

    /// What a descriptor is given of a part of a buffer.
    fn buffer(
        &self,
        context: &Context,
        memory: &Memory,
        binding: u32,
        part: Slice,
    ) -> Result<vk::DescriptorBufferInfo> {
        let alignment = context.constant_limits().alignment;
        let slice = self.constant_memory.bound(binding, part, alignment)?;
        let buffer = memory.buffer(slice.buffer)?;
        Ok(vk::DescriptorBufferInfo { buffer, offset: slice.offset.0, range: slice.len.0 })
    }

    #[expect(unsafe_code, reason = "Vulkan call")]
    fn next_set(&mut self, context: &Rc<Context>) -> Result<vk::DescriptorSet> {
        if self.sets.len().is_multiple_of(SETS as usize) {
            self.pools.push(pool(context, &self.arguments)?);
        }
        let pool = self.pools.last().map_or(vk::DescriptorPool::null(), |pool| **pool);
        let layouts = [*self.set_layout];
        let request =
            vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        // SAFETY: the pool has room for one more set of this layout.
        let made = unsafe { context.device.allocate_descriptor_sets(&request) };
        Ok(checked("making a descriptor set", made)?[0])
    }
}
