use super::*;
use crate::testing::{SUITE, load_with, message, mistake};

const KERNEL: &str = "opencl: k.cl, wgsl: k.wgsl, entry: copy";

#[test]
fn a_kernel_is_shipped_or_comes_from_files() {
    for (kernel, message, at) in [
        (
            "family: filters, wgsl: k.wgsl, entry: sepia",
            "a kernel is a shipped one by its family, or one from files, not both",
            "filters",
        ),
        (
            "family: filters, spirv: k.spv, entry: sepia",
            "a kernel is a shipped one by its family, or one from files, not both",
            "filters",
        ),
        (
            "library: clblast, opencl: k.cl, entry: gemm",
            "a kernel is a library's or has a text, not both",
            "clblast",
        ),
        (
            "library: clblast, entry: gemm, defines: { FAST: 1 }",
            "a library's routine takes no `defines` and no `options`",
            "clblast",
        ),
        (
            "library: clblast, entry: gemm, options: [-cl-mad-enable]",
            "a library's routine takes no `defines` and no `options`",
            "clblast",
        ),
        ("entry: copy", "the kernel has no text", "kernel"),
        (
            "family: ceilings, entry: matrix_i8",
            "shaders/ceilings/matrix_i8.spv is for gpubench's own suites: nothing bounds what it accesses",
            "ceilings",
        ),
        (
            "family: ceilings, entry: matrix_i8, precision: f64",
            "a module in SPIR-V has the types that it is written with",
            "f64",
        ),
        ("family: filters, entry: sepai", "gpubench ships no kernel `filters/sepai`", "sepai"),
        (
            "opencl: none.cl, entry: copy",
            "cannot read the kernel `none.cl`: there is no such file",
            "none.cl",
        ),
        (
            "spirv: none.spv, entry: copy",
            "cannot read the kernel `none.spv`: there is no such file",
            "none.spv",
        ),
        (
            "spirv: k.cl, entry: copy",
            "cannot read the kernel `k.cl`: it is no SPIR-V: that begins with the number 0x07230203",
            "k.cl",
        ),
    ] {
        let (said, place) = mistake(KERNEL, kernel, &[]);
        assert_eq!((&said[..], &place[..]), (message, at), "{kernel}");
    }
}

#[test]
fn no_api_is_given_two_texts() {
    let (said, at) = mistake(KERNEL, "wgsl: k.wgsl, glsl: k.glsl, entry: copy", &[("k.glsl", "")]);
    assert!(
        said.contains("k.wgsl` and `")
            && said.ends_with("k.glsl` are both for Vulkan and wgpu: give one of them"),
        "{said}"
    );
    assert_eq!(at, "k.glsl");
    let folder = tempfile::tempdir().unwrap();
    let kernel: Vec<u8> = [0x0723_0203u32, 0x0001_0300, 0, 1, 0, 2 << 16 | 17, 6]
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    let suite = |kernel: &str| SUITE.replace(KERNEL, kernel);
    std::fs::write(folder.path().join("k.spv"), &kernel).unwrap();
    std::fs::write(folder.path().join("k.cl"), crate::testing::CL).unwrap();
    let load = |kernel: &str| {
        let path = folder.path().join("s.yaml");
        std::fs::write(&path, suite(kernel)).unwrap();
        crate::load(&path.to_string_lossy(), &["copy"], &crate::testing::KINDS)
    };
    let why = load("opencl: k.cl, spirv: k.spv, entry: copy").map(|_| ()).unwrap_err().to_string();
    assert!(why.contains("are both for OpenCL: give one of them"), "{why}");
    let suite = load("spirv: k.spv, entry: copy").unwrap();
    let kernel = suite.workloads[0].kernel.as_ref().unwrap();
    assert!(
        kernel.settings(&kernel.texts[0], &[]).spirv
            && kernel.texts[0].language == Language::Opencl
    );
    let other: Vec<u8> = [0x0723_0203u32, 0x0001_0300, 0, 2, 0, 2 << 16 | 17, 6]
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    std::fs::write(folder.path().join("k.spv"), other).unwrap();
    assert_ne!(load("spirv: k.spv, entry: copy").unwrap().hash, suite.hash);
}

#[test]
fn a_shipped_kernel_has_its_texts_in_both_languages() {
    let from = "    kernel: { opencl: k.cl, wgsl: k.wgsl, entry: copy, group: [64] }";
    let to = "    kernel: { family: filters, entry: sepia, group: [64] }";
    let found = load_with(from, to, &[]);
    let found = found.map(|_| ()).unwrap_err();
    assert!(found.iter().all(|one| !one.message.contains("ships no kernel")), "{found:?}");
    assert_eq!(
        message("k.cl", "../k.cl", &[]),
        "cannot read the kernel `../k.cl`: it lies outside the suite's folder"
    );
}

#[test]
fn the_kernels_of_a_family_are_suggested() {
    let all = relatives("filters");
    assert!(
        all.contains(&"filters/sepia") && all.iter().all(|name| name.starts_with("filters/")),
        "{all:?}"
    );
    assert_eq!(relatives("none"), assets::kernels());
}
