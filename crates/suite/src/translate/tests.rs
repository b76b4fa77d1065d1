use super::*;
use crate::testing::{GLSL, SUITE, load_with, message};

/// The text in GLSL as WGSL, of a kernel with these keys more.
fn glsl(more: &str, text: &str) -> Result<String, String> {
    let kernel = format!("{{ glsl: k.glsl, entry: main, group: [64]{more} }}");
    let from = "{ opencl: k.cl, wgsl: k.wgsl, entry: copy, group: [64] }";
    let suite =
        load_with(from, &kernel, &[("k.glsl", text)]).map_err(|found| found[0].message.clone())?;
    let kernel = suite.workloads[0].kernel.clone().unwrap();
    kernel.built_text(&kernel.texts[0], kernel.group, &kernel.constants, 2)
}

#[test]
fn glsl_sees_the_group_constants_and_definitions() {
    let text = GLSL.replace("local_size_x = 64", "local_size_x = GROUP_X");
    let text = text.replace("a[i];\n}", "a[i] * FACTOR + SHIFT + float(TWO);\n}");
    let built =
        glsl(", constants: { FACTOR: 2.0, TWO: 2 }, defines: { SHIFT: \"1.5\" }", &text).unwrap();
    for part in ["@workgroup_size(64, 1, 1)", "fn main(", "2f", "1.5f", "@binding(2)"] {
        assert!(built.contains(part), "{part}: {built}");
    }
    let why = glsl(", constants: { FACTOR: f32 }", GLSL).unwrap_err();
    assert_eq!(why, "`FACTOR` is a type, and a kernel in GLSL has numbers as constants");
    let why = glsl(", constants: { FACTOR: matrix_8x8x8_f16_f32 }", GLSL).unwrap_err();
    let product =
        "`FACTOR` is a product of matrices, and a kernel in GLSL has numbers as constants";
    assert_eq!(why, product);
    assert!(glsl("", "#version 450\nvoid main() { x; }").is_err());
}

#[test]
fn a_constant_is_spelled_as_glsl_reads_it() {
    assert_eq!(spelled("A", &Constant::Int(-3)), Ok("-3".to_owned()));
    assert_eq!(spelled("A", &Constant::Float(2.0)), Ok("2.0".to_owned()));
    assert_eq!(spelled("A", &Constant::Float(1e-9)), Ok("1e-9".to_owned()));
}

/// Push constants stand where the parameter block does.
#[test]
fn push_constants_are_the_parameter_block() {
    let text =
        GLSL.replace("layout(set = 0, binding = 2) uniform P", "layout(push_constant) uniform P");
    let block = |built: String| {
        let at = built.find("var<uniform>").unwrap();
        built[..at].trim_end().rsplit('\n').next().unwrap().trim().to_owned()
    };
    assert_eq!(block(glsl("", &text).unwrap()), "@group(0) @binding(2)");
    let moved = text
        .replace("binding = 0", "binding = 1")
        .replace("binding = 1) buffer", "binding = 2) buffer");
    assert_eq!(block(glsl(", args: [params, a, out]", &moved).unwrap()), "@group(0) @binding(0)");
}

#[test]
fn a_barrier_of_glsl_is_one_of_the_work_group() {
    let text = GLSL.replace(
        "void main() {",
        "shared float s[64];\nvoid main() {\n    s[0] = 1.0;\n    barrier();",
    );
    let built = glsl("", &text).unwrap();
    assert_eq!(built.matches("workgroupBarrier();").count(), 1, "{built}");
    assert!(!built.contains("subgroupBarrier") && !built.contains("textureBarrier"), "{built}");
    let lines = "a;\n  subgroupBarrier();\n  workgroupBarrier();\n  subgroupBarrier();\n  textureBarrier();\n  b;\n  textureBarrier();\n";
    let wanted = "a;\n  subgroupBarrier();\n  workgroupBarrier();\n  b;\n  textureBarrier();\n";
    assert_eq!(with_one_barrier(lines), wanted);
}

#[test]
fn an_entry_point_keeps_its_name() {
    let entry = |text: &str, name| with_entry(text.to_owned(), name);
    assert_eq!(entry("fn k2_() { g(); }", "k2"), "fn k2() { g(); }");
    assert_eq!(entry("fn k2() {} fn k2_() {}", "k2"), "fn k2() {} fn k2_() {}");
    assert_eq!(entry("fn k() {}", "k2"), "fn k() {}");
}

/// What naga writes of a text in WGSL.
fn spirv(text: &str) -> Vec<u8> {
    let (module, info) = crate::wgsl::parse(text).unwrap();
    let words = naga::back::spv::write_vec(&module, &info, &Default::default(), None).unwrap();
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn spirv_for_vulkan_becomes_wgsl() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("k.spv"), spirv(crate::testing::WGSL)).unwrap();
    let kernel = "kernel: { spirv: k.spv, entry: copy, group: [64] }";
    let suite =
        SUITE.replace("kernel: { opencl: k.cl, wgsl: k.wgsl, entry: copy, group: [64] }", kernel);
    std::fs::write(folder.path().join("s.yaml"), suite).unwrap();
    let path = folder.path().join("s.yaml");
    let suite = crate::load(&path.to_string_lossy(), &["copy"], &crate::testing::KINDS);
    let kernel = suite.unwrap().workloads[0].kernel.clone().unwrap();
    let [text] = &kernel.texts[..] else { panic!("{:?}", kernel.texts) };
    assert_eq!((text.language, text.written), (Language::Wgsl, Written::Spirv));
    assert!(text.built_origin().file().ends_with("k.spv as WGSL"));
    let built = kernel.built_text(text, kernel.group, &[], 2).unwrap();
    assert!(built.contains("fn copy(") && built.contains("@workgroup_size(64, 1, 1)"), "{built}");
    assert!(!kernel.settings(text, &[]).spirv, "what is built is WGSL");
    let plain = KernelText { written: Written::Plain, ..text.clone() };
    assert_eq!(kernel.built_text(&plain, kernel.group, &[], 2).unwrap(), *text.text);
    assert_eq!(plain.built_origin(), text.origin);
    let for_opencl = KernelText { language: Language::Opencl, ..text.clone() };
    assert_eq!(kernel.built_text(&for_opencl, kernel.group, &[], 2).unwrap(), *text.text);
    assert!(kernel.settings(&for_opencl, &[]).spirv);
    let cut = KernelText { text: text.text[..48].into(), ..text.clone() };
    let why = kernel.built_text(&cut, kernel.group, &[], 2).unwrap_err();
    assert!(why.contains("k.spv: naga, which reads SPIR-V for Vulkan, says:"), "{why}");
    let digits = KernelText { text: "no digits".into(), ..text.clone() };
    assert!(
        kernel
            .built_text(&digits, kernel.group, &[], 2)
            .unwrap_err()
            .ends_with("k.spv: it is no SPIR-V")
    );
}

#[test]
fn a_mistake_in_glsl_is_at_its_place_in_the_file() {
    let from = "{ opencl: k.cl, wgsl: k.wgsl, entry: copy, group: [64] }";
    let kernel = "{ glsl: k.glsl, entry: main, group: [64] }";
    let text = GLSL.replace("o[i] = a[i]", "o[i] = a[j]");
    let (_, at) = crate::testing::mistake(from, kernel, &[("k.glsl", &text)]);
    assert_eq!(at, "j");
    // What only the translation shows is said of the file.
    let text =
        GLSL.replace("o[i] = a[i];", "o[i] = float(o.length());").replace("uint n;", "int n;");
    let text = text.replace("if (i < n)", "if (i < uint(n))");
    assert!(message(from, kernel, &[("k.glsl", &text)]).contains("parameter `n` is another type"));
}

/// Two variables at one binding: naga reads such a module, and does not take it.
#[test]
fn a_module_that_is_wrong_as_a_whole_is_a_file_that_is() {
    let mut file = spirv(crate::testing::WGSL);
    let word = |file: &[u8], at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    // `OpDecorate variable Binding 1` becomes that of 0.
    let decoration = |at: &usize| {
        word(&file, *at) == 4 << 16 | 71 && word(&file, at + 8) == 33 && word(&file, at + 12) == 1
    };
    let at = (0..file.len() - 12).step_by(4).find(decoration).unwrap();
    file[at + 12] = 0;
    let folder = tempfile::tempdir().unwrap();
    let from = "opencl: k.cl, wgsl: k.wgsl, entry: copy";
    std::fs::write(folder.path().join("k.spv"), file).unwrap();
    let path = folder.path().join("s.yaml");
    std::fs::write(&path, SUITE.replace(from, "spirv: k.spv, entry: copy")).unwrap();
    let found = crate::load(&path.to_string_lossy(), &["copy"], &crate::testing::KINDS);
    let gpubench_core::error::Error::Suite(found) = found.unwrap_err() else { panic!() };
    let one = &found[0];
    assert!(
        one.file.ends_with("s.yaml") && &one.text[one.offset..one.offset + one.len] == "k.spv",
        "{one}"
    );
}
