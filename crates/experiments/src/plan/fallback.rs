//! The work-group that a kernel has on a device: the suite's, or the first of its fallbacks that the
//! device takes.

use super::Candidate;
use super::variants::{Asked, Dropped, candidates, place};
use gpubench_core::gpu::{DeviceInfo, KernelSource, Language, Origin};
use gpubench_core::units::Bytes;
use gpubench_device::wgpu::local_bytes;
use gpubench_suite::{Fallback, Kernel, Workload};

/// The variants that a device takes.
#[derive(Default)]
pub(super) struct Chosen {
    pub(super) candidates: Vec<Candidate>,
    pub(super) dropped: Dropped,
    /// The suite's work-group, where the device takes only a fallback.
    pub(super) preferred_group: Option<[u32; 3]>,
}

/// Every variant of the kernel that the device takes, with the first work-group of which it takes any.
///
/// # Errors
/// Why it does not take the suite's own, where it takes none.
pub(super) fn first_fitting(asked: &Asked, kernel: &Kernel) -> Result<Chosen, String> {
    if let Some(program) = &asked.workload.program {
        let (candidate, preferred_group) = super::program::candidate(asked, program)?;
        return Ok(Chosen { candidates: vec![candidate], dropped: vec![], preferred_group });
    }
    let reason = match candidates(asked, kernel) {
        Ok((candidates, dropped)) => {
            return Ok(Chosen { candidates, dropped, preferred_group: None });
        }
        Err(reason) => reason,
    };
    let mut others = kernel.fallback.iter().map(|fallback| with_fallback(kernel, fallback));
    let found = others.find_map(|other| candidates(asked, &other).ok());
    let (candidates, dropped) = found.ok_or(reason)?;
    Ok(Chosen { candidates, dropped, preferred_group: Some(kernel.group) })
}

/// The kernel with a fallback's group and constants, which are no longer searched for.
pub(super) fn with_fallback(kernel: &Kernel, fallback: &Fallback) -> Kernel {
    let mut kernel = Kernel { group: fallback.group, variant: String::new(), ..kernel.clone() };
    let replaced = |name: &str| fallback.constants.iter().any(|(known, _)| known == name);
    kernel.constants.retain(|(name, _)| !replaced(name));
    kernel.constants.extend(fallback.constants.iter().cloned());
    if let Some(search) = &mut kernel.search {
        search.groups.clear();
        search.constants.retain(|(name, _)| !replaced(name));
    }
    kernel
}

/// Refuses a kernel whose groups need more local memory than the device has. What a shipped kernel needs
/// in OpenCL C is what it needs in WGSL; of a user's own the driver knows.
pub(super) fn check_local_memory(
    source: &KernelSource,
    kernel: &Kernel,
    workload: &Workload,
    device: &DeviceInfo,
) -> Result<(), String> {
    let own = matches!(source.origin, Origin::User(_));
    let Some(wgsl) = kernel.text(Language::Wgsl) else { return Ok(()) };
    let unknown = device.local_memory == Bytes(0) || own && source.language != Language::Wgsl;
    // That of a device that takes WGSL may be a translation.
    let text = match source.language {
        Language::Wgsl => source.text.clone(),
        Language::Opencl => wgsl.text.to_string(),
    };
    if unknown || !text.contains("var<workgroup>") {
        return Ok(());
    }
    let origin = wgsl.origin.clone();
    let wgsl = KernelSource { language: Language::Wgsl, text, origin, ..source.clone() };
    match local_bytes(&wgsl) {
        Some(needed) if needed > device.local_memory => Err(format!(
            "{}: a work-group needs {needed} of local memory, the device has {}",
            place(workload),
            device.local_memory
        )),
        _ => Ok(()),
    }
}
