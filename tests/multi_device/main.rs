//! Several devices at once: transfer states and plans against the tables that simulated machines
//! are made of, split workloads, and what goes wrong on the way.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

#[path = "../common/mod.rs"]
mod common;
mod devices;
mod splits;
mod states;

use common::suite;
use gpubench::backend::open_multi_device;
use gpubench::backend::sim::{SIM, Sim};
use gpubench::gpu::DeviceInfo;
use gpubench::measure::plan;
use gpubench::measure::split::analysis::{SplitSummary, split};
use gpubench::measure::split::data::Split;
use gpubench::measure::{DeviceGroup, Measurement, Policy, measure_multi_device};
use gpubench::plan::{Case, Limits, Planned};
use gpubench::record::Outcome;
use gpubench::units::Bytes;
use std::path::{Path, PathBuf};

/// The devices of a machine, shipped or in a file.
fn devices(machine: &str) -> Vec<(String, usize)> {
    let first = Sim::shipped();
    let count = Sim::count(Path::new(machine));
    (first..first + count).map(|index| (SIM.to_owned(), index)).collect()
}

/// Measures a workload of the tests' suite over all devices of a machine, for a given number of seconds.
fn measured(machine: &str, workload: &str, seconds: f64) -> Measurement {
    let sim = Sim::new(vec![PathBuf::from(machine)], 7);
    let (devices, launcher) = open_multi_device(&devices(machine), &sim).unwrap();
    let infos: Vec<DeviceInfo> = devices.iter().map(|device| device.info().clone()).collect();
    let suite = gpubench::measure::load(&suite("multi_device/multi_device.yaml")).unwrap();
    let host_memory = Some(Bytes(16 << 30));
    let limits = Limits { memory: None, seconds: 60.0, seed: 3, cores: 2, host_memory };
    let case = |info: &DeviceInfo| -> Case {
        let named = plan(&suite, info, &limits).into_iter().find_map(|planned| match planned {
            Planned::Case(case) => (case.key.workload == workload).then_some(*case),
            Planned::Skipped(skip) => panic!("{}", skip.reason),
        });
        named.expect("the workload is in the suite")
    };
    let cases: Vec<Case> = infos.iter().map(case).collect();
    let policy = Policy { seconds, ..Policy::default() };
    measure_multi_device(&mut DeviceGroup::new(devices, launcher), &cases, &policy, &mut |_| {})
}

fn split_on(machine: &str, workload: &str) -> (Split, SplitSummary) {
    let measurement = measured(machine, workload, 1.0);
    assert_eq!(measurement.outcome, Some(Outcome::Ok));
    let Some(raw) = measurement.detail.and_then(|detail| detail.read::<Split>()) else {
        panic!("not split")
    };
    let summary = split(&raw).unwrap();
    println!("{machine}, {workload}: {summary:?}");
    (raw, summary)
}

/// The same of a machine that a test describes.
fn split_on_described(machine: &str, workload: &str) -> (Split, SplitSummary) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("machine.yaml");
    std::fs::write(&file, machine).unwrap();
    split_on(&file.display().to_string(), workload)
}

fn within(value: f64, wanted: f64, share: f64, what: &str) {
    assert!((value / wanted - 1.0).abs() <= share, "{what}: {value} is not {wanted}");
}
