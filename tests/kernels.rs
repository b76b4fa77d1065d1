//! Every shipped workload against its reference, at its smallest size and at sizes that no
//! work-group divides, whole and in chunks, on each device of this machine.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::requested;
use gpubench::backend;
use gpubench::gpu::DeviceInfo;
use gpubench::measure::load;
use gpubench::measure::plan;
use gpubench::measure::{Policy, Session, measure};
use gpubench::plan::{Case, Limits, Planned};
use gpubench::record::Outcome;
use gpubench::suite::{Suite, Workload};
use gpubench::units::Bytes;
use gpubench::workload::{Kind, Size};

/// Values for every size of a workload: one item, less than a group, a multiple of most tiles,
/// and just beyond one.
const AWKWARD: [i64; 5] = [1, 17, 64, 100, 257];

/// What these sizes need in two dimensions; of three, the largest is left out.
const MEMORY: Bytes = Bytes(32 << 20);

fn shipped(name: &str) -> Suite {
    load(name).unwrap()
}

/// All shipped workloads whose kernels' time is measured, those with many copies and those with
/// transformed buffers, at sizes worth checking.
fn checked() -> Suite {
    let mut suite = shipped("all");
    let timed = |w: &Workload| [Kind::KERNEL, Kind::new("halo")].iter().any(|m| w.measures(*m));
    suite.workloads.retain(timed);
    for workload in &mut suite.workloads {
        workload.sizes = sizes(workload);
    }
    for mut workload in ["streams", "layout"].into_iter().flat_map(|s| shipped(s).workloads) {
        // The smallest of these are large.
        workload.sizes = sizes(&workload).split_off(1);
        suite.workloads.push(workload);
    }
    for workload in &mut suite.workloads {
        if workload.measures(Kind::new("halo")) {
            // Cut into parts it is checked in `tests/halo.rs`.
            workload.measure = vec![requested(Kind::KERNEL)];
        }
        if workload.divide.is_some() {
            workload.measure = vec![requested(Kind::KERNEL), requested(Kind::new("overlap"))];
        }
    }
    suite
}

fn sizes(workload: &Workload) -> Vec<Size> {
    let volume = |size: &&Size| size.iter().map(|(_, value)| *value as f64).product::<f64>();
    let smallest = workload.sizes.iter().min_by(|a, b| volume(a).total_cmp(&volume(b))).unwrap();
    // Every size a little larger than the one before, so that no two can be mistaken for each other.
    let awkward = |value: i64| -> Size {
        smallest.iter().zip(value..).map(|((name, _), value)| (name.clone(), value)).collect()
    };
    let mut sizes = vec![smallest.clone()];
    if workload.name == "reduction" {
        // Several shares, the last of which is not whole.
        sizes.push(vec![("n".into(), 10_003)]);
    }
    sizes.extend(AWKWARD.into_iter().map(awkward).filter(|size| size != smallest));
    sizes
}

fn limits(memory: Bytes) -> Limits {
    Limits { memory: Some(memory), seconds: 60.0, seed: 20, cores: 2, host_memory: None }
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn kernels_agree_with_their_references_by_opencl() {
    agree("opencl");
}

#[test]
#[cfg_attr(not(feature = "require-vulkan"), ignore = "needs a Vulkan driver")]
fn kernels_agree_with_their_references_by_vulkan() {
    agree("vulkan");
}

#[test]
#[cfg_attr(not(feature = "require-wgpu"), ignore = "needs a wgpu driver")]
fn kernels_agree_with_their_references_by_wgpu() {
    agree("wgpu");
}

/// Every kernel gives what its reference gives, on each device of an API.
fn agree(backend: &str) {
    let suite = checked();
    let backend = backend::by_name(backend).unwrap();
    let found = backend.devices().unwrap();
    assert!(!found.is_empty(), "no device");
    let wrong: Vec<String> = found
        .iter()
        .flat_map(|info| {
            let mut session = Session::new(backend.open(info.index).unwrap());
            check(&mut session, &suite, info)
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is wrong on one device.
fn check(session: &mut Session, suite: &Suite, info: &DeviceInfo) -> Vec<String> {
    let policy =
        Policy { verify_only: true, seconds: 60.0, longest_launch: 60.0, ..Policy::default() };
    let (mut right, mut skipped, mut wrong) = (0, 0, vec![]);
    for (i, planned) in plan(suite, info, &limits(MEMORY)).into_iter().enumerate() {
        let Planned::Case(case) = planned else {
            skipped += 1;
            continue;
        };
        for case in each_variant(*case, i) {
            match measure(session, &case, &policy, &mut |_| {}).outcome {
                Some(Outcome::Ok) => right += 1,
                Some(Outcome::Unsupported(reason)) if !reason.to_string().is_empty() => {
                    skipped += 1
                }
                outcome => wrong.push(format!(
                    "{} {} {}: {outcome:?}",
                    info.backend, case.key, case.candidates[0].label
                )),
            }
        }
    }
    eprintln!("{} ({}): {right} right, {skipped} skipped", info.name, info.backend);
    assert!(right > 4 * skipped, "most shipped kernels must run");
    wrong
}

/// The variants of a search one by one, distributed over its sizes in turn: each variant is checked at one.
fn each_variant(case: Case, i: usize) -> Vec<Case> {
    let candidates = case.candidates.clone().into_iter();
    candidates
        .skip(i % case.candidates.len().min(1 + AWKWARD.len()))
        .step_by(1 + AWKWARD.len())
        .map(|candidate| Case { candidates: vec![candidate], ..case.clone() })
        .collect()
}

/// A board with no more than the embedded suite may ask for.
fn small_board() -> DeviceInfo {
    let sim = backend::by_name("sim").unwrap();
    let mut board = sim.devices().unwrap().remove(0);
    board.memory = Some(Bytes(128 << 20));
    board.max_binding = Bytes(8 << 20);
    board.max_group_size = 128;
    board.max_group_dims = [128, 128, 64];
    board.max_groups = [65_535; 3];
    board.max_storage_buffers = 8;
    board.queues = 1;
    board.features = vec![];
    board
}

#[test]
fn the_embedded_suite_asks_little() {
    let suite = shipped("embedded");
    for kernel in suite.workloads.iter().filter_map(|w| w.kernel.as_ref()) {
        let searched = kernel.search.iter().flat_map(|search| &search.groups);
        for group in searched.chain([&kernel.group]) {
            assert!(group.iter().product::<u32>() <= 128, "{} {group:?}", kernel.entry);
        }
        assert!(kernel.needs.is_empty(), "{}", kernel.entry);
    }
    for planned in plan(&suite, &small_board(), &limits(Bytes(64 << 20))) {
        if let Planned::Skipped(skip) = planned {
            // Which kinds of host memory there are is the device's affair.
            assert!(
                skip.reason.to_string().contains("host memory"),
                "{}: {}",
                skip.key,
                skip.reason
            );
        }
    }
}
