//! `reqd_work_group_size`: the group that a kernel is compiled for.
//!
//! Some compilers expect groups of 256 work-items at most where a kernel does not name its own, and spend the
//! registers of larger ones.

use super::kernel::build_error;
use gpubench_core::error::Result;
use gpubench_core::gpu::KernelSource;
use opencl3::kernel::Kernel;
use opencl3::types::cl_device_id;

/// The same text, all its kernels for the group that it is launched with, besides what else they are `asked`; `None`
/// where it is no text, or names a group itself.
pub(super) fn with_fixed_group(source: &KernelSource, asked: Option<&str>) -> Option<KernelSource> {
    let name = "reqd_work_group_size";
    let group = format!("{name}({})", list(source));
    let is_own = source.settings.spirv || source.opencl().contains(name);
    (!is_own).then(|| with_attributes(source, &[Some(&group[..]), asked]))
}

/// The same text, all its kernels with these attributes.
pub(super) fn with_attributes(source: &KernelSource, attributes: &[Option<&str>]) -> KernelSource {
    let text = source.opencl();
    let attributes: String =
        attributes.iter().flatten().map(|one| format!("__attribute__(({one})) ")).collect();
    let word = if text.contains("__kernel") { "__kernel" } else { "kernel" };
    let other = if word == "kernel" { "__kernel" } else { "kernel" };
    let text = format!("#define {word} {attributes}{other}\n#line 1\n{text}");
    let mut with = source.clone();
    match &mut with.settings.expanded {
        Some(expanded) => expanded.text = text,
        None => with.text = text,
    }
    with
}

/// The group as the attribute lists it.
pub(super) fn list(source: &KernelSource) -> String {
    source.group.map(|n| n.to_string()).join(", ")
}

/// The group that a kernel is compiled for; zeros where it is for any.
pub(super) fn of(kernel: &Kernel, device: cl_device_id) -> [usize; 3] {
    let all = kernel.get_compile_work_group_size(device).unwrap_or_default();
    all.try_into().unwrap_or_default()
}

/// `reqd_work_group_size`, where the kernel has it, must be the group it is launched with.
pub(super) fn check(kernel: &Kernel, device: cl_device_id, source: &KernelSource) -> Result<()> {
    let (fixed, wanted) = (of(kernel, device), source.group.map(|n| n as usize));
    if fixed == [0; 3] || fixed == wanted {
        return Ok(());
    }
    let log = format!(
        "{}: reqd_work_group_size is {fixed:?}, but the group is {wanted:?}: write reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)",
        source.origin.file()
    );
    Err(build_error(source, log))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::gpu::Language;

    #[test]
    fn a_kernel_is_fixed_to_its_group_and_places_in_its_text_stay() {
        let source = KernelSource {
            group: [32, 32, 1],
            ..KernelSource::new(Language::Opencl, "f", "kernel void f(global uint* out) {}")
        };
        let fixed = with_fixed_group(&source, None).unwrap();
        assert_eq!(
            fixed.text,
            "#define kernel __attribute__((reqd_work_group_size(32, 32, 1))) __kernel\n#line 1\nkernel void f(global uint* out) {}"
        );
        assert!(with_fixed_group(&fixed, None).is_none(), "it names its group");
        let other = KernelSource { text: "__kernel void f() {}".into(), ..source };
        assert!(with_fixed_group(&other, Some("with(8)")).unwrap().text.starts_with(
            "#define __kernel __attribute__((reqd_work_group_size(32, 32, 1))) __attribute__((with(8))) kernel\n"
        ));
    }
}
