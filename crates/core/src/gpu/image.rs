//! A buffer that a kernel reads as an image.

use super::{Element, Scalar};
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An image in two dimensions: a `texture_2d` in WGSL, an `image2d_t` in OpenCL C. The device keeps it in a layout of its
/// own, into which the buffer's elements are copied before the first launch, row after row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Image {
    /// Elements of a row.
    pub width: u32,
    /// What the kernel's sampler gives between elements; `None`: it takes no sampler, and reads elements by their places.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Filter>,
}

/// An image, and the elements that it has.
pub type ImageOf = (Image, Element);

/// What a sampler gives between the centres of an image's elements. Beyond the edge it gives the nearest one of the edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Filter {
    /// The nearest element.
    Nearest,
    /// The four around it, weighted by how near they are.
    Linear,
}

impl Image {
    /// Why a device has no image of such elements, or none that is filtered so; `None` where it has.
    pub fn unsupported(filter: Option<Filter>, element: Element) -> Option<String> {
        use Scalar::{F16, F32, I32, U8, U32};
        let name = String::from(element);
        let is_known = [F16, F32, I32, U8, U32].contains(&element.scalar);
        if !is_known || ![1, 2, 4].contains(&element.width) {
            let known = "f16, f32, i32, u8 or u32, or two or four of one of them";
            return Some(format!("an image's elements are {known}, not `{name}`"));
        }
        (filter == Some(Filter::Linear) && Self::read_as(element) != F32)
            .then(|| format!("`linear` weighs fractions, and `{name}` are whole numbers"))
    }

    /// What a kernel reads of such elements: of bytes it is their fraction of 255.
    pub fn read_as(element: Element) -> Scalar {
        match element.scalar {
            scalar @ (Scalar::I32 | Scalar::U32) => scalar,
            _ => Scalar::F32,
        }
    }

    /// Columns and rows of one whose elements take `bytes`; `None` where they do not fill its rows.
    pub fn shape(self, bytes: Bytes, element: Element) -> Option<[u32; 2]> {
        let row = u64::from(self.width) * element.size().0;
        let fills = row > 0 && bytes.0 > 0 && bytes.0.is_multiple_of(row);
        let rows = fills.then(|| bytes.0 / row)?;
        Some([self.width, u32::try_from(rows).ok()?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(text: &str) -> Element {
        Element::try_from(text.to_owned()).unwrap()
    }

    #[test]
    fn an_image_has_whole_rows() {
        let image = Image { width: 8, filter: None };
        assert_eq!(image.shape(Bytes(512), element("f32x4")), Some([8, 4]));
        for bytes in [0, 64, 500] {
            assert_eq!(image.shape(Bytes(bytes), element("f32x4")), None, "{bytes}");
        }
        assert_eq!(Image { width: 0, filter: None }.shape(Bytes(64), element("f32")), None);
    }

    #[test]
    fn elements_are_of_five_types_and_only_fractions_are_weighed() {
        for name in ["f32", "f32x4", "f16x2", "u32x4", "i32", "u8x4"] {
            assert_eq!(Image::unsupported(None, element(name)), None, "{name}");
        }
        for name in ["f64", "i8x4", "u8x8", "f32x8", "i64"] {
            assert!(Image::unsupported(None, element(name)).unwrap().contains(name), "{name}");
        }
        for fractions in ["f16x4", "u8x4"] {
            assert_eq!(Image::unsupported(Some(Filter::Linear), element(fractions)), None);
        }
        assert_eq!(Image::unsupported(Some(Filter::Nearest), element("u32")), None);
        assert!(Image::unsupported(Some(Filter::Linear), element("u32")).is_some());
    }
}
