//! Images: copies of buffers in the device's own layout, and the samplers that kernels read them with.

use super::object::{self, Owned};
use super::query::{Query, saturating};
use super::status::error;
use crate::image_limits::{ImageLimits, shape};
use crate::validation::within;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{
    BufferId, DeviceInfo, EMBEDDED, Element, Filter, ImageOf, KernelSource, Scalar, Slice,
};
use opencl3::context::Context;
use opencl3::device::{
    CL_DEVICE_IMAGE_SUPPORT, CL_DEVICE_MAX_READ_IMAGE_ARGS, CL_DEVICE_MAX_SAMPLERS, Device,
};
use opencl3::error_codes::{
    CL_IMAGE_FORMAT_NOT_SUPPORTED, CL_INVALID_IMAGE_DESCRIPTOR, CL_INVALID_IMAGE_SIZE,
    CL_INVALID_OPERATION, ClError, DLOPEN_FUNCTION_NOT_AVAILABLE,
};
use opencl3::memory::{
    CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_LINEAR, CL_FILTER_NEAREST, CL_FLOAT, CL_HALF_FLOAT,
    CL_MEM_COPY_HOST_PTR, CL_MEM_OBJECT_IMAGE2D, CL_MEM_READ_ONLY, CL_R, CL_RG, CL_RGBA,
    CL_SIGNED_INT32, CL_UNORM_INT8, CL_UNSIGNED_INT32, ClMem, Sampler,
};
use opencl3::types::{CL_TRUE, cl_device_id, cl_image_desc, cl_image_format, cl_mem};
use std::collections::HashMap;
use std::ptr;

/// Whether the device has the images and samplers that a kernel wants.
///
/// # Errors
/// `Unsupported` where it has none, or not as many.
pub(super) fn check(device: cl_device_id, info: &DeviceInfo, source: &KernelSource) -> Result<()> {
    let is_embedded = info.features.iter().any(|feature| feature == EMBEDDED);
    let number = |what| Query(Device::new(device)).number(what);
    // What makes images came with OpenCL 1.2.
    let has_none = number(CL_DEVICE_IMAGE_SUPPORT) == Some(0) || info.api.starts_with("OpenCL 1.1");
    if has_none && source.images().iter().any(Option::is_some) {
        return Err(Error::Unsupported("the device has no images".into()));
    }
    let limit = |what| number(what).map_or(u32::MAX, saturating);
    let limits = ImageLimits {
        max_images: limit(CL_DEVICE_MAX_READ_IMAGE_ARGS),
        max_samplers: limit(CL_DEVICE_MAX_SAMPLERS),
        // The size is left to the driver, which knows columns and rows apart.
        max_side: u32::MAX,
        // Of floats the embedded profile promises nearest filtering only.
        filters_f32: !is_embedded,
        filters_f16: !is_embedded,
    };
    limits.check(&source.bindings)
}

/// The images of a device.
#[derive(Default)]
pub(super) struct Images {
    made: HashMap<(Slice, ImageOf), Owned<object::Image>>,
}

impl Images {
    /// Makes the image of a slice of a buffer with such contents, where it is not there yet.
    ///
    /// # Errors
    /// `Unsupported` where the device has no such images, `OutOfMemory`.
    pub(super) fn make(
        &mut self,
        context: &Context,
        (slice, of): (&Slice, ImageOf),
        contents: impl FnOnce() -> Result<Vec<u8>>,
    ) -> Result<()> {
        if self.made.contains_key(&(*slice, of)) {
            return Ok(());
        }
        let shape = shape(*slice, of)?;
        let contents = contents()?;
        within(slice, contents.len() as u64)?;
        let bytes = &contents[slice.offset.as_usize()..][..slice.len.as_usize()];
        self.made.insert((*slice, of), create(context, shape, of.1, bytes)?);
        Ok(())
    }

    /// The image of a slice that [`Images::make`] was given.
    pub(super) fn get(&self, slice: &Slice, of: ImageOf) -> Result<cl_mem> {
        let made = self.made.get(&(*slice, of));
        made.map(|image| image.get()).ok_or_else(|| Error::Device("an image is not made".into()))
    }

    /// Forgets those of a buffer, whose contents change. Whether there were any.
    pub(super) fn forget(&mut self, id: BufferId) -> bool {
        let before = self.made.len();
        self.made.retain(|(slice, _), _| slice.buffer != id);
        self.made.len() < before
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.made.clear();
    }
}

/// A sampler: places are shares of an image's width and height, and what is beyond the edge is as the edge.
pub(super) fn sampler(context: &Context, filter: Filter) -> Result<Owned<Sampler>> {
    let filter = match filter {
        Filter::Nearest => CL_FILTER_NEAREST,
        Filter::Linear => CL_FILTER_LINEAR,
    };
    let made = Sampler::create(context, CL_TRUE, CL_ADDRESS_CLAMP_TO_EDGE, filter);
    made.map(Owned::new).map_err(|error| named("a sampler", error))
}

#[expect(unsafe_code, reason = "OpenCL call")]
fn create(
    context: &Context,
    [columns, rows]: [u32; 2],
    element: Element,
    bytes: &[u8],
) -> Result<Owned<object::Image>> {
    let format = format(element);
    let description = cl_image_desc {
        image_type: CL_MEM_OBJECT_IMAGE2D,
        image_width: columns as usize,
        image_height: rows as usize,
        image_depth: 0,
        image_array_size: 0,
        image_row_pitch: 0,
        image_slice_pitch: 0,
        num_mip_levels: 0,
        num_samples: 0,
        buffer: ptr::null_mut(),
    };
    let flags = CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR;
    // SAFETY: both structures live through the call, which copies from `bytes` as many as rows and columns take: they are
    // as long as that.
    let made = unsafe {
        object::Image::create(
            context,
            flags,
            &format,
            &description,
            bytes.as_ptr().cast_mut().cast(),
        )
    };
    let what = || format!("an image of {columns} × {rows} `{}`", String::from(element));
    made.map(Owned::new).map_err(|error| named(&what(), error))
}

/// How a pixel of such an element lies.
fn format(element: Element) -> cl_image_format {
    let image_channel_order = match element.width {
        1 => CL_R,
        2 => CL_RG,
        _ => CL_RGBA,
    };
    let image_channel_data_type = match element.scalar {
        Scalar::F16 => CL_HALF_FLOAT,
        Scalar::I32 => CL_SIGNED_INT32,
        Scalar::U8 => CL_UNORM_INT8,
        Scalar::U32 => CL_UNSIGNED_INT32,
        _ => CL_FLOAT,
    };
    cl_image_format { image_channel_order, image_channel_data_type }
}

/// The error behind what a driver answers: one that says so has no such image.
fn named(what: &str, ClError(code): ClError) -> Error {
    const NOT_OFFERED: [i32; 5] = [
        DLOPEN_FUNCTION_NOT_AVAILABLE,
        CL_IMAGE_FORMAT_NOT_SUPPORTED,
        CL_INVALID_IMAGE_DESCRIPTOR,
        CL_INVALID_IMAGE_SIZE,
        CL_INVALID_OPERATION,
    ];
    match error(what, code) {
        Error::Device(why) if NOT_OFFERED.contains(&code) => Error::Unsupported(why),
        other => other,
    }
}
