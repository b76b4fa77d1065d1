//! One concept, one word: none of the words of `tests/data/vocabulary.txt` in identifiers, on the
//! command line, in the schemas or in the docs. `docs/GLOSSARY.md` has the words we use.
#![expect(clippy::unwrap_used, reason = "a helper of tests panics as tests do")]

use serde_json::Value;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A word that is not used.
struct Banned {
    /// Its parts, in lower case; the identifier itself where it is `whole`.
    parts: Vec<String>,
    whole: bool,
    /// Where it is not used; empty: anywhere.
    paths: Vec<String>,
    /// Whether docs do without it, too.
    prose: bool,
    instead: String,
}

/// An identifier, or a path, that may have a word all the same.
struct Exception {
    word: String,
    place: String,
    used: Cell<bool>,
}

struct Vocabulary {
    banned: Vec<Banned>,
    exceptions: Vec<Exception>,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

impl Vocabulary {
    fn load() -> Self {
        let (mut banned, mut exceptions) = (vec![], vec![]);
        for line in read("tests/data/vocabulary.txt").lines() {
            let columns: Vec<&str> = line.split('\t').collect();
            match columns[..] {
                _ if line.is_empty() || line.starts_with('#') => {}
                ["allow", word, place, reason] if !reason.is_empty() => {
                    let used = Cell::new(false);
                    exceptions.push(Exception { word: word.into(), place: place.into(), used });
                }
                [word, paths, "prose" | "names", instead] => banned.push(Banned {
                    whole: word.starts_with('='),
                    parts: match word.strip_prefix('=') {
                        Some(whole) => vec![whole.to_owned()],
                        None => word.split('_').map(str::to_owned).collect(),
                    },
                    paths: match paths {
                        "*" => vec![],
                        _ => paths.split(',').map(str::to_owned).collect(),
                    },
                    prose: columns[2] == "prose",
                    instead: instead.into(),
                }),
                _ => panic!("tests/data/vocabulary.txt: {line}"),
            }
        }
        assert!(banned.len() > 60);
        Self { banned, exceptions }
    }

    /// What of an identifier in a file is not used.
    fn objection(&self, identifier: &str, path: &str) -> Option<String> {
        let parts = parts(identifier);
        let found = self.banned.iter().find(|banned| {
            (banned.paths.is_empty() || banned.paths.iter().any(|place| is_there(path, place)))
                && banned.is_in(identifier, &parts)
                && !self.allows(&banned.word(), identifier, path)
        })?;
        Some(format!("{identifier}: not `{}` but {}", found.word(), found.instead))
    }

    fn allows(&self, word: &str, identifier: &str, path: &str) -> bool {
        let allowed = |exception: &&Exception| {
            exception.word == word
                && match exception.place.contains('/') {
                    true => is_there(path, &exception.place),
                    false => identifier == exception.place,
                }
        };
        let found = self.exceptions.iter().find(allowed);
        found.inspect(|exception| exception.used.set(true)).is_some()
    }
}

/// Whether a path begins with a place that has a slash, or contains one that has none.
fn is_there(path: &str, place: &str) -> bool {
    if place.contains('/') { path.starts_with(place) } else { path.contains(place) }
}

impl Banned {
    fn word(&self) -> String {
        self.parts.join("_")
    }

    fn is_in(&self, identifier: &str, parts: &[String]) -> bool {
        match self.whole {
            true => self.parts[0] == identifier,
            false => parts.windows(self.parts.len()).any(|window| *window == self.parts),
        }
    }
}

/// `CaseKey` and `case_key` are `case` and `key`.
fn parts(identifier: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let chars: Vec<char> = identifier.chars().collect();
    for (i, &c) in chars.iter().enumerate() {
        let before = i.checked_sub(1).map(|i| chars[i]);
        let hump = c.is_uppercase()
            && (before.is_some_and(|b| !b.is_uppercase())
                || chars.get(i + 1).is_some_and(|next| next.is_lowercase()));
        if hump || !c.is_alphanumeric() {
            parts.push(String::new());
        }
        if c.is_alphanumeric() {
            parts.last_mut().unwrap().extend(c.to_lowercase());
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Identifiers of Rust source, without those in comments and texts.
fn identifiers(source: &str) -> BTreeSet<String> {
    let chars: Vec<char> = source.chars().collect();
    let (mut found, mut i) = (BTreeSet::new(), 0);
    let is_part = |c: &char| c.is_alphanumeric() || *c == '_';
    while i < chars.len() {
        let rest = &chars[i..];
        i += match rest {
            ['/', '/', ..] => rest.iter().position(|c| *c == '\n').unwrap_or(rest.len()),
            ['/', '*', ..] => rest.windows(2).position(|w| w == ['*', '/']).unwrap() + 2,
            ['r', '"' | '#', ..] | ['b', 'r', '"' | '#', ..] => raw_text(rest),
            ['"', ..] => text(rest, '"'),
            ['\'', '\\', ..] | ['\'', _, '\'', ..] => text(rest, '\''),
            [first, ..] if is_part(first) => {
                let end = rest.iter().position(|c| !is_part(c)).unwrap_or(rest.len());
                found.insert(rest[..end].iter().collect::<String>());
                end
            }
            _ => 1,
        };
    }
    found
}

/// Length of a text or character in quotes.
fn text(rest: &[char], quote: char) -> usize {
    let mut i = 1;
    while rest[i] != quote {
        i += if rest[i] == '\\' { 2 } else { 1 };
    }
    i + 1
}

/// Length of a raw text; of `r#type`, which is none, that of its mark.
fn raw_text(rest: &[char]) -> usize {
    let open = rest.iter().position(|c| *c == 'r').unwrap() + 1;
    let marks = rest[open..].iter().take_while(|c| **c == '#').count();
    if rest[open + marks] != '"' {
        return open + marks;
    }
    let mut end = vec!['"'];
    end.extend(std::iter::repeat_n('#', marks));
    let inside = open + marks + 1;
    inside + rest[inside..].windows(end.len()).position(|w| w == end).unwrap() + end.len()
}

/// Files below `folder` whose names end in `ending`, by their paths from the root.
fn files(folder: &str, ending: &str) -> Vec<String> {
    let (mut found, mut folders) = (vec![], vec![PathBuf::from(folder)]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root().join(&folder)).unwrap() {
            let path = folder.join(entry.unwrap().file_name());
            let name = path.to_str().unwrap().to_owned();
            if root().join(&path).is_dir() {
                folders.push(path);
            } else if name.ends_with(ending) {
                found.push(name);
            }
        }
    }
    assert!(!found.is_empty(), "no file below {folder} ends in {ending}");
    found.sort();
    found
}

fn gpubench(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_gpubench")).args(arguments).output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

fn report(objections: Vec<String>) {
    assert!(objections.is_empty(), "{}\n{} in all", objections.join("\n"), objections.len());
}

#[test]
fn an_identifier_falls_into_its_parts() {
    assert_eq!(parts("StderrTail"), ["stderr", "tail"]);
    assert_eq!(parts("leave_one_size_out"), ["leave", "one", "size", "out"]);
    assert_eq!(parts("HTMLPage"), ["html", "page"]);
    let found =
        identifiers(r##"let r#type = 'a'; /* told */ f("told", r#"told"#, b'\''); // told"##);
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["b", "f", "let", "type"]);
    let vocabulary = Vocabulary::load();
    assert!(vocabulary.objection("is_told", "src/a.rs").is_some());
    assert!(vocabulary.objection("StderrTail", "crates/commands/src/worker/a.rs").is_none());
    assert!(vocabulary.objection("tail", "crates/commands/src/worker/a.rs").is_some());
}

#[test]
fn no_identifier_has_one() {
    let vocabulary = Vocabulary::load();
    let mut objections = vec![];
    for path in ["crates", "src", "mpi"].iter().flat_map(|folder| files(folder, ".rs")) {
        for identifier in identifiers(&read(&path)) {
            let objection = vocabulary.objection(&identifier, &path);
            objections.extend(objection.map(|why| format!("{path}: {why}")));
        }
        let name = path.rsplit('/').next().unwrap().trim_end_matches(".rs");
        let objection = vocabulary.objection(name, &path);
        objections.extend(objection.map(|why| format!("{path}: {why}")));
    }
    let unused = vocabulary.exceptions.iter().filter(|exception| !exception.used.get());
    objections.extend(unused.map(|e| format!("no longer needed: allow {} {}", e.word, e.place)));
    report(objections);
}

#[test]
fn no_word_of_the_command_line_is_one() {
    let vocabulary = Vocabulary::load();
    // Commands, options and values, one after the other, between blanks and quotes.
    let script = gpubench(&["completions", "bash"]);
    let lists = script.lines().filter(|line| line.contains("opts=") || line.contains("compgen"));
    let words: BTreeSet<&str> = lists
        .flat_map(|line| line.split(|c: char| !(c.is_alphanumeric() || c == '-')))
        .filter(|word| !word.is_empty())
        .collect();
    assert!(words.contains("--fail-on") && words.contains("rank"));
    let cli = |word: &&str| {
        vocabulary.objection(word, "crates/commands/src/cmd/").map(|why| format!("--help: {why}"))
    };
    report(words.iter().filter_map(cli).collect());
}

#[test]
fn no_key_of_a_schema_is_one() {
    fn names(schema: &Value, found: &mut BTreeSet<String>) {
        match schema {
            Value::Object(map) => {
                for (key, value) in map {
                    match (key.as_str(), value) {
                        ("properties" | "definitions" | "$defs", Value::Object(map)) => {
                            found.extend(map.keys().cloned());
                        }
                        ("enum", Value::Array(values)) => {
                            found.extend(values.iter().filter_map(Value::as_str).map(Into::into));
                        }
                        ("const", Value::String(value)) => {
                            found.insert(value.clone());
                        }
                        _ => {}
                    }
                    names(value, found);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| names(item, found)),
            _ => {}
        }
    }
    let vocabulary = Vocabulary::load();
    let mut objections = vec![];
    for of in ["suite", "report"] {
        let mut found = BTreeSet::new();
        names(&serde_json::from_str(&gpubench(&["schema", of])).unwrap(), &mut found);
        assert!(found.len() > 20, "the schema of a {of} was not understood");
        let object = |name: &String| vocabulary.objection(name, "schema of a suite or report");
        objections.extend(found.iter().filter_map(object).map(|why| format!("schema {of}: {why}")));
    }
    report(objections);
}

#[test]
fn no_page_has_one() {
    let vocabulary = Vocabulary::load();
    let everywhere = |banned: &&Banned| banned.paths.is_empty() && !banned.whole;
    let banned: Vec<&Banned> = vocabulary.banned.iter().filter(everywhere).collect();
    let mut pages = files("docs", ".md");
    // The page that explains these words has to name them.
    pages.retain(|page| page != "docs/appendix/WORDS.md");
    pages.extend(["README.md".to_owned(), "CONTRIBUTING.md".to_owned()]);
    let mut objections = vec![];
    for page in pages {
        for (number, line) in (1..).zip(read(&page).lines()) {
            let words: Vec<String> =
                line.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase).collect();
            for banned in banned.iter().filter(|banned| banned.prose || line.starts_with('#')) {
                if words.windows(banned.parts.len()).any(|window| *window == banned.parts) {
                    let (word, instead) = (banned.word(), &banned.instead);
                    objections.push(format!("{page}:{number}: not `{word}` but {instead}"));
                }
            }
        }
    }
    report(objections);
}
