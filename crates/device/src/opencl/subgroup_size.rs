//! `intel_reqd_sub_group_size`: the subgroup that a kernel is compiled for, in drivers of whatever vendor that have
//! `cl_intel_required_subgroup_size`.

use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{DeviceInfo, KernelSource, SUBGROUP_SIZE};

/// Its extension.
pub(super) const EXTENSION: &str = "cl_intel_required_subgroup_size";
/// What a kernel's own size is asked with (cl_ext.h).
pub(super) const COMPILED: u32 = 0x410A;

/// The attribute that a kernel gets; `None` where its suite asks for no size, or the device has no choice.
///
/// # Errors
/// `Unsupported` where the kernel is no text.
pub(super) fn asked(source: &KernelSource, info: &DeviceInfo) -> Result<Option<String>> {
    let has_choice = info.features.iter().any(|has| has == SUBGROUP_SIZE);
    match source.settings.subgroup.filter(|_| has_choice) {
        Some(_) if source.settings.spirv => {
            let why = "a kernel in SPIR-V for OpenCL has the size of its subgroups inside";
            Err(Error::Unsupported(why.to_owned()))
        }
        Some(size) => Ok(Some(format!("intel_reqd_sub_group_size({size})"))),
        None => Ok(None),
    }
}

/// The size that a kernel was compiled for must be the one that was asked for, where the driver says it.
pub(super) fn check(compiled: Option<u64>, asked: Option<u32>) -> Result<()> {
    match (asked, compiled.filter(|&size| size > 0)) {
        (Some(asked), Some(size)) if u64::from(asked) != size => Err(Error::Unsupported(format!(
            "the kernel was compiled for subgroups of {size} work-items, not {asked}"
        ))),
        _ => Ok(()),
    }
}

#[test]
fn what_a_driver_compiled_for_is_what_was_requested_or_not_said() {
    assert!(check(Some(16), Some(16)).is_ok() && check(Some(8), None).is_ok());
    assert!(check(Some(8), Some(16)).is_err());
    assert!(check(None, Some(16)).is_ok() && check(Some(0), Some(16)).is_ok());
}
