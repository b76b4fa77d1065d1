//! Suites from the outside: what is shipped loads, what is wrong is rendered with its place.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic as the test itself")]

mod bad;
mod baselines;
mod command;
mod files;
mod fuzz;
mod good;
mod plan;
mod schema;
mod small;

use gpubench::error::{Error, Located};
use gpubench::suite::Suite;
use std::path::{Path, PathBuf};

/// The folder of this test's data.
fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/suites")
}

fn load(path: &Path) -> Result<Suite, Error> {
    gpubench::measure::load(&path.to_string_lossy())
}

/// A fresh folder with a copy of the kernels and of what `files` says.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for kernel in ["scale.cl", "scale.wgsl"] {
        std::fs::copy(data().join(kernel), folder.path().join(kernel)).unwrap();
    }
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

/// The diagnostics in a suite of this text.
fn diagnostics(text: &str) -> Vec<Located> {
    let folder = folder(&[("my.yaml", text)]);
    diagnostics_at(&folder.path().join("my.yaml"))
}

fn diagnostics_at(path: &Path) -> Vec<Located> {
    match load(path) {
        Err(Error::Suite(diagnostics)) => diagnostics,
        Ok(suite) => panic!("{} loads: {suite:#?}", path.display()),
        Err(other) => panic!("{}: {other}", path.display()),
    }
}

/// Why the file at `path` cannot be read at all.
fn rejected(path: &Path) -> String {
    match load(path) {
        Err(Error::Usage(why)) => why,
        other => panic!("{}: {other:?}", path.display()),
    }
}

/// The one mistake, as the user reads it: `line:column: message (help)`.
fn rendered(diagnostics: &[Located]) -> String {
    let lines = diagnostics.iter().map(|diagnostic| {
        let (line, column) = diagnostic.line_column();
        let help = diagnostic.help.as_deref().unwrap_or_default();
        format!("{line}:{column}: {} ({help})", diagnostic.message)
    });
    lines.collect::<Vec<_>>().join("\n")
}
