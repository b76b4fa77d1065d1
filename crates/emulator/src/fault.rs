//! What a kernel does wrong, and where.

use serde::{Deserialize, Serialize};

/// What kind of mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// An access outside of an array or buffer.
    OutOfBounds,
    /// Two accesses to one word, at least one a write, that nothing orders.
    Race,
    /// A barrier that not all work-items of the group reach.
    DivergentBarrier,
    /// A read of an element of an output that nothing has written yet.
    ReadBeforeWrite,
    /// An element of an output that nothing writes.
    NeverWritten,
}

impl FaultKind {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::OutOfBounds => "out of bounds",
            Self::Race => "race",
            Self::DivergentBarrier => "barrier in divergent flow",
            Self::ReadBeforeWrite => "read before the first write",
            Self::NeverWritten => "never written",
        }
    }
}

/// A mistake at one line of the kernel's text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// What kind.
    pub kind: FaultKind,
    /// The kernel's file.
    pub file: String,
    /// Its line, from 1; of what is never written, the line that declares it.
    pub line: u32,
    /// What happened the first time: which work-item of which group did what.
    pub what: String,
    /// How often it happened; of what is never written, how many elements.
    pub times: u64,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { kind, file, line, what, times } = self;
        write!(f, "{file}:{line}: {}: {what}", kind.name())?;
        match (kind, times) {
            (_, 0 | 1) => Ok(()),
            (FaultKind::NeverWritten, _) => write!(f, " ({times} elements)"),
            _ => write!(f, " ({times} times)"),
        }
    }
}

/// Faults met so far: one for each kind and line.
#[derive(Debug, Default)]
pub(super) struct Faults {
    pub(super) found: Vec<Fault>,
}

impl Faults {
    pub(super) fn add(
        &mut self,
        kind: FaultKind,
        line: u32,
        file: &str,
        what: impl FnOnce() -> String,
    ) {
        match self.found.iter_mut().find(|fault| fault.kind == kind && fault.line == line) {
            Some(fault) => fault.times += 1,
            None => {
                let file = file.to_owned();
                self.found.push(Fault { kind, file, line, what: what(), times: 1 });
            }
        }
    }
}
