//! Buffers that a kernel reads as images: textures that are filled with what the buffers hold, and samplers.

use super::context::Context;
use super::memory::Memory;
use ::wgpu::{
    AddressMode, BindingType, Extent3d, FilterMode, Origin3d, Sampler, SamplerBindingType,
    SamplerDescriptor, TexelCopyBufferLayout, TexelCopyTextureInfo, TextureAspect,
    TextureDescriptor, TextureDimension, TextureFormat, TextureSampleType, TextureUsages,
    TextureView, TextureViewDimension,
};
use gpubench_core::error::Result;
use gpubench_core::gpu::{Element, Filter, ImageOf, Scalar, Slice};

/// What a bind group has at the place of an image.
pub(super) fn layout((image, element): ImageOf) -> BindingType {
    let filterable = image.filter == Some(Filter::Linear);
    let sample_type = match element.scalar {
        Scalar::I32 => TextureSampleType::Sint,
        Scalar::U32 => TextureSampleType::Uint,
        _ => TextureSampleType::Float { filterable },
    };
    let view_dimension = TextureViewDimension::D2;
    BindingType::Texture { sample_type, view_dimension, multisampled: false }
}

/// What it has at the place of an image's sampler.
pub(super) fn sampler_layout(filter: Option<Filter>) -> BindingType {
    BindingType::Sampler(match filter {
        Some(Filter::Linear) => SamplerBindingType::Filtering,
        _ => SamplerBindingType::NonFiltering,
    })
}

/// A texture with what a part of a buffer holds.
///
/// # Errors
/// `Unsupported` where it is larger than the device's, `Usage` where the part is no rows of the image.
pub(super) fn view(
    context: &Context,
    memory: &Memory,
    slice: Slice,
    of @ (_, element): ImageOf,
) -> Result<TextureView> {
    let [width, height] = context.image_limits().shape(slice, of)?;
    let size = Extent3d { width, height, depth_or_array_layers: 1 };
    let data = memory.read(context, slice.buffer)?;
    let data = &data[slice.offset.as_usize()..][..slice.len.as_usize()];
    context.scoped(|| {
        let texture = context.device.create_texture(&TextureDescriptor {
            label: None,
            size,
            mip_level_count: 1,
            sample_count: 1,
            dimension: TextureDimension::D2,
            format: format(element),
            usage: TextureUsages::TEXTURE_BINDING | TextureUsages::COPY_DST,
            view_formats: &[],
        });
        let to = TexelCopyTextureInfo {
            texture: &texture,
            mip_level: 0,
            origin: Origin3d::ZERO,
            aspect: TextureAspect::All,
        };
        let row = width * element.size().0 as u32;
        let layout =
            TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(row), rows_per_image: None };
        context.queue.write_texture(to, data, layout, size);
        context.submit(None)?;
        Ok(texture.create_view(&Default::default()))
    })
}

/// A sampler: what is beyond the edge is as the edge.
pub(super) fn sampler(context: &Context, filter: Option<Filter>) -> Sampler {
    let mode = match filter {
        Some(Filter::Linear) => FilterMode::Linear,
        _ => FilterMode::Nearest,
    };
    context.device.create_sampler(&SamplerDescriptor {
        address_mode_u: AddressMode::ClampToEdge,
        address_mode_v: AddressMode::ClampToEdge,
        mag_filter: mode,
        min_filter: mode,
        ..Default::default()
    })
}

fn format(element: Element) -> TextureFormat {
    use TextureFormat as Format;
    let [one, two, four] = match element.scalar {
        Scalar::F16 => [Format::R16Float, Format::Rg16Float, Format::Rgba16Float],
        Scalar::I32 => [Format::R32Sint, Format::Rg32Sint, Format::Rgba32Sint],
        Scalar::U8 => [Format::R8Unorm, Format::Rg8Unorm, Format::Rgba8Unorm],
        Scalar::U32 => [Format::R32Uint, Format::Rg32Uint, Format::Rgba32Uint],
        _ => [Format::R32Float, Format::Rg32Float, Format::Rgba32Float],
    };
    match element.width {
        1 => one,
        2 => two,
        _ => four,
    }
}
