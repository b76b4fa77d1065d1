//! The first line of a result file.

use gpubench_core::error::{Error, Located, Result};
use gpubench_core::record::{Header, Line, VERSION};
use serde::Deserialize;
use std::path::Path;

/// A header as it would be written today, and the version of the file.
pub(super) fn header(path: &Path, line: &[u8]) -> Result<(Header, u32)> {
    // The version alone first: a newer header may have any other form.
    #[derive(Deserialize)]
    enum Any {
        #[serde(rename = "header")]
        Header { version: u32 },
    }
    if line.trim_ascii().is_empty() {
        return Err(rejected(path, line, 0, "the first line is blank: this is no result", None));
    }
    let no_header = |e: serde_json::Error| {
        let message = format!("this is no result of gpubench: {}", without_place(&e));
        rejected(path, line, e.column().saturating_sub(1), &message, None)
    };
    let Any::Header { version } = serde_json::from_slice(line).map_err(no_header)?;
    if version > VERSION {
        let message =
            format!("written in format {version}; this gpubench reads formats up to {VERSION}");
        return Err(rejected(path, line, 0, &message, Some("read it with a newer gpubench")));
    }
    if version == 0 {
        return Err(rejected(path, line, 0, "written in format 0, which there never was", None));
    }
    match Line::parse(line, version).map_err(no_header)? {
        Line::Header(header) => match header.validation_error() {
            Some(why) => Err(rejected(path, line, 0, &why, None)),
            None => Ok((*header, version)),
        },
        _ => Err(rejected(path, line, 0, "the first line is no header", None)),
    }
}

/// What is wrong, without the place: a line of a file is line 1 to the parser.
pub(super) fn without_place(error: &serde_json::Error) -> String {
    let why = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    why.strip_suffix(&place).unwrap_or(&why).to_owned()
}

/// A first line that is wrong at byte `at`.
pub(super) fn rejected(
    path: &Path,
    line: &[u8],
    at: usize,
    message: &str,
    help: Option<&str>,
) -> Error {
    let (before, behind) = line.split_at(at.min(line.len()));
    let before = String::from_utf8_lossy(before);
    let behind = String::from_utf8_lossy(&behind[..behind.len().min(200)]);
    let (file, at) = (path.display().to_string(), before.len());
    let text = format!("{before}{behind}");
    Error::Suite(vec![Located::at(&file, text, at..at, message, help)])
}
