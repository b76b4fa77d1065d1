//! What a command derives from runs may take the place of what it derived before, and never that of a run.

use gpubench_core::error::{Error, Result};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// How a result file and a baseline begin, behind a mark of the order of bytes or not.
const BEGIN: &str = "{\"header\"";

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

fn is_run(path: &Path) -> bool {
    // A pipe that is opened waits for whoever writes to it.
    if !path.is_file() {
        return false;
    }
    let Ok(file) = File::open(path) else { return false };
    let mut begin = vec![];
    if file.take(64).read_to_end(&mut begin).is_err() {
        return false;
    }
    let begin = String::from_utf8_lossy(&begin);
    let without_blanks: String =
        begin.trim_start_matches('\u{feff}').split_ascii_whitespace().collect();
    without_blanks.starts_with(BEGIN)
}

#[test]
fn a_report_takes_a_reports_place_and_no_runs() {
    let folder = tempfile::tempdir().unwrap();
    let [report, run, link] = ["a.html", "run.jsonl", "link"].map(|name| folder.path().join(name));
    for text in ["first", "second"] {
        replace(&report, text).unwrap();
        assert_eq!(std::fs::read_to_string(&report).unwrap(), text);
    }
    let text = "\u{feff}{ \"header\": {\"version\":2}}\n";
    std::fs::write(&run, text).unwrap();
    std::fs::hard_link(&run, &link).unwrap();
    for path in [&run, &link] {
        assert!(replace(path, "page").unwrap_err().to_string().contains("holds a run"));
    }
    assert_eq!(std::fs::read_to_string(&run).unwrap(), text);
    assert!(matches!(replace(folder.path(), "page"), Err(Error::Io { .. })));
}
