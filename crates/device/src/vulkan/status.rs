//! Vulkan's results as the library's errors.

use ash::vk;
use gpubench_core::error::{Error, Result};

/// The result of a Vulkan call; `what` is what was requested, as in "allocating 4 MiB".
pub(super) fn checked<T>(what: &str, result: ash::prelude::VkResult<T>) -> Result<T> {
    result.map_err(|code| error(what, code))
}

/// The error behind a result.
pub(super) fn error(what: &str, code: vk::Result) -> Error {
    let text = format!("{what}: {code:?} ({})", code.as_raw());
    match code {
        vk::Result::ERROR_OUT_OF_HOST_MEMORY
        | vk::Result::ERROR_OUT_OF_DEVICE_MEMORY
        | vk::Result::ERROR_OUT_OF_POOL_MEMORY
        | vk::Result::ERROR_FRAGMENTED_POOL
        | vk::Result::ERROR_FRAGMENTATION
        | vk::Result::ERROR_TOO_MANY_OBJECTS => Error::OutOfMemory(text),
        vk::Result::ERROR_DEVICE_LOST => Error::DeviceLost(text),
        vk::Result::ERROR_FEATURE_NOT_PRESENT
        | vk::Result::ERROR_EXTENSION_NOT_PRESENT
        | vk::Result::ERROR_LAYER_NOT_PRESENT
        | vk::Result::ERROR_INCOMPATIBLE_DRIVER
        // Memory of the program's own is the only external memory here: this kind of memory is left out, no more.
        | vk::Result::ERROR_INVALID_EXTERNAL_HANDLE => Error::Unsupported(text),
        _ => Error::Device(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_become_what_a_caller_reacts_to() {
        let of = |code| error("submitting", code);
        assert!(matches!(of(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY), Error::OutOfMemory(_)));
        assert!(matches!(of(vk::Result::ERROR_DEVICE_LOST), Error::DeviceLost(_)));
        assert!(matches!(of(vk::Result::ERROR_FEATURE_NOT_PRESENT), Error::Unsupported(_)));
        assert!(matches!(of(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE), Error::Unsupported(_)));
        let Error::Device(text) = of(vk::Result::ERROR_UNKNOWN) else {
            panic!("any other failure")
        };
        assert_eq!(text, "submitting: ERROR_UNKNOWN (-13)");
    }
}
