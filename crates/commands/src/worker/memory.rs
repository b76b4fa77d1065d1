//! What a worker process holds: drivers' compilers keep much of what they took, which on a board is a large part of
//! all memory.

use super::protocol::Request;
use gpubench_core::units::Bytes;
use gpubench_experiments::plan::peak_bytes;
use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

/// Whether the process would exceed what the suite lets it have, if it did this request, too.
pub(super) fn would_exceed(process: u32, request: &Request) -> bool {
    let Request::Measure { case, policy, .. } = request else { return false };
    let Some(limit) = policy.process_memory else { return false };
    resident(process).is_some_and(|held| held.0.saturating_add(peak_bytes(case)) > limit.0)
}

/// What a process has in memory, libraries included; `None` where the system does not say.
fn resident(process: u32) -> Option<Bytes> {
    let (process, mut system) = (Pid::from_u32(process), System::new().ok()?);
    let what = ProcessRefreshKind::nothing().with_memory();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[process]), false, what);
    system.process(process).map(|process| Bytes(process.memory()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_experiments::Policy;
    use gpubench_experiments::plan::sample;

    #[test]
    fn a_process_may_hold_so_much_with_the_next_case() {
        let this = std::process::id();
        let held = resident(this).unwrap();
        assert!(held.0 > 1 << 20, "{held:?}");
        let case = Box::new(sample::case("memory", "copy", 10));
        let exceeds = |process_memory| {
            let policy = Policy { process_memory, ..Policy::default() };
            let case = case.clone();
            would_exceed(this, &Request::Measure { case, policy, reference_kernel: None })
        };
        assert!(!exceeds(None) && !exceeds(Some(Bytes(held.0 + (1 << 40)))));
        assert!(exceeds(Some(Bytes(held.0 / 2))));
        let policy = Policy { process_memory: Some(Bytes(0)), ..Policy::default() };
        let of_several = Request::MultiDevice { cases: vec![], policy };
        assert!(!would_exceed(this, &of_several));
    }
}
