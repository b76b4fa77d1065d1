//! YAML as a tree in which every value knows its place, so that all diagnostics of a file can be
//! reported at once: a decoder that stops at the first one would hide the others.

use super::{located, options, range};
use crate::error::Located;
use crate::units::quoted;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Location, Spanned};
use std::fmt;
use std::ops::Range;

/// A value and its byte range; a map or list within a map stands where its key does.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it holds.
    pub value: Value,
    /// Its bytes in the file.
    pub at: Range<usize>,
}

/// What YAML can hold.
#[derive(Clone, Debug)]
pub enum Value {
    /// Nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A map, in the order of the file.
    Map(Vec<(Key, Node)>),
}

/// A key of a map.
#[derive(Clone, Debug)]
pub struct Key {
    /// The key.
    pub name: String,
    /// Its bytes in the file.
    pub at: Range<usize>,
}

impl Node {
    /// Reads `text`, the contents of `file`. Of the words without quotes only `true` and `false`
    /// are truth values: `n` and `no` are text.
    ///
    /// # Errors
    /// The first mistake and its place: not YAML, or more than its budget.
    pub fn parse(file: &str, text: &str) -> Result<Self, Located> {
        let raw: Spanned<Raw> = serde_saphyr::from_str_with_options(text, options())
            .map_err(|error| located(file, text, &error))?;
        Ok(raw.value.placed(text, raw.defined))
    }

    /// What it is, for messages.
    pub fn what(&self) -> String {
        match &self.value {
            Value::Null => "nothing".to_owned(),
            Value::Bool(value) => format!("`{value}`"),
            Value::Int(value) => format!("`{value}`"),
            Value::Float(value) => format!("`{}`", quoted(*value)),
            Value::Text(text) => format!("`{text}`"),
            Value::List(_) => "a list".to_owned(),
            Value::Map(_) => "a map".to_owned(),
        }
    }
}

/// The tree as serde delivers it, with locations instead of byte ranges.
enum Raw {
    Scalar(Value),
    List(Vec<Spanned<Raw>>),
    Map(Vec<(Spanned<String>, Spanned<Raw>)>),
}

impl Raw {
    /// The parser limits the depth, so this may recurse.
    fn placed(self, text: &str, location: Location) -> Node {
        let at = range(text, location);
        let node = |raw: Spanned<Self>| raw.value.placed(text, raw.defined);
        match self {
            Self::Scalar(value) => Node { value, at },
            Self::List(items) => {
                Node { value: Value::List(items.into_iter().map(node).collect()), at }
            }
            Self::Map(entries) => {
                let entry = |(key, raw): (Spanned<String>, Spanned<Self>)| {
                    let key = Key { at: range(text, key.referenced), name: key.value };
                    let mut node = node(raw);
                    if matches!(node.value, Value::List(_) | Value::Map(_) | Value::Null) {
                        node.at = key.at.clone();
                    }
                    (key, node)
                };
                Node { value: Value::Map(entries.into_iter().map(entry).collect()), at }
            }
        }
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a number, a text, a list or a map")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Raw, E> {
        Ok(Raw::Scalar(Value::Null))
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Raw, E> {
        Ok(Raw::Scalar(Value::Bool(value)))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Raw, E> {
        Ok(Raw::Scalar(Value::Int(value)))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Raw, E> {
        Ok(Raw::Scalar(i64::try_from(value).map_or(Value::Float(value as f64), Value::Int)))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Raw, E> {
        Ok(Raw::Scalar(Value::Float(value)))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Raw, E> {
        Ok(Raw::Scalar(Value::Text(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Raw, A::Error> {
        let mut items = vec![];
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Raw::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Raw, A::Error> {
        let mut entries = vec![];
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Raw::Map(entries))
    }
}
