//! Buffers that a kernel reads as images: copies in the device's own layout, and samplers.

use super::commands::Pools;
use super::context::{Context, Owned};
use super::status::checked;
use ash::vk;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{Element, Filter, Image, ImageOf, KernelSource, Scalar, Slice};
use naga::{ImageClass, ImageDimension, ScalarKind, TypeInner};
use std::rc::Rc;

/// In what an image lies while kernels read it.
const READ: vk::ImageLayout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;

/// An image with its memory; what was made last is dropped first.
pub(super) struct Texture {
    view: Owned<vk::ImageView>,
    _image: Owned<vk::Image>,
    _memory: Owned<vk::DeviceMemory>,
}

/// Whether a variable of this type reads such an image.
pub(super) fn is_texture_of(inner: &TypeInner, (_, element): ImageOf) -> bool {
    let kind = match Image::read_as(element) {
        Scalar::I32 => ScalarKind::Sint,
        Scalar::U32 => ScalarKind::Uint,
        _ => ScalarKind::Float,
    };
    let class = ImageClass::Sampled { kind, multi: false };
    *inner == TypeInner::Image { dim: ImageDimension::D2, arrayed: false, class }
}

/// Whether the device has images of a kernel's buffers.
///
/// # Errors
/// `Unsupported` where it has none of such elements, or does not filter them.
pub(super) fn check(context: &Context, source: &KernelSource) -> Result<()> {
    use vk::FormatFeatureFlags as Features;
    context.image_limits().check(&source.bindings)?;
    let images = source.bindings.iter().zip(source.images());
    for (binding, (image, element)) in images.filter_map(|(b, of)| Some((b, of?))) {
        let has = context.image_features(format(element));
        let linear = match image.filter {
            Some(Filter::Linear) => Features::SAMPLED_IMAGE_FILTER_LINEAR,
            _ => Features::empty(),
        };
        if !has.contains(Features::SAMPLED_IMAGE | linear) {
            let what = if linear.is_empty() { "has no images" } else { "filters none" };
            return Err(Error::Unsupported(format!(
                "image `{}`: the device {what} of `{}`",
                binding.name,
                String::from(element)
            )));
        }
    }
    Ok(())
}

/// A sampler: what is beyond the edge is as the edge.
#[expect(unsafe_code, reason = "Vulkan call")]
pub(super) fn sampler(context: &Rc<Context>, filter: Filter) -> Result<Owned<vk::Sampler>> {
    let filter = match filter {
        Filter::Nearest => vk::Filter::NEAREST,
        Filter::Linear => vk::Filter::LINEAR,
    };
    let request = vk::SamplerCreateInfo::default()
        .mag_filter(filter)
        .min_filter(filter)
        .address_mode_u(vk::SamplerAddressMode::CLAMP_TO_EDGE)
        .address_mode_v(vk::SamplerAddressMode::CLAMP_TO_EDGE)
        .address_mode_w(vk::SamplerAddressMode::CLAMP_TO_EDGE)
        // There is one level, so no limit changes anything; with 0 lavapipe 22 takes 1.7 times as long.
        .max_lod(vk::LOD_CLAMP_NONE);
    // SAFETY: the structure lives through the call.
    let made = unsafe { context.device.create_sampler(&request, None) };
    Ok(Owned::new(context, checked("making a sampler", made)?, ash::Device::destroy_sampler))
}

impl Texture {
    /// An image with what a part of a buffer holds.
    ///
    /// # Errors
    /// `Unsupported` where it is larger than the device's, `Usage` where the part is no rows of the image, `OutOfMemory`.
    pub fn new(
        context: &Rc<Context>,
        pools: &mut Pools,
        (buffer, slice): (vk::Buffer, Slice),
        of @ (_, element): ImageOf,
    ) -> Result<Self> {
        let [width, height] = context.image_limits().shape(slice, of)?;
        if !slice.offset.0.is_multiple_of(element.size().0) {
            let (first, texel) = (slice.offset.0, element.size());
            let why =
                format!("an image at byte {first} of a buffer; Vulkan wants multiples of {texel}");
            return Err(Error::Unsupported(why));
        }
        let extent = vk::Extent3D { width, height, depth: 1 };
        let image = create(context, format(element), extent)?;
        let memory = allocate(context, *image)?;
        fill(pools, *image, (buffer, slice), extent)?;
        let view = view(context, *image, format(element))?;
        Ok(Self { view, _image: image, _memory: memory })
    }

    /// What a descriptor is given.
    pub fn bound(&self) -> vk::DescriptorImageInfo {
        vk::DescriptorImageInfo::default().image_view(*self.view).image_layout(READ)
    }
}

/// All of an image: it has one level and one layer.
fn whole() -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange::default()
        .aspect_mask(vk::ImageAspectFlags::COLOR)
        .level_count(1)
        .layer_count(1)
}

#[expect(unsafe_code, reason = "Vulkan call")]
fn create(
    context: &Rc<Context>,
    format: vk::Format,
    extent: vk::Extent3D,
) -> Result<Owned<vk::Image>> {
    let (sharing, families) = context.shared();
    let request = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(extent)
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .tiling(vk::ImageTiling::OPTIMAL)
        .usage(vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST)
        .sharing_mode(sharing)
        .queue_family_indices(families);
    // SAFETY: the structure lives through the call; format and extent are ones that the device has.
    let image = unsafe { context.device.create_image(&request, None) };
    Ok(Owned::new(context, checked("creating an image", image)?, ash::Device::destroy_image))
}

/// The image's memory, bound to it.
#[expect(unsafe_code, reason = "Vulkan calls")]
fn allocate(context: &Rc<Context>, image: vk::Image) -> Result<Owned<vk::DeviceMemory>> {
    use vk::MemoryPropertyFlags as Flags;
    // SAFETY: the image was made from the device.
    let needs = unsafe { context.device.get_image_memory_requirements(image) };
    let wanted = [Flags::DEVICE_LOCAL, Flags::empty()];
    let index = context
        .memory_type(needs.memory_type_bits, &wanted, Flags::HOST_VISIBLE)
        .ok_or_else(|| Error::Unsupported("this device has no memory for images".into()))?;
    let request =
        vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index);
    // SAFETY: the structure lives through the call.
    let memory = unsafe { context.device.allocate_memory(&request, None) };
    let memory = checked("an image's memory", memory)?;
    let memory = Owned::new(context, memory, ash::Device::free_memory);
    // SAFETY: both were just made, of a type and size that fit each other.
    let bound = unsafe { context.device.bind_image_memory(image, *memory, 0) };
    checked("binding an image's memory", bound)?;
    Ok(memory)
}

/// Copies a part of a buffer into an image, and waits.
#[expect(unsafe_code, reason = "Vulkan calls")]
fn fill(
    pools: &mut Pools,
    image: vk::Image,
    (buffer, slice): (vk::Buffer, Slice),
    extent: vk::Extent3D,
) -> Result<()> {
    use vk::{AccessFlags as Access, PipelineStageFlags as Stage};
    const FILLED: vk::ImageLayout = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
    let barrier = |from, to, (before, after)| {
        vk::ImageMemoryBarrier::default()
            .old_layout(from)
            .new_layout(to)
            .src_access_mask(before)
            .dst_access_mask(after)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .image(image)
            .subresource_range(whole())
    };
    let none = vk::ImageLayout::UNDEFINED;
    let begun = [barrier(none, FILLED, (Access::empty(), Access::TRANSFER_WRITE))];
    let ended = [barrier(FILLED, READ, (Access::TRANSFER_WRITE, Access::SHADER_READ))];
    let layers = vk::ImageSubresourceLayers::default()
        .aspect_mask(vk::ImageAspectFlags::COLOR)
        .layer_count(1);
    let region = vk::BufferImageCopy::default()
        .buffer_offset(slice.offset.0)
        .image_subresource(layers)
        .image_extent(extent);
    // SAFETY: image and buffer are alive until the queue is idle, and the buffer holds what the image takes from its
    // offset on, a multiple of every element's size.
    pools.once(|device, commands| unsafe {
        let turn = |before, after, barriers: &[vk::ImageMemoryBarrier<'_>]| {
            let none = vk::DependencyFlags::empty();
            device.cmd_pipeline_barrier(commands, before, after, none, &[], &[], barriers);
        };
        turn(Stage::TOP_OF_PIPE, Stage::TRANSFER, &begun);
        device.cmd_copy_buffer_to_image(commands, buffer, image, FILLED, &[region]);
        turn(Stage::TRANSFER, Stage::COMPUTE_SHADER, &ended);
    })
}

#[expect(unsafe_code, reason = "Vulkan call")]
fn view(
    context: &Rc<Context>,
    image: vk::Image,
    format: vk::Format,
) -> Result<Owned<vk::ImageView>> {
    let request = vk::ImageViewCreateInfo::default()
        .image(image)
        .view_type(vk::ImageViewType::TYPE_2D)
        .format(format)
        .subresource_range(whole());
    // SAFETY: the image is alive, and has its memory.
    let made = unsafe { context.device.create_image_view(&request, None) };
    Ok(Owned::new(context, checked("viewing an image", made)?, ash::Device::destroy_image_view))
}

/// How a pixel of such an element lies.
fn format(element: Element) -> vk::Format {
    use vk::Format as F;
    let [one, two, four] = match element.scalar {
        Scalar::F16 => [F::R16_SFLOAT, F::R16G16_SFLOAT, F::R16G16B16A16_SFLOAT],
        Scalar::I32 => [F::R32_SINT, F::R32G32_SINT, F::R32G32B32A32_SINT],
        Scalar::U8 => [F::R8_UNORM, F::R8G8_UNORM, F::R8G8B8A8_UNORM],
        Scalar::U32 => [F::R32_UINT, F::R32G32_UINT, F::R32G32B32A32_UINT],
        _ => [F::R32_SFLOAT, F::R32G32_SFLOAT, F::R32G32B32A32_SFLOAT],
    };
    match element.width {
        1 => one,
        2 => two,
        _ => four,
    }
}
