//! Invented devices, headers and records for tests.

use super::{Built, Header, METHOD, Measured, Outcome, Record, VERSION, Wall};
use crate::gpu::{BoundsChecks, BuildReport, Clock, DeviceInfo, DeviceKind, Language, MemoryKind};
use crate::units::Bytes;
use crate::workload::{CaseKey, Kind};

/// A kernel as it was built: one group of 64 work-items, without checks of bounds.
pub fn built(hash: &str) -> Built {
    Built {
        hash: hash.into(),
        group: [64, 1, 1],
        groups: [1; 3],
        bounds_checks: BoundsChecks::Off,
        variant: String::new(),
        tried: vec![],
        untried: 0,
        untimed: Default::default(),
        report: BuildReport::default(),
    }
}

/// A small invented GPU.
pub fn device(backend: &str) -> DeviceInfo {
    DeviceInfo {
        backend: backend.into(),
        name: "Invented GPU".into(),
        vendor: "Nobody".into(),
        kind: DeviceKind::Discrete,
        driver: "1.0".into(),
        api: "OpenCL 3.0".into(),
        language: if backend == "wgpu" { Language::Wgsl } else { Language::Opencl },
        memory: Some(Bytes::mib(1024)),
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
        ..DeviceInfo::default()
    }
}

/// A header with `devices`.
pub fn header(devices: Vec<DeviceInfo>) -> Header {
    Header {
        version: VERSION,
        method: METHOD,
        gpubench: "0.1.0 (abc)".into(),
        started: "2025-01-31T12:30:05Z".into(),
        suite: "sample".into(),
        suite_hash: "00ff".into(),
        seed: 7,
        rounds: 1,
        devices,
        ..Header::default()
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
        measured: Some(Measured {
            flops: 1e6,
            bytes: 4e6,
            warmup: 0.01,
            ..Measured::of(vec![seconds; 20], Clock::Device, 1e-9)
        }),
        wall: Wall {
            prepare: 0.1,
            build: 0.2,
            launch: 0.05,
            verify: 0.1,
            measure: 0.5,
            busy: 0.45,
            reference_kernel: 0.05,
            discarded: 0.0,
            cool_down: 0.0,
        },
        ..Record::of(key, vec![], "compute".into(), 0, Outcome::Ok)
    }
}

/// A record of device 0 in round 0 with this outcome and nothing measured.
pub fn outcome(key: CaseKey, outcome: Outcome) -> Record {
    Record { outcome, measured: None, wall: Wall::default(), ..record(key, 1.0) }
}
