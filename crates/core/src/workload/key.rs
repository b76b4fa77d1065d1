//! What distinguishes one case from another.

use super::Kind;
use crate::gpu::MemoryKind;
use crate::reason::Reason;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Named sizes of one case, in the order of the file.
pub type Size = Vec<(String, i64)>;

/// What distinguishes a case from every other of its suite. Equal keys are compared between runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CaseKey {
    /// The workload's name.
    pub workload: String,
    /// Its sizes.
    pub size: Size,
    /// What is measured.
    pub measure: Kind,
    /// The kind of host memory, for transfers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_memory: Option<MemoryKind>,
}

impl CaseKey {
    /// Whether it differs from `other` in its sizes at most.
    pub fn is_sibling_of(&self, other: &Self) -> bool {
        self.workload == other.workload
            && self.measure == other.measure
            && self.host_memory == other.host_memory
    }

    /// Whether it is `other`, or a sibling of which no size is larger.
    pub fn is_no_larger_than(&self, other: &Self) -> bool {
        let pairs = || self.size.iter().zip(&other.size);
        self.is_sibling_of(other)
            && self.size.len() == other.size.len()
            && pairs().all(|((name, mine), (its, theirs))| name == its && mine <= theirs)
    }
}

impl fmt::Display for CaseKey {
    /// `sepia n=512`; of a transfer, the kind of host memory behind it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.workload)?;
        for (name, value) in &self.size {
            write!(f, " {name}={value}")?;
        }
        if let Some(kind) = self.host_memory {
            write!(f, " {}", kind.label())?;
        }
        Ok(())
    }
}

/// A case that is not run, with the reason: it still becomes a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Skip {
    /// What would have been measured.
    pub key: CaseKey,
    /// Words to filter by.
    pub tags: Vec<String>,
    /// Which ranking family it would have counted in.
    pub family: String,
    /// Why it is not run.
    pub reason: Reason,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_is_no_larger_than_a_sibling_of_which_no_size_is_smaller() {
        let key = |workload: &str, d1: i64, d2: i64| CaseKey {
            workload: workload.into(),
            size: vec![("d1".into(), d1), ("d2".into(), d2)],
            measure: Kind::KERNEL,
            host_memory: None,
        };
        assert!(key("a", 4, 8).is_no_larger_than(&key("a", 4, 8)));
        assert!(key("a", 4, 8).is_no_larger_than(&key("a", 4, 9)));
        assert!(!key("a", 4, 8).is_no_larger_than(&key("a", 64, 7)));
        assert!(!key("a", 4, 8).is_no_larger_than(&key("b", 64, 64)));
        let other = CaseKey { measure: Kind::new("overlap"), ..key("a", 64, 64) };
        assert!(!key("a", 4, 8).is_no_larger_than(&other));
    }
}
