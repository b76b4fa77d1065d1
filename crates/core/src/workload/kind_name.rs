//! The name of a kind of experiment.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Mutex, PoisonError};

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
}
