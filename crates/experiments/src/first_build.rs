//! Whether a build is the run's first of its kernel on the device: any later one may come from the driver's cache.

use crate::plan::Candidate;
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::Built;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Where the driver of a device keeps what it compiled in a run that has `folder` for itself. It is there only if the driver
/// uses it.
pub fn compiled_folder(folder: &Path, device: &DeviceInfo) -> PathBuf {
    folder.join(format!("compiled-{}-{}", device.backend, device.index))
}

/// Notes that all kernels of `candidate` were built, and whether none of them was before; `None` where nobody knows.
pub(super) fn note(folder: &Path, device: &DeviceInfo, candidate: &Candidate) -> Option<bool> {
    let folder = compiled_folder(folder, device);
    let firsts: Option<Vec<bool>> =
        candidate.kernels().map(|kernel| is_first(&folder, &kernel.compiled_hash())).collect();
    Some(firsts?.into_iter().all(|first| first))
}

/// Whether a kernel was not compiled before, as a note in `folder` shows; `None` without such a folder.
fn is_first(folder: &Path, hash: &str) -> Option<bool> {
    match File::create_new(folder.join(format!("{hash}.built"))) {
        Ok(_) => Some(true),
        Err(error) => (error.kind() == ErrorKind::AlreadyExists).then_some(false),
    }
}

/// What is measured again is built again, perhaps from the driver's cache: what the same kernel took `before` counts.
pub(super) fn keep(again: &mut Option<Built>, before: Option<&Built>) {
    if let (Some(again), Some(before)) = (again, before)
        && again.hash == before.hash
    {
        (again.report.seconds, again.report.first) = (before.report.seconds, before.report.first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::sample::built;

    #[test]
    fn only_the_first_build_is_the_first_and_where_no_folder_is_used_nobody_knows() {
        let folder = tempfile::tempdir().unwrap();
        let first = |hash| is_first(folder.path(), hash);
        assert_eq!([first("ab"), first("cd"), first("ab")], [true, true, false].map(Some));
        assert_eq!(is_first(&folder.path().join("none"), "ab"), None);
    }

    #[test]
    fn a_kernel_that_is_measured_again_keeps_its_first_build() {
        let with = |hash: &str, seconds, first| {
            let mut built = built(hash);
            (built.report.seconds, built.report.first) = (seconds, first);
            built
        };
        let before = with("a", 0.06, Some(true));
        let of = |hash| {
            let mut again = Some(with(hash, 0.002, Some(false)));
            keep(&mut again, Some(&before));
            again.map(|again| (again.report.seconds, again.report.first))
        };
        assert_eq!(of("a"), Some((0.06, Some(true))));
        assert_eq!(of("b"), Some((0.002, Some(false))), "a search that ended elsewhere");
    }
}
