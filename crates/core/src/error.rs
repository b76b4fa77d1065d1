//! The library's one error type. Its variants are what code reacts to; everything else is text.

use crate::reason::Reason;
use std::fmt;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// The library's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong, by what a caller does about it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The device, API or case cannot do what was asked; the text says why.
    #[error("unsupported: {0}")]
    Unsupported(String),
    /// A kernel did not compile or link; the log is the driver's (or naga's) own.
    #[error("kernel `{kernel}` does not build:\n{log}")]
    Build {
        /// Entry point and file, as the user knows them.
        kernel: String,
        /// The compiler's log, with private paths left out.
        log: String,
    },
    /// The result differs from the reference.
    #[error("wrong result: {0}")]
    Mismatch(String),
    /// The device is gone; only a fresh process may use it again.
    #[error("device lost: {0}")]
    DeviceLost(String),
    /// The device or host has not enough memory.
    #[error("out of memory: {0}")]
    OutOfMemory(String),
    /// It would take longer than the time it was given, so it was not begun.
    #[error("over the time budget: {0}")]
    OverBudget(Reason),
    /// Any other failure that the driver reports.
    #[error("device error: {0}")]
    Device(String),
    /// Mistakes in a suite or another input file, each with its place.
    #[error("{}", join(.0))]
    Suite(Vec<Located>),
    /// A file could not be read or written.
    #[error("{}: {}", path.display(), said(source))]
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The command line asks for something that makes no sense here.
    #[error("{0}")]
    Usage(String),
    /// Two results have nothing in common that could be compared.
    #[error("{0}")]
    NothingCompared(String),
    /// No device can be used; `doctor` explains.
    #[error("no usable device")]
    NoDevice,
}

impl Error {
    /// An [`Error::Io`] about `path`.
    pub fn io(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::Io { path: path.into(), source }
    }
}

/// What an error of the system means to who named the path. Unlike for [`crate::text::explain`] it may be a folder,
/// or written to.
fn said(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file or folder".into(),
        ErrorKind::AlreadyExists => "it is there already: name another, or move it away".into(),
        ErrorKind::PermissionDenied => "you have no permission".into(),
        _ => error.to_string(),
    }
}

/// A mistake in a text file: what is wrong, where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// The file as the user named it.
    pub file: String,
    /// The whole text of the file, so that the line can be shown (empty when it could not be read).
    pub text: Arc<str>,
    /// Byte offset of the first wrong character.
    pub offset: usize,
    /// How many bytes are wrong; 0 marks a point.
    pub len: usize,
    /// What was found.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Located {
    /// A mistake at these bytes of a file's text.
    pub fn at(
        file: &str,
        text: impl Into<Arc<str>>,
        bytes: Range<usize>,
        message: impl Into<String>,
        help: Option<&str>,
    ) -> Self {
        Self {
            file: file.to_owned(),
            text: text.into(),
            offset: bytes.start,
            len: bytes.len(),
            message: message.into(),
            help: help.map(str::to_owned),
        }
    }

    /// Line and column, counted from 1, of the first wrong character.
    pub fn line_column(&self) -> (usize, usize) {
        let mut end = self.offset.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let before = &self.text[..end];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |l| l.chars().count()) + 1;
        (line, column)
    }
}

impl fmt::Display for Located {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column) = self.line_column();
        write!(f, "{}:{line}:{column}: {}", self.file, self.message)?;
        match &self.help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}

fn join(diagnostics: &[Located]) -> String {
    diagnostics.iter().map(Located::to_string).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn located(text: &str, offset: usize) -> Located {
        Located::at("f.yaml", text, offset..offset + 1, "odd", None)
    }

    #[test]
    fn places_are_lines_and_characters() {
        let text = "é=1\nab\n";
        let places = [
            (0, (1, 1)),
            (1, (1, 1)),
            (2, (1, 2)),
            (4, (1, 4)),
            (5, (2, 1)),
            (7, (2, 3)),
            (8, (3, 1)),
            (99, (3, 1)),
        ];
        for (offset, place) in places {
            assert_eq!(located(text, offset).line_column(), place, "{offset}");
        }
        let helped = Located { help: Some("do this".into()), ..located(text, 6) };
        assert_eq!(helped.to_string(), "f.yaml:2:2: odd (do this)");
        let all = Error::Suite(vec![located(text, 0), helped]);
        assert_eq!(all.to_string(), "f.yaml:1:1: odd\nf.yaml:2:2: odd (do this)");
        let io = Error::io("a/b", std::io::Error::other("broken"));
        assert_eq!(io.to_string(), "a/b: broken");
        let there = Error::io("a/b", ErrorKind::AlreadyExists.into());
        assert!(there.to_string().starts_with("a/b: it is there already"), "{there}");
    }
}
