//! One file a format, and the charts in `drawing`. A format takes a section and nothing else. In formats that people read, a number
//! becomes text only through the section's own figures, and text from outside passes `name` first;
//! JSON, for programs, is the section as it is.

pub mod csv;
pub(crate) mod drawing;
mod grid;
pub mod html;
pub mod json;
pub mod markdown;
pub(crate) mod markup;
#[cfg(test)]
pub(crate) mod sample;
pub mod text;
mod wrap;

use gpubench_core::text::printable;
use gpubench_document::{Cell, Column, Figure, Sentence, Unit};

/// Longer names than this are cut.
const NAME: usize = 200;

/// Text from outside, fit to be shown: no control characters, no marks that reorder or hide text.
fn name(text: &str) -> String {
    printable(text, NAME)
}

/// A sentence as people read it.
fn sentence(sentence: &Sentence) -> String {
    sentence.text_with(|text| name(text))
}

/// A cell of a column of `unit` as people read it.
fn cell(cell: &Cell, unit: Unit) -> String {
    match cell {
        Cell::Missing => "–".to_owned(),
        Cell::Text(text) => sentence(text),
        Cell::Verdict(is) => if *is { "yes" } else { "no" }.to_owned(),
        Cell::Mark(mark) => mark.sign().to_owned(),
        Cell::Count(_) | Cell::Quantity(_) => cell.figures(unit).iter().map(Figure::text).collect(),
    }
}

/// A cell as people read it under the heading of its column.
fn column_cell(content: &Cell, column: &Column) -> String {
    match content {
        Cell::Quantity(quantity) if column.is_bare => {
            Figure { quantity: *quantity, unit: column.unit }.bare()
        }
        // Beside a word that says why there is no figure.
        Cell::Missing if column.is_bare || column.title.is_empty() => String::new(),
        _ => cell(content, column.unit),
    }
}
