//! Work for all cores of the host. Containers and `ulimit` bound threads and memory, and rayon panics at its first use
//! where it gets no threads: then the one that there is does it.

use rayon::prelude::*;
use std::sync::OnceLock;

/// What `of` makes of every number below `count`, in their order.
pub fn map<T: Send>(count: usize, of: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
    match are_there() {
        true => (0..count).into_par_iter().map(of).collect(),
        false => (0..count).map(of).collect(),
    }
}

/// Whether there are threads to share work among. Asked once: the pool that it starts is the one that rayon uses.
pub fn are_there() -> bool {
    static STARTED: OnceLock<bool> = OnceLock::new();
    *STARTED.get_or_init(starts)
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
        assert!(super::starts() && super::are_there());
        assert_eq!(super::map(5, |i| i * i), [0, 1, 4, 9, 16]);
    }
}
