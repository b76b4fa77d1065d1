//! What experiments ask of a workload: searches, ceilings, passes, parts, layouts, programs.

use super::{VALID, diagnostics, rendered, spoiled};

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
    let folder = crate::folder(&[("my.yaml", PARTS)]);
    crate::load(&folder.path().join("my.yaml")).unwrap();
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
    let folder = crate::folder(&[("my.yaml", STRIDED)]);
    crate::load(&folder.path().join("my.yaml")).unwrap();
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
    let folder = crate::folder(&[("my.yaml", PROGRAM)]);
    let suite = crate::load(&folder.path().join("my.yaml")).unwrap();
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

/// Arrays and commands that are wrong before anything runs.
#[test]
fn expected_arrays() {
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (32, 32), }";
    let array = |header: &str| {
        [b"\x93NUMPY\x01\x00\x76\x00".as_slice(), format!("{header:<117}\n").as_bytes()].concat()
    };
    let found = |verify: &str, header: &str| {
        let text = VALID.replacen("verify: none", &format!("verify: {verify}"), 1);
        let folder = crate::folder(&[("my.yaml", &text)]);
        std::fs::write(folder.path().join("out.npy"), array(header)).unwrap();
        match crate::load(&folder.path().join("my.yaml")) {
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
