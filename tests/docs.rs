//! The docs hold what they promise: short pages, links and files that are there, commands that the
//! binary knows, every key of a suite.
#![expect(clippy::unwrap_used, reason = "a helper of tests panics as tests do")]

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

const MAX_LINES: usize = 300;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every page: its path from the root, and its text.
fn pages() -> Vec<(PathBuf, String)> {
    let mut pages = vec![PathBuf::from("README.md"), PathBuf::from("CONTRIBUTING.md")];
    let mut folders = vec![PathBuf::from("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root().join(&folder)).unwrap() {
            let path = folder.join(entry.unwrap().file_name());
            if root().join(&path).is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(root().join(&path)).unwrap();
        (path, text)
    };
    let pages: Vec<_> = pages.into_iter().map(read).collect();
    assert!(pages.len() > 20, "the docs were not found");
    pages
}

/// The text without listings, and the listings with their languages.
fn listings(text: &str) -> (String, Vec<(&str, &str)>) {
    let (mut prose, mut listings) = (String::new(), vec![]);
    for (i, part) in text.split("```").enumerate() {
        match (i % 2, part.split_once('\n')) {
            (1, Some((language, listing))) => listings.push((language.trim(), listing)),
            _ => prose.push_str(part),
        }
    }
    (prose, listings)
}

/// What stands in backticks.
fn quoted(prose: &str) -> impl Iterator<Item = &str> {
    prose.split('`').skip(1).step_by(2)
}

/// The anchor that a heading has: lower case, blanks as dashes, other marks gone.
fn anchor(heading: &str) -> String {
    let kept = |c: char| match c {
        ' ' => Some('-'),
        _ if c.is_alphanumeric() || c == '-' || c == '_' => c.to_lowercase().next(),
        _ => None,
    };
    heading.trim().chars().filter_map(kept).collect()
}

fn anchors(text: &str) -> BTreeSet<String> {
    let (prose, _) = listings(text);
    let headings = prose.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(line.trim_start_matches('#'))).collect()
}

fn gpubench(arguments: &[&str]) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_gpubench")).args(arguments).output().unwrap();
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn no_page_is_long() {
    for (path, text) in pages() {
        let lines = text.lines().count();
        assert!(lines <= MAX_LINES, "{}: {lines} lines", path.display());
    }
}

#[test]
fn links_lead_somewhere() {
    let mut checked = 0;
    for (path, text) in pages() {
        let (prose, _) = listings(&text);
        for rest in prose.split("](").skip(1) {
            let target = rest.split(')').next().unwrap();
            if target.starts_with("http") {
                continue;
            }
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let folder = root().join(path.parent().unwrap());
            let file = if file.is_empty() { root().join(&path) } else { folder.join(file) };
            assert!(file.exists(), "{}: {target}", path.display());
            if !heading.is_empty() {
                let there = anchors(&std::fs::read_to_string(&file).unwrap());
                assert!(there.contains(heading), "{}: {target}: {there:?}", path.display());
            }
            checked += 1;
        }
    }
    assert!(checked > 50, "only {checked} links were found");
}

#[test]
fn files_that_are_named_are_there() {
    const FOLDERS: [&str; 9] =
        ["crates/", "src/", "tests/", "suites/", "shaders/", "benches/", "docs/", "fuzz/", "mpi/"];
    let mut checked = 0;
    for (path, text) in pages() {
        let (prose, _) = listings(&text);
        for name in quoted(&prose) {
            // What a reader has to fill in, or what a shell does, is no file.
            let is_pattern = name.contains(|c: char| "*{}<>$ \n".contains(c))
                || name.split(['/', '.']).any(|part| part.len() > 3 && part == part.to_uppercase());
            if FOLDERS.iter().any(|folder| name.starts_with(folder)) && !is_pattern {
                assert!(root().join(name).exists(), "{}: {name}", path.display());
                checked += 1;
            }
        }
    }
    assert!(checked > 20, "only {checked} files were found");
}

/// The commands that a page names: in listings for a shell, and in backticks.
fn commands(text: &str) -> Vec<String> {
    let (prose, listings) = listings(text);
    let mut lines: Vec<String> = quoted(&prose).map(|quoted| quoted.replace('\n', " ")).collect();
    for (language, listing) in listings {
        if matches!(language, "console" | "sh" | "bash") {
            lines.extend(listing.replace("\\\n", " ").lines().map(str::to_owned));
        }
    }
    let mut commands = vec![];
    for line in lines {
        let line = line.trim_start_matches("$ ").split(" #").next().unwrap();
        for part in line.split("&&") {
            let words: Vec<&str> = part.split_whitespace().collect();
            let at = words.iter().position(|w| *w == "gpubench" || w.ends_with("/gpubench"));
            if let Some(at) = at.filter(|at| words.len() > at + 1) {
                commands.push(words[at + 1..].join(" "));
            }
        }
    }
    commands
}

/// The help of the command that `words` begin with.
fn help(words: &[&str], known: &mut BTreeMap<String, String>) -> String {
    let mut path: Vec<&str> = vec![];
    let mut text = String::new();
    for word in words {
        let is_name = word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
        if !is_name || word.starts_with('-') || !(path.is_empty() || text.contains("Commands:")) {
            break;
        }
        path.push(word);
        text = known
            .entry(path.join(" "))
            .or_insert_with(|| {
                let (there, help) = gpubench(&[&path[..], &["--help"]].concat());
                assert!(there, "there is no `gpubench {}`", path.join(" "));
                help
            })
            .clone();
    }
    text
}

#[test]
fn commands_that_are_named_are_known() {
    let mut known = BTreeMap::new();
    for (path, text) in pages() {
        for command in commands(&text) {
            let words: Vec<&str> = command.split_whitespace().collect();
            if matches!(words[0], "--help" | "--version") {
                continue;
            }
            let help = help(&words, &mut known);
            // Behind a lone `--` stand another command's.
            let own = words.iter().take_while(|word| **word != "--");
            for option in own.filter(|word| word.starts_with("--")) {
                let name = option.split('=').next().unwrap().trim_end_matches([';', ',', '.']);
                let named = |line: &str| line.split([' ', ',']).any(|word| word == name);
                let is_there = name == "--help" || help.lines().any(named);
                assert!(is_there, "{}: gpubench {command}: no {name}", path.display());
            }
        }
    }
    assert!(known.len() > 15, "only {} commands were found", known.len());
}

#[test]
fn every_key_of_a_suite_is_explained() {
    fn keys(schema: &Value, found: &mut BTreeSet<String>) {
        match schema {
            Value::Object(map) => {
                if let Some(Value::Object(properties)) = map.get("properties") {
                    found.extend(properties.keys().cloned());
                }
                map.values().for_each(|value| keys(value, found));
            }
            Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
            _ => {}
        }
    }
    let (done, schema) = gpubench(&["schema"]);
    assert!(done);
    let mut found = BTreeSet::new();
    keys(&serde_json::from_str(&schema).unwrap(), &mut found);
    assert!(found.len() > 40, "the schema was not understood: {found:?}");
    let page: String = ["SUITES", "KERNELS"]
        .map(|page| root().join(format!("docs/reference/{page}.md")))
        .map(|page| std::fs::read_to_string(page).unwrap())
        .concat();
    let explained = |key: &String| {
        page.contains(&format!("`{key}`"))
            || page.contains(&format!("`{key}:"))
            || page.contains(&format!("{{ {key}:"))
    };
    let missing: Vec<_> = found.iter().filter(|key| !explained(key)).collect();
    assert!(missing.is_empty(), "docs/reference lacks {missing:?}");
}

#[test]
fn whole_suites_of_the_reference_are_right() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.yaml");
    let mut checked = 0;
    for (path, text) in pages().iter().filter(|(path, _)| path.starts_with("docs/reference")) {
        for (_, listing) in listings(text).1.iter().filter(|(_, l)| l.starts_with("version:")) {
            std::fs::write(&file, listing).unwrap();
            let (right, said) = gpubench(&["check", file.to_str().unwrap()]);
            assert!(right, "{}: {said}", path.display());
            checked += 1;
        }
    }
    assert!(checked > 0, "no suite was found");
}

#[test]
fn tests_that_are_named_are_there() {
    let page = std::fs::read_to_string(root().join("docs/reference/SECURITY.md")).unwrap();
    let mut checked = 0;
    for (file, name) in quoted(&page).filter_map(|quoted| quoted.split_once("::")) {
        // What several backends share stands in a folder.
        let shared = root().join(format!("crates/device/tests/{file}/mod.rs"));
        let text = test(file).or_else(|| std::fs::read_to_string(shared).ok());
        let Some(text) = text else { continue }; // a module of a crate
        let name = name.rsplit("::").next().unwrap_or(name);
        if root().join(format!("tests/{file}/{name}.rs")).exists() {
            continue; // all tests of a module
        }
        assert!(text.contains(&format!("fn {name}(")), "{file} has no test `{name}`");
        checked += 1;
    }
    assert!(checked > 15, "only {checked} tests were found");
}

/// The text of a test of `tests/`: of its file, or of all files of its folder.
fn test(name: &str) -> Option<String> {
    if let Ok(text) = std::fs::read_to_string(root().join(format!("tests/{name}.rs"))) {
        return Some(text);
    }
    let files = std::fs::read_dir(root().join("tests").join(name)).ok()?;
    let texts = files.filter_map(|file| std::fs::read_to_string(file.ok()?.path()).ok());
    Some(texts.collect())
}

/// Each item of the page of verdicts names the test that shows it: of `tests/`, or of the crate that is its first word.
#[test]
fn tests_that_show_verdicts_are_there() {
    let page = std::fs::read_to_string(root().join("docs/results/2026-11-24-verdicts.md")).unwrap();
    let mut checked = 0;
    for (place, name) in quoted(&page).filter_map(|quoted| quoted.split_once("::")) {
        let file = match place.split_once('/') {
            Some((room, file)) => {
                std::fs::read_to_string(root().join(format!("crates/{room}/src/{file}.rs"))).ok()
            }
            None => test(place),
        };
        let text = file.unwrap_or_else(|| panic!("there is no {place}"));
        assert!(text.contains(&format!("fn {name}(")), "{place} has no test `{name}`");
        checked += 1;
    }
    assert!(checked > 40, "only {checked} tests were found");
}
