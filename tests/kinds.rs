//! A kind of experiment is named in its folder and in `registry.rs`, in suites, docs and tests, and
//! nowhere else: adding one is a folder, a line there and its `mod` in `lib.rs`.
#![expect(clippy::unwrap_used, reason = "helpers of tests panic as tests do")]

use gpubench::measure::registry::EXPERIMENTS;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const EXPERIMENTS_CRATE: &str = "crates/experiments/src";

/// Files that name kinds all the same, and why.
const EXCEPTIONS: [(&str, &str); 3] = [
    ("crates/experiments/src/registry.rs", "the registry"),
    ("crates/core/src/workload/key.rs", "the default, where a suite says nothing"),
    ("crates/core/src/record/from_version_1.rs", "what version 1 of the format called them"),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folders that the registry's lines name.
fn folders() -> BTreeSet<String> {
    let text = std::fs::read_to_string(root().join("crates/experiments/src/registry.rs")).unwrap();
    let lines =
        text.lines().filter_map(|line| line.trim().strip_prefix("ErasedExperiment::of::<crate::"));
    lines.map(|rest| rest.split("::").next().unwrap().to_owned()).collect()
}

fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            out.push(path);
        }
    }
}

/// A file's code: what stands before its tests, without comments.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let before = text.split("#[cfg(test)]").next().unwrap();
    let lines = before.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.map(|line| format!("{line}\n")).collect()
}

fn is_test(path: &str) -> bool {
    ["tests.rs", "testing.rs", "sample.rs"].iter().any(|end| path.ends_with(end))
}

/// What names the kind of `folder` and `name` in code that is not its own.
fn patterns(folder: &str, name: &str) -> [String; 4] {
    [
        format!("crate::{folder}::"),
        format!("experiments::{folder}::"),
        format!("measure::{folder}::"),
        format!("Kind::new(\"{name}\")"),
    ]
}

#[test]
fn a_kind_is_named_in_its_folder_and_the_registry_alone() {
    let folders = folders();
    let names: Vec<&str> = EXPERIMENTS.iter().map(|one| one.kind.kind().name()).collect();
    assert!(folders.len() >= 14 && names.len() >= 15, "{folders:?} {names:?}");
    let mut files = vec![];
    sources(&root().join("crates"), &mut files);
    sources(&root().join("src"), &mut files);
    assert!(files.len() > 300, "{} files", files.len());
    let mut found = vec![];
    for file in files {
        let path = file.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        if is_test(&path) || EXCEPTIONS.iter().any(|(exception, _)| path == *exception) {
            continue;
        }
        let code = code(&file);
        for folder in &folders {
            let own = path.starts_with(&format!("{EXPERIMENTS_CRATE}/{folder}/"));
            let of_folder = patterns(folder, "").into_iter().take(3);
            if !own && let Some(pattern) = of_folder.into_iter().find(|p| code.contains(p)) {
                found.push(format!("{path}: {pattern}"));
            }
        }
        for name in &names {
            let pattern = &patterns("", name)[3];
            let declared = code.contains(&format!("const KIND: Kind = {pattern}"));
            if code.contains(pattern) && !declared {
                found.push(format!("{path}: {pattern}"));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}
