//! Records of several rounds put together: one result a device and case.

use gpubench_core::gpu::{BoundsChecks, DeviceInfo};
use gpubench_core::record::{Flag, Header, Measured, Outcome, Record};
use gpubench_core::workload::CaseKey;
use gpubench_stats::{Overall, Summary, overall};
use std::collections::BTreeMap;

/// Everything a run says of one device.
#[derive(Clone, Debug)]
pub struct DeviceCases {
    /// The device.
    pub device: DeviceInfo,
    /// Its cases by key.
    pub cases: BTreeMap<CaseKey, CaseResult>,
}

/// One case on one device over all rounds.
#[derive(Clone, Debug)]
pub struct CaseResult {
    /// Which ranking family it counts in.
    pub family: String,
    /// The worst outcome of all rounds that ran; a case left out of some is what the others are.
    pub outcome: Outcome,
    /// Median of each round that was measured.
    pub medians: Vec<f64>,
    /// The value over all rounds, where every round is right.
    pub overall: Option<Overall>,
    /// Operations of one launch.
    pub flops: f64,
    /// Bytes of one launch or copy.
    pub bytes: f64,
    /// Hash of the kernel as built; `None` where its variant was searched for, since the search may
    /// end elsewhere the next time, and for transfers.
    pub kernel_hash: Option<String>,
    /// Whether the API checked accesses.
    pub bounds_checks: Option<BoundsChecks>,
    /// The flags of all rounds, each once.
    pub flags: Vec<Flag>,
}

/// A run's records by device and case.
pub fn collect<'a>(
    header: &Header,
    records: impl IntoIterator<Item = &'a Record>,
) -> Vec<DeviceCases> {
    let mut devices: Vec<BTreeMap<CaseKey, Vec<&Record>>> =
        vec![BTreeMap::new(); header.devices.len()];
    for record in records {
        if let Some(cases) = devices.get_mut(record.device) {
            cases.entry(record.key.clone()).or_default().push(record);
        }
    }
    header
        .devices
        .iter()
        .zip(devices)
        .map(|(device, cases)| DeviceCases {
            device: device.clone(),
            cases: cases.into_iter().map(|(key, records)| (key, result(&records))).collect(),
        })
        .collect()
}

fn result(records: &[&Record]) -> CaseResult {
    let outcome = worst(records);
    let measured: Vec<&Measured> = records.iter().filter_map(|r| r.measured.as_ref()).collect();
    let mut flags: Vec<Flag> = Vec::new();
    for flag in records.iter().flat_map(|r| &r.flags) {
        if !flags.contains(flag) {
            flags.push(flag.clone());
        }
    }
    let shown = matches!(outcome, Outcome::Ok | Outcome::Unchecked)
        && !flags.iter().any(Flag::is_implausible);
    let medians = measured.iter().filter_map(|m| Summary::of(&m.samples)).map(|s| s.median);
    let kernel = records.iter().find_map(|r| r.kernel.as_ref());
    CaseResult {
        family: records.first().map_or_else(String::new, |r| r.family.clone()),
        medians: medians.collect(),
        overall: if shown { overall(measured.iter().map(|m| m.samples.as_slice())) } else { None },
        flops: measured.first().map_or(0.0, |m| m.flops),
        bytes: measured.first().map_or(0.0, |m| m.bytes),
        kernel_hash: kernel
            .filter(|built| built.variant.is_empty())
            .map(|built| built.hash.clone()),
        bounds_checks: kernel.map(|built| built.bounds_checks),
        outcome,
        flags,
    }
}

fn worst(records: &[&Record]) -> Outcome {
    let outcomes = || records.iter().map(|record| &record.outcome);
    let failed = outcomes().find(|outcome| outcome.is_failure());
    let unchecked = || outcomes().find(|outcome| **outcome == Outcome::Unchecked);
    let ok = || outcomes().find(|outcome| outcome.is_ok());
    let worst = failed.or_else(unchecked).or_else(ok).or_else(|| outcomes().next());
    worst.cloned().unwrap_or(Outcome::Ok)
}
