use super::*;
use crate::testing::{SUITE, WGSL, load_with};
use gpubench_core::gpu::{Element, Scalar};

/// What is wrong with a kernel in WGSL: the messages of the suite.
fn said(text: &str, suite: &str) -> Vec<String> {
    let found = load_with(SUITE, suite, &[("k.wgsl", text)]);
    found.map_or_else(|found| found.into_iter().map(|one| one.message).collect(), |_| vec![])
}

/// What is wrong where one part of the kernel is another.
fn changed(from: &str, to: &str) -> Vec<String> {
    assert!(WGSL.contains(from), "{from}");
    said(&WGSL.replace(from, to), SUITE)
}

/// The suite with these parameters, and the kernel with this block.
fn params(given: &str, block: &str) -> Vec<String> {
    let text = WGSL.replace("struct P { n: u32 }", block).replace("g.x < p.n", "g.x < u32(p.n)");
    said(&text, &SUITE.replace("{ n: n }", given))
}

#[test]
fn each_buffer_meets_a_variable_of_its_access_and_type() {
    let place = |binding: usize, text: &str| format!("@group(0) @binding({binding}) in {text}");
    for (from, to, message, binding) in [
        (
            "read> a: array<f32>",
            "read> a: array<vec4<u32>>",
            "buffer `a` holds f32, but @ holds u32",
            0,
        ),
        ("read_write> out", "read> out", "buffer `out` is read_write here, but read as @", 1),
        ("read> a", "read_write> a", "buffer `a` is read here, but read_write as @", 0),
        (
            "storage, read> a: array<f32>",
            "uniform> a: vec4f",
            "buffer `a` meets something else: @ is no storage buffer",
            0,
        ),
        ("@binding(0)", "@binding(7)", "there is no @ for buffer `a`", 0),
    ] {
        let body = match to {
            to if to.contains("u32>>") => "out[g.x] = f32(a[g.x].x);",
            to if to.contains("vec4f") => "out[g.x] = a.x;",
            to if to.contains("read> out") => "_ = out[g.x] + a[g.x];",
            _ => "out[g.x] = a[g.x];",
        };
        let text = WGSL.replace(from, to).replace("out[g.x] = a[g.x];", body);
        let found = said(&text, SUITE);
        let (before, behind) = message.split_once('@').unwrap();
        let fits = |said: &String| {
            said.starts_with(before) && said.contains(&place(binding, "")) && said.ends_with(behind)
        };
        assert!(found.iter().any(fits), "{message}: {found:?}");
    }
}

#[test]
fn an_array_that_is_read_may_be_constant_memory() {
    let constant = |binding: &str| {
        let text = WGSL.replace(&format!("storage, {binding}: array<f32>"), &{
            let name = binding.split_once(' ').unwrap().1;
            format!("uniform> {name}: array<vec4f, 4>")
        });
        said(&text.replace("out[g.x] = a[g.x];", "_ = out[g.x]; _ = a[g.x];"), SUITE)
    };
    assert_eq!(constant("read> a"), [""; 0]);
    let written = constant("read_write> out");
    assert!(
        written[0].starts_with("buffer `out` is read_write here, but read as @"),
        "{written:?}"
    );
}

/// GLSL wraps a buffer's array in a struct of one member.
#[test]
fn a_vector_of_a_type_and_a_struct_of_one_member_hold_what_it_does() {
    assert_eq!(
        said(
            &WGSL
                .replace("read> a: array<f32>", "read> a: array<vec2<f32>>")
                .replace("= a[g.x]", "= a[g.x].x"),
            SUITE
        ),
        [""; 0]
    );
    let held = WGSL
        .replace("struct P", "struct A { held: array<f32> }\nstruct P")
        .replace("read> a: array<f32>", "read> a: A");
    assert_eq!(said(&held.replace("= a[g.x]", "= a.held[g.x]"), SUITE), [""; 0]);
    let signed = held
        .replace("held: array<f32>", "held: array<i32>")
        .replace("= a[g.x]", "= f32(a.held[g.x])");
    assert_eq!(said(&signed, SUITE).len(), 1);
    // What may mean several things is the author's business.
    let atomic = WGSL.replace("read_write> out: array<f32>", "read_write> out: array<atomic<u32>>");
    assert_eq!(
        said(&atomic.replace("out[g.x] = a[g.x]", "atomicAdd(&out[g.x], u32(a[g.x]))"), SUITE),
        [""; 0]
    );
}

#[test]
fn parameters_meet_a_struct_of_them_in_order() {
    for (given, block) in [
        ("{ n: n }", "struct P { n: u32 }"),
        ("{ n: n }", "struct P { rows: u32, }"),
        ("{ n: n, s: { f32: 2 } }", "struct P { n: u32, s: f32 }"),
        ("{ n: n, s: { i32: 2 } }", "struct P { n: u32, other: i32 }"),
    ] {
        let block =
            if block.contains("rows") { block.replace("rows", "n") } else { block.to_owned() };
        assert_eq!(params(given, &block), [""; 0], "{given}");
    }
    for (given, block, message) in [
        ("{ n: n, m: n }", "struct P { n: u32 }", "is no struct of 2 fields"),
        (
            "{ n: n }",
            "struct P { n: i32 }",
            "parameter `n` is another type at @group(0) @binding(2)",
        ),
        (
            "{ n: { f32: n } }",
            "struct P { n: u32 }",
            "parameter `n` is another type at @group(0) @binding(2)",
        ),
        (
            "{ n: n, m: n, k: n }",
            "struct P { n: u32, m: u32 }",
            "there are 3 parameters here, but 2 fields in the struct at",
        ),
        (
            "{ n: n, m: n }",
            "struct P { m: u32, n: u32 }",
            "parameter 0 is `n` here, but `m` in the struct at",
        ),
        (
            "{ n: n, s: { f32: 2 } }",
            "struct P { n: u32, s: i32 }",
            "parameter `s` is another type in the struct at",
        ),
        (
            "{ n: n, m: n }",
            "struct P { n: u32, @align(16) m: u32 }",
            "parameter `m` is another type in the struct at",
        ),
        (
            "{ n: n, m: n }",
            "struct P { n: u32, m: vec2<u32> }",
            "parameter `m` is another type in the struct at",
        ),
    ] {
        let found = params(given, block);
        assert!(found.len() == 1 && found[0].contains(message), "{message}: {found:?}");
    }
}

#[test]
fn a_block_of_one_parameter_may_be_that_parameter_itself() {
    let bare = WGSL.replace("var<uniform> p: P", "var<uniform> p: u32").replace("p.n", "p");
    assert_eq!(said(&bare, SUITE), [""; 0]);
    let found = said(&bare, &SUITE.replace("{ n: n }", "{ n: n, m: n }"));
    assert!(found[0].contains("is no struct of 2 fields"), "{found:?}");
    let pair = WGSL.replace("var<uniform> p: P", "var<uniform> p: vec2<u32>").replace("p.n", "p.x");
    assert_eq!(said(&pair, &SUITE.replace("{ n: n }", "{ n: n, m: n }")), [""; 0]);
    let moved = WGSL.replace("@binding(2) var<uniform> p: P", "@binding(3) var<uniform> p: P");
    assert!(said(&moved, SUITE)[0].contains("there is no var<uniform> @group(0) @binding(2)"));
}

#[test]
fn what_the_kernel_uses_and_the_suite_does_not_give_is_said() {
    let found = said(&WGSL.replace("@group(0) @binding(2)", "@group(1) @binding(0)"), SUITE);
    assert!(
        found.iter().any(|one| one.contains("the kernel uses `p` at @group(1) @binding(0) in")),
        "{found:?}"
    );
    let unused =
        WGSL.replace("struct P", "@group(3) @binding(0) var<storage> more: array<f32>;\nstruct P");
    assert_eq!(said(&unused, SUITE), [""; 0]);
    // Of two variables at one place the one that is used counts.
    let other = "@group(0) @binding(0) var<storage, read_write> b: array<u32>;\nstruct P";
    assert_eq!(said(&WGSL.replace("struct P", other), SUITE), [""; 0]);
}

#[test]
fn values_meet_uniforms_of_their_type() {
    let with = |args: &str, r#type: &str, used: &str| {
        let text = WGSL
            .replace("var<uniform> p: P", &format!("var<uniform> p: {type}"))
            .replace("p.n", used);
        said(&text, &SUITE.replace("entry: copy", &format!("entry: copy, args: [a, out, {args}]")))
    };
    assert_eq!(with("{ u32: n }", "u32", "p"), [""; 0]);
    assert_eq!(with("{ u32x2: [n, n] }", "vec2<u32>", "p.x"), [""; 0]);
    assert_eq!(with("{ u32: n }", "P", "p.n"), [""; 0], "a struct of one member is that member");
    for (args, r#type, used, named) in [
        ("{ i32: n }", "u32", "p", "i32"),
        ("{ u32x2: [n, n] }", "u32", "p", "u32x2"),
        ("{ u32: n }", "vec2<u32>", "p.x", "u32"),
        ("{ u32x4: [n, n, n, n] }", "vec2<u32>", "p.x", "u32x4"),
        ("{ i32x2: [n, n] }", "vec2<u32>", "p.x", "i32x2"),
        ("{ u32: n }", "mat2x2<f32>", "u32(p[0].x)", "u32"),
    ] {
        let found = with(args, r#type, &format!("u32({used})"));
        let message = format!("`{named}` is not the type of @group(0) @binding(2)");
        assert!(found.len() == 1 && found[0].starts_with(&message), "{args}: {found:?}");
    }
    let storage = WGSL.replace("var<uniform> p: P", "var<storage, read> p: P");
    let found =
        said(&storage, &SUITE.replace("entry: copy", "entry: copy, args: [a, out, { u32: n }]"));
    assert!(found[0].starts_with("there is no var<uniform> @group(0) @binding(2)"), "{found:?}");
}

#[test]
fn groups_and_entry_points_are_those_of_the_suite() {
    assert_eq!(changed("workgroup_size(64)", "workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)"), [""; 0]);
    let found = changed("workgroup_size(64)", "workgroup_size(32, 2)");
    assert!(
        found[0].starts_with("the kernel's work-group is [32, 2, 1] in")
            && found[0].ends_with("and [64, 1, 1] here"),
        "{found:?}"
    );
    let found = changed("fn copy", "fn coppy");
    assert!(found[0].ends_with("has no entry point `copy`"), "{found:?}");
}

#[test]
fn buffers_stand_in_the_order_of_the_kernel() {
    let text = WGSL.replace("read> a:", "read_write> a:");
    let suite = SUITE.replace("fill: random_bits }", "fill: index, access: read_write }");
    let suite = suite.replace(
        "out: { type: f32, count: n }",
        "out: { type: f32, count: n, fill: index, access: read_write }",
    );
    assert_eq!(said(&text, &suite), [""; 0]);
    let swapped = suite
        .replace("      a: {", "      b: {")
        .replace("      out: {", "      a: {")
        .replace("      b: {", "      out: {");
    let found = said(&text, &swapped);
    assert!(
        found.len() == 1 && found[0].starts_with("the suite's buffers are out, a, and"),
        "{found:?}"
    );
    let mapped = swapped.replace("entry: copy", "entry: copy, args: [a, out, params]");
    assert_eq!(said(&text, &mapped), [""; 0], "`args` says so on purpose");
}

#[test]
fn a_mistake_of_naga_has_its_causes() {
    let found = changed("out[g.x] = a[g.x];", "out[g.x] = 1u;");
    assert!(found[0].contains("f32") || found[0].contains("type"), "{found:?}");
    let found = changed("if (g.x < p.n)", "if (idd < p.n)");
    assert!(
        found[0].starts_with("no definition in scope for identifier: `idd`: unknown identifier"),
        "{found:?}"
    );
    let causes = validated(&naga::front::wgsl::parse_str("fn f() -> u32 { loop {} }").unwrap());
    assert!(causes.is_ok() || causes.unwrap_err().message.contains(": "));
}

#[test]
fn scalars_have_their_names_in_naga() {
    for (scalar, kind, width, name) in [
        (Scalar::F16, ScalarKind::Float, 2, "f16"),
        (Scalar::F64, ScalarKind::Float, 8, "f64"),
        (Scalar::U32, ScalarKind::Uint, 4, "u32"),
        (Scalar::I64, ScalarKind::Sint, 8, "i64"),
    ] {
        assert_eq!(in_naga(scalar), naga::Scalar { kind, width });
        assert_eq!(spelled(in_naga(scalar)), name);
    }
    assert_eq!(spelled(naga::Scalar { kind: ScalarKind::Bool, width: 1 }), "?8");
    assert_eq!(Element::scalar(Scalar::F16).width, 1);
}

#[test]
fn the_notes_of_naga_are_help() {
    let help = |text: &str| parse(text).map(|_| ()).unwrap_err().help;
    assert_eq!(help("fn f() { x(); }"), None);
    assert!(help("var<nowhere> a: f32;").is_none_or(|help| !help.is_empty()));
    assert!(help("fn f() { let a: u8 = 1; }").is_none_or(|help| !help.is_empty()));
    assert_eq!(help(&"fn f() {}\n".repeat(2000)).as_deref(), Some("split what it is in"));
}

/// A suite without parameters gives the kernel no block.
#[test]
fn a_block_that_the_suite_has_not_is_unknown() {
    let found = said(WGSL, &SUITE.replace("{ n: n }", "{}"));
    assert!(
        found.len() == 1 && found[0].starts_with("the kernel uses `p` at @group(0) @binding(2)"),
        "{found:?}"
    );
}

#[test]
fn a_block_is_a_uniform_at_its_binding() {
    let found = said(&WGSL.replace("var<uniform> p", "var<storage, read> p"), SUITE);
    assert!(found[0].starts_with("there is no var<uniform> @group(0) @binding(2)"), "{found:?}");
    let used = WGSL
        .replace("struct P", "@group(0) @binding(3) var<uniform> q: u32;\nstruct P")
        .replace("p.n)", "p.n + q)");
    let found = said(&used, SUITE);
    assert!(
        found.len() == 1 && found[0].contains("uses `q` at @group(0) @binding(3)"),
        "{found:?}"
    );
    // An argument of no parameters needs none.
    let without =
        WGSL.replace("@group(0) @binding(2) var<uniform> p: P;", "").replace("g.x < p.n", "true");
    let suite = SUITE
        .replace("{ n: n }", "{}")
        .replace("entry: copy", "entry: copy, args: [a, out, params]");
    assert_eq!(said(&without, &suite), [""; 0]);
}

#[test]
fn an_image_meets_a_texture_of_its_elements_and_a_sampler_where_it_has_a_filter() {
    let suite = |image: &str| {
        SUITE.replace("fill: random_bits", &format!("fill: random_bits, image: {image}"))
    };
    let texture = |declared: &str, binding: u32| {
        let text = WGSL.replace("var<storage, read> a: array<f32>", declared);
        let text = text.replace("a[g.x]", "f32(textureLoad(a, vec2<u32>(g.x), 0).x)");
        let moved = |text: String, from: u32| {
            text.replace(&format!("@binding({from})"), &format!("@binding({})", from + binding))
        };
        moved(moved(text, 2), 1)
    };
    let plain = "{ width: 8 }";
    assert_eq!(said(&texture("var a: texture_2d<f32>", 0), &suite(plain)), [""; 0]);
    let found = said(&texture("var a: texture_2d<u32>", 0), &suite(plain));
    assert!(found.iter().any(|said| said.ends_with("is no texture_2d<f32>")), "{found:?}");
    let found = said(WGSL, &suite(plain));
    assert!(found[0].starts_with("buffer `a` is an image here, but @group(0) @binding(0)"));
    let found = said(&texture("var a: texture_2d<f32>", 0), SUITE);
    assert!(found[0].starts_with("buffer `a` meets something else"), "{found:?}");
    // The sampler stands behind its image, and what follows moves on.
    let linear = suite("{ width: 8, filter: linear }");
    let sampled = "var a: texture_2d<f32>; @group(0) @binding(1) var s: sampler";
    let with = texture(sampled, 1);
    let with = with
        .replace("@group(0) @binding(2) var s: sampler", "@group(0) @binding(1) var s: sampler");
    let with = with.replace(
        "textureLoad(a, vec2<u32>(g.x), 0).x",
        "textureSampleLevel(a, s, vec2f(0.5), 0.0).x",
    );
    assert_eq!(said(&with, &linear), [""; 0], "{with}");
    let found = said(&texture("var a: texture_2d<f32>", 0), &linear);
    assert!(
        found.iter().any(|said| said.contains("image `a` has a `filter` here, but")),
        "{found:?}"
    );
}

#[test]
fn kernels_that_are_translated_take_no_images() {
    let image = "fill: random_bits, image: { width: 8 }";
    let glsl = SUITE.replace("wgsl: k.wgsl", "glsl: k.comp").replace("fill: random_bits", image);
    let found = load_with(SUITE, &glsl, &[("k.comp", crate::testing::GLSL)]);
    let said = found.unwrap_err().remove(0).message;
    assert_eq!(said, "kernels in OpenCL C and WGSL take images, and this one is GLSL");
}
