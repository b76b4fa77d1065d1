//! For pull requests: headings, tables, and nothing that a name could turn into markup.

use super::plain::{ELSEWHERE, bar, points};
use super::{cell, column_cell, sentence};
use gpubench_document::{
    Align, Cell, Column, Figure, Part, Plot, Section, Sentence, Table, Timeline, Unit,
};

/// Characters of a timeline's bars.
const BAR: usize = 40;

/// A section, with headings from the level of `#` times `level` on.
pub fn section(section: &Section, level: usize) -> String {
    cut(section, level, usize::MAX)
}

/// The same with the first `rows` rows of each table.
pub(crate) fn cut(section: &Section, level: usize, rows: usize) -> String {
    let mut out = String::new();
    nested(&mut out, section, level, rows);
    out
}

fn nested(out: &mut String, section: &Section, level: usize, rows: usize) {
    let title = paragraph(&section.title);
    match section.folded {
        true => *out += &format!("\n<details><summary>{title}</summary>\n"),
        false => *out += &format!("\n{} {title}\n", "#".repeat(level.clamp(1, 6))),
    }
    for part in section.parts() {
        match part {
            Part::Text(sentence) => *out += &format!("\n{}\n", paragraph(sentence)),
            Part::Note(sentence) => *out += &format!("\n> {}\n", paragraph(sentence)),
            Part::Facts { facts } => {
                out.push('\n');
                for fact in facts {
                    let value = escaped(&cell(&fact.value, fact.unit));
                    *out += &format!("- {}: {value}\n", escaped(&sentence(&fact.label)));
                }
            }
            Part::Table(inner) => *out += &table(inner, rows),
            Part::Plot(plot) => *out += &drawn(section, plot),
            Part::Timeline(timeline) => *out += &track_lines(timeline),
            Part::Section(inner) => nested(out, inner, level + 1, rows),
        }
    }
    if section.folded {
        *out += "\n</details>\n";
    }
}

/// Columns of a group are one here: their cells stand behind each other.
fn table(table: &Table, rows: usize) -> String {
    let (columns, groups) = (table.columns(), table.groups());
    let firsts = || groups.iter().map(|group| &columns[group.start]);
    let heading = |first: &Column| first.group.clone().unwrap_or_else(|| first.title.clone());
    let rule = |first: &Column| if first.align == Align::Right { "---:" } else { "---" }.to_owned();
    let mut out = format!("\n{}\n\n", paragraph(&table.title));
    out += &line(firsts().map(|first| escaped(&sentence(&heading(first)))));
    out += &line(firsts().map(rule));
    for (i, row) in table.rows().iter().enumerate().take(rows) {
        out += &line(groups.iter().map(|group| match group.len() {
            1 => {
                shown(table, i, group.start, column_cell(&row[group.start], &columns[group.start]))
            }
            _ => {
                let filled = group.clone().filter(|&j| row[j] != Cell::Missing);
                let cells = filled.map(|j| shown(table, i, j, cell(&row[j], columns[j].unit)));
                let cells: Vec<String> = cells.collect();
                if cells.is_empty() { "–".to_owned() } else { cells.join(" ") }
            }
        }));
    }
    match table.rows().len().saturating_sub(rows) {
        0 => out,
        more => out + &format!("\n{more} more rows are in the other formats.\n"),
    }
}

fn shown(table: &Table, row: usize, column: usize, text: String) -> String {
    let text = escaped(&text);
    if table.is_best(row, column) { format!("**{text}**") } else { text }
}

fn line(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

/// A plot as a table of its points, unless a table of the section holds them.
fn drawn(section: &Section, plot: &Plot) -> String {
    let mut out = String::new();
    if plot.table().and_then(|key| section.find_table(key)).is_none() {
        out += &match points(plot) {
            Some(points) => table(&points, usize::MAX),
            None => format!("\n{}: {ELSEWHERE}.\n", paragraph(&plot.title)),
        };
    }
    for (i, limit) in plot.limits().iter().enumerate() {
        let gap = if i == 0 { "\n" } else { "" };
        let at = plot.figure(limit).text();
        out += &format!("{gap}- {}: {}\n", escaped(&sentence(&limit.label)), escaped(&at));
    }
    out
}

fn track_lines(timeline: &Timeline) -> String {
    let mut out = format!("\n{}\n\n", paragraph(&timeline.title));
    let length = Figure { quantity: timeline.length(), unit: Unit::Seconds }.text();
    out += &line(["track".to_owned(), escaped(&length)].into_iter());
    out += "| --- | --- |\n";
    for track in timeline.tracks() {
        let name = escaped(&sentence(track.name()));
        out += &line([name, bar(timeline, track, BAR)].into_iter());
    }
    out
}

/// A sentence at the beginning of a line: what would begin a list there does not.
fn paragraph(text: &Sentence) -> String {
    let text = escaped(&sentence(text));
    let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = text.len() - number.len();
    match number.chars().next() {
        Some('-' | '+' | '=') if digits == 0 => format!("\\{text}"),
        Some('.' | ')') if digits > 0 => format!("{}\\{number}", &text[..digits]),
        _ => text,
    }
}

/// Text that Markdown shows as it is.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.trim_start().chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '!' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;

    #[test]
    fn a_section_reads_well() {
        insta::assert_snapshot!(section(&sample::section(), 2));
    }

    #[test]
    fn hostile_names_stay_text() {
        let text = section(&sample::hostile(), 2);
        assert!(!text.contains("<img") && !text.contains("</script"), "{text}");
        assert!(!text.contains(sample::speaks), "{text:?}");
        let tables = text.lines().filter(|line| line.starts_with("| "));
        assert!(tables.clone().count() > 5 && tables.clone().all(|line| line.ends_with(" |")));
        for (text, shown) in [
            ("- a", "\\- a"),
            ("1. a", "1\\. a"),
            ("12) a", "12\\) a"),
            ("a|b", "a\\|b"),
            ("  # a", "\\# a"),
        ] {
            assert_eq!(paragraph(&Sentence::from(text)), shown);
        }
    }
}
