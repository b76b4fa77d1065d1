//! Whether the host gives this process a thread for each core. Containers and `ulimit` bound threads and memory, and
//! rayon panics at its first use where it gets none.

use crate::error::{Error, Result};
use std::sync::OnceLock;

/// Whether there are threads to share work among. Asked once: the pool that it starts is the one that rayon uses.
pub fn are_there() -> bool {
    static STARTED: OnceLock<bool> = OnceLock::new();
    *STARTED.get_or_init(starts)
}

/// As [`are_there`], for work that is not done on one thread.
///
/// # Errors
/// `OutOfMemory` where there are none.
pub fn require() -> Result<()> {
    match are_there() {
        true => Ok(()),
        false => Err(Error::OutOfMemory(
            "this system gives the process no threads; raise its limits (ulimit -u, ulimit -v, the container's)".into(),
        )),
    }
}

/// Starts the pool. One that was started before is as good; only the system's own error has a source.
fn starts() -> bool {
    match rayon::ThreadPoolBuilder::new().build_global() {
        Ok(()) => true,
        Err(error) => std::error::Error::source(&error).is_none(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_pool_that_was_started_before_is_as_good() {
        assert_eq!(rayon::join(|| 1, || 2), (1, 2));
        assert!(super::starts());
        assert!(super::are_there() && super::require().is_ok());
    }
}
