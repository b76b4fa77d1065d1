//! What gpubench says, before any format: sections of typed parts.
//!
//! Numbers are [`Quantity`]s, finite by construction, with a [`Unit`]; they become text in one
//! place. Text from outside is kept as it came: making it harmless is each renderer's first act.
//! Programs read the types themselves, serialised.
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashSet;

mod drawing;
mod number_text;
mod plot;
mod quantity;
mod sentence;
mod slug;
mod style;
mod table;
mod timeline;
mod unit;

pub use drawing::Drawing;
pub use number_text::{number, tick};
pub use plot::{Axis, Direction, Limit, Plot, Point, Scale, Series};
pub use quantity::{Figure, Quantity};
pub use sentence::{Piece, Sentence};
use slug::slug;
pub use slug::unique;
pub use style::{Marker, Stroke, Style};
pub use table::{Align, Cell, Column, Mark, Shade, Table, TableOf};
pub use timeline::{Seen, Span, Timeline, Track};
pub use unit::Unit;

/// Parts under a heading.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Section {
    /// Its name for programs and links.
    id: String,
    /// The heading.
    pub title: Sentence,
    /// Whether it is closed until opened, where a format can.
    #[serde(skip)]
    pub folded: bool,
    /// What stands below the heading.
    parts: Vec<Part>,
    /// The keys of its parts.
    #[serde(skip)]
    keys: HashSet<String>,
}

/// A part of a section.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "part", rename_all = "snake_case")]
pub enum Part {
    /// A paragraph.
    Text(Sentence),
    /// A few values with their names.
    Facts {
        /// Each.
        facts: Vec<Fact>,
    },
    /// A table.
    Table(Table),
    /// What to know before believing the rest.
    Note(Sentence),
    /// A section within this one: a case on a device.
    Section(Section),
    /// A chart, which names its sort as its part.
    #[serde(untagged)]
    Drawing(Drawing),
}

/// A value with its name.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Fact {
    /// Its name for programs.
    key: String,
    /// What it is.
    pub label: Sentence,
    /// The unit of a quantity.
    pub unit: Unit,
    /// The value.
    pub value: Cell,
}

impl Fact {
    /// The name that programs read.
    pub fn key(&self) -> &str {
        &self.key
    }
}

impl Section {
    /// Without parts; programs and links name it by `id`.
    pub fn new(id: &str, title: impl Into<Sentence>) -> Self {
        Self {
            id: slug(id),
            title: title.into(),
            folded: false,
            parts: vec![],
            keys: HashSet::new(),
        }
    }

    /// The same, closed until opened.
    pub fn folded(self) -> Self {
        Self { folded: true, ..self }
    }

    /// The name that programs read and links point to.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Adds a paragraph.
    pub fn text(self, sentence: impl Into<Sentence>) -> Self {
        self.part(Part::Text(sentence.into()))
    }

    /// Adds what to know before believing the rest.
    pub fn note(self, sentence: impl Into<Sentence>) -> Self {
        self.part(Part::Note(sentence.into()))
    }

    /// Adds a value with its name, to those just before it where there are some; nothing where
    /// the value is missing.
    pub fn fact(self, key: &str, label: impl Into<Sentence>, value: impl Into<Cell>) -> Self {
        self.figure(key, label, value, Unit::None)
    }

    /// As [`Self::fact`], of a quantity of `unit`.
    pub fn figure(
        mut self,
        key: &str,
        label: impl Into<Sentence>,
        value: impl Into<Cell>,
        unit: Unit,
    ) -> Self {
        let (label, value) = (label.into(), value.into());
        if value == Cell::Missing {
            return self;
        }
        let mut fact = Fact { key: slug(key), label, unit, value };
        if let Some(Part::Facts { facts }) = self.parts.last_mut() {
            fact.key = unique(fact.key, |key| facts.iter().any(|known| known.key == key));
            facts.push(fact);
            return self;
        }
        self.part(Part::Facts { facts: vec![fact] })
    }

    /// Adds a table without the columns that say nothing in any row, unless it is empty. Of two parts of
    /// one key, the second becomes `key_2`.
    pub fn table(self, table: Table) -> Self {
        if table.rows().is_empty() { self } else { self.part(Part::Table(table.without_missing())) }
    }

    /// Whether it has nothing but introductory paragraphs.
    pub fn is_empty(&self) -> bool {
        self.parts.iter().all(|part| matches!(part, Part::Text(_)))
    }

    /// Adds a section within this one, unless it has no parts.
    pub fn section(self, inner: Self) -> Self {
        if inner.parts.is_empty() { self } else { self.part(Part::Section(inner)) }
    }

    /// What stands below the heading.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The table of `key`, in it or in a section within.
    pub fn find_table(&self, key: &str) -> Option<&Table> {
        self.parts.iter().find_map(|part| match part {
            Part::Table(table) if table.key() == key => Some(table),
            Part::Section(inner) => inner.find_table(key),
            _ => None,
        })
    }

    fn part(mut self, mut part: Part) -> Self {
        if let Some(key) = part.key() {
            let is_taken = |key: &str| RESERVED.contains(&key) || self.keys.contains(key);
            *key = unique(std::mem::take(key), is_taken);
            self.keys.insert(key.clone());
        }
        self.parts.push(part);
        self
    }
}

/// What CSV calls the parts that have no key.
const RESERVED: [&str; 4] = ["title", "text", "note", "facts"];

impl Part {
    /// The name that programs read, of parts that have one.
    fn key(&mut self) -> Option<&mut String> {
        match self {
            Self::Table(table) => Some(&mut table.key),
            Self::Drawing(drawing) => Some(drawing.key()),
            Self::Section(section) => Some(&mut section.id),
            Self::Text(_) | Self::Facts { .. } | Self::Note(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_table_of_a_section_has_a_column_of_dashes() {
        let columns = ["a", "b", "c"].map(|name| Column::text(name, name));
        let mut table = Table::new("t", "t", columns);
        table.row(["x".into(), Cell::Missing, Sentence::new().into()]);
        table.row(["y".into(), Cell::Missing, Cell::Missing]);
        let section = Section::new("s", "s").table(table);
        assert_eq!(section.find_table("t").unwrap().columns().len(), 1);
    }

    #[test]
    fn parts_have_distinct_keys_and_empty_ones_are_dropped() {
        let mut table = Table::new("runs", "runs", [Column::new("n", "n", Unit::Count)]);
        let empty = table.clone();
        table.row([1u64.into()]);
        let mut text = table.clone();
        text.key = "text".into();
        let inner = || Section::new("a case", "case").text("words");
        let section =
            Section::new("s", "s").table(empty).table(table.clone()).table(table).table(text);
        let section = section.section(inner()).section(inner()).section(Section::new("x", "x"));
        let keys: Vec<_> =
            section.clone().parts.iter_mut().map(|p| p.key().unwrap().clone()).collect();
        assert_eq!(keys, ["runs", "runs_2", "text_2", "a_case", "a_case_2"]);
    }
}
