//! What is wrong with a kernel's arguments, its loops or its command is shown where it stands.

mod common;

use common::{Place, text};
use std::fs;

/// A suite for `kernel void scale(global const float *x, global float *y, float a, int n)`.
const SUITE: &str = "version: 1
workloads:
  scale:
    kernel:
      opencl: k.cl
      entry: scale
      group: [16]
      args:
        - x
        - y
        - { f32: 2 }
        - { i32: n }
    sizes: { n: [64] }
    buffers:
      x: { type: f32, count: n, fill: index }
      y: { type: f32, count: n }
    grid: [n]
    verify: { command: [sh, ./expected.sh], seconds: 1 }
";

const KERNEL: &str = "
kernel void scale(global const float *x, global float *y, float a, int n) {
    const int i = get_global_id(0);
    if (i < n) y[i] = a * x[i];
}
";

/// The suite with `part` replaced, and a command that does `script`.
fn place(part: &str, by: &str, script: &str) -> Place {
    assert!(SUITE.contains(part), "{part}");
    let place = Place::new();
    let write = |name: &str, text: &str| {
        fs::write(place.folder.path().join(name), text).expect("writable");
    };
    write("my.yaml", &SUITE.replacen(part, by, 1));
    write("k.cl", KERNEL);
    write("expected.sh", script);
    place
}

#[track_caller]
fn says(output: &std::process::Output, code: i32, words: &[&str]) {
    let said = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}");
    for word in words {
        assert!(said.contains(word), "`{word}` is not in\n{said}");
    }
}

/// At the argument's line in the suite, not at the kernel's.
#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn a_wrong_argument_is_shown_at_its_line() {
    for (part, by, words) in [
        (
            "- { i32: n }",
            "- { i32: n }\n        - { i32: 1 }",
            &["my.yaml:13:11", "takes 4 arguments, and the suite gives 5"][..],
        ),
        (
            "        - { i32: n }\n",
            "",
            &["my.yaml:11:11", "takes 4 arguments, and the suite gives 3"],
        ),
        (
            "{ f32: 2 }",
            "{ i32: 2 }",
            &["my.yaml:11:11", "is `float`, and the suite gives a value `int`"],
        ),
        ("- { i32: n }", "- { local: 16 }", &["my.yaml:12:11", "the suite gives local memory"]),
    ] {
        let place = place(part, by, "exit 1");
        let checked = place.output(&["check", "my.yaml"]);
        says(&checked, 2, words);
        let both = ["the suite gives: x, y", "the kernel takes: float* x, float* y", "k.cl:2"];
        says(&checked, 2, &both);
    }
    // A run names the same line.
    let place = place("{ f32: 2 }", "{ i32: 2 }", "exit 1");
    let ran = place.output(&["run", "my.yaml", "--trust", "--verify", "--rounds", "1"]);
    says(&ran, 4, &["my.yaml:11:11"]);
}

#[test]
fn what_no_driver_is_needed_for_is_shown_without_one() {
    for (part, by, words) in [
        ("- y\n", "- z\n", &["my.yaml:10:11", "there is no buffer `z` here"][..]),
        ("{ i32: n }", "{ i32: m }", &["my.yaml:12:18", "there is no `m` here"]),
        ("{ f32: 2 }", "{ int: 2 }", &["my.yaml:11:13", "`int` is no type of an argument"]),
        ("{ i32: n }", "{ u8: 4*n }", &["my.yaml:12:11", "`4*n` is 256, which `u8` does not hold"]),
        (
            "entry: scale",
            "entry: scale\n      options: [-I/etc]",
            &["my.yaml:7:17", "no option that a suite may set"],
        ),
        (
            "entry: scale",
            "entry: scale\n      defines: { A: \"1 -I/etc\" }",
            &["my.yaml:7:21", "this cannot be a definition"],
        ),
        (
            "entry: scale",
            "entry: scale\n      defines: { A: asm }",
            &["my.yaml:7:21", "this cannot be a definition"],
        ),
        (
            "entry: scale",
            "entry: scale\n      bindings: [[0, 0]]",
            &["my.yaml:7:7", "1 bindings for 4 arguments"],
        ),
    ] {
        says(&place(part, by, "").output(&["check", "my.yaml"]), 2, words);
    }
}

/// A program that would never end is not begun.
#[test]
fn a_loop_without_end_is_shown_at_its_number() {
    let steps = "\n    steps: [{ repeat: 2^50, steps: [{ kernel: {}, grid: [n] }] }]\n";
    let place = place("\n    grid: [n]\n", steps, "");
    says(&place.output(&["check", "my.yaml"]), 2, &["my.yaml:17:23", "at most 65536"]);
}

/// Each is a failed case that names the suite's line and the command.
#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn a_wrong_command_is_shown_at_its_line() {
    let npy = |shape: &str| {
        let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({shape},), }}");
        format!("printf '\\223NUMPY\\001\\000v\\000%-117s\\n' \"{header}\" > \"$2/y.npy\"")
    };
    for (script, words) in [
        ("echo no numpy >&2; exit 3".to_owned(), &["failed", "no numpy"][..]),
        ("sleep 60".to_owned(), &["did not end within 1 s"]),
        ("true".to_owned(), &["wrote no `y.npy`"]),
        (npy("8"), &["wrote `y.npy`", "its shape (8) is 8 numbers, and not 64"]),
    ] {
        let place = place("{ i32: n }", "{ i32: n }", &script);
        let ran = place.output(&["run", "my.yaml", "--trust", "--verify", "--rounds", "1"]);
        let said = text(&ran.stdout) + &text(&ran.stderr);
        assert_eq!(ran.status.code(), Some(4), "{script}: {said}");
        let run = place.run();
        let outcomes = format!("{:?}", run.records.iter().map(|r| &r.outcome).collect::<Vec<_>>());
        assert!(outcomes.contains("my.yaml:18: the command `sh ./expected.sh`"), "{outcomes}");
        assert!(words.iter().all(|word| outcomes.contains(word)), "{script}: {outcomes}");
    }
}
