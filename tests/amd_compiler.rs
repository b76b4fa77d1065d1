//! Mesa's compiler for AMD's GPUs takes the kernels of these suites and says how many registers they need. No GPU is there
//! for that: `RADV_FORCE_FAMILY` makes the driver show one that compiles and runs nothing.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use gpubench::backend::{self, Device};
use gpubench::error::Error;
use gpubench::gpu::{DeviceInfo, KernelId, KernelSource, Language, Settings};
use gpubench::measure::{load, plan};
use gpubench::plan::{Case, Limits, Planned};
use gpubench::units::Bytes;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// A GPU of each generation: GCN 4 and 5, RDNA 1 and 2. Later ones have other names in other versions.
const FAMILIES: [&str; 4] = ["polaris10", "vega10", "navi10", "navi21"];
const SUITES: [&str; 11] = [
    "all",
    "ceilings",
    "characterise",
    "concurrency",
    "layout",
    "seismic-media",
    "shoc",
    "streams",
    "tune",
    "tuned",
    "word-latency",
];
/// Variants of a search that are built, evenly apart.
const VARIANTS: usize = 6;
/// Has variants that only OpenCL has, of which WGSL says so in an assertion.
const WITH_OPENCL_ONLY: &str = "atomic_f32";

/// The driver's descriptions, of every architecture that the machine has it for: the loader takes its own.
fn drivers() -> OsString {
    let folder = "/usr/share/vulkan/icd.d";
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let is_radv = |file: &PathBuf| file.to_string_lossy().contains("radeon_icd");
    let found: Vec<PathBuf> = files.filter(is_radv).collect();
    let none = "has no radeon_icd: Debian's mesa-vulkan-drivers brings it";
    assert!(!found.is_empty(), "{folder} {none}");
    std::env::join_paths(found).unwrap()
}

/// The driver reads its environment when it is loaded, so that each family has a process.
#[test]
#[cfg_attr(not(feature = "require-vulkan"), ignore = "needs Mesa's Vulkan driver for AMD's GPUs")]
fn every_kernel_is_built_for_each_generation() {
    for family in FAMILIES {
        let mut test = Command::new(std::env::current_exe().unwrap());
        test.args(["--exact", "builds_every_kernel", "--ignored", "--nocapture"]);
        test.env("RADV_FORCE_FAMILY", family).env("VK_DRIVER_FILES", drivers());
        let output = test.output().unwrap();
        let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
        assert!(output.status.success(), "{family}: {out}{err}");
        let built = out.lines().find(|line| line.contains(" built"));
        eprintln!("{family}: {}", built.expect("it was run"));
    }
}

#[test]
#[ignore = "the test above runs it, with a driver for each generation"]
fn builds_every_kernel() {
    assert!(std::env::var_os("RADV_FORCE_FAMILY").is_some(), "the test above sets it");
    let vulkan = backend::by_name("vulkan").unwrap();
    let info = vulkan.devices().unwrap().remove(0);
    assert!(info.name.contains("RADV"), "{}", info.name);
    let mut device = vulkan.open(info.index).unwrap();
    let memory = Some(Bytes(4 << 30));
    let limits = Limits { memory, seconds: 60.0, seed: 20, cores: 2, host_memory: None };
    let cases = SUITES.iter().flat_map(|name| plan(&load(name).unwrap(), &info, &limits));
    let cases = cases.filter_map(|planned| match planned {
        Planned::Case(case) => Some(case),
        Planned::Skipped(_) => None,
    });
    let mut built = 0;
    for case in cases {
        let kernels = kernels(&case);
        let taken = kernels.iter().filter(|kernel| takes(device.as_mut(), &case, kernel)).count();
        assert!(taken > 0 || kernels.is_empty(), "{}: no variant", case.key);
        built += taken;
    }
    assert!(built > 200, "{built} built");
    has_the_subgroup_that_is_asked_for(device.as_mut(), &info, &plain());
    println!("{}: {built} built", info.name);
    // Without a GPU this driver cannot wait for its queues, which closing the device does.
    std::process::exit(0);
}

/// A kernel without operations on subgroups.
fn plain() -> KernelSource {
    KernelSource {
        group: [64, 1, 1],
        ..KernelSource::new(
            Language::Wgsl,
            "nothing",
            "@compute @workgroup_size(GROUP_X) fn nothing() {}",
        )
    }
}

/// RDNA has subgroups of 32 and of 64 work-items, GCN of 64.
fn has_the_subgroup_that_is_asked_for(
    device: &mut dyn Device,
    info: &DeviceInfo,
    kernel: &KernelSource,
) {
    let [smallest, largest] = info.subgroup.unwrap();
    assert!(largest == 64 && [32, 64].contains(&smallest), "{smallest} to {largest}");
    let mut built = |size| {
        let settings = Settings { subgroup: Some(size), ..Settings::default() };
        device.build(KernelId(0), &KernelSource { settings, ..kernel.clone() })
    };
    for size in [smallest, largest] {
        assert_eq!(built(size).unwrap().subgroup, Some(size));
    }
    assert!(matches!(built(16), Err(Error::Unsupported(_))));
}

/// The kernels of up to `VARIANTS` variants, evenly apart.
fn kernels(case: &Case) -> Vec<&KernelSource> {
    let variants = case.candidates.iter().step_by(case.candidates.len().div_ceil(VARIANTS).max(1));
    variants.flat_map(|one| std::iter::once(&one.kernel).chain(&one.others)).collect()
}

/// Whether the compiler takes a kernel, for which it must say how many registers that needs; one that only OpenCL has is
/// none of its own.
fn takes(device: &mut dyn Device, case: &Case, kernel: &KernelSource) -> bool {
    match device.build(KernelId(0), kernel) {
        Ok(report) => {
            assert!(report.private_bytes.is_some(), "{}: {}", case.key, report.log);
            true
        }
        Err(error) => {
            let is_of_opencl = case.key.workload.starts_with(WITH_OPENCL_ONLY)
                && error.to_string().contains("const_assert");
            assert!(is_of_opencl, "{}: {error}", case.key);
            false
        }
    }
}
