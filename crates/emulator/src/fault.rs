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
}

impl FaultKind {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::OutOfBounds => "out of bounds",
            Self::Race => "race",
            Self::DivergentBarrier => "barrier in divergent flow",
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
    /// Its line, from 1.
    pub line: u32,
    /// What happened the first time: which work-item of which group did what.
    pub what: String,
    /// How often it happened.
    pub times: u64,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { kind, file, line, what, times } = self;
        write!(f, "{file}:{line}: {}: {what}", kind.name())?;
        if *times > 1 { write!(f, " ({times} times)") } else { Ok(()) }
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
