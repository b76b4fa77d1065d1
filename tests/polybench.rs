//! docs/polybench: kernels with their own arguments and programs of several, right by NumPy's count.

mod common;

use common::{Place, text};
use gpubench::record::Outcome;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/polybench");

fn run(place: &Place, suite: &str, more: &[&str]) -> (Option<i32>, String) {
    let args = ["run", suite, "--trust", "--verify", "--rounds", "1"];
    let output = place.output(&[&args, more].concat());
    (output.status.code(), text(&output.stdout) + &text(&output.stderr))
}

#[test]
fn the_suite_checks_without_a_device() {
    let place = Place::new();
    let checked = place.output(&["check", &format!("{FOLDER}/polybench.yaml")]);
    let (out, talk) = (text(&checked.stdout), text(&checked.stderr));
    assert!(out.contains("21 workloads, 21 cases"), "{out}{talk}");
}

/// The workloads called like `only` compute what they are verified with.
fn are_right(only: &str) {
    let place = Place::new();
    let (code, said) = run(&place, &format!("{FOLDER}/polybench.yaml"), &["--filter", only]);
    assert_eq!(code, Some(0), "{said}");
    let run = place.run();
    let skipped = |outcome: &Outcome| matches!(outcome, Outcome::Unsupported(_));
    let ran: Vec<_> = run.records.iter().filter(|record| !skipped(&record.outcome)).collect();
    assert!(!ran.is_empty(), "{said}");
    for record in ran {
        assert_eq!(record.outcome, Outcome::Ok, "{}: {said}", record.key);
        let against = record.against.as_deref().unwrap_or_default();
        let wanted = match record.key.workload.as_str() {
            "jacobi_1d" => "file jacobi_1d_a.npy, jacobi_1d_b.npy".to_owned(),
            other => format!("command python3 expected.py {other}"),
        };
        assert_eq!(against, wanted);
    }
}

#[test]
#[cfg_attr(
    not(all(feature = "require-opencl", feature = "require-numpy")),
    ignore = "needs an OpenCL driver and NumPy"
)]
fn its_kernels_compute_what_numpy_does() {
    are_right("polybench");
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn a_kernel_computes_what_files_hold() {
    are_right("jacobi_1d");
}

/// What the suite expects of one step fewer is wrong: that it is compared shows.
#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn a_wrong_number_of_repetitions_does_not_verify() {
    let place = Place::new();
    let suite = std::fs::read_to_string(format!("{FOLDER}/polybench.yaml")).expect("readable");
    let wrong = suite.replace("n: 120, steps: 11", "n: 120, steps: 10");
    assert_ne!(suite, wrong);
    for file in std::fs::read_dir(FOLDER).expect("a folder") {
        let file = file.expect("readable");
        std::fs::copy(file.path(), place.folder.path().join(file.file_name())).expect("a copy");
    }
    std::fs::write(place.folder.path().join("wrong.yaml"), wrong).expect("writable");
    let (code, said) = run(&place, "wrong.yaml", &["--filter", "jacobi_1d"]);
    assert_eq!(code, Some(4), "{said}");
    let run = place.run();
    let ran = run.records.iter().filter(|r| !matches!(r.outcome, Outcome::Unsupported(_)));
    let ran: Vec<_> = ran.collect();
    assert!(!ran.is_empty(), "{said}");
    for record in ran {
        assert!(matches!(record.outcome, Outcome::Unverified(_)), "{:?} {said}", record.outcome);
    }
}

/// A command is a program of the suite's: it does not run unasked.
#[test]
fn a_command_needs_trust() {
    let place = Place::new();
    let suite = "version: 1
workloads:
  f:
    kernel: { family: micro, entry: triad, group: [64], constants: { V: f32, ITEMS: 1 } }
    sizes: { n: [256] }
    params: { n: n, s: { f32: 0.5 } }
    buffers:
      b: { type: f32, count: n, fill: index }
      c: { type: f32, count: n, fill: index }
      out: { type: f32, count: n }
    grid: [n]
    verify: { command: [touch, ran] }
";
    std::fs::write(place.folder.path().join("mine.yaml"), suite).expect("writable");
    let refused = place.output(&["run", "mine.yaml"]);
    let said = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("--trust") && said.contains("touch ran"), "{said}");
    assert!(!place.folder.path().join("ran").exists());
}
