//! The files of docs/TUTORIAL.md do what the page says.

use std::process::{Command, Output};

const SUITE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/tutorial/mine.yaml");

fn gpubench(arguments: &[&str]) -> Output {
    let settings = tempfile::tempdir().expect("a temporary folder");
    Command::new(env!("CARGO_BIN_EXE_gpubench"))
        .args(arguments)
        .env("XDG_CONFIG_HOME", settings.path())
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
#[cfg_attr(
    not(any(feature = "require-opencl", feature = "require-wgpu")),
    ignore = "needs an OpenCL driver or a wgpu driver"
)]
fn its_kernels_are_right_on_every_device() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.jsonl");
    let ran = gpubench(&[
        "run",
        SUITE,
        "--trust",
        "--verify",
        "--rounds",
        "1",
        "--output",
        file.to_str().unwrap(),
    ]);
    all_right(&ran, &file, 3);
}

#[test]
#[cfg_attr(
    not(any(feature = "require-opencl", feature = "require-wgpu")),
    ignore = "needs an OpenCL driver or a wgpu driver"
)]
fn its_kernel_is_tuned_and_the_best_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let [tuned, file] = ["tuned.jsonl", "run.jsonl"].map(|name| folder.path().join(name));
    let [tuned, path] = [&tuned, &file].map(|path| path.to_str().unwrap());
    let blend = ["--trust", "--filter", "n=100000", "--tuned", tuned];
    let search = ["tune", SUITE, "--workload", "blend", "--variants", "2"];
    let found = gpubench(&[&search[..], &blend].concat());
    assert_eq!(found.status.code(), Some(0), "{}", String::from_utf8_lossy(&found.stderr));
    assert!(std::fs::read_to_string(tuned).expect("what was tried").lines().count() >= 2);
    let run = ["run", SUITE, "--filter", "blend", "--verify", "--rounds", "1", "--output", path];
    all_right(&gpubench(&[&run[..], &blend].concat()), &file, 1);
}

/// A run that left with 0, and in its file so many cases on each device, all verified.
fn all_right(ran: &Output, file: &std::path::Path, cases: usize) {
    let (out, talk) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert_eq!(ran.status.code(), Some(0), "{out}\n{talk}");
    let run = gpubench::store::read(file).expect("a result file");
    assert_eq!(run.records.len(), cases * run.header.devices.len());
    assert!(!run.records.is_empty() && run.records.iter().all(|record| record.outcome.is_ok()));
}

/// What a page shows is what its files hold: each listing occurs in one of them, letter for letter.
#[test]
fn the_listings_are_those_of_the_files() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let files: Vec<String> = std::fs::read_dir(root.join("docs/tutorial"))
        .unwrap()
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    let mut listings = 0;
    for page in ["README.md", "docs/TUTORIAL.md"] {
        let text = std::fs::read_to_string(root.join(page)).unwrap();
        for block in text.split("\n```").skip(1).step_by(2) {
            let (language, listing) = block.split_once('\n').unwrap();
            if matches!(language, "c" | "wgsl" | "yaml") {
                assert!(files.iter().any(|file| file.contains(listing)), "{page}:\n{listing}");
                listings += 1;
            }
        }
    }
    assert_eq!(listings, 2);
}

/// More work-groups than some device takes along x.
#[test]
#[cfg_attr(
    not(any(feature = "require-opencl", feature = "require-wgpu")),
    ignore = "needs an OpenCL driver or a wgpu driver"
)]
fn a_long_line_is_folded_and_right() {
    let folder = tempfile::tempdir().unwrap();
    let tutorial = std::path::Path::new(SUITE).parent().unwrap();
    for file in ["blend.cl", "blend.wgsl", "smooth.cl", "smooth.wgsl"] {
        std::fs::copy(tutorial.join(file), folder.path().join(file)).unwrap();
    }
    let text = std::fs::read_to_string(SUITE).unwrap();
    let long = text
        .replace("entry: blend, group: [128]", "entry: blend, group: [16]")
        .replace("n: [100000, 4000000]", "n: [2000000]");
    assert_ne!(text, long);
    let suite = folder.path().join("mine.yaml");
    std::fs::write(&suite, long).unwrap();
    let file = folder.path().join("mine.jsonl");
    let suite = suite.to_str().unwrap();
    let verify = ["--trust", "--verify", "--rounds", "1", "--filter", "blend", "--output"];
    let ran = gpubench(&[&["run", suite], &verify[..], &[file.to_str().unwrap()]].concat());
    all_right(&ran, &file, 1);
}
