//! Whether a build is the run's first of its kernel on the device: any later one may come from the driver's cache.

use crate::plan::Candidate;
use gpubench_core::gpu::{BuildReport, DeviceInfo, KernelSource};
use gpubench_core::record::Built;
use std::collections::HashMap;
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

/// What a process's builds took, by the kernels, each with whether it was the run's first.
#[derive(Debug, Default)]
pub(super) struct Builds(HashMap<Vec<String>, (f64, Option<bool>)>);

impl Builds {
    /// Completes the report of a build: where the device still had all kernels, by what they took when they were compiled,
    /// else by what `is_first` finds.
    pub fn note(
        &mut self,
        candidate: &Candidate,
        report: &mut BuildReport,
        is_first: impl FnOnce() -> Option<bool>,
    ) {
        let kernels: Vec<String> = candidate.kernels().map(KernelSource::compiled_hash).collect();
        if report.kept {
            let before = self.0.get(&kernels).copied();
            (report.seconds, report.first) = before.unwrap_or((report.seconds, None));
            return;
        }
        report.first = is_first();
        self.0.insert(kernels, (report.seconds, report.first));
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
    use gpubench_core::gpu::Language;
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

    #[test]
    fn a_kernel_that_the_device_still_had_took_what_it_took_when_it_was_compiled() {
        let mut builds = Builds::default();
        let mut note = |entry: &str, text: &str, kept, seconds| {
            let mut case = crate::plan::sample::search(&["a"]);
            let kernel = &mut case.candidates[0].kernel;
            (kernel.language, kernel.text, kernel.entry) =
                (Language::Opencl, text.into(), entry.into());
            let mut report = BuildReport { seconds, kept, ..BuildReport::default() };
            builds.note(&case.candidates[0], &mut report, || Some(true));
            (report.seconds, report.first)
        };
        assert_eq!(note("one", "text", false, 2.0), (2.0, Some(true)));
        assert_eq!(note("two", "text", true, 9.0), (2.0, Some(true)), "the same program");
        assert_eq!(note("one", "other text", true, 9.0), (9.0, None));
    }
}
