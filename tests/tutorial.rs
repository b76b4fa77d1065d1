//! The files of docs/TUTORIAL.md do what the page says.

use std::process::{Command, Output};

const SUITE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/tutorial/mine.yaml");

fn gpubench(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gpubench"))
        .args(arguments)
        .output()
        .expect("the binary starts")
}

#[test]
fn the_suite_checks_without_a_device() {
    let checked = gpubench(&["check", SUITE]);
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    assert!(String::from_utf8_lossy(&checked.stdout).contains("2 workloads, 3 cases"));
}

#[test]
fn its_kernels_are_right_on_every_device() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.jsonl");
    let ran =
        gpubench(&["run", SUITE, "--verify", "--rounds", "1", "--output", file.to_str().unwrap()]);
    let (out, talk) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    match ran.status.code() {
        Some(3) => println!("skipped: no device on this machine"),
        Some(0) => assert!(out.contains("✓"), "{out}"),
        code => panic!("exit {code:?}\n{out}\n{talk}"),
    }
}
