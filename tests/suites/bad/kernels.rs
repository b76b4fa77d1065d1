//! What a suite says of a kernel that its text does not have, or the device cannot have.

use super::{VALID, diagnostics, rendered, spoiled, spoiled_in};

#[test]
fn fallbacks_are_groups_with_constants_of_the_kernel() {
    let spoiled = |fallback: &str, at: &str, words: &[&str]| {
        let by = format!("group: [64], fallback: {fallback}");
        self::spoiled("group: [64]", &by, at, words);
    };
    spoiled("[[0]]", "0]]", &["at least one work-item"]);
    spoiled("[{ group: [[8], [4]] }]", "{ group", &["a fallback has one work-group"]);
    let constant = "[{ group: [8], constants: { VALUE: 2 } }]";
    spoiled(constant, "VALUE: 2", &["the kernel has no constant `VALUE`"]);
    spoiled("[{ constants: { VALUES: 2 } }]", "{ constants", &["`group` is missing here"]);
}

/// Constants stand behind the kernel's text, where the file has nothing to show (found by fuzzing).
#[test]
fn a_constant_of_a_reserved_name_is_reported_in_the_suite() {
    let by = "constants: { VALUES: 4, using: 1 }";
    spoiled("constants: { VALUES: 4 }", by, "kernel:", &["`using` is a reserved keyword"]);
}

#[test]
fn the_emulator_needs_wgsl() {
    let verify = "verify: { against: emulator }";
    let both = VALID.replace("verify: none", verify);
    let folder = crate::folder(&[("my.yaml", &both)]);
    let suite = crate::load(&folder.path().join("my.yaml")).unwrap();
    assert!(matches!(suite.workloads[0].verify, gpubench::workload::Verify::Emulator(_)));
    let found = diagnostics(&both.replace("wgsl: scale.wgsl, ", ""));
    let text = rendered(&found);
    assert!(text.starts_with("12:") && text.contains("the kernel has no such source"), "{text}");
}

#[test]
fn an_entry_point_that_the_text_does_not_have() {
    let text = rendered(&diagnostics(&VALID.replace("entry: scale", "entry: scael")));
    assert!(text.starts_with("4:58: "), "{text}");
    assert!(
        text.contains("scale.wgsl has no entry point `scael` (did you mean `scale`?)"),
        "{text}"
    );
}

#[test]
fn buffers_that_the_kernel_does_not_have() {
    spoiled(
        "in: { type: f32, count: n, fill: { uniform: [0, 1] }",
        "in: { type: u32, count: n, fill: index",
        "in:",
        &["holds u32", "@binding(0)", "holds f32"],
    );
    spoiled(
        "factor: { f32: 2 }",
        "factor: 2",
        "params",
        &["`factor` is another type", "factor: u32"],
    );
    spoiled(
        "n: n, factor: { f32: 2 }",
        "factor: { f32: 2 }, n: n",
        "params",
        &["parameter 0 is `factor`", "`n` in the struct"],
    );

    let access = diagnostics(
        &VALID.replace("out: { type: f32, count: n }", "out: { type: f32, count: n, fill: index }"),
    );
    assert!(
        rendered(&access).contains("9:7: buffer `out` is read here, but read_write as"),
        "{}",
        rendered(&access)
    );
    let access = diagnostics(
        &VALID.replace("fill: { uniform: [0, 1] } }", "fill: index, access: read_write }"),
    );
    assert!(
        rendered(&access).contains("8:7: buffer `in` is read_write here, but read as"),
        "{}",
        rendered(&access)
    );
    let fewer = diagnostics(&VALID.replace("      out: { type: f32, count: n }\n", ""));
    let text = rendered(&fewer);
    assert!(text.contains("there is no var<uniform> @group(0) @binding(1)"), "{text}");
    assert!(text.contains("uses `p` at @group(0) @binding(2)"), "{text}");
    let none = diagnostics(&VALID.replace("params: { n: n, factor: { f32: 2 } }", "params: {}"));
    assert!(rendered(&none).contains("uses `p` at @group(0) @binding(2)"), "{}", rendered(&none));
    let unfilled = diagnostics(&VALID.replace("fill: { uniform: [0, 1] } }", "access: read }"));
    assert!(
        rendered(&unfilled).starts_with("8:7: `in` is read, but nothing fills it"),
        "{}",
        rendered(&unfilled)
    );
}

#[test]
fn a_group_that_the_kernel_fixes_otherwise() {
    let wgsl = std::fs::read_to_string(crate::data().join("scale.wgsl")).unwrap();
    let fixed = wgsl.replace("(GROUP_X, GROUP_Y, GROUP_Z)", "(32)");
    let folder = crate::folder(&[("my.yaml", VALID), ("scale.wgsl", &fixed)]);
    let text = rendered(&crate::diagnostics_at(&folder.path().join("my.yaml")));
    assert!(text.starts_with("4:65: the kernel's work-group is [32, 1, 1]"), "{text}");
    assert!(text.contains("@workgroup_size(GROUP_X"), "{text}");
}

#[test]
fn a_mistake_in_a_kernel_stands_in_the_kernels_file() {
    let wgsl = std::fs::read_to_string(crate::data().join("scale.wgsl")).unwrap();
    for (part, by, line, word) in [
        ("let first = id.x", "let first = idd.x", 10, "idd"),
        ("let first", "lett first", 10, "expected"),
        ("p.factor * in[i]", "p.factor * id", 12, ""),
        ("struct Params", "struct ", 2, "identifier"),
    ] {
        let wrong = wgsl.replace(part, by);
        let folder = crate::folder(&[("my.yaml", VALID), ("scale.wgsl", &wrong)]);
        let found = crate::diagnostics_at(&folder.path().join("my.yaml"));
        assert_eq!(found.len(), 1, "{}", rendered(&found));
        assert!(found[0].file.ends_with("scale.wgsl"), "{}", found[0]);
        assert_eq!(found[0].line_column().0, line, "{}", found[0]);
        assert!(found[0].message.contains(word), "{}", found[0]);
    }
}

/// The valid workload with a list of arguments, which no WGSL takes.
fn with_args(args: &str) -> (&'static str, String) {
    let part = "wgsl: scale.wgsl, entry: scale,";
    (part, format!("entry: scale, args: {args},"))
}

#[test]
fn arguments() {
    for (args, at, words) in [
        ("[in, ut]", "ut]", &["no buffer `ut`", "there are: in, out"][..]),
        ("[in, out, n]", "n]", &["no buffer `n`", "{ i32: n }"]),
        ("[in, out, { i23: n }]", "i23", &["`i23` is no type"]),
        ("[in, out, { f32x2: n }]", "n }", &["takes 2 numbers, not 1"]),
        ("[in, out, { i32: m }]", "m }", &["there is no `m` here"]),
        ("[in, out, { i16: 2^20 }]", "{ i16", &["n=1024", "`i16` does not hold"]),
        ("[in, out, { u32: n/3 }]", "{ u32", &["`u32` does not hold"]),
        ("[in, out, { f32: 2^1000 }]", "{ f32", &["is 1.0715086071862673e301, which"]),
        ("[in, out, { local: 0 }]", "{ local", &["at least a byte"]),
        ("[in, params]", "out:", &["`out` is not among the kernel's `args`"]),
        ("[in, out, 7]", "7]", &["a buffer's name, `params`"]),
        ("[in, out, { i32: n, u32: n }]", "{ i32: n,", &["a map with one type"]),
    ] {
        let (part, by) = with_args(args);
        spoiled(part, &by, at, words);
    }
}

#[test]
fn arguments_in_wgsl() {
    let wgsl = |args: &str| format!("entry: scale, args: {args}, group: [64]");
    for (args, at, words) in [
        ("[in, out]", "buffers:", &["uses `p`", "no buffer here"][..]),
        ("[in, out, { f32: 2 }]", "{ f32", &["`f32` is not the type of @group(0) @binding(2)"]),
        ("[in, { u32: 2 }, out]", "{ u32", &["no var<uniform> @group(0) @binding(1)"]),
    ] {
        let found = diagnostics(&VALID.replacen("entry: scale, group: [64]", &wgsl(args), 1));
        let place = &found[0].text[found[0].offset..];
        let text = rendered(&found);
        assert!(place.starts_with(at) || found.len() > 1, "{args}: {text}");
        assert!(words.iter().all(|word| text.contains(word)), "{args}: {text}");
    }
}

/// `x, y` for a kernel that takes `y, x` is a mix-up, unless `args` says otherwise.
#[test]
fn buffers_in_another_order_than_the_kernels() {
    let text = "@group(0) @binding(0) var<storage, read_write> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(64) fn f(@builtin(global_invocation_id) id: vec3<u32>) { y[id.x] = x[id.x]; }";
    let suite = |args: &str| {
        format!(
            "version: 1\nworkloads:\n  f:\n    kernel: {{ wgsl: f.wgsl, entry: f, group: [64]{args} }}\n    \
             params: {{}}\n    buffers:\n      y: {{ type: f32, count: 64 }}\n      \
             x: {{ type: f32, count: 64, access: read_write, fill: index }}\n    grid: [64]\n    verify: none\n"
        )
    };
    let folder = crate::folder(&[
        ("f.wgsl", text),
        ("a.yaml", &suite("")),
        ("b.yaml", &suite(", args: [x, y]")),
    ]);
    let found = crate::diagnostics_at(&folder.path().join("a.yaml"));
    let text = rendered(&found);
    assert!(text.contains("buffers are y, x, and `f`") && text.contains("takes x, y"), "{text}");
    crate::load(&folder.path().join("b.yaml")).unwrap();
}

/// An image is read, fills its rows, holds what textures hold, and is for single launches of one kernel.
#[test]
fn images() {
    const INPUT: &str = "in: { type: f32, count: n, fill: { uniform: [0, 1] } }";
    // What OpenCL C takes is known when it is compiled.
    let valid = VALID.replace("wgsl: scale.wgsl, ", "");
    let bad = |input: &str, at: &str, words: &[&str]| spoiled_in(&valid, INPUT, input, at, words);
    let float = |image: &str| {
        format!("in: {{ type: f32, count: n, fill: {{ uniform: [0, 1] }}, image: {image} }}")
    };
    bad(&float("{ filter: linear }"), "image", &["`width` is missing"]);
    bad(&float("{ width: 2^33 }"), "2^33", &["no image is 8589934592 elements wide"]);
    bad(&float("{ width: 0 }"), "0", &["at n=1024", "1024 elements do not fill rows of 0"]);
    bad(&float("{ width: n - 1 }"), "n - 1", &["do not fill rows of 1023"]);
    bad(&float("{ width: m }"), "m", &["there is no `m` here"]);
    bad(&float("{ width: 32, filter: cubic }"), "cubic", &["expected `nearest` or `linear`"]);
    let written = float("{ width: 32 }").replace("image", "access: read_write, image");
    bad(&written, "image", &["an image is only read", "leave out `access`"]);
    let split = float("{ width: 32 }").replace("image", "split: rows, image");
    bad(&split, "image", &["an image is not split"]);
    let whole =
        "in: { type: u32, count: n, fill: random_bits, image: { width: 32, filter: linear } }";
    bad(whole, "linear", &["`linear` weighs fractions", "`u32`"]);
    let bytes = "in: { type: i8x4, count: n, fill: random_bits, image: { width: 32 } }";
    bad(bytes, "image", &["f16, f32, i32, u8 or u32", "not `i8x4`"]);
    let moved = valid.replace(INPUT, &float("{ width: 32 }"));
    let moved =
        moved.replace("    verify: none", "    measure: [kernel, launch]\n    verify: none");
    let text = rendered(&diagnostics(&moved));
    assert!(text.contains("only `kernel` measures images"), "{text}");
    let program = valid.replace(INPUT, &float("{ width: 32 }"));
    let steps = "steps: [{ kernel: { entry: scale }, grid: [n] }]";
    let program = program.replace("grid: [\"ceil_div(n, VALUES)\"]", steps);
    let text = rendered(&diagnostics(&program));
    assert!(text.contains("the kernels of a program take buffers, and no images"), "{text}");
}
