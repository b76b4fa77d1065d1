//! A tree of YAML as any type that serde knows. One deserializer that knows nothing of YAML's
//! syntax: what serde makes for each type stays small.

use super::tree::{Key, Node, Value};
use crate::text::printable;
use crate::units::quoted;
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, Expected, IntoDeserializer, MapAccess,
    SeqAccess, Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;
use std::fmt;
use std::ops::Range;

/// Why a tree is no such value, and the place once it is known.
#[derive(Debug)]
pub(super) struct Mistake {
    pub message: String,
    pub at: Option<Range<usize>>,
}

impl Mistake {
    /// The innermost place is the closest.
    fn at(mut self, at: &Range<usize>) -> Self {
        self.at.get_or_insert_with(|| at.clone());
        self
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Mistake {}

impl de::Error for Mistake {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { message: message.to_string(), at: None }
    }

    fn invalid_type(found: Unexpected, expected: &dyn Expected) -> Self {
        match found {
            Unexpected::Float(x) => Self::custom(format_args!(
                "invalid type: number `{}`, expected {expected}",
                quoted(x)
            )),
            Unexpected::Str(text) => Self::custom(format_args!(
                "invalid type: text `{}`, expected {expected}",
                printable(text, 60)
            )),
            found => Self::custom(format_args!("invalid type: {found}, expected {expected}")),
        }
    }
}

/// Reads `node`, which stands in `text`.
pub(super) fn decode<'de, T: Deserialize<'de>>(
    node: &'de Node,
    text: &'de str,
) -> Result<T, Mistake> {
    T::deserialize(At { node, text })
}

/// A value, and the text that it stands in.
#[derive(Clone, Copy)]
struct At<'de> {
    node: &'de Node,
    text: &'de str,
}

impl<'de> At<'de> {
    /// As the file writes it: a number without quotes may be meant as text.
    fn written(self) -> &'de str {
        self.text.get(self.node.at.clone()).unwrap_or_default()
    }

    fn map<V: Visitor<'de>>(
        self,
        entries: &'de [(Key, Node)],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        let last = entries.last().map_or(&self.node.at, |(key, _)| &key.at);
        let entries = Entries { rest: entries.iter(), value: None, text: self.text };
        visitor.visit_map(entries).map_err(|mistake| mistake.at(last))
    }
}

impl<'de> Deserializer<'de> for At<'de> {
    type Error = Mistake;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match &self.node.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Int(value) => visitor.visit_i64(*value),
            // A tree holds whole numbers up to the largest `i64`.
            Value::Float(value) => match self.written().parse() {
                Ok(whole) => visitor.visit_u64(whole),
                Err(_) => visitor.visit_f64(*value),
            },
            Value::Text(text) => visitor.visit_str(text),
            Value::List(items) => {
                let mut items = Items { rest: items.iter(), text: self.text };
                let list = visitor.visit_seq(&mut items)?;
                match items.rest.len() {
                    0 => Ok(list),
                    more => Err(de::Error::custom(format!("{more} values too many in this list"))),
                }
            }
            Value::Map(entries) => self.map(entries, visitor),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match &self.node.value {
            Value::Bool(_) | Value::Int(_) | Value::Float(_) => visitor.visit_str(self.written()),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match self.node.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        match &self.node.value {
            Value::Text(text) => {
                let text: StrDeserializer<'de, Mistake> = text.as_str().into_deserializer();
                visitor.visit_enum(text)
            }
            Value::Map(entries) if entries.len() == 1 => {
                let entries = Entries { rest: entries.iter(), value: None, text: self.text };
                visitor.visit_enum(MapAccessDeserializer::new(entries))
            }
            _ => self.deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct
        seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// Where a value begins: a tree puts a map to its key.
fn begin(node: &Node) -> &Range<usize> {
    match &node.value {
        Value::Map(entries) => entries.first().map_or(&node.at, |(key, _)| &key.at),
        Value::List(items) => items.first().map_or(&node.at, begin),
        _ => &node.at,
    }
}

/// The value of `node`; a mistake is where it begins.
fn decoded<'de, T: DeserializeSeed<'de>>(
    node: &'de Node,
    text: &'de str,
    seed: T,
) -> Result<T::Value, Mistake> {
    seed.deserialize(At { node, text }).map_err(|mistake| mistake.at(begin(node)))
}

/// The values of a list that are still to come.
struct Items<'de> {
    rest: std::slice::Iter<'de, Node>,
    text: &'de str,
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Mistake;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Mistake> {
        let Some(node) = self.rest.next() else { return Ok(None) };
        decoded(node, self.text, seed).map(Some)
    }
}

/// The entries of a map that are still to come.
struct Entries<'de> {
    rest: std::slice::Iter<'de, (Key, Node)>,
    /// Of the key that was read last.
    value: Option<&'de Node>,
    text: &'de str,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Mistake;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Mistake> {
        let Some((key, node)) = self.rest.next() else { return Ok(None) };
        self.value = Some(node);
        let name: StrDeserializer<'de, Mistake> = key.name.as_str().into_deserializer();
        seed.deserialize(name).map(Some).map_err(|mistake| mistake.at(&key.at))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Mistake> {
        let node = self.value.take().ok_or_else(|| de::Error::custom("a value without its key"))?;
        decoded(node, self.text, seed)
    }
}
