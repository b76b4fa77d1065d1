//! The commands that need no device.

use super::data;
use std::process::{Command, Output};

fn gpubench(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gpubench")).args(arguments).output().unwrap()
}

#[test]
fn check_prints_one_line_a_valid_suite() {
    let full = data().join("full.yaml");
    let output = gpubench(&["check", full.to_str().unwrap(), "filters"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[0].contains("full.yaml: suite full, 7 workloads, 23 cases; "), "{text}");
    // What is shipped compiles.
    assert!(lines[1].starts_with("filters: suite filters, "), "{text}");
    assert!(lines[1].ends_with(" cases"), "{text}");
    assert!(output.stderr.is_empty());
}

const PLAIN: &str = "version: 1\nworkloads:\n  scale:\n    \
    kernel: { opencl: k.cl, entry: scale, group: [64] }\n    sizes: { n: [256] }\n    buffers:\n      \
    out: { type: f32, count: n }\n    grid: [n]\n    verify: none\n";

/// What `check` says of a suite whose kernel has this line, with the drivers of this machine or without any.
fn checked(line: &str, drivers: bool) -> (Option<i32>, String) {
    let kernel = format!(
        "typedef struct {{ uint n; }} Params;\nkernel void scale(global float* out, const Params p) \
         {{\n    {line}\n}}\n"
    );
    let folder = super::folder(&[("my.yaml", PLAIN), ("k.cl", &kernel)]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpubench"));
    if !drivers {
        command.env("OCL_ICD_VENDORS", folder.path()).env_remove("OPENCL_DYLIB_PATH");
    }
    let output = command.args(["check", "my.yaml"]).current_dir(folder.path()).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(said).unwrap())
}

#[test]
fn check_says_where_no_opencl_c_was_compiled() {
    let (code, said) = checked("nonsense;", false);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("OpenCL C not compiled: "), "{said}");
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn check_compiles_opencl_c_where_there_is_a_driver() {
    let (code, said) = checked("out[get_global_id(0)] = 1.0f;", true);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("; 1 of 1 OpenCL C kernel compiled by "), "{said}");
    let (code, said) = checked("nonsense;", true);
    assert_eq!(code, Some(2), "{said}");
    for part in ["undeclared identifier 'nonsense'", "k.cl:3:5", "nonsense;"] {
        assert!(said.contains(part), "{part} is not in\n{said}");
    }
}

#[test]
fn check_shows_mistakes_in_their_line_and_exits_with_2() {
    let folder = super::folder(&[("my.yaml", "version: 1\nworklaods: {}\n")]);
    let path = folder.path().join("my.yaml");
    let output = gpubench(&["check", path.to_str().unwrap(), "filters"]);
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8(output.stderr).unwrap();
    for part in
        ["unknown key `worklaods`", "my.yaml:2:1", "worklaods: {}", "did you mean `workloads`"]
    {
        assert!(stderr.contains(part), "{part} is not in\n{stderr}");
    }
    assert!(!stderr.contains('\u{1b}'), "colour, though nobody sees it: {stderr}");
    assert!(String::from_utf8(output.stdout).unwrap().starts_with("filters: "));
}

#[test]
fn check_names_the_choices_for_a_misspelt_suite() {
    let output = gpubench(&["check", "filterz"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("did you mean `filters`?"));
    assert_eq!(gpubench(&["check"]).status.code(), Some(2));
}

#[test]
fn schema_prints_draft_07() {
    let output = gpubench(&["schema"]);
    let schema: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(schema["$schema"], "http://json-schema.org/draft-07/schema#");
}

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = gpubench(&["completions", shell]);
        assert_eq!(output.status.code(), Some(0));
        assert!(String::from_utf8(output.stdout).unwrap().contains("check"), "{shell}");
    }
}
