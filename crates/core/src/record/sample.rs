//! Invented devices, headers and records for tests.

use super::{Checkpoint, CheckpointRun};
use super::{
    CopyEngines, Header, Host, Measured, Monitor, Outcome, Record, Schedule, ScheduleRun, Timed,
    VERSION, Wall,
};
use crate::gpu::{Clock, DeviceInfo, DeviceKind, Language, MemoryKind};
use crate::units::Bytes;
use crate::workload::{CaseKey, Kind};

/// A small invented GPU.
pub fn device(backend: &str) -> DeviceInfo {
    DeviceInfo {
        backend: backend.into(),
        index: 0,
        name: "Invented GPU".into(),
        vendor: "Nobody".into(),
        kind: DeviceKind::Discrete,
        driver: "1.0".into(),
        api: "OpenCL 3.0".into(),
        language: if backend == "wgpu" { Language::Wgsl } else { Language::Opencl },
        memory: Some(Bytes::mib(1024)),
        cache: None,
        max_buffer: Bytes::mib(256),
        max_binding: Bytes::mib(128),
        max_storage_buffers: 8,
        compute_units: Some(4),
        clock_hz: Some(1e9),
        max_group_size: 256,
        max_group_dims: [256, 256, 64],
        max_groups: [65_535; 3],
        local_memory: Bytes::kib(32),
        queues: 1,
        timestamp_resolution: Some(1e-9),
        subgroup: Some([32, 32]),
        offset_alignment: Bytes(256),
        host_memory: vec![MemoryKind::Pageable],
        pci: None,
        uuid: None,
        features: vec![],
    }
}

/// A header with `devices`.
pub fn header(devices: Vec<DeviceInfo>) -> Header {
    Header {
        version: VERSION,
        gpubench: "0.1.0 (abc)".into(),
        started: "2025-01-31T12:30:05Z".into(),
        suite: "sample".into(),
        suite_hash: "00ff".into(),
        seed: 7,
        rounds: 1,
        verify_only: false,
        filters: vec![],
        host: Host::default(),
        devices,
    }
}

/// The key `workload n=N`.
pub fn key(workload: &str, n: i64) -> CaseKey {
    CaseKey {
        workload: workload.into(),
        size: vec![("n".into(), n)],
        measure: Kind::KERNEL,
        host_memory: None,
    }
}

/// A verified record of device 0 in round 0 that took `seconds`.
pub fn record(key: CaseKey, seconds: f64) -> Record {
    Record {
        key,
        tags: vec![],
        family: "compute".into(),
        device: 0,
        round: 0,
        simulated: false,
        outcome: Outcome::Ok,
        detail: None,
        measured: Some(Measured {
            samples: vec![seconds; 20],
            batch: 1,
            clock: Clock::Device,
            resolution: 1e-9,
            flops: 1e6,
            bytes: 4e6,
            warmup: 0.01,
            dropped: 0,
        }),
        kernel: None,
        norms: None,
        flags: vec![],
        monitor: Monitor::default(),
        wall: Wall {
            prepare: 0.1,
            build: 0.2,
            launch: 0.05,
            verify: 0.1,
            measure: 0.5,
            busy: 0.45,
            reference_kernel: 0.05,
        },
    }
}

/// A record of device 0 in round 0 with this outcome and nothing measured.
pub fn outcome(key: CaseKey, outcome: Outcome) -> Record {
    Record { outcome, measured: None, wall: Wall::default(), ..record(key, 1.0) }
}

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

/// An iteration of 12 s with four saves, which last 0.25 s on one queue and 0.05 s on eight.
pub fn checkpoint() -> Checkpoint {
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
        skipped: vec![("4 queues".into(), "the device has 2".into())],
    }
}
