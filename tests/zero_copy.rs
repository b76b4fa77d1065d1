//! Kernels in memory that the host maps: on simulated devices, and on every driver of this machine.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use gpubench::backend;
use gpubench::backend::sim::{Description, SimDevice};
use gpubench::gpu::{Clock, DeviceInfo, MemoryKind};
use gpubench::measure::zero_copy::analysis::in_place;
use gpubench::measure::zero_copy::data::{InPlace, ZeroCopy};
use gpubench::measure::{Measurement, Policy, Session, load, measure, plan};
use gpubench::plan::{Case, Limits, Planned};
use gpubench::record::Outcome;
use gpubench::units::Bytes;
use std::path::Path;

/// The cases of the shipped suite with so many numbers or fewer, planned for a device.
fn planned(info: &DeviceInfo, max: i64, memory: Option<Bytes>) -> Vec<Planned> {
    let mut suite = load("zero-copy").unwrap();
    for workload in &mut suite.workloads {
        workload.sizes.retain(|size| size.iter().all(|(_, n)| *n <= max));
    }
    suite.workloads.retain(|workload| !workload.sizes.is_empty());
    let limits = Limits { memory, seconds: 60.0, seed: 7, cores: 2, host_memory: None };
    plan(&suite, info, &limits)
}

fn cases(info: &DeviceInfo, max: i64) -> Vec<Case> {
    let planned = planned(info, max, None).into_iter();
    planned
        .map(|planned| match planned {
            Planned::Case(case) => *case,
            Planned::Skipped(skip) => panic!("{skip:?}"),
        })
        .collect()
}

fn reason(info: &DeviceInfo, memory: Option<Bytes>) -> String {
    match planned(info, 1 << 20, memory).pop() {
        Some(Planned::Skipped(skip)) => skip.reason.to_string(),
        other => panic!("{other:?}"),
    }
}

fn run(session: &mut Session, case: &Case, verify_only: bool) -> Measurement {
    let (min_samples, max_samples, seconds, longest_launch) = (5, 9, 2.0, 60.0);
    let policy = Policy {
        min_samples,
        max_samples,
        seconds,
        longest_launch,
        verify_only,
        ..Policy::default()
    };
    measure(session, case, &policy, &mut |_| {})
}

fn described(file: &str) -> Description {
    let devices = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/device/src/sim/devices");
    Description::parse(file, &std::fs::read_to_string(devices.join(file)).unwrap()).unwrap()
}

/// What the streaming kernel over 16 million numbers leaves on a simulated device.
fn simulated(gpu: Description) -> ZeroCopy {
    let mut session = Session::new(Box::new(SimDevice::new(gpu, 0, 1)));
    let cases = cases(&session.device.info().clone(), 1 << 24);
    let largest = cases.iter().max_by_key(|case| case.working_set()).unwrap();
    let measurement = run(&mut session, largest, false);
    assert_eq!(measurement.outcome, Some(Outcome::Ok));
    let measured = measurement.measured.unwrap();
    let raw: ZeroCopy = measurement.detail.unwrap().read().unwrap();
    assert_eq!(measured.samples, raw.kinds[0].kernel, "the kernel there stands for the case");
    raw
}

#[test]
fn a_discrete_device_reads_over_its_link_and_saves_the_copies() {
    let gpu = described("tesla-k40c.yaml");
    let link = gpu.link.host[&MemoryKind::Pinned];
    let raw = simulated(gpu);
    assert_eq!((raw.clock, raw.host_memory), (Clock::Simulated, MemoryKind::Pinned));
    assert_eq!(raw.bytes, [2 << 26, 1 << 26]);
    let [kind] = &raw.kinds[..] else { panic!("{raw:?}") };
    assert_eq!(kind.memory, MemoryKind::ZeroCopy);
    assert_eq!(kind.allocation, "simulated: the host's memory, over the link");
    let summary = in_place(kind);
    let [there, in_device] = summary.kernel.map(|kernel| kernel.unwrap().median);
    let over_link = 3.0 * f64::from(1 << 26) / link.upload;
    assert!((there / over_link - 1.0).abs() < 0.05 && there > 10.0 * in_device, "{summary:?}");
    // Every byte crosses the link once, either way: what is saved is the kernel's own time at most.
    let whole = summary.whole_ratio.unwrap().median;
    assert!((0.8..1.0).contains(&whole), "{summary:?}");
    let latency = link.latency;
    // Two buffers are written and one is read; a command costs some microseconds besides.
    let [to_write, to_read] = [summary.to_write, summary.to_read].map(|map| map[0].unwrap().median);
    assert!((2.0 * latency..2.0 * latency + 10e-6).contains(&to_write), "{summary:?}");
    assert!((latency..latency + 10e-6).contains(&to_read), "{summary:?}");
    assert!(summary.to_write[1].unwrap().median < latency, "{summary:?}");
}

#[test]
fn a_unified_device_loses_nothing_and_saves_the_copies() {
    let raw = simulated(described("small/mali-g610-mp4.yaml"));
    let summary = in_place(&raw.kinds[0]);
    assert_eq!(raw.kinds[0].allocation, "simulated: the memory is the host's");
    let [kernel, whole] = [summary.kernel_ratio, summary.whole_ratio].map(|of| of.unwrap().median);
    assert!((kernel - 1.0).abs() < 0.02 && whole < 0.5, "{summary:?}");
}

#[test]
fn a_device_that_cannot_says_why() {
    let session = Session::new(backend::by_name("sim").unwrap().open(0).unwrap());
    let mut info = session.device.info().clone();
    assert!(reason(&info, Some(Bytes(16 << 20))).contains("it in both memories"));
    info.zero_copy = vec![];
    assert!(reason(&info, None).contains("no memory of this device is within the host's reach"));
    info.backend = "wgpu".into();
    assert!(reason(&info, None).contains("WebGPU lets no kernel use a buffer that the host maps"));
}

/// Every kind on every device of a backend, verified and timed.
fn every_kind(backend: &str) -> Vec<ZeroCopy> {
    let backend = backend::by_name(backend).unwrap();
    let devices = backend.devices().unwrap();
    assert!(!devices.is_empty(), "no device through {}", backend.name());
    let mut all = vec![];
    for info in devices.into_iter().filter(|info| !info.zero_copy.is_empty()) {
        let mut session = Session::new(backend.open(info.index).unwrap());
        for case in
            cases(&info, 1 << 16).into_iter().filter(|case| case.working_set() < Bytes(1 << 20))
        {
            let verified = run(&mut session, &case, true);
            assert_eq!(verified.outcome, Some(Outcome::Ok), "{} on {}", case.key, info.name);
            assert!(verified.measured.is_none() && verified.norms.is_some());
            let timed = run(&mut session, &case, false);
            assert_eq!(timed.outcome, Some(Outcome::Ok), "{} on {}", case.key, info.name);
            let raw: ZeroCopy = timed.detail.unwrap().read().unwrap();
            for kind in &raw.kinds {
                let summary = in_place(kind);
                let ratios = [summary.kernel_ratio, summary.whole_ratio];
                assert!(ratios.iter().all(|ratio| ratio.unwrap().median > 0.0), "{summary:?}");
            }
            all.push(raw);
        }
    }
    all
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn opencl_has_memory_of_its_own_and_of_the_hosts() {
    for raw in every_kind("opencl") {
        let allocated: Vec<&str> = raw.kinds.iter().map(|kind| kind.allocation.as_str()).collect();
        let host_pointer = "CL_MEM_USE_HOST_PTR at a multiple of 64.0 KiB";
        assert_eq!(allocated, ["CL_MEM_ALLOC_HOST_PTR", host_pointer], "{:?}", raw.skipped);
    }
}

#[test]
#[cfg_attr(not(feature = "require-vulkan"), ignore = "needs a Vulkan driver")]
fn vulkan_has_memory_that_is_device_local_and_host_visible() {
    for raw in every_kind("vulkan") {
        let [kind, imported @ ..] = &raw.kinds[..] else { panic!("{raw:?}") };
        assert!(kind.allocation.starts_with("device-local host-visible coherent"), "{kind:?}");
        // Not every driver imports the host's memory.
        let is_imported =
            |kind: &InPlace| kind.allocation.starts_with("VK_EXT_external_memory_host");
        assert!(imported.len() <= 1 && imported.iter().all(is_imported), "{imported:?}");
    }
}
