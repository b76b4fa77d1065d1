//! Files that are missing, hostile, or not where they claim to be.

use super::{diagnostics, diagnostics_at, folder, load, rejected, rendered};
use gpubench::error::Error;
use std::path::Path;

const LEAF: &str = "version: 1\nworkloads:\n  w:\n    buffers: { b: { type: f32, count: 1, fill: index } }\n    measure: [upload]\n";

#[test]
fn a_misspelt_suite_lists_the_choices() {
    let error = load(Path::new("no-such-suite-at-all")).unwrap_err();
    assert!(matches!(error, Error::Usage(_)));
    for name in gpubench::suite::suites() {
        assert!(error.to_string().contains(name), "{error}");
    }
    let error = load(Path::new("filter")).unwrap_err();
    assert!(error.to_string().contains("did you mean `filters`"), "{error}");
}

#[test]
fn an_embedded_suite_answers_to_all_its_names() {
    for name in ["filters", "filters.yaml", "suites/filters.yaml", "suites/filters"] {
        assert_eq!(load(Path::new(name)).unwrap().name, "filters");
    }
}

#[test]
fn includes_stay_within_the_folder() {
    for path in ["../../etc/passwd", "/etc/passwd", "x/../../../etc/passwd", "..", ""] {
        let text = rendered(&diagnostics(&format!("version: 1\ninclude: [\"{path}\"]\n")));
        assert!(text.starts_with(&format!("2:11: cannot include `{path}`")), "{text}");
        assert!(!text.contains("root:"), "{text}");
    }
    let text = rendered(&diagnostics("version: 1\ninclude: [missing.yaml]\n"));
    assert!(text.contains("there is no such file"), "{text}");
}

#[test]
fn so_do_kernels_and_expected_results() {
    let workload = |kernel: &str, verify: &str| {
        format!(
            "version: 1\nworkloads:\n  w:\n    kernel: {{ opencl: {kernel}, entry: k, group: [1] }}\n    grid: [1]\n    verify: {verify}\n"
        )
    };
    let text = rendered(&diagnostics(&workload("../../../etc/passwd", "none")));
    assert!(text.starts_with("4:23: cannot read the kernel"), "{text}");
    assert!(text.contains("outside the suite's folder"), "{text}");
    let text = rendered(&diagnostics(&workload("scale.cl", "{ file: /etc/passwd }")));
    assert!(text.contains("6:21: cannot read the expected result"), "{text}");
}

#[test]
fn an_expected_result_has_one_size_and_all_its_bytes() {
    let suite = |sizes: &str| {
        format!(
            "version: 1\nworkloads:\n  w:\n    kernel: {{ opencl: k.cl, entry: k, group: [1] }}\n    sizes: {{ n: {sizes} }}\n    params: {{}}\n    buffers: {{ out: {{ type: f32, count: n }} }}\n    grid: [n]\n    verify: {{ file: out.bin }}\n"
        )
    };
    let found = |sizes: &str| {
        let kernel = "kernel void k(global float* out) { out[get_global_id(0)] = 1; }";
        let folder =
            folder(&[("a.yaml", &suite(sizes)), ("k.cl", kernel), ("out.bin", "12345678")]);
        load(&folder.path().join("a.yaml")).map_err(|error| error.to_string())
    };
    assert!(found("[2]").is_ok());
    assert!(found("[3]").unwrap_err().contains("the file has 8 bytes, the written buffers 12"));
    assert!(found("[2, 3]").unwrap_err().contains("the result of one size"));
}

#[test]
fn a_suite_does_not_include_itself() {
    let folder = folder(&[
        ("a.yaml", "version: 1\ninclude: [b.yaml]\n"),
        ("b.yaml", "version: 1\ninclude: [./a.yaml]\n"),
    ]);
    let text = rendered(&diagnostics_at(&folder.path().join("a.yaml")));
    assert!(text.contains("2:11: `a.yaml` includes itself: a.yaml → b.yaml"), "{text}");
}

/// Two workloads, of which `mine.yaml` selects one, and `rest.yaml` includes both.
#[test]
fn a_selection_neither_hides_nor_misses() {
    let two = LEAF.to_owned() + &LEAF[LEAF.find("  w:").unwrap()..].replace("  w:", "  v:");
    let names = |include: &str| {
        let folder = folder(&[
            ("a.yaml", &format!("version: 1\ninclude: [{include}]\n")),
            ("two.yaml", &two),
            ("one.yaml", "version: 1\ninclude: [two.yaml]\nselect: { w: {} }\n"),
            ("other.yaml", "version: 1\ninclude: [two.yaml]\nselect: { v: {} }\n"),
        ]);
        match load(&folder.path().join("a.yaml")) {
            Ok(suite) => suite.workloads.into_iter().map(|w| w.name).collect::<Vec<_>>(),
            Err(Error::Suite(diagnostics)) => diagnostics.into_iter().map(|m| m.message).collect(),
            Err(other) => panic!("{other}"),
        }
    };
    assert_eq!(names("one.yaml, other.yaml"), ["w", "v"]);
    assert_eq!(names("other.yaml, one.yaml"), ["v", "w"]);
    let clash = ["there are two workloads called `w`"];
    assert_eq!(names("one.yaml, two.yaml"), clash);
    assert_eq!(names("two.yaml, one.yaml"), clash);
}

#[test]
fn selections_within_selections_end() {
    let files: Vec<_> = (0..20)
        .map(|i| {
            let include = format!("include: [f{}.yaml, g{}.yaml]\nselect: {{}}\n", i + 1, i + 1);
            (i, format!("version: 1\n{include}"))
        })
        .flat_map(|(i, text)| [(format!("f{i}.yaml"), text.clone()), (format!("g{i}.yaml"), text)])
        .chain(["f20.yaml", "g20.yaml"].map(|name| (name.to_owned(), LEAF.to_owned())))
        .collect();
    let files: Vec<_> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let folder = folder(&files);
    let text = rendered(&diagnostics_at(&folder.path().join("f0.yaml")));
    assert!(text.contains("includes at most 100 files"), "{text}");
}

#[test]
fn what_is_no_file_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let text = rejected(folder.path());
    assert!(text.contains("this is a folder") && !text.contains(":1:1"), "{text}");
    let big = folder.path().join("big.yaml");
    std::fs::write(&big, vec![b'#'; (1 << 20) + 1]).unwrap();
    assert!(rejected(&big).contains("larger than 1 MiB"));
    let binary = folder.path().join("binary.yaml");
    std::fs::write(&binary, b"version: 1\n\xff\xfe").unwrap();
    assert!(rejected(&binary).contains("not UTF-8 text (byte 11)"));
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_are_not_opened() {
    let folder = folder(&[("a.yaml", "version: 1\ninclude: [pipe]\n")]);
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("skipped: there is no mkfifo here");
        return;
    }
    for path in [&pipe, Path::new("/dev/zero")] {
        let text = rejected(path);
        assert!(text.contains("a pipe or a device"), "{text}");
    }
    let text = rendered(&diagnostics_at(&folder.path().join("a.yaml")));
    assert!(text.contains("2:11: cannot include `pipe`: this is a pipe"), "{text}");
}

#[cfg(unix)]
#[test]
fn symbolic_links_do_not_lead_out() {
    let outside = folder(&[("leaf.yaml", LEAF)]);
    let folder = folder(&[("a.yaml", "version: 1\ninclude: [link.yaml]\n"), ("leaf.yaml", LEAF)]);
    let link = folder.path().join("link.yaml");
    std::os::unix::fs::symlink(outside.path().join("leaf.yaml"), &link).unwrap();
    let text = rendered(&diagnostics_at(&folder.path().join("a.yaml")));
    assert!(text.contains("2:11: cannot include `link.yaml`: it leads out"), "{text}");
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("leaf.yaml", &link).unwrap();
    load(&folder.path().join("a.yaml")).unwrap();
}

#[test]
fn bombs_do_not_go_off() {
    let bomb: String = (1..12)
        .map(|i| {
            let alias = format!("*a{}, ", i - 1).repeat(9);
            format!("  a{i}: &a{i} [{alias}]\n")
        })
        .collect();
    let aliases = format!("version: 1\nworkloads:\n  a0: &a0 [x, x]\n{bomb}");
    let depth = format!("version: 1\nworkloads: {}{}", "[".repeat(100_000), "]".repeat(100_000));
    let blocks: String = (0..500).map(|i| format!("{:i$}k:\n", "")).collect();
    let wide = format!("version: 1\nworkloads: [{}]", "x,".repeat(100_000));
    for text in [aliases, depth, blocks, wide] {
        let found = diagnostics(&text);
        assert_eq!(found.len(), 1);
        let words = ["more than", "recursion", "nested"];
        assert!(words.iter().any(|word| found[0].message.contains(word)), "{}", rendered(&found));
    }
}

#[test]
fn many_variants_groups_and_cases_end() {
    let variants: String = (0..900).map(|i| format!("v{i}: {{}}, ")).collect();
    let sizes: String = (1..=20).map(|i| format!("{i}, ")).collect();
    let groups: String = (1..=900).map(|i| format!("[{i}], ")).collect();
    let suite = |group: &str, sizes: &str| {
        format!(
            "version: 1\nworkloads:\n  w:\n    kernel: {{ opencl: scale.cl, entry: scale, group: {group}, constants: {{ VALUES: 4 }} }}\n    variants: {{ {variants} }}\n    sizes: {{ n: [{sizes}] }}\n    params: {{ n: n, factor: {{ f32: 2 }} }}\n    buffers:\n      in: {{ type: f32, count: n, fill: {{ uniform: [0, 1] }} }}\n      out: {{ type: f32, count: n }}\n    grid: [n]\n    verify: none\n"
        )
    };
    let text = rendered(&diagnostics(&suite(&format!("[{groups}]"), "1")));
    assert!(text.contains("3:3: variants and work-groups make at most 1000"), "{text}");
    let text = rendered(&diagnostics(&suite("[64]", &sizes)));
    assert!(text.contains("a suite has at most 10000 cases"), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[test]
fn many_sizes_and_many_mistakes_end() {
    let axes: String =
        (0..26u8).map(|i| format!("{}: [1, 2, 3], ", char::from(b'a' + i))).collect();
    let text = format!(
        "version: 1\nworkloads:\n  w:\n    sizes: {{ {axes} }}\n    buffers: {{ x: {{ type: f32, count: 1, fill: index }} }}\n    measure: [upload]\n"
    );
    assert!(rendered(&diagnostics(&text)).contains("between 1 and 1000 sizes"));
    let long: String = (0..5000).map(|i| format!("{i},")).collect();
    let text = format!(
        "version: 1\nworkloads:\n  w:\n    sizes: {{ a: [{long}], b: [{long}] }}\n    buffers: {{ x: {{ type: f32, count: 1, fill: index }} }}\n    measure: [upload]\n"
    );
    assert!(rendered(&diagnostics(&text)).contains("between 1 and 1000 sizes"));
    let text: String = (0..5000).map(|i| format!("k{i}: 1\n")).collect();
    assert_eq!(diagnostics(&text).len(), 100);
}
