//! An invented checkpoint experiment for tests.

use super::data::{Checkpoint, CheckpointRun};
use gpubench_core::gpu::{Clock, MemoryKind};

/// An iteration of 12 s with four saves, which last 0.25 s on one queue and 0.05 s on eight.
pub(super) fn checkpoint() -> Checkpoint {
    let run = |queues, to_file, saving, downloading, restoring| CheckpointRun {
        queues,
        to_file,
        saving: vec![saving; 3],
        downloading: vec![downloading],
        restoring: vec![restoring],
    };
    Checkpoint {
        clock: Clock::Host,
        host_memory: MemoryKind::Pinned,
        passes: 60,
        saves: 4,
        bytes: 1 << 20,
        alone: vec![12.0],
        snapshot: vec![0.04],
        writing: vec![2.5],
        runs: vec![
            run(1, false, 13.0, 0.2, 0.4),
            run(8, false, 12.2, 0.3, 0.2),
            run(8, true, 15.0, 0.3, 0.5),
        ],
        folder: Some("/mnt/disk".into()),
        skipped: vec![("4 queues".into(), "the device has 2".into())],
    }
}
