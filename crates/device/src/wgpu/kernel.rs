//! Pipelines and their bind groups.

use super::checks::{self, Examined};
use super::constant_memory::ConstantMemory;
use super::context::Context;
use super::images;
use ::wgpu::{
    BindGroup, BindGroupLayout, BindGroupLayoutDescriptor, BindGroupLayoutEntry, BindingType,
    BufferBindingType, ComputePipeline, ComputePipelineDescriptor, PipelineCompilationOptions,
    PipelineLayoutDescriptor, ShaderModule, ShaderModuleDescriptor, ShaderRuntimeChecks,
    ShaderSource, ShaderStages,
};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{
    Access, Argument, Binding, BoundsChecks, BuildReport, ImageOf, KernelSource, Slice,
};
use std::collections::HashMap;
use std::time::Instant;

/// A compiled kernel.
pub(super) struct Kernel {
    pub pipeline: ComputePipeline,
    pub layout: BindGroupLayout,
    /// What it takes, by binding.
    pub arguments: Vec<Argument>,
    /// Buffers of a launch.
    pub buffers: usize,
    /// Which of them are read from constant memory.
    pub constant_memory: ConstantMemory,
    /// The images that they are read as, by position.
    pub images: Vec<Option<ImageOf>>,
    /// Bytes of a launch's parameters.
    pub params: u32,
    /// A bind group for each set of slices it was launched with. Parameters are bound with a
    /// dynamic offset, so they need no groups of their own.
    pub groups: HashMap<Vec<Slice>, BindGroup>,
}

impl Kernel {
    /// Whether it reads a buffer as an image.
    pub(super) fn has_images(&self) -> bool {
        self.images.iter().any(Option::is_some)
    }
}

/// Compiles an examined kernel.
///
/// # Errors
/// `Build` with the API's text.
pub(super) fn build(
    context: &Context,
    source: &KernelSource,
    examined: &Examined,
) -> Result<(Kernel, BuildReport)> {
    let max_values = context.device.limits().max_dynamic_uniform_buffers_per_pipeline_layout;
    check_values(source, max_values)?;
    examined.constant_memory.check(&checks::name(source), context.constant_limits())?;
    context.image_limits().check(&source.bindings)?;
    let began = Instant::now();
    let (layout, pipeline) = context.scoped(|| Ok(pipeline(context, source, examined))).map_err(
        |error| match error {
            Error::Device(log) => Error::Build { kernel: checks::name(source), log },
            other => other,
        },
    )?;
    let report = BuildReport {
        seconds: began.elapsed().as_secs_f64(),
        local_bytes: Some(examined.local.0),
        options: options(source.bounds_checks()).to_owned(),
        ..BuildReport::default()
    };
    let kernel = Kernel {
        pipeline,
        layout,
        arguments: source.arguments(),
        buffers: source.bindings.len(),
        constant_memory: examined.constant_memory.clone(),
        images: source.images(),
        params: source.params_bytes,
        groups: HashMap::new(),
    };
    Ok((kernel, report))
}

/// Each value, and the parameter block, is a uniform buffer with an offset that changes from launch to launch.
pub(crate) fn check_values(source: &KernelSource, max: u32) -> Result<()> {
    let values = source.arguments().iter().filter(|argument| argument.bytes().is_some()).count();
    if values <= max as usize {
        return Ok(());
    }
    Err(Error::Unsupported(format!(
        "{} takes {values} values, the device at most {max}: give them as one struct, `params`",
        checks::name(source)
    )))
}

/// What a kernel is built with, in a report's words.
pub(crate) fn options(bounds_checks: BoundsChecks) -> &'static str {
    match bounds_checks {
        BoundsChecks::On => "runtime checks on, local memory zeroed",
        BoundsChecks::Off => "runtime checks off, local memory not zeroed",
    }
}

fn pipeline(
    context: &Context,
    source: &KernelSource,
    examined: &Examined,
) -> (BindGroupLayout, ComputePipeline) {
    let device = &context.device;
    let layout = device.create_bind_group_layout(&BindGroupLayoutDescriptor {
        label: None,
        entries: &layout_entries(source, &examined.constant_memory),
    });
    let pipeline_layout = device.create_pipeline_layout(&PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &[Some(&layout)],
        immediate_size: 0,
    });
    let pipeline = device.create_compute_pipeline(&ComputePipelineDescriptor {
        label: None,
        layout: Some(&pipeline_layout),
        module: &module(context, source, examined),
        entry_point: Some(&source.entry),
        compilation_options: PipelineCompilationOptions {
            zero_initialize_workgroup_memory: source.bounds_checks() == BoundsChecks::On,
            ..Default::default()
        },
        cache: None,
    });
    (layout, pipeline)
}

fn module(context: &Context, source: &KernelSource, examined: &Examined) -> ShaderModule {
    let descriptor = ShaderModuleDescriptor {
        label: None,
        source: ShaderSource::Wgsl(examined.text.as_str().into()),
    };
    match source.bounds_checks() {
        BoundsChecks::On => context.device.create_shader_module(descriptor),
        #[expect(unsafe_code, reason = "wgpu's checks cost time in kernels")]
        // SAFETY: only kernels that gpubench ships are built without checks; each stays within
        // its buffers, ends its loops, and is verified against its reference.
        BoundsChecks::Off => unsafe {
            context
                .device
                .create_shader_module_trusted(descriptor, ShaderRuntimeChecks::unchecked())
        },
    }
}

fn layout_entries(
    source: &KernelSource,
    constant_memory: &ConstantMemory,
) -> Vec<BindGroupLayoutEntry> {
    let entry = |(binding, argument): (u32, &Argument)| {
        let buffer = |ty, has_dynamic_offset| BindingType::Buffer {
            ty,
            has_dynamic_offset,
            min_binding_size: None,
        };
        let ty = match argument {
            Argument::Buffer(_) if constant_memory.bytes(binding).is_some() => {
                buffer(BufferBindingType::Uniform, false)
            }
            Argument::Buffer(i) => match source.bindings.get(*i as usize) {
                Some(Binding { image: Some(image), element, .. }) => {
                    images::layout((*image, *element))
                }
                bound => {
                    let read_only = bound.is_some_and(|buffer| buffer.access == Access::Read);
                    buffer(BufferBindingType::Storage { read_only }, false)
                }
            },
            Argument::Sampler(i) => {
                images::sampler_layout(source.image(*i).and_then(|image| image.filter))
            }
            _ => buffer(BufferBindingType::Uniform, true),
        };
        BindGroupLayoutEntry { binding, visibility: ShaderStages::COMPUTE, ty, count: None }
    };
    (0..).zip(&source.arguments()).map(entry).collect()
}
