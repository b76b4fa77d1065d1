//! Every mistake is rendered where it stands, with what to do about it.

use super::{diagnostics, rendered};

/// A valid workload, of which each test spoils a part.
const VALID: &str = r#"version: 1
workloads:
  scale:
    kernel: { opencl: scale.cl, wgsl: scale.wgsl, entry: scale, group: [64], constants: { VALUES: 4 } }
    sizes: { n: [1024] }
    params: { n: n, factor: { f32: 2 } }
    buffers:
      in: { type: f32, count: n, fill: { uniform: [0, 1] } }
      out: { type: f32, count: n }
    grid: ["ceil_div(n, VALUES)"]
    work: { flops: n, bytes: 8*n }
    verify: none
"#;

#[test]
fn the_valid_workload_loads() {
    let folder = super::folder(&[("my.yaml", VALID)]);
    super::load(&folder.path().join("my.yaml")).unwrap();
}

/// Spoils the valid workload and expects one mistake with these words, where the file goes on
/// with `at`.
#[track_caller]
fn spoiled(part: &str, by: &str, at: &str, words: &[&str]) {
    spoiled_in(VALID, part, by, at, words);
}

/// The same of another valid suite.
#[track_caller]
fn spoiled_in(valid: &str, part: &str, by: &str, at: &str, words: &[&str]) {
    assert!(valid.contains(part), "{part}");
    let found = diagnostics(&valid.replacen(part, by, 1));
    let text = rendered(&found);
    assert_eq!(found.len(), 1, "{text}");
    let place = &found[0].text[found[0].offset..];
    assert!(place.starts_with(at), "{text} does not stand at `{at}` but at {:.20}", place);
    for word in words {
        assert!(text.contains(word), "`{word}` is not in {text}");
    }
}

/// A search has axes that the kernel has, and conditions that can be read and leave something to try.
#[test]
fn searches() {
    let with = |search: &str| format!("    search: {{ {search} }}\n    verify: none\n");
    let bad = |search: &str, at: &str, words: &[&str]| {
        spoiled("    verify: none\n", &with(search), at, words);
    };
    bad("group: [[64]], by: hand", "hand", &["`hand`", "`tune`"]);
    bad("by: tune, constants: { VALUE: [1] }", "VALUE", &["no constant `VALUE`", "`VALUES`"]);
    bad("by: tune, constants: { VALUES: [] }", "VALUES", &["no value to try"]);
    bad("group: { x: [0, 1] }", "0", &["at least one work-item"]);
    bad("group: { w: [1] }", "w", &["unknown key `w`"]);
    bad("where: [GROUP_X]", "GROUP_X", &["a comparison", "=="]);
    bad("where: [GROUP_X <= 2n]", "2n", &["`2n` is no number"]);
    bad("where: [GROUP_Q <= 2]", "GROUP_Q", &["no `GROUP_Q`", "did you mean"]);
    bad("where: [GROUP_X > n]", "search: { where", &["at n=1024", "no variant fulfils"]);
    bad("where: [GROUP_X/(n - 1024) > 0]", "search: { where", &["divided by 0"]);
    let many: Vec<String> = (1..=40).map(|i| i.to_string()).collect();
    let many = many.join(", ");
    let axes = format!("group: {{ x: [{many}] }}, constants: {{ VALUES: [{many}] }}");
    bad(&axes, "search: { group", &["between 1 and 1000 variants, not 1600", "by: tune"]);
}

/// A ceiling says what it bounds, and has to be able to.
#[test]
fn ceilings() {
    let with = |part: &'static str, line: &str| (part, format!("{line}\n{part}"));
    let verified = "    verify: none\n";
    let (part, by) = with(verified, "    ceiling: bytes");
    spoiled(part, &by, "bytes", &["`bytes`", "`flops`", "`bandwidth`"]);
    let (part, by) = with(verified, "    ceiling: flops");
    spoiled(part, &by, "flops", &["whose result nobody checks", "say how it is verified"]);
    let measured = "    ceiling: flops\n    measure: [upload]";
    let (part, by) = with(verified, measured);
    spoiled(part, &by, "flops", &["no kernel's time", "measure: [kernel]"]);
    for (kind, none, message) in [
        ("flops", "flops: 0", "counts no operations"),
        ("bandwidth", "bytes: 0", "counts no bytes"),
    ] {
        let work = format!("work: {{ {none} }}\n    ceiling: {kind}");
        spoiled("work: { flops: n, bytes: 8*n }", &work, kind, &[message]);
    }
    let (part, by) = with(verified, "    tags: [mine, ceiling]");
    spoiled(part, &by, "ceiling", &["does not say what", "`ceiling: flops`"]);
}

/// Constants stand behind the kernel's text, where the file has nothing to show (found by fuzzing).
#[test]
fn a_constant_of_a_reserved_name_is_reported_in_the_suite() {
    let by = "constants: { VALUES: 4, using: 1 }";
    spoiled("constants: { VALUES: 4 }", by, "kernel:", &["`using` is a reserved keyword"]);
}

#[test]
fn passes() {
    let with = |passes: &str| format!("    passes: {passes}\n    grid:");
    spoiled("    grid:", &with("n*m"), "m\n", &["there is no `m` here"]);
    spoiled(
        "    grid:",
        &with("n - 1024"),
        "n - 1024",
        &["passes at n=1024", "1 to 65536 passes, not 0"],
    );
    spoiled("    grid:", &with("65537"), "65537", &["1 to 65536 passes, not 65537"]);
    // Without passes nothing is counted.
    spoiled("{ n: n, factor", "{ n: n + pass, factor", "pass", &["there is no `pass` here"]);
    let growing = "params: { n: n + 4000000000*pass, factor: { f32: 2 } }\n    passes: 3\n";
    spoiled(
        "params: { n: n, factor: { f32: 2 } }\n",
        growing,
        "n + 4000000000*pass",
        &["parameter `n`", "8000001024 does not fit into u32"],
    );
    let both = "    passes: 2\n    measure: [kernel, launch]\n    verify: none";
    spoiled(
        "    verify: none",
        both,
        "launch",
        &["this measures one launch, and the workload has several passes"],
    );
    let save = "    measure: [checkpoint]\n    verify: none";
    spoiled("    verify: none", save, "checkpoint", &["so the workload needs `passes`"]);
    spoiled(
        "sizes: { n: [1024] }",
        "sizes: { n: [1024], pass: [1] }\n    passes: 2",
        "2\n",
        &["`pass` counts the passes"],
    );
}

/// A domain in parts, of which each test spoils something.
const PARTS: &str = r#"version: 1
workloads:
  mine:
    kernel: { family: seismic, entry: elastic_box, group: [8, 8] }
    sizes: { n: [12], cut: [3] }
    params: { width: n, height: n, depth: n, nx: n, ny: n, nz: n, x: 0, y: 0, z: 0, phase: pass, sponge: 2, density: { f32: 0.4 }, lambda: { f32: 0.1 }, mu: { f32: 0.1 }, loss: { f32: 0.1 } }
    passes: 2
    buffers: { field: { type: f32, count: 9*(nx + 2)^3, fill: random_bits, access: read_write } }
    grid: [nx, ny, nz]
    verify: { reference: elastic_box, relative: 1e-5, absolute: 1e-5 }
    measure:
      halo:
        cuts: [1, cut, 1]
        exchange:
          - { behind: [[0], [1], [2]], ahead: [[1, 2], [0, 2], [0, 1]] }
          - { behind: [[6, 7], [6, 8], [7, 8]], ahead: [[3], [4], [5]] }
        pack: packs
        unpack: packs
  packs: { kernel: { family: gather, entry: gather, group: [64] }, params: { n: 1, d: 1, f: 0 }, grid: [1], verify: none,
    sizes: { n: [1] }, buffers: { a: { type: f32, count: 1, fill: index }, b: { type: f32, count: 1, fill: index }, out: { type: f32, count: 1 } } }
"#;

#[test]
fn domains_in_parts() {
    #[track_caller]
    fn spoiled(part: &str, by: &str, at: &str, words: &str) {
        assert!(PARTS.contains(part), "{part}");
        let found = diagnostics(&PARTS.replacen(part, by, 1));
        let text = rendered(&found);
        assert!(!found.is_empty(), "{part}");
        let place = &found[0].text[found[0].offset..];
        assert!(place.starts_with(at), "{text} at {place:.30}");
        assert!(text.contains(words), "`{words}` is not in {text}");
    }
    let folder = super::folder(&[("my.yaml", PARTS)]);
    super::load(&folder.path().join("my.yaml")).unwrap();
    let uneven =
        "cuts at n=12 cut=5: 12 cells along y cannot be cut into 5 equal parts: take 4 or 6";
    spoiled("cut: [3]", "cut: [5]", "cuts", uneven);
    spoiled("cut: [3]", "cut: [1]", "cuts", "one part has no neighbour");
    spoiled("[1, cut, 1]", "[6, 6, 6]", "cuts", "216 parts are more than 64");
    spoiled("[1, cut, 1]", "[1, cut]", "cuts", "three numbers, not 2");
    spoiled("[1, cut, 1]", "[1, cat, 1]", "cat", "there is no `cat` here");
    spoiled("y: 0, z: 0", "why: 0, z: 0", "cuts", "this needs a parameter `y`");
    spoiled(
        "behind: [[0], [1], [2]]",
        "behind: [[0], [1]]",
        "{ behind",
        "along each of x, y and z",
    );
    spoiled("[6, 7]", "[7, 6]", "{ behind", "in ascending order, at equal distances");
    spoiled("passes: 2", "passes: 3", "", "2 exchanges, one is needed after each pass");
    spoiled("pack: packs", "pack: pack", "pack\n", "no workload called `pack`");
    spoiled("halo:", "kernel:", "kernel:", "this experiment has no options");
    spoiled("measure:\n      halo:", "measure: [halo]\n    halo:", "halo:", "unknown key `halo`");
}

/// A workload with a layout transform, of which each test spoils a part.
const STRIDED: &str = r#"version: 1
defaults:
  kernel: { family: gather, entry: gather, group: [64] }
  buffers:
    a: { type: f32, count: n, fill: random_bits }
    b: { type: f32, count: d*n, fill: random_bits }
    out: { type: f32, count: n }
  grid: [n]
  verify: none
  sizes: { n: [64], d: [4] }
workloads:
  strided:
    params: { n: n, d: d, f: 0 }
    measure: { layout: { buffer: b, strides: [d], by: other, then: other } }
  other: { params: { n: n, d: 1, f: 0 } }
"#;

#[test]
fn layout_transforms() {
    #[track_caller]
    fn spoiled(part: &str, by: &str, at: &str, words: &str) {
        assert!(STRIDED.contains(part), "{part}");
        let found = diagnostics(&STRIDED.replacen(part, by, 1));
        let text = rendered(&found);
        assert_eq!(found.len(), 1, "{text}");
        assert!(found[0].text[found[0].offset..].starts_with(at), "{text}");
        assert!(text.contains(words), "`{words}` is not in {text}");
    }
    let folder = super::folder(&[("my.yaml", STRIDED)]);
    super::load(&folder.path().join("my.yaml")).unwrap();
    spoiled("buffer: b", "buffer: c", "c,", "there is no buffer `c` here");
    spoiled("strides: [d]", "strides: [d, 1, 2]", "strides", "one stride or two, not 3");
    spoiled("strides: [d]", "strides: [e]", "e]", "there is no `e` here");
    spoiled("by: other", "by: othre", "othre", "no workload called `othre`");
    spoiled("buffer: b, ", "", "layout: {", "`buffer` is missing");
    spoiled(
        "measure: { layout: { buffer: b, strides: [d], by: other, then: other } }",
        "measure: [layout]",
        "layout]",
        "say which buffer's",
    );
    spoiled(
        "measure: { layout:",
        "measure: { launch:",
        "launch:",
        "this experiment has no options",
    );
    let other = "{ params: { n: n, d: 1, f: 0 } }";
    let sizes = "{ params: { n: n, d: 1, f: 0 }, sizes: { n: [64], d: [4], f: [1] } }";
    let found = diagnostics(&STRIDED.replacen(other, sizes, 1));
    assert_eq!(found.len(), 2, "once for `by` and once for `then`: {}", rendered(&found));
    assert!(rendered(&found).contains("`other` has not the sizes of this workload"));
    let passes = "{ params: { n: n, d: 1, f: 0 }, passes: 2, measure: [kernel] }";
    let found = diagnostics(&STRIDED.replacen(other, passes, 1));
    assert!(
        rendered(&found).contains("`other` has several passes, and here"),
        "{}",
        rendered(&found)
    );
}

#[test]
fn keys() {
    spoiled("kernel:", "kernal:", "kernal", &["unknown key `kernal`", "did you mean `kernel`"]);
    spoiled("fill:", "fil:", "fil: { uni", &["unknown key `fil`", "did you mean `fill`"]);
    spoiled("version: 1\n", "verson: 1\nversion: 1\n", "verson", &["`verson`", "`version`"]);
    spoiled("version: 1\n", "version: 2\n", "2\n", &["version 1 of suites, not 2"]);
    spoiled("type: f32, count", "count", "in: { coun", &["`type` is missing"]);
    spoiled("    verify: none\n", "", "scale", &["not said how", "`verify: none`"]);
    spoiled("    work:", "    grid: [n]\n    work:", "grid", &["`grid` stands twice"]);
    spoiled(
        "f32, count: n, fill",
        "f23, count: n, fill",
        "f23, count",
        &["`f23` is no element type"],
    );
    spoiled("verify: none", "verify: maybe", "maybe", &["expected `none`", "`maybe`"]);
    spoiled("verify: none", "verify: {}", "verify", &["exactly one of `reference`"]);
    spoiled("grid: [\"ceil_div(n, VALUES)\"]", "grid: 7", "7", &["expected a list, found `7`"]);
    spoiled(
        "verify: none",
        "measure: [kernels]\n    verify: none",
        "kernels",
        &["there is no experiment `kernels`", "did you mean `kernel`"],
    );
    spoiled("verify: none", "family: fast\n    verify: none", "fast", &["unknown variant `fast`"]);
    spoiled("group: [64]", "group: [64, 0]", "0], consta", &["at least one work-item"]);
    spoiled("group: [64]", "group: [1, 2, 3, 4]", "group", &["one to three dimensions"]);
}

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

#[test]
fn the_emulator_needs_wgsl() {
    let verify = "verify: { against: emulator }";
    let both = VALID.replace("verify: none", verify);
    let folder = super::folder(&[("my.yaml", &both)]);
    let suite = super::load(&folder.path().join("my.yaml")).unwrap();
    assert!(matches!(suite.workloads[0].verify, gpubench::workload::Verify::Emulator(_)));
    let found = diagnostics(&both.replace("wgsl: scale.wgsl, ", ""));
    let text = rendered(&found);
    assert!(text.starts_with("12:") && text.contains("the kernel has no such source"), "{text}");
}

#[test]
fn fills_of_integers_vary() {
    for (fill, word) in [
        ("u32, count: n, fill: { uniform: [0, 1] }", "all alike"),
        ("i32, count: n, fill: { uniform: [-1, 0.5] }", "all alike"),
        ("u32, count: n, fill: { uniform: [-5, 5] }", "u32 holds numbers from 0"),
        ("i32, count: n, fill: { uniform: [0, 2147483649] }", "i32 holds numbers from -2147483648"),
    ] {
        let found = rendered(&diagnostics(&VALID.replacen(
            "f32, count: n, fill: { uniform: [0, 1] }",
            fill,
            1,
        )));
        assert!(found.contains(word), "{fill}: {found}");
    }
}

#[test]
fn a_long_name_is_reported() {
    let long = "n".repeat(1001);
    let text = VALID.replacen("n: [1024]", &format!("n: [1024], {long}: [1]"), 1);
    let text =
        rendered(&diagnostics(&text.replacen("    params: { n: n, factor: { f32: 2 } }\n", "", 1)));
    assert!(text.contains("cannot name a size") && text.contains("at most 64"), "{text}");
}

#[test]
fn measures() {
    spoiled(
        "grid: [\"ceil_div(n, VALUES)\"]",
        "measure: [occupancy]\n    grid: [64*VALUES]",
        "grid: [64",
        &["no size sets it", "grid: [groups*64]"],
    );
    let with =
        |names| format!("measure: {{ concurrency: {{ with: [{names}] }} }}\n    verify: none");
    spoiled(
        "verify: none",
        &with("scale, scael"),
        "scael] } }",
        &["no workload called `scael`", "did you mean `scale`"],
    );
    spoiled(
        "verify: none",
        "measure: { kernel: { with: [scale] } }\n    verify: none",
        "kernel: {",
        &["this experiment has no options"],
    );
    spoiled(
        "verify: none",
        "measure: { concurrency: { copies: 1 } }\n    verify: none",
        "1 } }\n",
        &["two or more"],
    );
    let upload = format!(
        "{}\n  upload:\n    sizes: {{ n: [4] }}\n    measure: [upload]\n    verify: none\n    \
         buffers: {{ data: {{ type: u32, count: n, fill: index }} }}",
        with("upload")
    );
    spoiled("verify: none", &upload, "upload]", &["`upload` has no kernel"]);
}

#[test]
fn names() {
    spoiled("  scale:\n", "  sc ale:\n", "sc ale:", &["cannot name a workload"]);
    spoiled(
        "opencl: scale.cl, wgsl: scale.wgsl, entry: scale",
        "family: filters, entry: sepai",
        "sepai",
        &["no kernel `filters/sepai`", "did you mean `filters/sepia`"],
    );
    spoiled(
        "verify: none",
        "verify: { reference: sepai }",
        "sepai",
        &["no reference `sepai`", "did you mean `sepia`"],
    );
    spoiled("VALUES: 4", "GROUP_X: 4, VALUES: 4", "GROUP_X", &["`GROUP_X` cannot name a constant"]);
    spoiled("VALUES: 4", "VALUES: 4, \"A -I /\": 1", "\"A -I", &["cannot name a constant"]);
    spoiled(
        "group: [64]",
        "group: [64], needs: [subgroup]",
        "subgroup]",
        &["feature called `subgroup`", "`subgroups`"],
    );
    spoiled("verify: none", "divide: rows\n    verify: none", "rows", &["no parameter `rows`"]);
    spoiled("verify: none", "measure: [overlap]\n    verify: none", "overlap", &["needs `divide`"]);
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
fn expressions() {
    spoiled(
        "count: n, fill",
        "count: m*n, fill",
        "m*n, fill:",
        &["there is no `m`", "there are: n"],
    );
    spoiled("8*n", "8*sise", "sise", &["there is no `sise`"]);
    spoiled("8*n", "8*(n", " }", &["expected an operator", "found the end"]);
    spoiled(
        "count: n, fill",
        "count: n-2000, fill",
        "n-2000, fi",
        &["at n=1024", "-976", "not negative"],
    );
    spoiled("count: n, fill", "count: n/3, fill", "n/3, fill:", &["whole", "ceil_div"]);
    spoiled("count: n, fill", "count: n-n, fill", "n-n, fill:", &["at least one element"]);
    spoiled("flops: n", "flops: n^999", "n^999, byt", &["overflow", "n=1024"]);
    spoiled("flops: n", "flops: 1e999", "1e999", &["finite"]);
    spoiled("flops: n", "flops: n/(n-1024)", "n/(n-1024)", &["divided by 0"]);
    spoiled("flops: n,", "flops: -n,", "-n, bytes:", &["not negative"]);
    spoiled(
        "n: n, factor",
        "n: n*2^40, factor",
        "n*2^40, fa",
        &["parameter `n`", "does not fit into u32"],
    );
    spoiled("f32: 2 }", "f64: 2 }", "f64: 2 } }", &["`f64` is no type of a parameter"]);
    spoiled("ceil_div(n, VALUES)", "floor(n/2000)", "\"floor", &["at least one work-item"]);
}

#[test]
fn an_expression_that_yaml_cuts_at_its_comma() {
    let found = diagnostics(&VALID.replace("\"ceil_div(n, VALUES)\"", "ceil_div(n, VALUES)"));
    let text = rendered(&found);
    assert!(text.starts_with("10:22: expected an operator"), "{text}");
    assert!(text.contains("needs quotes"), "{text}");
}

#[test]
fn sizes() {
    spoiled("[1024]", "[-1024]", "-1024", &["size n", "-1024", "not negative"]);
    spoiled("[1024]", "[2^54]", "2^54] }", &["at most 2^53"]);
    spoiled("[1024]", "[1024, k]", "k] }", &["there is no `k`"]);
    spoiled("[1024]", "[1024, 2^10]", "sizes", &["n=1024", "twice"]);
    spoiled("[1024]", "[]", "sizes", &["between 1 and 1000 sizes"]);
    spoiled(
        "{ n: [1024] }",
        "[{ n: 1 }, { m: 2 }]",
        "{ m: 2 }]",
        &["this size names m, the first one n"],
    );
    spoiled("{ n: [1024] }", "{ n: [1024], 9: [1] }", "9: [1", &["`9` cannot name a size"]);
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
    let wgsl = std::fs::read_to_string(super::data().join("scale.wgsl")).unwrap();
    let fixed = wgsl.replace("(GROUP_X, GROUP_Y, GROUP_Z)", "(32)");
    let folder = super::folder(&[("my.yaml", VALID), ("scale.wgsl", &fixed)]);
    let text = rendered(&super::diagnostics_at(&folder.path().join("my.yaml")));
    assert!(text.starts_with("4:65: the kernel's work-group is [32, 1, 1]"), "{text}");
    assert!(text.contains("@workgroup_size(GROUP_X"), "{text}");
}

#[test]
fn a_mistake_in_a_kernel_stands_in_the_kernels_file() {
    let wgsl = std::fs::read_to_string(super::data().join("scale.wgsl")).unwrap();
    for (part, by, line, word) in [
        ("let first = id.x", "let first = idd.x", 10, "idd"),
        ("let first", "lett first", 10, "expected"),
        ("p.factor * in[i]", "p.factor * id", 12, ""),
        ("struct Params", "struct ", 2, "identifier"),
    ] {
        let wrong = wgsl.replace(part, by);
        let folder = super::folder(&[("my.yaml", VALID), ("scale.wgsl", &wrong)]);
        let found = super::diagnostics_at(&folder.path().join("my.yaml"));
        assert_eq!(found.len(), 1, "{}", rendered(&found));
        assert!(found[0].file.ends_with("scale.wgsl"), "{}", found[0]);
        assert_eq!(found[0].line_column().0, line, "{}", found[0]);
        assert!(found[0].message.contains(word), "{}", found[0]);
    }
}

#[test]
fn budgets_have_the_bounds_of_the_command_line() {
    let text = "version: 1
budget: { total: 1e300, case: 1e-9, rounds: 10001, target: 0 }
workloads: {}
";
    let text = rendered(&diagnostics(text));
    for part in ["2:18: a budget is", "2:31: a budget is", "10000 rounds, not 10001", "a target is"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn all_mistakes_of_a_file_are_reported_together() {
    let text = "version: 1
colour: red
budget: { total: -1, rounds: 0 }
workloads:
  a:
    kernel: { family: filters, entry: sepiaa, group: [8, 8] }
    sizes: { n: [8] }
    grid: [n, m]
    verify: { reference: nothing_like_it }
    tags: words
  b:
    kernel: { opencl: missing.cl, entry: b, group: [8] }
    grid: [1/0]
    verify: none
  c:
    kernel: { family: filters, entry: nothing, group: [8, 8] }
    sizes: { n: [8] }
    grid: [n, m]
    verify: { reference: nothing_like_it }
";
    let text = rendered(&diagnostics(text));
    for part in [
        "2:1: unknown key `colour`",
        "3:18: a budget is 0.001 to 1000000 seconds, not -1",
        "3:30: a run has 1 to 10000 rounds, not 0",
        "10:11: expected a list, found `words`",
        "12:23: cannot read the kernel `missing.cl`: there is no such file",
        "16:39: gpubench ships no kernel `filters/nothing`",
        "18:15: there is no `m` here",
        "19:26: there is no reference `nothing_like_it`",
    ] {
        assert!(text.contains(part), "`{part}` is not in\n{text}");
    }
}

#[test]
fn two_workloads_of_one_name() {
    let one = "\n    buffers: { b: { type: f32, count: 1, fill: index } }\n    measure: [upload]\n";
    let twice = format!("version: 1\nworkloads:\n  w:{one}  w:{one}");
    assert!(rendered(&diagnostics(&twice)).starts_with("6:3: `w` stands twice in one map"));

    let main = format!("version: 1\ninclude: [other.yaml]\nworkloads:\n  w:{one}");
    let other = format!("version: 1\nworkloads:\n  w:{one}");
    let folder = super::folder(&[("my.yaml", &main), ("other.yaml", &other)]);
    let text = rendered(&super::diagnostics_at(&folder.path().join("my.yaml")));
    assert!(text.starts_with("4:3: there are two workloads called `w`"), "{text}");
    assert!(text.contains("other.yaml:3"), "{text}");

    let variant =
        format!("version: 1\nworkloads:\n  w/x:{one}  w:{one}    variants: {{ x: {{}} }}\n");
    assert!(rendered(&diagnostics(&variant)).contains("two workloads called `w/x`"));
}

#[test]
fn variants_and_defaults_have_no_variants() {
    let text = VALID.replace(
        "    verify: none",
        "    variants: { a: { variants: { b: {} } } }\n    verify: none",
    );
    assert!(rendered(&diagnostics(&text)).starts_with("12:17: a variant has no variants"));
    let text = VALID.replace("workloads:", "defaults: { variants: { a: {} } }\nworkloads:");
    assert!(rendered(&diagnostics(&text)).contains("2:1: defaults have no variants"));
}

#[test]
fn nothing_to_do() {
    assert!(rendered(&diagnostics("")).starts_with("1:1: the file is empty"));
    assert!(rendered(&diagnostics("# nothing\n")).contains("the file is empty"));
    assert!(rendered(&diagnostics("version: 1\n")).contains("the suite has no workloads"));
    assert!(
        rendered(&diagnostics("version: 1\nworkloads: { w: {} }\n"))
            .contains("2:14: there is nothing to measure")
    );
    assert!(rendered(&diagnostics("[1, 2]")).contains("expected a map, found a list"));
    assert!(rendered(&diagnostics("{{{")).contains("1:"));
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
    let folder = super::folder(&[
        ("f.wgsl", text),
        ("a.yaml", &suite("")),
        ("b.yaml", &suite(", args: [x, y]")),
    ]);
    let found = super::diagnostics_at(&folder.path().join("a.yaml"));
    let text = rendered(&found);
    assert!(text.contains("buffers are y, x, and `f`") && text.contains("takes x, y"), "{text}");
    super::load(&folder.path().join("b.yaml")).unwrap();
}

/// The valid workload as a program of two launches in a loop.
const PROGRAM: &str = r#"version: 1
workloads:
  twice:
    kernel: { opencl: scale.cl, group: [64], constants: { VALUES: 1 } }
    sizes: { n: [1024] }
    params: { n: n, factor: { f32: 2 } }
    buffers:
      a: { type: f32, count: n, fill: index, access: read_write }
      b: { type: f32, count: n, fill: index, access: read_write }
    steps:
      - repeat: n/256
        index: t
        steps:
          - { kernel: { entry: scale, args: [a, b, params] }, grid: [n - t] }
          - { swap: [a, b] }
    verify: none
"#;

#[test]
fn programs() {
    let folder = super::folder(&[("my.yaml", PROGRAM)]);
    let suite = super::load(&folder.path().join("my.yaml")).unwrap();
    let program = suite.workloads[0].program.as_ref().unwrap();
    let (launches, order) = program.unrolled(&[("n".to_owned(), 1024.0)], 2).unwrap();
    let orders: Vec<_> = launches.iter().map(|launch| launch.order.clone()).collect();
    assert_eq!(orders, [[0, 1], [1, 0], [0, 1], [1, 0]]);
    assert_eq!((order, launches[3].indices.clone()), (vec![0, 1], vec![("t".to_owned(), 3.0)]));

    for (part, by, at, words) in [
        (
            "repeat: n/256",
            "repeat: 2^40",
            "2^40",
            &["1099511627776 repetitions", "at most 65536"][..],
        ),
        ("repeat: n/256", "repeat: n/3", "n/3", &["a count is whole"]),
        ("repeat: n/256", "repeat: m", "m\n", &["there is no `m` here"]),
        ("[n - t]", "[n - 1000*t]", "kernel: { entry", &["n=1024 t=2", "not negative"]),
        ("index: t", "index: n", "n\n", &["`n` cannot name"]),
        ("[a, b] }\n    verify", "[a] }\n    verify", "[a]", &["names two buffers, not 1"]),
        ("[a, b] }\n    verify", "[a, c] }\n    verify", "c]", &["no buffer `c`"]),
        ("b: { type: f32", "b: { type: u32", "swap: [a, b]", &["one type, `count` and `access`"]),
        ("- { swap: [a, b] }", "- { swap: [a, b], grid: [n] }", "{ swap", &["a step is"]),
        ("- { swap: [a, b] }", "- { swap: [a, b], index: s }", "{ swap", &["a step is"]),
        ("args: [a, b, params]", "args: [a, a, params]", "b:", &["`b` is not among"]),
        (
            "verify: none",
            "verify: { reference: triad }",
            "{ reference",
            &["a program is verified by"],
        ),
        (
            "    steps:\n      -",
            "    grid: [n]\n    steps:\n      -",
            "[n]",
            &["`grid` is for a workload of one kernel"],
        ),
        (
            "verify: none",
            "measure: [launch]\n    verify: none",
            "launch",
            &["a program of several"],
        ),
    ] {
        assert!(PROGRAM.contains(part), "{part}");
        let found = diagnostics(&PROGRAM.replacen(part, by, 1));
        let text = rendered(&found);
        let line = PROGRAM
            .replacen(part, by, 1)
            .lines()
            .nth(found[0].line_column().0 - 1)
            .map(str::to_owned);
        assert!(
            line.is_some_and(|line| (line + "\n").contains(at)),
            "{text} is not in the line of `{at}`"
        );
        assert!(words.iter().all(|word| text.contains(word)), "{by}: {text}");
    }
}

/// Arrays and commands that are wrong before anything runs.
#[test]
fn expected_arrays() {
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (32, 32), }";
    let array = |header: &str| {
        [b"\x93NUMPY\x01\x00\x76\x00".as_slice(), format!("{header:<117}\n").as_bytes()].concat()
    };
    let found = |verify: &str, header: &str| {
        let text = VALID.replacen("verify: none", &format!("verify: {verify}"), 1);
        let folder = super::folder(&[("my.yaml", &text)]);
        std::fs::write(folder.path().join("out.npy"), array(header)).unwrap();
        match super::load(&folder.path().join("my.yaml")) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        }
    };
    assert_eq!(found("{ file: out.npy }", header), "");
    assert_eq!(found("{ file: { out: out.npy } }", header), "");
    for (verify, from, to, words) in [
        (
            "{ file: out.npy }",
            "(32, 32)",
            "(32, 31)",
            &["`out.npy` for buffer `out`", "992 numbers, and not 1024"][..],
        ),
        ("{ file: out.npy }", "<f4", "<f8", &["np.float32"]),
        ("{ file: out.npy }", "False", "True", &["Fortran order"]),
        ("{ file: { in: out.npy } }", "", "", &["the kernel writes no buffer `in`"]),
        ("{ file: {} }", "", "", &["no file for `out`"]),
        ("{ file: none.npy }", "", "", &["cannot read the expected result `none.npy`"]),
        ("{ command: [] }", "", "", &["the command has no words"]),
        ("{ command: [a], seconds: 1000 }", "", "", &["up to 100 seconds"]),
        ("{ command: [a], seconds: 1e300 }", "", "", &["seconds, not 1e300"]),
        ("{ file: out.npy, seconds: 3 }", "", "", &["`seconds` limit a `command`"]),
    ] {
        let text = found(verify, &header.replace(from, to));
        assert!(text.contains("my.yaml:12:"), "{verify}: {text}");
        assert!(words.iter().all(|word| text.contains(word)), "{verify}: {text}");
    }
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
    let bytes = "in: { type: u8x4, count: n, fill: random_bits, image: { width: 32 } }";
    bad(bytes, "image", &["f16, f32, i32 or u32", "not `u8x4`"]);
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
