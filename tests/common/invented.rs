//! Devices, headers and records that nobody measured.

use gpubench::gpu::{Clock, DeviceInfo, DeviceKind, Language};
use gpubench::record::{Header, Host, METHOD, Measured, Outcome, Record, VERSION, Wall};
use gpubench::units::Bytes;
use gpubench::workload::{CaseKey, Kind};

/// A GPU over OpenCL.
pub fn device(name: &str) -> DeviceInfo {
    DeviceInfo {
        backend: "opencl".into(),
        remote: None,
        index: 0,
        name: name.into(),
        vendor: "nobody".into(),
        kind: DeviceKind::Discrete,
        driver: "1.0".into(),
        api: "OpenCL 3.0".into(),
        language: Language::Opencl,
        memory: None,
        cache: None,
        max_buffer: Bytes(0),
        max_binding: Bytes(0),
        max_storage_buffers: 0,
        compute_units: None,
        clock_hz: None,
        max_group_size: 0,
        max_group_dims: [0; 3],
        max_groups: [0; 3],
        local_memory: Bytes(0),
        queues: 1,
        timestamp_resolution: None,
        subgroup: None,
        offset_alignment: Bytes(1),
        host_memory: vec![],
        registers: None,
        zero_copy: vec![],
        memory_types: vec![],
        pci: None,
        uuid: None,
        features: vec![],
    }
}

/// A run of `rounds` on `devices`.
pub fn header(devices: Vec<DeviceInfo>, rounds: u32) -> Header {
    Header {
        version: VERSION,
        method: METHOD,
        gpubench: "0.1.0 (abc)".into(),
        started: "2025-01-31T12:30:05Z".into(),
        suite: "invented".into(),
        suite_hash: "00ff".into(),
        seed: 7,
        rounds,
        exact_rounds: false,
        budget: None,
        verify_only: false,
        tuned: None,
        filters: vec![],
        in_turn: None,
        cool_down: None,
        imported: vec![],
        host: Host::default(),
        remotes: vec![],
        devices,
    }
}

/// The kernel case `workload n=N`.
pub fn key(workload: &str, n: i64) -> CaseKey {
    CaseKey {
        workload: workload.into(),
        size: vec![("n".into(), n)],
        measure: Kind::KERNEL,
        host_memory: None,
    }
}

/// A verified record of a million operations and four million bytes.
pub fn record(key: CaseKey, device: usize, round: u32, samples: Vec<f64>) -> Record {
    Record {
        key,
        tags: vec![],
        ceiling: None,
        working_set: None,
        family: "compute".into(),
        device,
        round,
        simulated: false,
        outcome: Outcome::Ok,
        measured: Some(Measured {
            samples,
            batch: 1,
            clock: Clock::Device,
            resolution: 1e-9,
            flops: 1e6,
            bytes: 4e6,
            types: vec![],
            warmup: 0.0,
            dropped: 0,
        }),
        detail: None,
        kernel: None,
        norms: None,
        against: None,
        flags: vec![],
        monitor: Default::default(),
        wall: Wall::default(),
    }
}
