//! What compilers inside of drivers have freed, and the C library keeps: on a board it is a large part of all memory.

/// Gives it back to the system, where the C library can be asked to.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "only the C library knows what it keeps")]
pub fn give_back() {
    unsafe extern "C" {
        fn malloc_trim(kept: usize) -> std::ffi::c_int;
    }
    // SAFETY: it may be called at any time from any thread, and touches nothing that is in use.
    unsafe { malloc_trim(0) };
}

/// Gives it back to the system, where the C library can be asked to.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn give_back() {}
