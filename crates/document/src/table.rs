//! Tables of typed cells.

use super::slug::{slug, unique};
use super::{Figure, Quantity, Scale, Sentence, Unit};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::ops::Range;

/// What a cell holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Cell {
    /// Nothing.
    #[default]
    Missing,
    /// Text; with its figures where it has any.
    Text(#[serde(serialize_with = "plainly")] Sentence),
    /// A whole number.
    Count(u64),
    /// A number of the column's unit.
    Quantity(Quantity),
    /// Yes or no.
    Verdict(bool),
    /// The result of verification.
    Mark(Mark),
}

/// The result of verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// The result is right.
    Verified,
    /// Reading the number would mislead without the reason below.
    Warning,
    /// Nothing says that the result is right.
    Unchecked,
    /// The result is wrong, or there is none.
    Failed,
}

impl Mark {
    /// `✓`, `!`, `○` or `✗`.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Verified => "✓",
            Self::Warning => "!",
            Self::Unchecked => "○",
            Self::Failed => "✗",
        }
    }

    /// The word that programs read.
    pub fn label(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Warning => "warning",
            Self::Unchecked => "unchecked",
            Self::Failed => "failed",
        }
    }
}

/// On which side the cells of a column stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Align {
    /// Text.
    #[default]
    Left,
    /// Numbers.
    Right,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Column {
    /// Its name for programs.
    key: String,
    /// Its heading.
    pub title: Sentence,
    /// The unit of its quantities.
    pub unit: Unit,
    /// What it is of: neighbours of one group stand under this heading.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<Sentence>,
    /// Where its cells stand.
    #[serde(skip)]
    pub align: Align,
    /// Whether people read its quantities without the unit, which the heading names.
    #[serde(skip)]
    pub is_bare: bool,
    /// Whether its words are broken over lines only where nothing else helps.
    #[serde(skip)]
    pub is_whole: bool,
}

impl Column {
    /// Numbers of `unit`, on the right; programs read them under `key`.
    pub fn new(key: &str, title: impl Into<Sentence>, unit: Unit) -> Self {
        Self {
            key: slug(key),
            title: title.into(),
            unit,
            group: None,
            align: Align::Right,
            is_bare: false,
            is_whole: false,
        }
    }

    /// Text, on the left.
    pub fn text(key: &str, title: impl Into<Sentence>) -> Self {
        Self { align: Align::Left, ..Self::new(key, title, Unit::None) }
    }

    /// Numbers of `unit` without it, under its symbol: `16.5 G` under `FLOP/s`.
    pub fn bare(key: &str, unit: Unit) -> Self {
        Self { is_bare: true, ..Self::new(key, unit.symbol(), unit) }
    }

    /// Names that stay whole, on the left.
    pub fn names(key: &str, title: impl Into<Sentence>) -> Self {
        Self { is_whole: true, ..Self::text(key, title) }
    }

    /// The same under a heading that it shares with its neighbours.
    pub fn under(self, group: impl Into<Sentence>) -> Self {
        Self { group: Some(group.into()), ..self }
    }

    /// The name that programs read: unique within the table.
    pub fn key(&self) -> &str {
        &self.key
    }
}

/// A table with a title.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Table {
    /// Its name for programs.
    pub(super) key: String,
    /// What stands above it.
    pub title: Sentence,
    /// Its columns.
    columns: Vec<Column>,
    /// Its rows, each with a cell a column.
    rows: Vec<Vec<Cell>>,
    /// Row and column of the best cells.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    best: Vec<(usize, usize)>,
    #[serde(skip)]
    shade: Option<Shade>,
}

/// From which quantity (pale) to which (dark) cells are shaded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shade {
    /// The palest.
    pub low: f64,
    /// The darkest.
    pub high: f64,
    /// Whether equal factors, not equal differences, make equal steps.
    pub scale: Scale,
}

impl Table {
    /// Without rows. Two columns of one key become `key` and `key_2`.
    pub fn new(
        key: &str,
        title: impl Into<Sentence>,
        columns: impl IntoIterator<Item = Column>,
    ) -> Self {
        let mut table = Self {
            key: slug(key),
            title: title.into(),
            columns: vec![],
            rows: vec![],
            best: vec![],
            shade: None,
        };
        columns.into_iter().for_each(|column| table.push(column));
        table
    }

    /// A row for each of `items`; columns are still to be added.
    pub fn of<T>(
        key: &str,
        title: impl Into<Sentence>,
        items: impl IntoIterator<Item = T>,
    ) -> TableOf<T> {
        let items: Vec<T> = items.into_iter().collect();
        let rows = vec![vec![]; items.len()];
        TableOf { table: Self { rows, ..Self::new(key, title, []) }, items }
    }

    fn push(&mut self, mut column: Column) {
        let is_taken = |key: &str| self.columns.iter().any(|known| known.key == key);
        column.key = unique(column.key, is_taken);
        self.columns.push(column);
    }

    /// Adds a row; cells that it lacks are missing.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let mut cells: Vec<Cell> = cells.into_iter().collect();
        cells.resize(self.columns.len(), Cell::Missing);
        self.rows.push(cells);
    }

    /// Marks the last row's cell in the column `key` as the best.
    pub fn best(&mut self, key: &str) {
        if let Some(row) = self.rows.len().checked_sub(1) {
            self.mark_best(row, key);
        }
    }

    /// The same with the cell of `row` in the column `key` marked as the best.
    pub fn with_best(mut self, row: usize, key: &str) -> Self {
        self.mark_best(row, key);
        self
    }

    fn mark_best(&mut self, row: usize, key: &str) {
        let column = self.columns.iter().position(|column| column.key == key);
        self.best.extend(column.map(|column| (row, column)));
    }

    /// The same without the columns that say nothing in any row.
    pub fn without_missing(mut self) -> Self {
        let is_filled = |i: usize| self.rows.iter().any(|row| row[i].says_something());
        let kept: Vec<usize> = (0..self.columns.len()).filter(|&i| is_filled(i)).collect();
        let place = |old: usize| kept.iter().position(|&kept| kept == old);
        self.best = self.best.iter().filter_map(|&(row, i)| Some((row, place(i)?))).collect();
        self.columns = kept.iter().map(|&i| self.columns[i].clone()).collect();
        for row in &mut self.rows {
            *row = kept.iter().map(|&i| row[i].clone()).collect();
        }
        self
    }

    /// Shades quantities from `low` (pale) to `high` (dark), where a format can: a matrix.
    pub fn shaded(mut self, scale: Scale, [low, high]: [f64; 2]) -> Self {
        let is_valid = low.is_finite() && high.is_finite() && low < high;
        self.shade = is_valid.then_some(Shade { low, high, scale });
        self
    }

    /// The name that programs read.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Its columns, of distinct keys.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Columns that stand under one heading, and each of the others, from left to right.
    pub fn groups(&self) -> Vec<Range<usize>> {
        let shares = |a: &Column, b: &Column| a.group.is_some() && a.group == b.group;
        let groups = self.columns.chunk_by(shares);
        groups
            .scan(0, |end, group| {
                let start = *end;
                *end += group.len();
                Some(start..*end)
            })
            .collect()
    }

    /// Its rows, each with one cell a column.
    pub fn rows(&self) -> &[Vec<Cell>] {
        &self.rows
    }

    /// Whether a cell is marked as the best.
    pub fn is_best(&self, row: usize, column: usize) -> bool {
        self.best.contains(&(row, column))
    }

    /// Rows and columns of the cells marked as the best.
    pub fn bests(&self) -> &[(usize, usize)] {
        &self.best
    }

    /// Between which values quantities are shaded.
    pub fn shade(&self) -> Option<Shade> {
        self.shade
    }
}

/// A table with a row for each of its items, to which one column after the other is added.
pub struct TableOf<T> {
    table: Table,
    items: Vec<T>,
}

impl<T> TableOf<T> {
    /// With one more column, and what it shows of each item.
    pub fn column<C: Into<Cell>>(mut self, column: Column, cell: impl Fn(&T) -> C) -> Self {
        self.table.push(column);
        let rows = self.table.rows.iter_mut().zip(&self.items);
        rows.for_each(|(row, item)| row.push(cell(item).into()));
        self
    }

    /// With a column for each of `all`, each under its own `heading`.
    pub fn columns<O, C: Into<Cell>>(
        self,
        all: impl IntoIterator<Item = O>,
        heading: impl Fn(&O) -> Column,
        cell: impl Fn(&T, &O) -> C,
    ) -> Self {
        let add = |table: Self, of: O| table.column(heading(&of), |item| cell(item, &of));
        all.into_iter().fold(self, add)
    }

    /// The table, of all columns that were added.
    pub fn table(self) -> Table {
        self.table
    }
}

/// A text without figures is a string.
fn plainly<S: Serializer>(text: &Sentence, serializer: S) -> Result<S::Ok, S::Error> {
    match text.figures().next() {
        Some(_) => text.serialize(serializer),
        None => serializer.serialize_str(&text.text_with(Clone::clone)),
    }
}

impl Cell {
    fn says_something(&self) -> bool {
        match self {
            Self::Missing => false,
            Self::Text(text) => !text.text_with(Clone::clone).is_empty(),
            _ => true,
        }
    }

    /// The figures that it shows in a column of `unit`.
    pub fn figures(&self, unit: Unit) -> Vec<Figure> {
        match self {
            Self::Text(sentence) => sentence.figures().collect(),
            Self::Count(n) => Figure::new(*n as f64, Unit::Count).into_iter().collect(),
            Self::Quantity(quantity) => vec![Figure { quantity: *quantity, unit }],
            Self::Missing | Self::Verdict(_) | Self::Mark(_) => vec![],
        }
    }
}

/// Implements `From` of each type for `Cell`.
macro_rules! cell_from {
    ($($value:ident: $of:ty => $cell:expr,)*) => {
        $(impl From<$of> for Cell {
            fn from($value: $of) -> Self {
                $cell
            }
        })*
    };
}

cell_from! {
    text: Sentence => Self::Text(text),
    text: &'static str => Self::Text(text.into()),
    text: String => Self::Text(text.into()),
    n: u64 => Self::Count(n),
    is: bool => Self::Verdict(is),
    mark: Mark => Self::Mark(mark),
    value: f64 => Quantity::new(value).into(),
    quantity: Quantity => Self::Quantity(quantity),
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(cell: Option<T>) -> Self {
        cell.map_or(Self::Missing, Into::into)
    }
}

#[cfg(test)]
mod tests;
