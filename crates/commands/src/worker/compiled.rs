//! Where drivers keep what they compiled: in a folder of the run's own, empty at first. The first build of a kernel on a
//! device of a run is one, whatever this machine has compiled before.

use gpubench_core::gpu::DeviceInfo;
use std::path::{Path, PathBuf};

/// The variables by which drivers look for such a folder: Mesa, PoCL, Intel and AMD the first, NVIDIA both. One that is of a
/// single driver and that the user has set, as `POCL_CACHE_DIR`, goes on to hold.
const VARIABLES: [(&str, &str); 2] = [("XDG_CACHE_HOME", ""), ("CUDA_CACHE_PATH", "cuda")];

/// The environment of a worker for `device`, whose run has `folder` for itself; nothing where it takes no folders: a driver
/// that cannot write its cache may not compile.
pub(super) fn environment(folder: &Path, device: &DeviceInfo) -> Vec<(&'static str, PathBuf)> {
    let own = folder.join(format!("compiled-{}-{}", device.backend, device.index));
    let made = |(name, within): (&'static str, &str)| {
        let path = own.join(within);
        std::fs::create_dir_all(&path).ok().map(|()| (name, path))
    };
    VARIABLES.into_iter().map(made).collect::<Option<_>>().unwrap_or_default()
}

#[test]
fn each_device_of_a_run_has_its_own_folders() {
    let root = tempfile::tempdir().unwrap();
    let device = |index| DeviceInfo { index, ..gpubench_core::record::sample::device("vulkan") };
    let [one, other] = [0, 1].map(|index| environment(root.path(), &device(index)));
    assert_ne!(one, other);
    assert!(one.len() == 2 && one.iter().all(|(_, path)| path.is_dir()), "{one:?}");
    let file = root.path().join("file");
    std::fs::write(&file, "").unwrap();
    assert_eq!(environment(&file, &device(0)), []);
}
