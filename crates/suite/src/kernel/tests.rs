use crate::testing::{CL, GLSL, SUITE, WGSL, load_with, message, mistake, workload_with};
use gpubench_core::gpu::Constant;

#[test]
fn a_kernel_has_an_entry_and_a_group() {
    for (from, to, message, at) in [
        (", entry: copy", "", "the kernel needs an `entry`: the function's name", "kernel"),
        ("entry: copy", "entry: 9copy", "`9copy` is no name of a function", "9copy"),
        (", group: [64]", "", "the kernel needs a `group`: the size of its work-groups", "kernel"),
        ("group: [64]", "group: [64], needs: [f61]", "no device has a feature called `f61`", "f61"),
        (
            "group: [64]",
            "group: [64], needs: [matrix_16x16_f16_f32]",
            "no device has a feature called `matrix_16x16_f16_f32`",
            "matrix_16x16_f16_f32",
        ),
        ("group: [64]", "group: [64], constants: { 9A: 1 }", "`9A` cannot name a constant", "9A"),
        (
            "group: [64]",
            "group: [64], fallback: [{ group: [32], constants: { A: 1 } }]",
            "the kernel has no constant `A`",
            "A",
        ),
    ] {
        let (said, place) = mistake(from, to, &[]);
        assert_eq!((&said[..], &place[..]), (message, at), "{to}");
    }
    let searched = SUITE
        .replace(", group: [64]", "")
        .replace("    params:", "    search: { group: [[64], [32]] }\n    params:");
    assert_eq!(workload_with(SUITE, &searched).kernel.unwrap().group, [64, 1, 1]);
    let none = "version: 1\nworkloads:\n  w: { measure: [copies], verify: none, search: { group: [[64]] } }\n";
    assert_eq!(message(SUITE, none, &[]), "there is no kernel to search the best variant of");
}

#[test]
fn what_a_kernel_says_of_itself_is_kept() {
    let more = "group: [8, 4], needs: [f16, i64_atomics], constants: { A: 1, T: f32x4 }, fallback: [[4], { group: [2], constants: { A: 0.5 } }]";
    let kernel =
        workload_with("wgsl: k.wgsl, entry: copy, group: [64]", &format!("entry: copy, {more}"))
            .kernel
            .unwrap();
    assert_eq!(
        (&kernel.entry[..], kernel.group, &kernel.needs[..]),
        ("copy", [8, 4, 1], &["f16".to_owned(), "i64_atomics".to_owned()][..])
    );
    assert_eq!(kernel.constants[0], ("A".to_owned(), Constant::Int(1)));
    let [plain, with] = &kernel.fallback[..] else { panic!("{:?}", kernel.fallback) };
    assert_eq!((plain.group, plain.constants.len(), with.group), ([4, 1, 1], 0, [2, 1, 1]));
    assert_eq!(with.constants, [("A".to_owned(), Constant::Float(0.5))]);
}

#[test]
fn a_misfit_stands_at_what_it_is_about() {
    for (from, to, about) in [
        ("fn copy", "fn kopy", "copy"),
        ("workgroup_size(64)", "workgroup_size(32)", "group"),
        ("read> a: array<f32>", "read> a: array<u32>", "a"),
        ("n: u32 }", "n: i32 }", "params"),
        ("@group(0) @binding(2)", "@group(1) @binding(9)", "params"),
        ("p.n)", "p.m)", "m"),
    ] {
        let text = WGSL.replace(from, to).replace("out[g.x] = a[g.x]", "out[g.x] = f32(a[g.x])");
        let text = if to.contains("i32") { text.replace("p.n", "u32(p.n)") } else { text };
        let found = load_with("one", "other", &[("k.wgsl", &text)]).map(|_| ()).unwrap_err();
        assert_eq!(
            &found[0].text[found[0].offset..found[0].offset + found[0].len],
            about,
            "{to}: {found:?}"
        );
        assert_eq!(found[0].file.ends_with("k.wgsl"), about == "m");
    }
    let args = SUITE.replace("entry: copy", "entry: copy, args: [a, out, { i32: n }]");
    let text = WGSL.replace("var<uniform> p: P", "var<uniform> p: u32").replace("p.n", "p");
    assert_eq!(mistake(SUITE, &args, &[("k.wgsl", &text)]).1, "{");
    // The text of a constant stands in the suite.
    let (message, at) = mistake("group: [64]", "group: [64], constants: { using: 1 }", &[]);
    assert!(message.contains("`using` is a reserved keyword") && at == "kernel", "{message}: {at}");
}

#[test]
fn what_a_translation_shows_is_about_the_file() {
    let glsl = "{ glsl: k.glsl, entry: main, group: [64] }";
    let from = "{ opencl: k.cl, wgsl: k.wgsl, entry: copy, group: [64] }";
    let text = GLSL.replace("uint n;", "float n;").replace("i < n", "i < uint(n)");
    let (said, at) = mistake(from, glsl, &[("k.glsl", &text)]);
    assert!(said.contains("parameter `n` is another type") && at == "params", "{said}: {at}");
    let (said, at) = mistake(from, &glsl.replace("main", "copy"), &[("k.glsl", GLSL)]);
    assert!(said.contains("has no entry point `copy`") && at == "copy", "{said}: {at}");
}

/// The kernel is held against the suite in the first variant that WGSL can spell, if any.
#[test]
fn the_first_variant_that_wgsl_can_spell_is_read() {
    let text = WGSL.replace("out[g.x] = a[g.x]", "out[g.x] = f32(T(a[g.x]) * T(WIDTH))");
    let wrong = text.replace("read> a: array<f32>", "read> a: array<u32>");
    let with = |types: &str, text: &str| {
        let search =
            format!("    search: {{ constants: {{ T: [{types}], WIDTH: [2, 4] }} }}\n    params:");
        load_with("    params:", &search, &[("k.wgsl", text)])
            .map(|_| ())
            .map_err(|found| found.len())
    };
    assert_eq!((with("i8, f32", &text), with("i8, f32", &wrong)), (Ok(()), Err(1)));
    let own = SUITE.replace("group: [64]", "group: [64], constants: { T: i8, WIDTH: 1 }");
    assert!(
        load_with(SUITE, &own, &[("k.wgsl", &wrong)]).is_ok(),
        "what WGSL cannot spell is the plan's to skip"
    );
    let bytes = SUITE.replace("a: { type: f32", "a: { type: u8");
    assert!(load_with(SUITE, &bytes, &[]).is_ok(), "so is a buffer of a type that it has not");
}

#[test]
fn an_override_is_set_by_a_parameter_of_its_name() {
    let text = format!("override n: u32;\n{}", WGSL.replace("p.n)", "p.n + n)"));
    assert!(load_with("one", "other", &[("k.wgsl", &text)]).is_ok());
    let other = text.replace("override n", "override m").replace("+ n)", "+ m)");
    assert_eq!(message("one", "other", &[("k.wgsl", &other)]), "`m` has no value here");
    assert!(CL.contains("copy"));
}

#[test]
fn a_fallback_changes_what_the_kernel_has() {
    let more = "group: [64], constants: { A: 1 }, fallback: [{ group: [32], constants: { B: 1 } }]";
    let (said, at) = mistake("group: [64]", more, &[]);
    assert_eq!((&said[..], &at[..]), ("the kernel has no constant `B`", "B"));
}

/// Lines of a translation are none of the file's, nor are those of constants behind it.
#[test]
fn what_stands_in_a_translation_is_about_the_file() {
    let from = "{ opencl: k.cl, wgsl: k.wgsl, entry: copy, group: [64] }";
    let glsl = "{ glsl: k.glsl, entry: main, group: [64], constants: { using: 1 } }";
    let (said, at) = mistake(from, glsl, &[("k.glsl", GLSL)]);
    assert!(said.contains("`using` is a reserved keyword") && at == "k.glsl", "{said}: {at}");
}
