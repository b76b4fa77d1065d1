//! What one input may cost: a second of processor time and 100 MiB.

use cap::Cap;
use rustix::time::{ClockId, clock_gettime};
use std::alloc::System;
use std::time::Duration;

const MEMORY: usize = 100 << 20;
const TIME: Duration = Duration::from_secs(1);

/// Fails an allocation beyond the limit, which aborts: libFuzzer keeps the input then.
#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// Does the work for one input and panics where it takes too long. Processor time, since the
/// machine may have other work.
pub fn within(work: impl FnOnce()) {
    let _ = ALLOCATOR.set_limit(ALLOCATOR.allocated() + MEMORY);
    let start = thread_time();
    work();
    let taken = thread_time().saturating_sub(start);
    assert!(taken <= TIME, "one input took {taken:?}");
}

fn thread_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
}
