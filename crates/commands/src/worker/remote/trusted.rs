//! What another machine may be asked to run.

use super::super::protocol::Request;
use gpubench_core::gpu::{KernelSource, Language, Origin};
use gpubench_core::workload::Verify;
use gpubench_experiments::plan::{Candidate, Case};
use gpubench_suite::{is_shipped_module, shipped_kernel};

/// Why a request is not run in another machine: both ends look.
pub(super) fn objection(request: &Request, trusted: bool) -> Option<String> {
    let cases: Vec<&Case> = match request {
        Request::Measure { case, .. } | Request::Build { case } | Request::Compute { case, .. } => {
            vec![case]
        }
        Request::MultiDevice { cases, .. } => cases.iter().collect(),
        Request::Iterate { .. } | Request::Signatures { .. } => {
            return Some("it is done in this machine only".into());
        }
    };
    cases.into_iter().find_map(|case| of_case(case, trusted))
}

fn of_case(case: &Case, trusted: bool) -> Option<String> {
    if matches!(case.verify, Verify::Command(..)) {
        return Some("a command that verifies runs in this machine only".into());
    }
    let kernels = case.candidates.iter().flat_map(Candidate::kernels);
    let other = case.candidates.iter().filter_map(|candidate| candidate.other_language.as_ref());
    let own = kernels.chain(other).find(|kernel| !is_shipped(kernel));
    own.filter(|_| !trusted).map(|kernel| {
        let file = kernel.origin.file();
        format!("{file} is no kernel of gpubench, and nobody trusts it: --trust")
    })
}

/// Whether this very binary has the kernel, whatever is said of where it comes from.
fn is_shipped(kernel: &KernelSource) -> bool {
    let is_expanded = kernel.settings.expanded.is_some();
    if kernel.settings.library.is_some() {
        let is_compiled = !is_expanded && !kernel.settings.spirv;
        return is_compiled && kernel.language == Language::Opencl && kernel.text.is_empty();
    }
    let (Origin::Shipped(file) | Origin::Lent(file)) = &kernel.origin else { return false };
    let path = file.strip_prefix("shaders/").unwrap_or(file);
    let parts = path.rsplit_once('.').and_then(|(stem, _)| stem.split_once('/'));
    let found = parts.and_then(|(family, entry)| shipped_kernel(family, entry, kernel.language));
    let is_same = |(found, text): (String, &str)| {
        found == path && text == kernel.text && is_shipped_module(path) == kernel.settings.spirv
    };
    !is_expanded && found.is_some_and(is_same)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use gpubench_core::gpu::{Expanded, Library, SPIRV};
    use gpubench_core::record::sample::device;
    use gpubench_core::units::Bytes;
    use gpubench_experiments::plan::{Limits, Planned};

    /// All cases of a suite on three devices, of which one takes modules.
    pub(in super::super) fn cases(suite: &str) -> Vec<Case> {
        let suite = gpubench_experiments::load(suite).unwrap();
        let limits = Limits {
            memory: None,
            seconds: 1e9,
            seed: 1,
            cores: 2,
            host_memory: Some(Bytes(1 << 40)),
        };
        let mut devices = ["opencl", "wgpu", "vulkan"].map(device);
        let modules = [SPIRV, "subgroups", "matrix_8x8x8_i8_i32"];
        devices[2].features.extend(modules.map(str::to_owned));
        devices[2].language = Language::Wgsl;
        let planned = devices.iter().flat_map(|d| gpubench_experiments::plan(&suite, d, &limits));
        planned.filter_map(Planned::case).collect()
    }

    #[test]
    fn every_kernel_of_gpubench_runs_elsewhere_and_no_other_unasked() {
        let mut cases = cases("all");
        assert!(cases.len() > 50, "{}", cases.len());
        let ceilings = self::cases("ceilings");
        for case in cases.iter().chain(&ceilings) {
            assert_eq!(of_case(case, false), None, "{}", case.key);
        }
        let mut module =
            ceilings.into_iter().find(|case| case.key.workload == "matrix/i8_i32").unwrap();
        module.candidates[0].kernel.text.push_str("00");
        assert!(of_case(&module, false).is_some_and(|why| why.contains("matrix_i8.spv")));
        let case = cases.iter_mut().find(|case| !case.candidates.is_empty()).unwrap();
        // What is compiled is looked at, and not what it is said to be.
        let settings = case.candidates[0].kernel.settings.clone();
        case.candidates[0].kernel.settings.expanded = Some(Expanded::default());
        assert!(of_case(case, false).is_some_and(|why| why.contains("--trust")));
        // A library's routine is no text and no module.
        case.candidates[0].kernel.settings = settings.clone();
        case.candidates[0].kernel.settings.library = Some(Library::Clblast);
        assert!(of_case(case, false).is_some_and(|why| why.contains("--trust")));
        case.candidates[0].kernel.settings = settings;
        // It says that it is shipped, and is not.
        case.candidates[0].kernel.text.push_str("// more\n");
        assert!(of_case(case, false).is_some_and(|why| why.contains("--trust")));
        assert_eq!(of_case(case, true), None);
        case.candidates[0].kernel.origin = Origin::User("mine.cl".into());
        let request = Request::Build { case: Box::new(case.clone()) };
        assert!(objection(&request, false).is_some_and(|why| why.contains("mine.cl")));
        assert_eq!(objection(&request, true), None);
    }
}
