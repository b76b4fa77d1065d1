//! What small devices keep of the shipped suites, and that all others keep what they had.

use super::plan::LIMITS;
use gpubench::backend;
use gpubench::backend::sim::Sim;
use gpubench::gpu::DeviceInfo;
use gpubench::measure::plan;
use gpubench::plan::Planned;
use gpubench::suite::{Suite, suites};
use gpubench::units::Bytes;
use std::collections::BTreeSet;

/// Suites most of whose workloads are about the group itself.
const ABOUT_GROUPS: [&str; 2] = ["concurrency", "group-sizes"];

fn shipped(name: &str) -> Suite {
    gpubench::measure::load(name).unwrap()
}

/// The devices that are simulated where they are named, each with its file's name.
fn small_devices() -> Vec<(&'static str, DeviceInfo)> {
    let names = Sim::small_devices();
    let sim = Sim::new(names.iter().map(Into::into).collect(), 0);
    let all = backend::Backend::devices(&sim).unwrap();
    names.into_iter().zip(all.into_iter().skip(Sim::shipped())).collect()
}

/// Of the suite's workloads those of which the device runs at least one size, and those of which it runs none.
fn kept(suite: &Suite, device: &DeviceInfo) -> (usize, BTreeSet<String>) {
    let mut kept = BTreeSet::new();
    let mut all = BTreeSet::new();
    for planned in plan(suite, device, &LIMITS) {
        match planned {
            Planned::Case(case) => {
                all.insert(case.key.workload.clone());
                kept.insert(case.key.workload)
            }
            Planned::Skipped(skip) => all.insert(skip.key.workload),
        };
    }
    (kept.len(), &all - &kept)
}

#[test]
fn small_devices_keep_nearly_all_workloads() {
    let all = shipped("all");
    for (name, device) in small_devices() {
        let (kept, lost) = kept(&all, &device);
        let share = kept as f64 / (kept + lost.len()) as f64;
        let wanted = if name == "nasty" { 0.90 } else { 0.95 };
        assert!(share >= wanted, "{name} keeps {share:.3} of `all`, without {lost:?}");
    }
}

#[test]
fn small_devices_keep_most_of_every_suite() {
    for suite in suites().into_iter().filter(|suite| !ABOUT_GROUPS.contains(suite)) {
        let loaded = shipped(suite);
        for (name, device) in small_devices() {
            let mut loaded = loaded.clone();
            // More buffers than a kernel may have cannot be made to fit.
            loaded.workloads.retain(|w| w.buffers.len() <= device.max_storage_buffers as usize);
            // Nor can double precision where there is none, or a library of another API's.
            let has_f64 = device.features.iter().any(|feature| feature == "f64");
            loaded.workloads.retain(|w| has_f64 || !w.name.contains("f64"));
            loaded.workloads.retain(|w| !w.name.ends_with("clblast"));
            // Nor can memory within the host's reach be made where there is none.
            if suite == "zero-copy" && device.zero_copy.is_empty() {
                continue;
            }
            let (kept, lost) = kept(&loaded, &device);
            if loaded.workloads.is_empty() {
                continue;
            }
            assert!(kept > lost.len(), "{name} keeps {kept} of `{suite}`, without {lost:?}");
        }
    }
}

/// With room for every work-group there is no fallback, and a plan is what it is without any.
#[test]
fn devices_that_take_every_group_plan_as_without_fallbacks() {
    let mut devices = backend::by_name("sim").unwrap().devices().unwrap();
    devices.retain(|device| device.max_group_size >= 256 && device.local_memory >= Bytes(32 << 10));
    assert!(devices.len() > 3);
    for name in suites() {
        let mut suite = shipped(name);
        // In double precision a tile takes twice the local memory.
        suite.workloads.retain(|workload| !workload.name.contains("_f64"));
        let mut without = suite.clone();
        for kernel in without.workloads.iter_mut().filter_map(|w| w.kernel.as_mut()) {
            kernel.fallback.clear();
        }
        for device in &devices {
            let [with, without] = [&suite, &without].map(|suite| plan(suite, device, &LIMITS));
            assert!(with == without, "{name} on {}", device.name);
        }
    }
}

/// A fallback keeps the names, is known to the case, and is the first that fits.
#[test]
fn the_first_fallback_that_fits_is_planned() {
    let planned = |name: &str, workload: &str| {
        let (_, device) = small_devices().into_iter().find(|(known, _)| *known == name).unwrap();
        let cases = plan(&shipped("transpose"), &device, &LIMITS).into_iter();
        let mut cases = cases.filter_map(|planned| match planned {
            Planned::Case(case) => Some(*case),
            Planned::Skipped(_) => None,
        });
        cases.find(|case| case.key.workload == workload).unwrap()
    };
    let tiled = planned("nasty", "transpose_tiled");
    assert_eq!(tiled.candidates[0].kernel.group, [32, 2, 1]);
    assert_eq!(tiled.preferred_group, Some([32, 8, 1]));
    // A padded tile of 32 rows takes 4224 bytes.
    let padded = planned("nasty", "transpose_padded/32x8");
    assert_eq!(padded.candidates[0].kernel.group, [16, 4, 1]);
    let same = planned("uhd-600", "transpose_tiled");
    assert_eq!((same.candidates[0].kernel.group, same.preferred_group), ([32, 8, 1], None));
}

/// Each kernel of a program has a fallback of its own.
#[test]
fn the_steps_of_a_program_fall_back_too() {
    let suite = "version: 1
workloads:
  twice:
    kernel: { family: micro, entry: triad, group: [256], fallback: [[128], [32]], constants: { V: f32, ITEMS: 1 } }
    sizes: { n: [1024] }
    params: { n: n, s: { f32: 0.5 } }
    buffers:
      b: { type: f32, count: n, fill: index }
      c: { type: f32, count: n, fill: index }
      out: { type: f32, count: n }
    steps:
      - { kernel: { group: [64] }, grid: [n] }
      - { kernel: { constants: { ITEMS: 2 } }, grid: [n/2] }
    verify: none
";
    let folder = super::folder(&[("my.yaml", suite)]);
    let suite = super::load(&folder.path().join("my.yaml")).unwrap();
    let case = |name: &str| {
        let (_, device) = small_devices().into_iter().find(|(known, _)| *known == name).unwrap();
        match plan(&suite, &device, &LIMITS).remove(0) {
            Planned::Case(case) => *case,
            Planned::Skipped(skip) => panic!("{skip:?}"),
        }
    };
    let groups = |name: &str| {
        let case = case(name);
        let kernels: Vec<_> = case.candidates[0].kernels().map(|kernel| kernel.group[0]).collect();
        let launched: Vec<_> = case.candidates[0].passes().iter().map(|p| p.groups[0]).collect();
        (kernels, launched, case.preferred_group)
    };
    assert_eq!(groups("nasty"), (vec![64, 32], vec![16, 16], Some([256, 1, 1])));
    assert_eq!(groups("uhd-600"), (vec![64, 256], vec![16, 2], None));
}
