//! Where drivers keep what they compiled: in a folder of the run's own, empty at first. So the first build of a kernel on a
//! device of a run is no cache hit, whatever this machine compiled before.

use gpubench_core::gpu::DeviceInfo;
use gpubench_device::browser::BROWSER;
use gpubench_experiments::compiled_folder;
use std::path::{Path, PathBuf};

/// Where Mesa, PoCL, Intel and AMD put their folder on Linux.
const ALL: &str = "XDG_CACHE_HOME";
/// Where NVIDIA's OpenCL has its own.
const CUDA: &str = "CUDA_CACHE_PATH";

/// Variables of single drivers that override the first. A user who sets one wants that cache.
const OWN: [&str; 8] = [
    CUDA,
    "AMD_COMGR_CACHE_DIR",
    "AMD_SHADER_DISK_CACHE_PATH",
    "MESA_GLSL_CACHE_DIR",
    "MESA_SHADER_CACHE_DIR",
    "NEO_CACHE_DIR",
    "POCL_CACHE_DIR",
    "__GL_SHADER_DISK_CACHE_PATH",
];

/// The environment of a worker for `devices`, whose run has `folder` for itself. Nothing where the folder cannot be made: a
/// driver that cannot write its cache may not compile. Nor for several devices: what one compiled, another would find. Nor for a
/// browser, whose compiler is not the worker's.
pub(super) fn environment(folder: &Path, devices: &[DeviceInfo]) -> Vec<(&'static str, PathBuf)> {
    let is_own = OWN.iter().any(|name| std::env::var_os(name).is_some());
    environment_unless(is_own, folder, devices)
}

/// As [`environment`], if the user has not set a driver's own variable.
fn environment_unless(
    is_own: bool,
    folder: &Path,
    devices: &[DeviceInfo],
) -> Vec<(&'static str, PathBuf)> {
    let [device] = devices else { return vec![] };
    if !cfg!(target_os = "linux") || is_own || device.backend == BROWSER {
        return vec![];
    }
    let Ok(own) = std::path::absolute(compiled_folder(folder, device)) else { return vec![] };
    let cuda = own.join("cuda");
    match std::fs::create_dir_all(&cuda) {
        Ok(()) => vec![(ALL, own), (CUDA, cuda)],
        Err(_) => {
            // Left behind, it would say that it is used.
            let _ = std::fs::remove_dir(own);
            vec![]
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
#[test]
fn each_device_of_a_run_has_its_own_folders() {
    let root = tempfile::tempdir().unwrap();
    let device = |index| DeviceInfo { index, ..gpubench_core::record::sample::device("vulkan") };
    let environment =
        |folder: &Path, devices: &[DeviceInfo]| environment_unless(false, folder, devices);
    let [one, other] = [0, 1].map(|index| environment(root.path(), &[device(index)]));
    assert_ne!(one, other);
    assert!(one.len() == 2 && one.iter().all(|(_, path)| path.is_dir()), "{one:?}");
    assert_eq!(environment(root.path(), &[device(2), device(3)]), []);
    let browser = DeviceInfo { backend: BROWSER.into(), ..device(2) };
    assert_eq!(environment(root.path(), &[browser]), []);
    assert_eq!(environment_unless(true, root.path(), &[device(2)]), []);
    let file = root.path().join("file");
    std::fs::write(&file, "").unwrap();
    assert_eq!(environment(&file, &[device(0)]), []);
}
