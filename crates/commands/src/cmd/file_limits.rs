//! A limit on the size of files is an error of whoever writes one, as a full disk is, and ends no process.

/// From now on, a write beyond the limit fails instead of ending this process. What it starts has the
/// system's default back; a worker does the same for itself.
#[cfg(unix)]
pub(super) fn as_errors() {
    use signal_hook::consts::SIGXFSZ;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    // A signal that is caught is enough: the write that caused it reports what happened. Where it
    // cannot be caught, the default stays.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

/// Elsewhere no signal comes with the limit.
#[cfg(not(unix))]
pub(super) fn as_errors() {}
