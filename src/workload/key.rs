//! What tells one case from another.

use super::Measure;
use crate::gpu::MemoryKind;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Named sizes of one case, in the order of the file.
pub type Size = Vec<(String, i64)>;

/// What tells a case from every other of its suite. Equal keys are compared between runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CaseKey {
    /// The workload's name.
    pub workload: String,
    /// Its sizes.
    pub size: Size,
    /// What is measured.
    pub measure: Measure,
    /// The kind of host memory, for transfers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_memory: Option<MemoryKind>,
}

impl fmt::Display for CaseKey {
    /// `sepia n=512`; of a transfer, the kind of host memory behind it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.workload)?;
        for (name, value) in &self.size {
            write!(f, " {name}={value}")?;
        }
        if let Some(kind) = self.host_memory {
            write!(f, " {}", format!("{kind:?}").to_lowercase())?;
        }
        Ok(())
    }
}

/// A case that is not run, with the reason: it still becomes a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// What would have been measured.
    pub key: CaseKey,
    /// Words to filter by.
    pub tags: Vec<String>,
    /// Which ranking family it would have counted in.
    pub family: String,
    /// Why it is not run.
    pub reason: String,
}
