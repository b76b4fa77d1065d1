//! The suites whose own kernels the user trusts: hashes over all of a suite's files, one a line,
//! in the user's configuration.

use gpubench_core::error::{Error, Result};
use gpubench_core::text::{printable, read};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The largest file of notes that is read: more than 100,000 suites.
const LARGEST: u64 = 16 << 20;

/// Whether the user has trusted the suite of this hash.
pub fn is_trusted(hash: &str) -> bool {
    file().is_some_and(|file| holds(&file, hash))
}

/// Notes that the user trusts the suite of this hash, and gives the file with the note.
///
/// # Errors
/// `Io` when there is no place for it, or it cannot be written.
pub fn remember(hash: &str, name: &str) -> Result<PathBuf> {
    let Some(file) = file() else {
        let nowhere = io::Error::new(io::ErrorKind::NotFound, "no folder for a user's settings");
        return Err(Error::io("trusted", nowhere));
    };
    note(&file, hash, name)?;
    Ok(file)
}

fn holds(file: &Path, hash: &str) -> bool {
    let text = read(file, LARGEST).unwrap_or_default();
    text.lines().any(|line| line.split_whitespace().next() == Some(hash))
}

fn note(file: &Path, hash: &str, name: &str) -> Result<()> {
    let io = |error| Error::io(file, error);
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(io)?;
    }
    let mut notes = OpenOptions::new().create(true).append(true).open(file).map_err(io)?;
    // In one piece, since another run may write at the same time.
    let line = format!("{hash} {}\n", printable(name, 100));
    notes.write_all(line.as_bytes()).map_err(io)
}

fn file() -> Option<PathBuf> {
    super::settings::file("trusted")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_noted_is_trusted_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("gpubench/trusted");
        assert!(!holds(&file, "00ff"));
        note(&file, "00ff", "mine\n0001 forged").unwrap();
        note(&file, "ff00", "").unwrap();
        assert!(holds(&file, "00ff") && holds(&file, "ff00"));
        for other in ["00f", "0001", "mine", ""] {
            assert!(!holds(&file, other), "{other}");
        }
        #[cfg(unix)]
        assert!(!holds(Path::new("/dev/zero"), "00ff"), "what has no end is not read");
    }
}
