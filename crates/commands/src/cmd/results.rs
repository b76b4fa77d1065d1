//! The result files that a command's paths mean.

use super::show::warnings;
use crate::store::find::{self, Copied, Found};
use crate::store::{Run, RunFile, read};
use gpubench_core::error::{Error, Result};
use gpubench_core::text::counted;
use std::path::PathBuf;

/// Finds them; none for none. What lies in a folder under a result's name and is none, and the same run a second
/// time, be it in a baseline, are reported on stderr and left out; so is which files are read as one run.
///
/// # Errors
/// As [`find::find`]; `Usage` where folders hold no result at all.
pub fn files(paths: &[PathBuf]) -> Result<Vec<RunFile>> {
    reported(find::find_each_once(paths)?, paths)
}

fn reported(found: Found, paths: &[PathBuf]) -> Result<Vec<RunFile>> {
    let foreign = found.foreign.iter().map(|error| format!("skipped: {error}"));
    let copies = found.copies.iter().map(said);
    let joined = found.files.iter().flat_map(joined);
    warnings(&foreign.chain(copies).chain(joined).collect::<Vec<_>>());
    if found.files.is_empty() && !paths.is_empty() {
        return Err(Error::Usage("no result of gpubench is among these files".into()));
    }
    Ok(found.files)
}

/// What is said of a file that is left out.
fn said(copied: &Copied) -> String {
    let (copy, kept) = (copied.file.display(), copied.kept.display());
    let same = format!("skipped: {copy} holds the same run as {kept}");
    match copied.missing {
        _ if copied.file == copied.kept => format!("named twice, counted once: {copy}"),
        0 => same,
        missing => {
            let records = counted(missing, "record");
            format!("{same}. Not read: {records}, in no file that is read; name it alone for these")
        }
    }
}

/// What is said of files that are read as one.
fn joined(file: &RunFile) -> impl Iterator<Item = String> {
    file.parts.iter().map(|part| {
        let (first, path) = (file.path.display(), part.path.display());
        let records = counted(part.lines.len(), "record");
        format!("read as one run: {first}, and {records} of {path}")
    })
}

/// Reads one, and reports what of it cannot be used.
///
/// # Errors
/// As [`read`].
pub fn open(file: impl Into<RunFile>) -> Result<Run> {
    let run = read(file)?;
    warnings(&run.warnings);
    Ok(run)
}

/// Finds all, as [`files`], and reads each, as [`open`].
///
/// # Errors
/// Theirs.
pub fn open_all(paths: &[PathBuf]) -> Result<Vec<Run>> {
    files(paths)?.iter().map(open).collect()
}

/// As [`open_all`], with every baseline, whatever it was made of: it remembers more than the runs that are there.
///
/// # Errors
/// Theirs.
pub fn open_all_and_baselines(paths: &[PathBuf]) -> Result<Vec<Run>> {
    reported(find::find(paths)?, paths)?.iter().map(open).collect()
}
