//! For pull requests: headings, tables, and nothing that a name could turn into markup.

use super::{cell, column_cell, drawing, sentence};
use gpubench_document::{Align, Cell, Column, Part, Section, Sentence, Table};

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
    parts(out, section, section, level, rows);
    if section.folded {
        *out += "\n</details>\n";
    }
}

/// What stands below a heading, or what a drawing of the section says.
fn parts(out: &mut String, of: &Section, section: &Section, level: usize, rows: usize) {
    for part in of.parts() {
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
            // What a drawing says is short: no row of it is cut.
            Part::Drawing(drawing) => {
                parts(out, &drawing::readable(drawing, section, None), section, level, usize::MAX);
            }
            Part::Section(inner) => nested(out, inner, level + 1, rows),
        }
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
