//! For terminals: two spaces for each level, tables aligned, nothing coloured.

use super::grid::Grid;
use super::wrap::wrap;
use super::{cell, drawing, name, sentence};
use gpubench_document::{Cell, Fact, Part, Piece, Section, Sentence, Table};

/// In place of a space that no line may end at.
const FIXED: &str = "\u{a0}";

/// A section after an empty line, in lines of at most `width` characters, or of any length.
pub fn section(section: &Section, width: Option<usize>) -> String {
    nested(section, 0, width)
}

/// A table without its title; nothing where it has no rows.
pub fn table(table: &Table, width: Option<usize>) -> String {
    if table.rows().is_empty() { String::new() } else { Grid::of(table).text(width) }
}

fn nested(section: &Section, indent: usize, width: Option<usize>) -> String {
    let title = paragraph(&section.title, indent, width);
    format!("\n{title}{}", parts(section, section, indent + 2, width))
}

/// What stands below a heading, or what a drawing of the section says.
fn parts(of: &Section, section: &Section, indent: usize, width: Option<usize>) -> String {
    let mut out = String::new();
    let mut follows_table = false;
    for part in of.parts() {
        // What follows a table's last row would read as one more.
        if follows_table && !matches!(part, Part::Section(_)) {
            out.push('\n');
        }
        follows_table = matches!(part, Part::Table(_));
        match part {
            Part::Text(sentence) => out += &paragraph(sentence, indent, width),
            Part::Note(sentence) => {
                out += &paragraph(&Sentence::from("note: ").then(sentence.clone()), indent, width);
            }
            Part::Facts { facts } => facts.iter().for_each(|one| out += &fact(one, indent, width)),
            Part::Table(table) => {
                out += &paragraph(&table.title, indent, width);
                out += &grid(&Grid::of(table), indent, width);
            }
            Part::Drawing(drawing) => {
                let room = width.unwrap_or(80).saturating_sub(indent);
                let readable = drawing::readable(drawing, section, Some(room));
                follows_table = matches!(readable.parts().last(), Some(Part::Table(_)));
                out += &parts(&readable, section, indent, width);
            }
            Part::Section(inner) => out += &nested(inner, indent, width),
        }
    }
    out
}

/// A paragraph whose figures are not torn from their units.
fn paragraph(text: &Sentence, indent: usize, width: Option<usize>) -> String {
    let fixed = |piece: &Piece| match piece {
        Piece::Figure(figure) => figure.text().replace(' ', FIXED),
        Piece::Text(text) => (*text).to_owned(),
        Piece::Name(text) => name(text),
        Piece::Missing => "–".to_owned(),
    };
    let text: String = text.pieces().iter().map(fixed).collect();
    wrap(&text, indent, width).replace(FIXED, " ")
}

fn fact(fact: &Fact, indent: usize, width: Option<usize>) -> String {
    let value = cell(&fact.value, fact.unit);
    let is_text = matches!(fact.value, Cell::Text(_));
    let value = if is_text { value } else { value.replace(' ', FIXED) };
    wrap(&format!("{}: {value}", sentence(&fact.label)), indent, width).replace(FIXED, " ")
}

fn grid(grid: &Grid, indent: usize, width: Option<usize>) -> String {
    let margin = " ".repeat(indent);
    let text = grid.text(width.map(|width| width.saturating_sub(indent)));
    let line = |line: &str| format!("{}\n", format!("{margin}{line}").trim_end());
    text.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;

    #[test]
    fn a_section_reads_well() {
        insta::assert_snapshot!(section(&sample::section(), None));
    }

    #[test]
    fn it_keeps_within_eighty_columns_and_says_the_same() {
        for one in [sample::section(), sample::hostile()] {
            let narrow = section(&one, Some(80));
            assert!(narrow.lines().all(|line| line.chars().count() <= 80), "{narrow}");
            assert!(!narrow.contains(sample::speaks), "{narrow:?}");
        }
    }
}
