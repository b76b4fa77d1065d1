//! Whole suites as their files say them, with a single kind of experiment.

use crate::testing::{CL, GLSL, SUITE, WGSL, load_with, mistake};
use gpubench_core::gpu::Language;
use gpubench_core::workload::{Kind, Verify};

#[test]
fn a_suite_has_a_case_for_each_size() {
    assert_eq!(load_with("one", "other", &[]).unwrap().cases(), 3);
    assert_eq!(load_with("[64, 128, 256]", "[64]", &[]).unwrap().cases(), 1);
}

#[test]
fn a_compiler_is_given_what_the_suite_defines_and_the_text_with_its_headers() {
    let kernel = format!("#include \"four.h\"\n{CL}");
    let files = [("k.cl", &kernel[..]), ("four.h", "constant int four = FOUR;\n")];
    let more = "group: [64], defines: { FOUR: 4 }, options: [-cl-fast-relaxed-math]";
    let suite = load_with("group: [64]", more, &files).unwrap();
    let kernel = suite.workloads[0].kernel.as_ref().unwrap();
    let of = |language| kernel.settings(kernel.text(language).unwrap(), &[]);
    let settings = of(Language::Opencl);
    assert_eq!(settings.defines, [("FOUR".to_owned(), "4".to_owned())]);
    assert_eq!(settings.options, ["-cl-fast-relaxed-math"]);
    let expanded = settings.expanded.unwrap().text;
    assert!(expanded.contains("constant int four") && expanded.contains("out[i] = a[i]"));
    assert!(!settings.spirv && settings.places.is_empty());
    assert!(of(Language::Wgsl).expanded.is_none());
    assert!(
        suite.hash != load_with("group: [64]", more, &[files[0], ("four.h", "")]).unwrap().hash
    );
}

#[test]
fn registers_are_declared_and_change_no_kernel() {
    let with = |more: &str| load_with("group: [64]", &format!("group: [64]{more}"), &[]).unwrap();
    let settings = |suite: &crate::Suite| {
        let kernel = suite.workloads[0].kernel.as_ref().unwrap();
        kernel.settings(kernel.text(Language::Opencl).unwrap(), &[])
    };
    let [none, some] = ["", ", registers: 63"].map(|more| settings(&with(more)));
    assert_eq!((none.registers, some.registers), (None, Some(63)));
    assert_eq!((none.identity(), some.identity()), (None, None), "what is built is the same");
    let (message, at) = mistake("group: [64]", "group: [64], registers: 0", &[]);
    assert_eq!((&message[..], &at[..]), ("a work-item has 1 to 65536 registers, not 0", "0"));
}

#[test]
fn each_argument_has_a_binding_of_its_own() {
    let with = |bindings: &str| {
        mistake("wgsl: k.wgsl, entry: copy", &format!("entry: copy, bindings: {bindings}"), &[])
    };
    let (message, at) = with("[[0, 0], [0, 1]]");
    assert_eq!((&message[..], &at[..]), ("2 bindings for 3 arguments", "bindings"));
    let (message, at) = with("[[0, 0], [0, 1], [0, 0]]");
    assert_eq!((&message[..], &at[..]), ("two arguments cannot have one binding", "["));
    let (message, _) = with("[[0, 0], [0, 1], [2]]");
    assert!(message.starts_with("a binding is two numbers"), "{message}");
}

#[test]
fn what_wgsl_lets_others_set_needs_a_value() {
    let scaled = WGSL.replace("a[g.x];", "a[g.x] * f32(width);");
    let files = [("k.wgsl", &*format!("override width: u32;\n{scaled}"))];
    let (message, at) = mistake("one", "other", &files);
    assert_eq!((&message[..], at.contains("width")), ("`width` has no value here", true));
    let given = load_with("group: [64]", "group: [64], constants: { width: 2 }", &files);
    assert!(given.is_ok(), "{:?}", given.map(|_| ()));
}

#[test]
fn wgsl_has_what_the_suite_gives_it_and_of_the_same_type() {
    let without =
        WGSL.replace("@group(0) @binding(2) var<uniform> p: P;", "").replace("g.x < p.n", "true");
    let files = [("k.wgsl", &without[..])];
    assert!(load_with("params: { n: n }", "params: {}", &files).is_ok());
    assert!(load_with("one", "other", &files).is_err());
    let signed = WGSL
        .replace("read> a: array<f32>", "read> a: array<i32>")
        .replace("= a[g.x]", "= f32(a[g.x])");
    let (message, _) = mistake("one", "other", &[("k.wgsl", &signed)]);
    assert!(message.contains("i32") && message.contains("f32"), "{message}");
}

#[test]
fn glsl_is_built_as_wgsl_and_called_so() {
    let files = [("k.glsl", GLSL)];
    let kernel = "kernel: { opencl: k.cl, wgsl: k.wgsl, entry: copy, group: [64] }";
    let glsl = "kernel: { glsl: k.glsl, entry: main, group: [64] }";
    let suite = load_with(kernel, glsl, &files).unwrap();
    let kernel = suite.workloads[0].kernel.as_ref().unwrap();
    let text = kernel.text(Language::Wgsl).unwrap();
    assert!(text.built_origin().file().ends_with("k.glsl as WGSL"));
    assert!(text.origin.file().ends_with("k.glsl"));
    let wrong = GLSL.replace("o[i] = a[i]", "o[i] = b[i]");
    let found = load_with(
        "kernel: { opencl: k.cl, wgsl: k.wgsl, entry: copy, group: [64] }",
        glsl,
        &[("k.glsl", &wrong)],
    );
    assert!(found.is_err());
}

#[test]
fn a_command_has_its_seconds() {
    let with = |seconds: &str| {
        let verify = format!("verify: {{ command: [echo], seconds: {seconds} }}");
        load_with("verify: { reference: copy }", &verify, &[])
    };
    for (given, taken) in [("1", 1.0), ("100", 100.0), ("0.5", 0.5)] {
        let suite = with(given).unwrap();
        let Verify::Command(command, _) = &suite.workloads[0].verify else { panic!() };
        assert_eq!(command.seconds, taken);
    }
    for seconds in ["0", "-1", "100.1"] {
        let found = with(seconds).map(|_| ()).unwrap_err();
        assert!(found[0].message.contains("up to 100 seconds"), "{found:?}");
    }
}

#[test]
fn a_mistake_in_an_expression_is_where_it_stands() {
    for count in ["n +/ 2", "\"n +/ 2\"", "'n +/ 2'"] {
        let (_, at) = mistake(
            "out: { type: f32, count: n }",
            &format!("out: {{ type: f32, count: {count} }}"),
            &[],
        );
        assert_eq!(at, "/", "{count}");
    }
    let (message, at) = mistake("grid: [n]", "grid: [ 2 * rows + 1 ]", &[]);
    assert!(message.contains("rows") && at == "rows", "{message}: {at}");
}

#[test]
fn whole_numbers_are_filled_within_their_type_and_not_all_alike() {
    let filled = |r#type: &str, fill: &str, bounds: &str| {
        let kernel = SUITE.replace("wgsl: k.wgsl, ", "").replace(
            "a: { type: f32, count: n, fill: random_bits }",
            &format!("a: {{ type: {type}, count: n, fill: {{ {fill}: {bounds} }} }}"),
        );
        load_with(SUITE, &kernel, &[]).map(|_| ()).map_err(|found| found[0].message.clone())
    };
    let with = |bounds: &str| filled("u32", "uniform", bounds);
    assert_eq!((with("[0, 4294967296]"), with("[1, 3]")), (Ok(()), Ok(())));
    assert!(with("[0, 4294967297]").unwrap_err().contains("u32 holds numbers from 0"));
    assert!(with("[-1, 5]").unwrap_err().contains("u32 holds numbers from 0"));
    assert!(with("[1, 2]").unwrap_err().contains("bounds 2 apart"));
    assert!(with("[3, 3]").unwrap_err().contains("a low and a higher one"));
    // A float holds every whole number up to some size; between other bounds it takes any number.
    assert_eq!(filled("f16", "whole", "[-2048, 2049]"), Ok(()));
    assert!(filled("f16", "whole", "[0, 2050]").unwrap_err().contains("f16 holds numbers from"));
    assert!(filled("f32", "whole", "[0, 1]").unwrap_err().contains("bounds 2 apart"));
    assert_eq!(filled("f32", "uniform", "[0, 1]"), Ok(()));
}

/// A variant has its own groups or those of the workload; a thousand are taken in all.
#[test]
fn variants_and_groups_are_counted_before_they_are_made() {
    let sizes = |n: usize| (1..=n).map(|size| format!("[{size}]")).collect::<Vec<_>>().join(", ");
    let with = |groups: usize, own: &str| {
        let variants = format!(
            "verify: {{ reference: copy }}\n    variants:\n      x: {own}\n      y: {own}\n"
        );
        let suite = SUITE
            .replace("wgsl: k.wgsl, ", "")
            .replace("group: [64]", &format!("group: [{}]", sizes(groups)))
            .replace("verify: { reference: copy }\n", &variants);
        load_with(SUITE, &suite, &[])
            .map(|suite| suite.workloads.len())
            .map_err(|found| found[0].message.clone())
    };
    assert_eq!(with(600, "{ kernel: { group: [64] } }"), Ok(2));
    assert_eq!(with(500, "{ tags: [t] }"), Ok(1000));
    assert!(with(501, "{ tags: [t] }").unwrap_err().contains("at most 1000 workloads"));
}

#[test]
fn each_kind_of_host_memory_is_named_once() {
    let with = |kinds: &str| {
        let more = format!("grid: [n]\n    host_memory: {kinds}");
        load_with("grid: [n]", &more, &[]).map(|_| ()).map_err(|found| found[0].message.clone())
    };
    assert_eq!(with("[pinned, mapped]"), Ok(()));
    for kinds in ["[]", "[pinned, pinned]"] {
        assert!(with(kinds).unwrap_err().contains("each kind of host memory once"), "{kinds}");
    }
}

#[test]
fn a_suite_says_what_it_measures_and_brings() {
    let suite = load_with("one", "one\nlayers: true", &[]).unwrap();
    assert!(suite.layers && !load_with("one", "one\nlayers: false", &[]).unwrap().layers);
    assert_eq!(suite.untrusted().count(), 1);
    assert!(suite.workloads[0].measures(Kind::KERNEL));
    assert!(!suite.workloads[0].measures(Kind::new("upload")));
}

#[test]
fn a_constant_is_a_number_of_32_bits() {
    let with = |value: &str| {
        let more = format!("entry: copy, constants: {{ WIDTH: {value} }}");
        load_with("wgsl: k.wgsl, entry: copy", &more, &[])
            .map(|_| ())
            .map_err(|found| found[0].message.clone())
    };
    for value in ["-2147483648", "4294967295", "1e38", "f32"] {
        assert_eq!(with(value), Ok(()), "{value}");
    }
    for value in ["-2147483649", "4294967296", "1e39", "[1]"] {
        assert!(with(value).is_err(), "{value}");
    }
}
