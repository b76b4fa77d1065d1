//! The raw times of an experiment of several recordings, as a record holds them: under the name of
//! its kind, and otherwise known to that kind alone.

use crate::workload::Kind;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// What an experiment of one kind leaves behind.
pub trait Data: Serialize + DeserializeOwned {
    /// The kind.
    const KIND: Kind;
}

/// The raw times of an experiment. Those of a kind that this build does not know are kept as they
/// came.
#[derive(Clone, Debug, PartialEq)]
pub struct Detail {
    kind: Kind,
    value: Value,
}

impl Detail {
    /// As an experiment left it. Figures that are not finite become null, as in every file.
    pub fn new<D: Data>(data: &D) -> Self {
        Self { kind: D::KIND, value: serde_json::to_value(data).unwrap_or(Value::Null) }
    }

    /// The kind of experiment.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Whatever it holds.
    pub(super) fn value(&self) -> &Value {
        &self.value
    }

    /// As an experiment of this kind left it; `None` where it is of another.
    pub fn read<D: Data>(&self) -> Option<D> {
        if self.kind == D::KIND { D::deserialize(&self.value).ok() } else { None }
    }
}

impl Serialize for Detail {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([(self.kind, &self.value)])
    }
}

impl<'de> Deserialize<'de> for Detail {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let map = Map::deserialize(deserializer)?;
        let mut entries = map.into_iter();
        let (Some((name, value)), None) = (entries.next(), entries.next()) else {
            return Err(D::Error::custom("details stand under the name of one kind of experiment"));
        };
        let kind = Kind::deserialize(Value::String(name)).map_err(D::Error::custom)?;
        Ok(Self { kind, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Known {
        clock: String,
    }

    impl Data for Known {
        const KIND: Kind = Kind::new("known");
    }

    #[test]
    fn what_this_build_does_not_know_is_passed_through() {
        let text = r#"{"of-the-future":{"a":[1,2.5],"b":null}}"#;
        let detail: Detail = serde_json::from_str(text).unwrap();
        assert_eq!(detail.read::<Known>(), None);
        assert_eq!(serde_json::to_string(&detail).unwrap(), text);
        assert!(serde_json::from_str::<Detail>(r#"{"a":1,"b":2}"#).is_err());
        let odd: Detail = serde_json::from_str(r#"{"known":{"clock":7}}"#).unwrap();
        assert_eq!(odd.read::<Known>(), None);
        let known = Known { clock: "host".into() };
        let detail = Detail::new(&known);
        assert_eq!((detail.kind(), detail.read()), (Known::KIND, Some(known)));
    }
}
