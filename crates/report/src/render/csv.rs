//! For spreadsheets and data frames: one line a value, safe to open.

use super::{drawing, sentence};
use crate::csv::csv;
use gpubench_document::{Cell, Figure, Part, Quantity, Section, Sentence, Table, Unit};

/// What stands in the first line.
pub const HEADER: [&str; 8] = ["section", "table", "row", "column", "value", "unit", "low", "high"];

/// Sections, the header line first. A section within another is named `outer/inner`, a drawing likewise; a text stands
/// under its place in the section, and after it its figures.
pub fn sections(sections: &[Section]) -> String {
    let mut out = Rows(vec![HEADER.map(str::to_owned).to_vec()]);
    sections.iter().for_each(|inner| out.section("", inner));
    csv(out.0)
}

struct Rows(Vec<Vec<String>>);

/// Where a value stands: section, table, row.
#[derive(Clone, Copy)]
struct Place<'a> {
    section: &'a str,
    table: &'a str,
    row: usize,
}

impl Rows {
    fn section(&mut self, outer: &str, section: &Section) {
        let path = match outer {
            "" => section.id().to_owned(),
            outer => format!("{outer}/{}", section.id()),
        };
        self.sentence(Place { section: &path, table: "title", row: 0 }, "text", &section.title);
        for (row, part) in section.parts().iter().enumerate() {
            let at = |table| Place { section: &path, table, row };
            match part {
                Part::Text(text) => self.sentence(at("text"), "text", text),
                Part::Note(text) => self.sentence(at("note"), "text", text),
                Part::Facts { facts } => facts
                    .iter()
                    .for_each(|fact| self.cell(at("facts"), fact.key(), &fact.value, fact.unit)),
                Part::Table(table) => self.table(&path, table),
                Part::Drawing(drawing) => self.section(&path, &drawing::values(drawing)),
                Part::Section(inner) => self.section(&path, inner),
            }
        }
    }

    fn table(&mut self, section: &str, table: &Table) {
        self.sentence(Place { section, table: table.key(), row: 0 }, "title", &table.title);
        for (row, cells) in table.rows().iter().enumerate() {
            let at = Place { section, table: table.key(), row };
            for (cell, column) in cells.iter().zip(table.columns()) {
                self.cell(at, column.key(), cell, column.unit);
            }
        }
    }

    fn cell(&mut self, at: Place, column: &str, cell: &Cell, unit: Unit) {
        match cell {
            Cell::Missing => self.value(at, column, String::new(), unit.symbol()),
            Cell::Text(text) => self.sentence(at, column, text),
            Cell::Count(n) => self.value(at, column, n.to_string(), unit.symbol()),
            Cell::Quantity(quantity) => self.quantity(at, column, Some(*quantity), unit),
            Cell::Verdict(is) => self.value(at, column, is.to_string(), ""),
            Cell::Mark(mark) => self.value(at, column, mark.label().to_owned(), ""),
        }
    }

    /// A sentence, and each figure in it under `column/1`, `column/2` …
    fn sentence(&mut self, at: Place, column: &str, text: &Sentence) {
        if !text.is_empty() {
            self.value(at, column, sentence(text), "");
        }
        for (i, Figure { quantity, unit }) in text.figures().enumerate() {
            self.quantity(at, &format!("{column}/{}", i + 1), Some(quantity), unit);
        }
    }

    fn quantity(&mut self, at: Place, column: &str, quantity: Option<Quantity>, unit: Unit) {
        let Some(quantity) = quantity else { return };
        // As text that reads back to the same number.
        let ends = quantity.interval().map(|ends| ends.map(|end| format!("{end:?}")));
        let [low, high] = ends.unwrap_or_default();
        self.line(at, column, [format!("{:?}", quantity.value()), unit.symbol().into(), low, high]);
    }

    fn value(&mut self, at: Place, column: &str, value: String, unit: &str) {
        self.line(at, column, [value, unit.into(), String::new(), String::new()]);
    }

    fn line(&mut self, at: Place, column: &str, values: [String; 4]) {
        let place = [at.section, at.table, &at.row.to_string(), column].map(str::to_owned);
        self.0.push(place.into_iter().chain(values).collect());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;

    #[test]
    fn a_section_reads_well() {
        insta::assert_snapshot!(sections(&[sample::section()]));
    }

    #[test]
    fn no_cell_is_a_formula_and_rows_are_whole() {
        let text = sections(&[sample::hostile()]);
        let mut reader = ::csv::Reader::from_reader(text.as_bytes());
        for record in reader.records() {
            let record = record.expect("eight cells a row");
            let runs =
                |cell: &str| cell.starts_with(['=', '+', '-', '@']) && cell.parse::<f64>().is_err();
            assert!(!record.iter().any(runs), "{record:?}");
        }
        assert!(!text.contains(sample::speaks));
    }
}
