//! For terminals: two spaces for each level, tables aligned, nothing coloured.

use super::grid::Grid;
use super::plain::{ELSEWHERE, bar, points};
use super::wrap::wrap;
use super::{cell, name, sentence};
use gpubench_document::{
    Fact, Figure, Part, Piece, Plot, Section, Sentence, Table, Timeline, Unit,
};

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
    let mut out = format!("\n{}", paragraph(&section.title, indent, width));
    let indent = indent + 2;
    let before = std::iter::once(None).chain(section.parts().iter().map(Some));
    for (part, before) in section.parts().iter().zip(before) {
        // What follows a table's last row would read as one more.
        if matches!(before, Some(Part::Table(_))) && !matches!(part, Part::Section(_)) {
            out.push('\n');
        }
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
            Part::Plot(plot) => out += &drawn(section, plot, indent, width),
            Part::Timeline(timeline) => out += &track_lines(timeline, indent, width),
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
    wrap(&format!("{}: {value}", sentence(&fact.label)), indent, width)
}

fn grid(grid: &Grid, indent: usize, width: Option<usize>) -> String {
    let margin = " ".repeat(indent);
    let text = grid.text(width.map(|width| width.saturating_sub(indent)));
    let line = |line: &str| format!("{}\n", format!("{margin}{line}").trim_end());
    text.lines().map(line).collect()
}

/// A plot as a table of its points, unless a table of the section holds them.
fn drawn(section: &Section, plot: &Plot, indent: usize, width: Option<usize>) -> String {
    let mut out = String::new();
    if plot.table().and_then(|key| section.find_table(key)).is_none() {
        out += &paragraph(&plot.title, indent, width);
        out += &match points(plot) {
            Some(table) => grid(&Grid::of(&table), indent, width),
            None => wrap(ELSEWHERE, indent + 2, width),
        };
    }
    for limit in plot.limits() {
        let at = plot.figure(limit);
        let line = limit.label.clone().text(": ").quantity(Some(at.quantity), at.unit);
        out += &paragraph(&line, indent, width);
    }
    out
}

fn track_lines(timeline: &Timeline, indent: usize, width: Option<usize>) -> String {
    let names = timeline.tracks().iter().map(|track| sentence(track.name()));
    let names: Vec<String> = names.map(|name| gpubench_core::text::middle(&name, 20)).collect();
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let room = width.unwrap_or(80).saturating_sub(indent + longest + 2).clamp(8, 72);
    let mut out = paragraph(&timeline.title, indent, width);
    for (track, name) in timeline.tracks().iter().zip(&names) {
        let bar = bar(timeline, track, room);
        out += &format!("{:indent$}{name:<longest$}  {bar}\n", "");
    }
    let length = Figure { quantity: timeline.length(), unit: Unit::Seconds }.text();
    out + &format!("{:indent$}{:<longest$}  {length:>room$}\n", "", "")
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
