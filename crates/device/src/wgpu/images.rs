//! Buffers that a kernel reads as images: textures that are filled with what the buffers hold, and samplers.

use super::context::Context;
use super::memory::Memory;
use ::wgpu::{
    AddressMode, BindingType, Extent3d, FilterMode, Origin3d, Sampler, SamplerBindingType,
    SamplerDescriptor, TexelCopyBufferLayout, TexelCopyTextureInfo, TextureAspect,
    TextureDescriptor, TextureDimension, TextureFormat, TextureSampleType, TextureUsages,
    TextureView, TextureViewDimension,
};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{Binding, Element, Filter, Image, Scalar, Slice};

/// What a bind group has at the place of an image.
pub(super) fn layout(image: Image, element: Element) -> BindingType {
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

/// What a device allows of images.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImageLimits {
    /// Images of one kernel, and their samplers.
    pub max_images: u32,
    pub max_samplers: u32,
    /// Elements of a row, and rows.
    pub max_side: u32,
    /// Whether it filters fractions of 32 bits.
    pub filters_f32: bool,
}

impl ImageLimits {
    /// Whether a device with these limits reads a kernel's buffers as images.
    ///
    /// # Errors
    /// `Unsupported` where it does not filter such elements, or has not so many.
    pub fn check(self, bindings: &[Binding]) -> Result<()> {
        let images = || bindings.iter().filter_map(|binding| binding.image);
        let filtered = images().filter(|image| image.filter.is_some()).count();
        for (what, count, limit) in [
            ("images", images().count(), self.max_images),
            ("samplers", filtered, self.max_samplers),
        ] {
            if count > limit as usize {
                let why = format!("{count} {what}; the device takes {limit} in one kernel");
                return Err(Error::Unsupported(why));
            }
        }
        let lacks = |binding: &&Binding| {
            let filter = binding.image.and_then(|image| image.filter);
            let is_f32 = binding.element.scalar == Scalar::F32;
            filter == Some(Filter::Linear) && is_f32 && !self.filters_f32
        };
        match bindings.iter().find(lacks) {
            Some(Binding { name, element, .. }) => Err(Error::Unsupported(format!(
                "image `{name}` is to be filtered; the device filters none of `{}`",
                String::from(*element)
            ))),
            None => Ok(()),
        }
    }

    /// Columns and rows of the image that a part of a buffer is.
    ///
    /// # Errors
    /// `Usage` where the part is no rows of the image, `Unsupported` where it is larger than the device's.
    pub fn shape(self, part: Slice, (image, element): (Image, Element)) -> Result<[u32; 2]> {
        let Some([width, height]) = image.shape(part.len, element) else {
            let why = format!("{} are no rows of {} elements", part.len, image.width);
            return Err(Error::Usage(why));
        };
        let side = self.max_side;
        if width.max(height) > side {
            let why = format!("an image of {width} × {height}; the device has {side} × {side}");
            return Err(Error::Unsupported(why));
        }
        Ok([width, height])
    }
}

/// A texture with what a part of a buffer holds.
///
/// # Errors
/// `Unsupported` where it is larger than the device's, `Usage` where the part is no rows of the image.
pub(super) fn view(
    context: &Context,
    memory: &Memory,
    slice: Slice,
    kind @ (_, element): (Image, Element),
) -> Result<TextureView> {
    let [width, height] = context.image_limits().shape(slice, kind)?;
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
    match (element.scalar, element.width) {
        (Scalar::F16, 1) => Format::R16Float,
        (Scalar::F16, 2) => Format::Rg16Float,
        (Scalar::F16, _) => Format::Rgba16Float,
        (Scalar::I32, 1) => Format::R32Sint,
        (Scalar::I32, 2) => Format::Rg32Sint,
        (Scalar::I32, _) => Format::Rgba32Sint,
        (Scalar::U32, 1) => Format::R32Uint,
        (Scalar::U32, 2) => Format::Rg32Uint,
        (Scalar::U32, _) => Format::Rgba32Uint,
        (_, 1) => Format::R32Float,
        (_, 2) => Format::Rg32Float,
        (_, _) => Format::Rgba32Float,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::gpu::{Access, BufferId};
    use gpubench_core::units::Bytes;

    const LIMITS: ImageLimits =
        ImageLimits { max_images: 2, max_samplers: 1, max_side: 16, filters_f32: false };

    fn element(text: &str) -> Element {
        Element::try_from(text.to_owned()).unwrap()
    }

    /// What is wrong with a kernel that reads such images.
    fn wrong(limits: ImageLimits, images: &[(&str, Option<Filter>)]) -> String {
        let binding = |&(text, filter): &(&str, Option<Filter>)| Binding {
            name: "a".into(),
            element: element(text),
            access: Access::Read,
            image: Some(Image { width: 4, filter }),
        };
        let bindings: Vec<_> = images.iter().map(binding).collect();
        limits.check(&bindings).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn a_kernel_has_as_many_images_and_samplers_as_the_device() {
        let (plain, nearest) = (("f32", None), ("f32", Some(Filter::Nearest)));
        assert_eq!(wrong(LIMITS, &[plain, nearest]), "");
        assert!(wrong(LIMITS, &[plain; 3]).contains("3 images; the device takes 2"));
        assert!(wrong(LIMITS, &[nearest; 2]).contains("2 samplers; the device takes 1"));
    }

    #[test]
    fn halves_are_filtered_where_floats_are_not() {
        let linear = |text| (text, Some(Filter::Linear));
        assert!(wrong(LIMITS, &[linear("f32x4")]).contains("filters none of `f32x4`"));
        assert_eq!(wrong(LIMITS, &[linear("f16x4")]), "");
        assert_eq!(wrong(ImageLimits { filters_f32: true, ..LIMITS }, &[linear("f32x4")]), "");
    }

    #[test]
    fn an_image_is_no_larger_than_the_devices_and_of_whole_rows() {
        let shape = |len, width| {
            let part = Slice { buffer: BufferId(0), offset: Bytes(256), len: Bytes(len) };
            let found = LIMITS.shape(part, (Image { width, filter: None }, element("f32")));
            found.map_err(|error| error.to_string())
        };
        assert_eq!(shape(512, 8), Ok([8, 16]));
        assert!(shape(544, 8).unwrap_err().contains("8 × 17; the device has 16 × 16"));
        assert!(shape(68, 17).unwrap_err().contains("17 × 1; the device has 16 × 16"));
        assert!(shape(500, 8).unwrap_err().contains("500 B are no rows of 8 elements"));
    }
}
