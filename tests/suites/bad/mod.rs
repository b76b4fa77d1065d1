//! Every mistake is rendered where it stands, with what to do about it.

mod experiments;
mod kernels;
mod values;

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
    let folder = crate::folder(&[("my.yaml", VALID)]);
    crate::load(&folder.path().join("my.yaml")).unwrap();
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
    spoiled(
        "group: [64]",
        "group: [200, 100]",
        "group: [200, 100], consta",
        &["20000 work-items; at most 16384"],
    );
    spoiled("group: [64]", "group: [1, 2, 3, 4]", "group", &["one to three dimensions"]);
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
    let folder = crate::folder(&[("my.yaml", &main), ("other.yaml", &other)]);
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
