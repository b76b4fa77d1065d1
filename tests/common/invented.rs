//! Devices, headers and records that nobody measured.

use gpubench::gpu::{DeviceInfo, DeviceKind, Language};
use gpubench::record::{Header, Measured, Record, Wall, sample};
use gpubench::units::Bytes;
use gpubench::workload::CaseKey;

/// A GPU over OpenCL.
pub fn device(name: &str) -> DeviceInfo {
    DeviceInfo {
        backend: "opencl".into(),
        name: name.into(),
        vendor: "nobody".into(),
        kind: DeviceKind::Discrete,
        driver: "1.0".into(),
        api: "OpenCL 3.0".into(),
        language: Language::Opencl,
        queues: 1,
        offset_alignment: Bytes(1),
        ..DeviceInfo::default()
    }
}

/// A run of `rounds` on `devices`.
pub fn header(devices: Vec<DeviceInfo>, rounds: u32) -> Header {
    Header { suite: "invented".into(), rounds, ..sample::header(devices) }
}

/// The kernel case `workload n=N`.
pub fn key(workload: &str, n: i64) -> CaseKey {
    sample::key(workload, n)
}

/// A verified record of a million operations and four million bytes.
pub fn record(key: CaseKey, device: usize, round: u32, samples: Vec<f64>) -> Record {
    let record = sample::record(key, 1.0);
    let measured = record.measured.map(|known| Measured { samples, warmup: 0.0, ..known });
    Record { device, round, measured, wall: Wall::default(), ..record }
}
