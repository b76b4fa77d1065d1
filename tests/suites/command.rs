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
    assert!(lines[0].ends_with("full.yaml: suite full, 7 workloads, 23 cases"), "{text}");
    assert!(lines[1].starts_with("filters: suite filters, "), "{text}");
    assert!(output.stderr.is_empty());
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
