//! Reads specs from a tree, reporting every diagnostic instead of stopping at the first.
//!
//! A spec is declared once with [`spec!`]: its fields are the keys that may stand in the file,
//! and its documentation is that of the schema.

use super::source::Source;
use super::suggest::suggest;
use super::types::Place;
use super::values::Expression;
use gpubench_core::error::Located;
use gpubench_core::yaml::{Node, Value};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::borrow::Cow;
use std::ops::Range;

/// More diagnostics than this in one file help nobody.
const MAX_DIAGNOSTICS: usize = 100;

/// The diagnostics of one file.
pub struct Diagnostics {
    source: Source,
    found: Vec<Located>,
    reported: usize,
}

impl Diagnostics {
    /// None yet, of this file.
    pub(super) fn new(source: Source) -> Self {
        Self { source, found: vec![], reported: 0 }
    }

    /// The file.
    pub(super) fn source(&self) -> &Source {
        &self.source
    }

    /// Notes a diagnostic.
    pub fn push(&mut self, at: &Range<usize>, message: impl Into<String>, help: Option<&str>) {
        self.add(self.source.place(at).diagnostic(message, help));
    }

    /// Notes a diagnostic of what cannot be read for it.
    pub fn reject<T>(
        &mut self,
        at: &Range<usize>,
        message: impl Into<String>,
        help: Option<&str>,
    ) -> Option<T> {
        self.push(at, message, help);
        None
    }

    /// Notes a diagnostic of any file; one that is known already (because two workloads share
    /// what is wrong) is not reported twice.
    pub fn add(&mut self, diagnostic: Located) {
        self.reported += 1;
        if self.found.len() < MAX_DIAGNOSTICS && !self.found.contains(&diagnostic) {
            self.found.push(diagnostic);
        }
    }

    /// Where `at` is, for messages once all files are read.
    pub fn place(&self, at: &Range<usize>) -> Place {
        self.source.place(at)
    }

    /// Reports every name in an expression that is not among `known`.
    pub fn check_names(
        &mut self,
        expression: &Expression,
        known: &[&str],
        rule: &str,
    ) -> Option<()> {
        let mut all_known = true;
        for (name, part) in expression.expr.names() {
            if !known.contains(&name) {
                let help = suggest(name, known.iter().copied()).unwrap_or_else(|| rule.to_owned());
                let message = format!("there is no `{name}` here");
                self.push(&expression.part(&part), message, Some(&help));
                all_known = false;
            }
        }
        all_known.then_some(())
    }

    /// Notes that `node` is not what the spec wants.
    pub fn unexpected<T>(&mut self, node: &Node, wanted: &str) -> Option<T> {
        self.reject(&node.at, format!("expected {wanted}, found {}", node.what()), None)
    }

    /// How often a diagnostic was reported.
    pub fn count(&self) -> usize {
        self.reported
    }

    /// All of them.
    pub fn into_found(self) -> Vec<Located> {
        self.found
    }
}

/// A value that can be read from a tree. `None`: there was an error, and it has been reported.
pub trait Decode: Sized {
    /// Reads the value.
    fn decode(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self>;

    /// What it means that the key is missing; `None`: it must not be.
    fn absent() -> Option<Self> {
        None
    }
}

/// A value and where it stands.
#[derive(Clone, Debug)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Its bytes in the file.
    pub at: Range<usize>,
}

/// A map with the user's own keys, in the order of the file.
#[derive(Clone, Debug)]
pub struct Entries<T>(pub Vec<(At<String>, T)>);

/// A spec that is only worth looking at when nothing in it was wrong; what is wrong in it does
/// not hide the diagnostics of its neighbours.
#[derive(Clone, Debug)]
pub struct Clean<T>(pub Option<T>);

/// Reads the keys of one map.
pub struct SpecReader<'a> {
    node: &'a Node,
    asked: Vec<&'static str>,
}

impl<'a> SpecReader<'a> {
    /// Of `node`, which must be a map.
    pub fn of(node: &'a Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        match node.value {
            Value::Map(_) => Some(Self { node, asked: vec![] }),
            _ => diagnostics.unexpected(node, "a map"),
        }
    }

    /// The value of a key.
    pub fn field<T: Decode>(
        &mut self,
        name: &'static str,
        diagnostics: &mut Diagnostics,
    ) -> Option<T> {
        self.asked.push(name);
        match self.entries().iter().find(|(key, _)| key.name == name) {
            Some((_, node)) => T::decode(node, diagnostics),
            None => T::absent().or_else(|| {
                diagnostics.reject(&self.node.at, format!("`{name}` is missing here"), None)
            }),
        }
    }

    /// Reports unknown keys.
    pub fn close(self, diagnostics: &mut Diagnostics) {
        for (key, _) in self.entries() {
            if !self.asked.contains(&key.name.as_str()) {
                let help = suggest(&key.name, self.asked.iter().copied());
                diagnostics.push(&key.at, format!("unknown key `{}`", key.name), help.as_deref());
            }
        }
    }

    fn entries(&self) -> &'a [(gpubench_core::yaml::Key, Node)] {
        match &self.node.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }
}

/// Declares a spec: a struct whose fields are the keys of a map.
#[macro_export]
macro_rules! spec {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$about])*
        #[derive(Clone, Debug, schemars::JsonSchema)]
        #[schemars(deny_unknown_fields)]
        pub struct $name { $($(#[$doc])* pub $field: $type,)* }

        impl $crate::Decode for $name {
            fn decode(
                node: &$crate::Node,
                diagnostics: &mut $crate::Diagnostics,
            ) -> Option<Self> {
                let mut spec = $crate::SpecReader::of(node, diagnostics)?;
                $(let $field = spec.field(stringify!($field).trim_start_matches("r#"), diagnostics);)*
                spec.close(diagnostics);
                Some(Self { $($field: $field?,)* })
            }
        }
    };
}
pub use crate::spec;

impl<T: Decode> Decode for Option<T> {
    fn decode(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        T::decode(node, diagnostics).map(Some)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

impl<T: Decode> Decode for At<T> {
    fn decode(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let value = T::decode(node, diagnostics)?;
        Some(Self { value, at: node.at.clone() })
    }
}

impl<T: Decode> Decode for Clean<T> {
    fn decode(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let before = diagnostics.count();
        let value = T::decode(node, diagnostics);
        Some(Self(value.filter(|_| diagnostics.count() == before)))
    }
}

impl<T: Decode> Decode for Vec<T> {
    fn decode(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let Value::List(items) = &node.value else { return diagnostics.unexpected(node, "a list") };
        let decoded: Vec<_> = items.iter().map(|item| T::decode(item, diagnostics)).collect();
        decoded.into_iter().collect()
    }
}

impl<T: Decode> Decode for Entries<T> {
    fn decode(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let Value::Map(entries) = &node.value else { return diagnostics.unexpected(node, "a map") };
        let decoded: Vec<_> = entries
            .iter()
            .map(|(key, node)| {
                let key = At { value: key.name.clone(), at: key.at.clone() };
                T::decode(node, diagnostics).map(|value| (key, value))
            })
            .collect();
        decoded.into_iter().collect::<Option<_>>().map(Self)
    }
}

impl Decode for String {
    fn decode(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        match &node.value {
            Value::Text(text) => Some(text.clone()),
            _ => diagnostics.unexpected(node, "a text"),
        }
    }
}

impl Decode for f64 {
    fn decode(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        match node.value {
            Value::Int(value) => Some(value as Self),
            Value::Float(value) => Some(value),
            _ => diagnostics.unexpected(node, "a number"),
        }
    }
}

impl Decode for u32 {
    fn decode(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        match node.value {
            Value::Int(value) if Self::try_from(value).is_ok() => Self::try_from(value).ok(),
            _ => diagnostics.unexpected(node, "a whole number between 0 and 2^32 - 1"),
        }
    }
}

impl Decode for bool {
    fn decode(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        match node.value {
            Value::Bool(value) => Some(value),
            _ => diagnostics.unexpected(node, "true or false"),
        }
    }
}

/// The schema of a wrapper is that of what it wraps.
macro_rules! same_schema {
    ($($wrapper:ident),*) => { $(
        impl<T: JsonSchema> JsonSchema for $wrapper<T> {
            fn inline_schema() -> bool {
                T::inline_schema()
            }

            fn schema_name() -> Cow<'static, str> {
                T::schema_name()
            }

            fn schema_id() -> Cow<'static, str> {
                T::schema_id()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                T::json_schema(generator)
            }
        }
    )* };
}
same_schema!(At, Clean);

impl<T: JsonSchema> JsonSchema for Entries<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Map_of_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let values = generator.subschema_for::<T>();
        json_schema!({ "type": "object", "additionalProperties": values })
    }
}

#[cfg(test)]
mod tests;
