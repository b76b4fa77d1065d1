//! An invented schedule for tests.

use super::data::{CopyEngines, Schedule, ScheduleRun};
use gpubench_core::gpu::{Clock, MemoryKind};
use gpubench_core::record::Timed;

/// A schedule of ten rows whose plans took this long.
pub fn schedule(clock: Clock, runs: Vec<(&str, Timed)>) -> Schedule {
    let second = || Timed { walls: vec![1.0], steps: vec![] };
    let run = |(plan, timed): (&str, Timed)| ScheduleRun {
        plan: plan.into(),
        rows: vec![10],
        upload_all_first: false,
        download_all_last: false,
        predicted: 1.0,
        timed,
    };
    Schedule {
        clock,
        host_memory: MemoryKind::Pinned,
        queues: 3,
        rows: 10,
        upload: second(),
        kernel: second(),
        download: second(),
        engines: CopyEngines { count: 2, command: 0.0, bidirectional: [1.0; 2] },
        runs: runs.into_iter().map(run).collect(),
        skipped: vec![],
    }
}
