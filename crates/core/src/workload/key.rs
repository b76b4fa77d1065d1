//! What distinguishes one case from another, the name of its kind among it.

use crate::gpu::MemoryKind;
use crate::reason::Reason;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Mutex, PoisonError};

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

/// The name of a kind of experiment: its word under `measure:` in a suite and in records. A record
/// may name a kind that this build does not know.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Kind(&'static str);

/// Unknown kinds of one process: more are no result files, but an attack.
const MAX_UNKNOWN: usize = 256;
/// The longest name.
const MAX_NAME: usize = 32;

static UNKNOWN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

impl Kind {
    /// The time of one launch: what is measured where a suite says nothing.
    pub const KERNEL: Self = Self::new("kernel");

    /// The kind called `name`.
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        self.0
    }

    /// Whether it is the time of one launch.
    pub fn is_kernel(self) -> bool {
        self == Self::KERNEL
    }

    /// What tables call it.
    pub fn label(self) -> String {
        self.0.replace(['-', '_'], " ")
    }

    /// The kind that a file calls `name`; `None` where nobody would call one so.
    fn named(name: &str) -> Option<Self> {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
        if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(fits) {
            return None;
        }
        // The usual kind waits for no other thread.
        if name == Self::KERNEL.0 {
            return Some(Self::KERNEL);
        }
        let mut known = UNKNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(name) {
            return Some(Self(known));
        }
        if known.len() >= MAX_UNKNOWN {
            return None;
        }
        let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
        known.insert(name);
        Some(Self(name))
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = std::borrow::Cow::<str>::deserialize(deserializer)?;
        Self::named(&name)
            .ok_or_else(|| de::Error::custom(format!("{name:?} names no kind of experiment")))
    }
}

impl schemars::JsonSchema for Kind {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Kind".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A kind of experiment, by its word in suites.",
            "type": "string",
        })
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
    fn a_kind_is_its_name_known_or_not() {
        let read = |text: &str| serde_json::from_str::<Kind>(text);
        assert_eq!(read("\"kernel\"").unwrap(), Kind::KERNEL);
        let unknown = read("\"of-the-future\"").unwrap();
        assert_eq!(unknown, Kind::new("of-the-future"));
        assert_eq!(serde_json::to_string(&unknown).unwrap(), "\"of-the-future\"");
        assert_eq!(unknown.label(), "of the future");
        for bad in ["\"\"", "\"Kernel\"", "\"a\\u001bb\"", &format!("{:?}", "a".repeat(33))] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

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

    #[test]
    fn a_key_is_written_with_its_sizes_and_memory() {
        let size = vec![("n".into(), 512), ("m".into(), -1)];
        let key =
            CaseKey { workload: "sepia".into(), size, measure: Kind::KERNEL, host_memory: None };
        assert_eq!(key.to_string(), "sepia n=512 m=-1");
        let pinned = CaseKey { host_memory: Some(MemoryKind::Pinned), ..key.clone() };
        assert_eq!(pinned.to_string(), "sepia n=512 m=-1 pinned");
        assert!(
            key.is_sibling_of(&key)
                && !key.is_sibling_of(&pinned)
                && !key.is_no_larger_than(&pinned)
        );
        let renamed = CaseKey { size: vec![("n".into(), 512), ("k".into(), -1)], ..key.clone() };
        let shorter = CaseKey { size: vec![("n".into(), 512)], ..key.clone() };
        assert!(!key.is_no_larger_than(&renamed) && !key.is_no_larger_than(&shorter));
        assert!(key.is_sibling_of(&shorter));
        assert!(Kind::KERNEL.is_kernel() && !Kind::new("upload").is_kernel());
        assert_eq!(
            (Kind::new("upload").name(), format!("{:?}", Kind::new("upload"))),
            ("upload", "upload".into())
        );
    }

    #[test]
    fn names_of_kinds_are_at_most_32_of_a_few_characters() {
        let read = |text: &str| serde_json::from_str::<Kind>(&format!("{text:?}")).is_ok();
        assert!(["a", "b-c_9", &"a".repeat(32)].iter().all(|name| read(name)));
        assert!(["a b", "é", "a.b", &"a".repeat(33)].iter().all(|name| !read(name)));
        let schema = schemars::schema_for!(Vec<Kind>).to_value();
        assert_eq!(schema["$defs"]["Kind"]["type"], "string");
    }
}
