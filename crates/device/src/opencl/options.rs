//! With which options kernels are compiled.

use gpubench_core::error::Result;
use gpubench_core::gpu::{DeviceInfo, KernelSource};

/// Freedoms that WGSL gives every compiler anyway, so that both languages of a kernel are compiled
/// alike: contraction of a multiplication and an addition, signless zeros, and denormals
/// flushed to zero.
const FREEDOMS: [&str; 3] = ["-cl-mad-enable", "-cl-no-signed-zeros", "-cl-denorms-are-zero"];
/// Has the compiler keep the names and types of arguments, which changes no instruction. OpenCL 1.1 does not know it.
const ARGUMENTS: &str = "-cl-kernel-arg-info";
const STANDARD: &str = "-cl-std=";
/// What texts hold that some drivers of OpenCL 3.0 do not compile in C 1.2, which has no features to ask for by name: PoCL 7
/// reads no images in it, Intel's has neither subgroups nor dot products of packed bytes.
const OF_LATER: [&str; 5] =
    ["image2d_t", "__opencl_c_", "sub_group_", "get_sub_group_", "dot_4x8packed_"];

/// Whether a name in `text` begins with `beginning`.
fn mentions(text: &str, beginning: &str) -> bool {
    let is_whole = |at: usize| !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    text.match_indices(beginning).any(|(at, _)| is_whole(at))
}

/// The version of OpenCL C that a text is compiled as, where its suite names none.
fn standard(text: &str, api: &str) -> &'static str {
    let is_later = || OF_LATER.iter().any(|beginning| mentions(text, beginning));
    match api {
        api if api.starts_with("OpenCL 1.1") => "-cl-std=CL1.1",
        api if api.starts_with("OpenCL 3.") && is_later() => "-cl-std=CL3.0",
        _ => "-cl-std=CL1.2",
    }
}

/// All options of a kernel on a device: those above, its own, its constants.
pub(super) fn options(source: &KernelSource, info: &DeviceInfo) -> Result<String> {
    // What the options of a compiler of OpenCL C say, SPIR-V has decided.
    if source.settings.spirv {
        return Ok(String::new());
    }
    let own = &source.settings.options;
    let replaced = own.iter().any(|option| option.starts_with(STANDARD));
    let standard = (!replaced).then(|| standard(source.opencl(), &info.api));
    let arguments = (!info.api.starts_with("OpenCL 1.1")).then_some(ARGUMENTS);
    let usual = standard.into_iter().chain(FREEDOMS).chain(arguments);
    let defines = source.defines()?;
    let all = usual.chain(own.iter().map(String::as_str)).chain([defines.as_str()]);
    Ok(all.collect::<Vec<_>>().join(" "))
}

#[test]
fn a_text_is_compiled_in_the_oldest_c_that_has_what_it_needs() {
    let of = |text, api| standard(text, api);
    let requested = "__attribute__((intel_reqd_sub_group_size(8))) kernel void f() {}";
    for text in ["typedef uint atomic_float;", "kernel void f() {}", requested] {
        assert_eq!(of(text, "OpenCL 3.0"), "-cl-std=CL1.2");
    }
    let subgroups = ["sub_group_ballot(x)", "x+get_sub_group_id()"];
    let others = ["#ifdef __opencl_c_fp64", "read_only image2d_t a", "dot_4x8packed_ss_int(a, b)"];
    for text in subgroups.into_iter().chain(others) {
        let found = ["OpenCL 1.1", "OpenCL 1.2", "OpenCL 3.0"].map(|api| of(text, api));
        assert_eq!(found, ["-cl-std=CL1.1", "-cl-std=CL1.2", "-cl-std=CL3.0"]);
    }
}
