//! What a device allows of images, whatever its API.

use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{Binding, Filter, Image, ImageOf, Scalar, Slice};

/// What a device allows of images.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImageLimits {
    /// Images of one kernel, and their samplers.
    pub max_images: u32,
    pub max_samplers: u32,
    /// Elements of a row, and rows.
    pub max_side: u32,
    /// Whether it filters fractions of 32 bits, and of 16.
    pub filters_f32: bool,
    pub filters_f16: bool,
}

impl ImageLimits {
    /// Whether a device with these limits reads a kernel's buffers as images.
    ///
    /// # Errors
    /// `Unsupported` where no device has images of such elements, this one does not filter them, or it has not so many.
    pub fn check(self, bindings: &[Binding]) -> Result<()> {
        let unknown =
            |binding: &Binding| Image::unsupported(binding.image?.filter, binding.element);
        if let Some(why) = bindings.iter().find_map(unknown) {
            return Err(Error::Unsupported(why));
        }
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
            let is_filtered = match binding.element.scalar {
                Scalar::F32 => self.filters_f32,
                Scalar::F16 => self.filters_f16,
                _ => true,
            };
            filter == Some(Filter::Linear) && !is_filtered
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
    pub fn shape(self, part: Slice, of: ImageOf) -> Result<[u32; 2]> {
        let [width, height] = shape(part, of)?;
        let side = self.max_side;
        if width.max(height) > side {
            let why = format!("an image of {width} × {height}; the device has {side} × {side}");
            return Err(Error::Unsupported(why));
        }
        Ok([width, height])
    }
}

/// The samplers of a kernel's images, by position, each as `make` makes it.
pub(crate) fn samplers<S>(
    images: &[Option<ImageOf>],
    make: impl Fn(Filter) -> Result<S>,
) -> Result<Vec<Option<S>>> {
    let filters = images.iter().map(|kind| kind.and_then(|(image, _)| image.filter));
    filters.map(|filter| filter.map(&make).transpose()).collect()
}

/// Columns and rows of the image that a part of a buffer is.
///
/// # Errors
/// `Usage` where the part is no rows of the image.
pub(crate) fn shape(part: Slice, (image, element): ImageOf) -> Result<[u32; 2]> {
    let wrong = || Error::Usage(format!("{} are no rows of {} elements", part.len, image.width));
    image.shape(part.len, element).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::gpu::{Access, BufferId, Element, Image};
    use gpubench_core::units::Bytes;

    const LIMITS: ImageLimits = ImageLimits {
        max_images: 2,
        max_samplers: 1,
        max_side: 16,
        filters_f32: false,
        filters_f16: true,
    };

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
    fn elements_that_no_image_has_are_rejected() {
        for text in ["i8x4", "u16", "f32x8"] {
            assert!(wrong(LIMITS, &[(text, None)]).contains(text), "{text}");
        }
        assert!(wrong(LIMITS, &[("u32", Some(Filter::Linear))]).contains("whole numbers"));
    }

    #[test]
    fn halves_are_filtered_where_floats_are_not() {
        let linear = |text| (text, Some(Filter::Linear));
        assert!(wrong(LIMITS, &[linear("f32x4")]).contains("filters none of `f32x4`"));
        assert_eq!(wrong(LIMITS, &[linear("f16x4")]), "");
        let neither = ImageLimits { filters_f16: false, ..LIMITS };
        assert!(wrong(neither, &[linear("f16x4")]).contains("filters none of `f16x4`"));
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
