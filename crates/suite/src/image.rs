//! A buffer that a kernel reads as an image: its width over the sizes, and what it cannot be.

use super::Scope;
use super::convert::Converter;
use super::decode::At;
use super::file;
use super::types::{Buffer, ImageSpec, Kernel, Written};
use gpubench_core::gpu::{Access, Image};
use gpubench_core::units::Bytes;

impl Buffer {
    /// The image as which a kernel reads it where it has `count` elements; `None`: as a buffer.
    ///
    /// # Errors
    /// Its width has no value in `scope`, or its elements do not fill rows of it.
    pub fn image_at(&self, count: u64, scope: &Scope) -> Result<Option<Image>, String> {
        let Some(spec) = &self.image else { return Ok(None) };
        let width = spec.width.count(scope)?;
        let bytes = Bytes(count.saturating_mul(self.element.size().0));
        let narrow =
            u32::try_from(width).map_err(|_| format!("no image is {width} elements wide"))?;
        let image = Image { width: narrow, filter: spec.filter };
        let why = || format!("{count} elements do not fill rows of {width}");
        image.shape(bytes, self.element).map(|_| Some(image)).ok_or_else(why)
    }
}

impl Converter<'_> {
    /// The image as which a kernel reads a buffer.
    pub fn image(
        &mut self,
        buffer: &file::Buffer,
        At { value: spec, at }: &At<file::Image>,
        access: Access,
        known: &[&str],
    ) -> Option<ImageSpec> {
        self.names(&spec.width.value, known, "a width is made of sizes and parameters")?;
        if access != Access::Read {
            let help = "give it a `fill`, and leave out `access`";
            return self.diagnostics.reject(at, "an image is only read", Some(help));
        }
        if buffer.split.is_some() {
            let message = "an image is not split: a chunk sees all of it";
            return self.diagnostics.reject(at, message, None);
        }
        let filter = spec.filter.as_ref().map(|filter| filter.value);
        if let Some(why) = Image::unsupported(filter, buffer.r#type.value) {
            let at = spec.filter.as_ref().map_or(at, |filter| &filter.at);
            return self.diagnostics.reject(at, why, None);
        }
        Some(ImageSpec { width: spec.width.value.expr.clone(), filter })
    }

    /// Whether all texts of a kernel can take its images; reports the first that cannot.
    pub fn images_fit(&mut self, spec: &file::Workload, kernel: &Kernel) -> bool {
        let buffers = spec.buffers.iter().flat_map(|buffers| &buffers.value.0);
        let Some(image) = buffers.filter_map(|(_, buffer)| buffer.image.as_ref()).next() else {
            return true;
        };
        let Some(other) = kernel.texts.iter().find(|text| text.written != Written::Plain) else {
            return true;
        };
        let what = match other.written {
            Written::Glsl => "GLSL",
            Written::Spirv | Written::Module => "SPIR-V",
            _ => "a library's routine",
        };
        let message = format!("kernels in OpenCL C and WGSL take images, and this one is {what}");
        self.diagnostics.push(&image.at, message, None);
        false
    }
}
