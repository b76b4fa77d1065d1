//! OpenCL's status codes as the library's errors.

use gpubench_core::error::{Error, Result};
use opencl3::error_codes::{self as codes, ClError, error_text};

/// What NVIDIA's driver answers after a kernel's illegal access.
const NVIDIA_ILLEGAL_ACCESS: i32 = -9999;

/// The result of an OpenCL call; `what` is what was requested, as in "allocating 4 MiB".
pub(super) fn checked<T>(what: &str, result: Result<T, impl Into<ClError>>) -> Result<T> {
    result.map_err(|code| error(what, code.into().0))
}

/// As [`checked`], of a buffer: memory of the host's that a driver refuses as such is what it does not offer. Any
/// other failure is one, and where there is too little memory that is what is said.
pub(super) fn allocated<T>(what: &str, result: Result<T, ClError>) -> Result<T> {
    result.map_err(|ClError(code)| match (code, error(what, code)) {
        (codes::CL_INVALID_HOST_PTR | codes::CL_INVALID_OPERATION, Error::Device(why)) => {
            Error::Unsupported(why)
        }
        (_, other) => other,
    })
}

/// The error behind a status code.
pub(super) fn error(what: &str, code: i32) -> Error {
    let text = format!("{what}: {} ({code})", name(code));
    match code {
        codes::CL_MEM_OBJECT_ALLOCATION_FAILURE
        | codes::CL_OUT_OF_RESOURCES
        | codes::CL_OUT_OF_HOST_MEMORY => Error::OutOfMemory(text),
        // A queue that was valid before is invalid once a command has crashed its context.
        codes::CL_DEVICE_NOT_AVAILABLE
        | codes::CL_INVALID_COMMAND_QUEUE
        | codes::CL_INVALID_CONTEXT
        | codes::CL_CONTEXT_TERMINATED_KHR
        | NVIDIA_ILLEGAL_ACCESS => Error::DeviceLost(text),
        codes::CL_INVALID_WORK_GROUP_SIZE
        | codes::CL_INVALID_WORK_ITEM_SIZE
        | codes::CL_INVALID_GLOBAL_WORK_SIZE
        | codes::CL_INVALID_BUFFER_SIZE
        | codes::CL_COMPILER_NOT_AVAILABLE => Error::Unsupported(text),
        _ => Error::Device(text),
    }
}

fn name(code: i32) -> &'static str {
    match code {
        codes::DLOPEN_RUNTIME_LOAD_FAILED => "no OpenCL library",
        codes::DLOPEN_FUNCTION_NOT_AVAILABLE => "the OpenCL library lacks this function",
        NVIDIA_ILLEGAL_ACCESS => "illegal memory access by a kernel",
        code => error_text(code),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_become_what_a_caller_reacts_to() {
        let of = |code| error("launching", code);
        assert!(matches!(of(-4), Error::OutOfMemory(_)));
        assert!(matches!(of(-5), Error::OutOfMemory(_)));
        assert!(matches!(of(-6), Error::OutOfMemory(_)));
        assert!(matches!(of(-2), Error::DeviceLost(_)));
        assert!(matches!(of(-36), Error::DeviceLost(_)));
        assert!(matches!(of(-54), Error::Unsupported(_)));
        let Error::Device(text) = of(-30) else { panic!("an invalid value is any other failure") };
        assert_eq!(text, "launching: CL_INVALID_VALUE (-30)");
    }

    #[test]
    fn only_memory_that_a_driver_refuses_as_such_is_not_offered() {
        let of = |code| allocated("using memory", Err::<(), _>(ClError(code))).unwrap_err();
        for refusal in [codes::CL_INVALID_HOST_PTR, codes::CL_INVALID_OPERATION] {
            assert!(matches!(of(refusal), Error::Unsupported(_)));
            assert!(matches!(error("launching", refusal), Error::Device(_)));
        }
        assert!(matches!(of(codes::CL_MEM_OBJECT_ALLOCATION_FAILURE), Error::OutOfMemory(_)));
        assert!(matches!(of(codes::CL_INVALID_CONTEXT), Error::DeviceLost(_)));
        assert!(matches!(of(codes::CL_INVALID_VALUE), Error::Device(_)), "a fault of this program");
        assert!(matches!(allocated("using memory", Ok::<_, ClError>(1)), Ok(1)));
    }
}
