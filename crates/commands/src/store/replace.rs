//! What a command derives from runs may take the place of what it derived before, and never that of a run, a
//! baseline or a file of tries.

use super::provenance;
use gpubench_core::error::{Error, Result};
use serde_json::Value;
use std::path::Path;

/// Writes a file in place of the one that may be there.
///
/// # Errors
/// `Usage` where that holds a run, a baseline or tries, by whatever name or link; `Io` where it cannot be written.
pub fn replace(path: &Path, text: &str) -> Result<()> {
    if let Some(what) = measured(path) {
        return Err(Error::Usage(format!(
            "{} holds {what}, which would be lost: name another file",
            path.display()
        )));
    }
    whole(path, || std::fs::write(path, text).map_err(|error| Error::io(path, error)))
}

/// What `write` makes of a file; where it fails, none is left that was not there before: its part would look like all of it.
///
/// # Errors
/// Those of `write`.
pub fn whole<T>(path: &Path, write: impl FnOnce() -> Result<T>) -> Result<T> {
    let was_there = path.symlink_metadata().is_ok();
    write().inspect_err(|_| {
        if !was_there {
            let _ = std::fs::remove_file(path);
        }
    })
}

/// What its reader finds in it, of whatever version: a run's header or a baseline's, or a try.
fn measured(path: &Path) -> Option<&'static str> {
    let line: Value = serde_json::from_slice(&provenance::first(path)?).ok()?;
    let has = |key: &str| line.get(key).is_some();
    if has("header") {
        Some("a run")
    } else if ["version", "kernel", "variant"].into_iter().all(has) {
        Some("tries of `tune`")
    } else {
        None
    }
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
    let tried = r#"{"version":1,"kernel":"00","variant":"64","outcome":"ok"}"#.to_owned();
    let spelt = header.replace("head", "h\\u0065ad");
    for text in [
        format!("\u{feff}{header}"),
        format!("{}{header}", " ".repeat(99)),
        format!("\n{tried}"),
        spelt,
    ] {
        std::fs::write(&run, &text).unwrap();
        for path in [&run, &link] {
            assert!(replace(path, "page").unwrap_err().to_string().contains("would be lost"));
        }
        assert_eq!(std::fs::read_to_string(&run).unwrap(), text);
    }
    assert!(matches!(replace(folder.path(), "page"), Err(Error::Io { .. })));
    for (file, is_left) in [(folder.path().join("new"), false), (report, true)] {
        let full = || Error::io(&file, std::io::ErrorKind::StorageFull.into());
        let cut = || std::fs::write(&file, "par").map_err(|e| Error::io(&file, e));
        assert!(whole(&file, || cut().and(Err::<(), _>(full()))).is_err());
        assert_eq!(file.exists(), is_left);
    }
}
