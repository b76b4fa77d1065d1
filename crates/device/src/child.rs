//! Programs that a process starts, and that are not to outlive it.

use std::process::Command;

/// Has the system kill what `command` will start when the calling thread ends, however that comes
/// about. Where no system does such a thing, nothing changes.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "only before a program begins can it be asked for")]
pub fn ends_with_this_process(command: &mut Command) {
    use rustix::process::{Signal, set_parent_process_death_signal};
    use std::os::unix::process::CommandExt;
    let ask = || set_parent_process_death_signal(Some(Signal::KILL)).map_err(Into::into);
    // SAFETY: between fork and exec there is one system call, which allocates nothing and takes no lock.
    unsafe { command.pre_exec(ask) };
}

/// Has the system kill what `command` will start when the calling thread ends, however that comes
/// about. Where no system does such a thing, nothing changes.
#[cfg(not(target_os = "linux"))]
pub fn ends_with_this_process(_: &mut Command) {}
