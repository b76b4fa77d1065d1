//! A file imports only from floors below its own. The floors are those of the table in
//! `src/lib.rs`, so that the picture and this test cannot drift apart.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The floor of every room.
type Floors = BTreeMap<String, u32>;

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Reads the rows `//! | 2 | [`workload`]: …; [`reference`](mod@reference) |`.
fn floors(lib: &str) -> Floors {
    let mut floors = Floors::new();
    for line in lib.lines() {
        let Some((floor, rooms)) = line
            .strip_prefix("//! | ")
            .and_then(|row| row.split_once(" | "))
            .and_then(|(floor, rooms)| Some((floor.parse().ok()?, rooms)))
        else {
            continue;
        };
        for room in rooms.split("[`").skip(1) {
            let room = room.split('`').next().unwrap();
            let twice = floors.insert(room.to_owned(), floor);
            assert_eq!(twice, None, "`{room}` stands twice in the table of src/lib.rs");
        }
    }
    floors
}

/// The modules that `src/lib.rs` declares.
fn modules(lib: &str) -> Vec<&str> {
    lib.lines()
        .filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';'))
        .collect()
}

/// The code of a file: comments and texts replaced by spaces, lines kept.
fn code(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    for line in text.lines() {
        // Texts first, since they may hold `//`; a raw text over several lines never names a room.
        let mut in_text = false;
        let mut characters = line.chars().peekable();
        while let Some(c) = characters.next() {
            match c {
                '\\' if in_text => {
                    characters.next();
                }
                '"' => in_text = !in_text,
                '/' if !in_text && characters.peek() == Some(&'/') => break,
                c if !in_text => code.push(c),
                _ => {}
            }
        }
        code.push('\n');
    }
    code
}

/// Rooms that `code` names, each with its line. `depth` counts the modules from the crate's root
/// down to the file: `super` so many times is the root too.
fn named(code: &str, depth: usize) -> Vec<(usize, String)> {
    let roots = ["crate::".to_owned(), "super::".repeat(depth)];
    let mut found = vec![];
    for root in &roots {
        for (at, _) in code.match_indices(root.as_str()) {
            let before = &code[..at];
            if before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            let line = before.matches('\n').count() + 1;
            let rest = &code[at + root.len()..];
            found.extend(first_names(rest).into_iter().map(|name| (line, name)));
        }
    }
    found
}

/// The first name of a path, or of each path of a group in braces.
fn first_names(path: &str) -> Vec<String> {
    let name = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let Some(group) = path.trim_start().strip_prefix('{') else { return vec![name(path)] };
    let mut names = vec![];
    let (mut depth, mut start) = (0, 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                names.push(name(&group[start..at]));
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// What is wrong in the file at `path` below `src/`.
fn wrong(path: &str, text: &str, floors: &Floors) -> Vec<String> {
    let parts: Vec<_> = path.trim_end_matches(".rs").split('/').collect();
    let room = parts[0];
    let depth = parts.iter().filter(|part| **part != "mod").count();
    let Some(&floor) = floors.get(room) else {
        return vec![format!("src/{path}: `{room}` is missing in the table of src/lib.rs")];
    };
    let mut wrong = vec![];
    for (line, name) in named(&code(text), depth) {
        let Some(&other) = floors.get(&name) else { continue };
        if name != room && other >= floor {
            wrong.push(format!(
                "src/{path}:{line}: `{room}` (floor {floor}) imports from `{name}` (floor {other}); \
                 only floors below are allowed"
            ));
        }
    }
    wrong
}

/// Every `.rs` file below `folder`.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn every_room_stands_on_one_floor() {
    let lib = fs::read_to_string(src().join("lib.rs")).unwrap();
    let floors = floors(&lib);
    assert!(floors.len() > 10, "the table of src/lib.rs was not understood: {floors:?}");
    let mut modules = modules(&lib);
    modules.sort_unstable();
    assert_eq!(floors.keys().map(String::as_str).collect::<Vec<_>>(), modules);
}

#[test]
fn files_import_from_below_only() {
    let floors = floors(&fs::read_to_string(src().join("lib.rs")).unwrap());
    let mut mistakes = vec![];
    for file in files(&src()) {
        let path = file.strip_prefix(src()).unwrap().to_string_lossy().replace('\\', "/");
        if path != "lib.rs" && path != "main.rs" {
            mistakes.extend(wrong(&path, &fs::read_to_string(&file).unwrap(), &floors));
        }
    }
    assert!(mistakes.is_empty(), "\n{}\n", mistakes.join("\n"));
}

#[test]
fn the_check_sees_every_way_of_importing() {
    let floors = floors(
        "//! | 2 | [`high`]: x |\n//! | 1 | [`here`], [`beside`](mod@beside) |\n//! | 0 | [`low`] |",
    );
    assert_eq!(floors.len(), 4);
    let clean = "use crate::low::A;\nuse crate::here::B;\n// use crate::high::C;\nlet a = \"crate::high::D\";";
    assert!(wrong("here/file.rs", clean, &floors).is_empty());
    for bad in [
        "use crate::high::A;",
        "pub use crate::high;",
        "use crate::{\n    low::{A, B},\n    high::C,\n};",
        "use super::super::beside::A;",
        "let a = crate::beside::a(\"//\");",
    ] {
        let found = wrong("here/file.rs", bad, &floors);
        assert_eq!(found.len(), 1, "{bad}: {found:?}");
        assert!(found[0].starts_with("src/here/file.rs:1:"), "{found:?}");
    }
    assert_eq!(wrong("here/mod.rs", "use super::high::A;", &floors).len(), 1);
    assert_eq!(wrong("here.rs", "use super::high::A;", &floors).len(), 1);
    assert_eq!(wrong("new/mod.rs", "", &floors).len(), 1);
}

/// Every test that the table of docs/SECURITY.md names is there under that name.
#[test]
fn the_tests_of_the_faults_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/SECURITY.md")).unwrap();
    let (_, table) = page.split_once("| fault | tests |").unwrap();
    let (table, _) = table.split_once("\n\n").unwrap();
    let names: Vec<&str> = table.split('`').skip(1).step_by(2).collect();
    assert!(names.len() > 30, "{names:?}");
    for name in names {
        let path = name.replace("::", "/");
        let function = || {
            let (file, function) = name.split_once("::")?;
            let tests = fs::read_to_string(root.join(format!("tests/{file}.rs"))).ok()?;
            tests.contains(&format!("#[test]\nfn {function}(")).then_some(())
        };
        let file =
            ["tests", "src"].iter().any(|top| root.join(top).join(format!("{path}.rs")).is_file());
        assert!(file || function().is_some(), "there is no test `{name}`");
    }
}
