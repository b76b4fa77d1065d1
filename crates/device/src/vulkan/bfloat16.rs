//! `VK_KHR_shader_bfloat16`, which ash 0.38 does not know.

use ash::vk;
use std::ffi::{CStr, c_void};

/// The extension.
pub(super) const NAME: &CStr = c"VK_KHR_shader_bfloat16";

/// The type of a matrix's numbers.
pub(super) const COMPONENT: vk::ComponentTypeKHR = vk::ComponentTypeKHR::from_raw(NUMBER);

/// By which the extension numbers what it adds.
const NUMBER: i32 = 1_000_141_000;

/// `VkPhysicalDeviceShaderBfloat16FeaturesKHR`.
#[repr(C)]
pub(super) struct Bfloat16Features {
    kind: vk::StructureType,
    next: *mut c_void,
    r#type: vk::Bool32,
    dot_product: vk::Bool32,
    matrices: vk::Bool32,
}

impl Default for Bfloat16Features {
    fn default() -> Self {
        Self {
            kind: vk::StructureType::from_raw(NUMBER),
            next: std::ptr::null_mut(),
            r#type: vk::FALSE,
            dot_product: vk::FALSE,
            matrices: vk::FALSE,
        }
    }
}

impl Bfloat16Features {
    /// What products of matrices need.
    pub fn of_matrices() -> Self {
        Self { r#type: vk::TRUE, matrices: vk::TRUE, ..Self::default() }
    }

    /// Whether what products of matrices need is there.
    pub fn has_matrices(&self) -> bool {
        ![self.r#type, self.matrices].contains(&vk::FALSE)
    }
}

// SAFETY: it begins, as all structures of a chain, with its type and the next one's address, and the specification has it
// extend `VkPhysicalDeviceFeatures2` and `VkDeviceCreateInfo`.
#[expect(unsafe_code, reason = "so ash learns of a structure that it does not know")]
unsafe impl vk::ExtendsPhysicalDeviceFeatures2 for Bfloat16Features {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_lies_in_memory_as_the_header_has_it() {
        let offset = [
            std::mem::offset_of!(Bfloat16Features, next),
            std::mem::offset_of!(Bfloat16Features, r#type),
            std::mem::offset_of!(Bfloat16Features, matrices),
        ];
        let pointer = size_of::<usize>();
        assert_eq!(offset, [pointer, 2 * pointer, 2 * pointer + 8]);
        assert!(Bfloat16Features::of_matrices().has_matrices());
        assert!(!Bfloat16Features::default().has_matrices());
    }
}
