//! A run's file, and where else its records are.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A file of a run, with what other files hold of the same run: all are read as one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunFile {
    /// The file.
    pub path: PathBuf,
    /// The others.
    pub parts: Vec<Part>,
}

/// Records of a run that stand in another file than the run's first one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part {
    /// The file.
    pub path: PathBuf,
    /// The lines that are read, from 1.
    pub lines: BTreeSet<u64>,
}

impl<P: AsRef<Path> + ?Sized> From<&P> for RunFile {
    fn from(path: &P) -> Self {
        Self { path: path.as_ref().to_owned(), parts: vec![] }
    }
}

impl From<&RunFile> for RunFile {
    fn from(file: &RunFile) -> Self {
        file.clone()
    }
}
