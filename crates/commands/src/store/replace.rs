//! What a command derives from runs may take the place of what it derived before, and never that of a run.

use super::provenance;
use gpubench_core::error::{Error, Result};
use serde_json::Value;
use std::path::Path;

/// Writes a file in place of the one that may be there.
///
/// # Errors
/// `Usage` where that holds a run, by whatever name or link; `Io` where it cannot be written.
pub fn replace(path: &Path, text: &str) -> Result<()> {
    if is_run(path) {
        return Err(Error::Usage(format!(
            "{} holds a run, which would be lost: name another file",
            path.display()
        )));
    }
    std::fs::write(path, text).map_err(|error| Error::io(path, error))
}

/// Whether whoever reads the file finds a run's header, of whatever version, or a baseline's.
fn is_run(path: &Path) -> bool {
    // A pipe that is opened waits for whoever writes to it.
    let begin = if path.is_file() { provenance::begin(path) } else { None };
    let header = begin.and_then(|[line, _]| serde_json::from_slice::<Value>(&line).ok());
    header.is_some_and(|line| line.get("header").is_some())
}

#[test]
fn a_report_takes_a_reports_place_and_no_runs() {
    let folder = tempfile::tempdir().unwrap();
    let [report, run, link] = ["a.html", "run.jsonl", "link"].map(|name| folder.path().join(name));
    for text in ["first", "second"] {
        replace(&report, text).unwrap();
        assert_eq!(std::fs::read_to_string(&report).unwrap(), text);
    }
    std::fs::write(&run, "").unwrap();
    std::fs::hard_link(&run, &link).unwrap();
    let header = "{\"header\": {\"version\":2}}\n";
    let spelt = header.replace("head", "h\\u0065ad");
    for text in [format!("\u{feff}{header}"), format!("{}{header}", " ".repeat(99)), spelt] {
        std::fs::write(&run, &text).unwrap();
        for path in [&run, &link] {
            assert!(replace(path, "page").unwrap_err().to_string().contains("holds a run"));
        }
        assert_eq!(std::fs::read_to_string(&run).unwrap(), text);
    }
    assert!(matches!(replace(folder.path(), "page"), Err(Error::Io { .. })));
}
