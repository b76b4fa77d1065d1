//! One table in the forms that people and programs read.

use crate::text::printable;
use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

/// A table of finished cells.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    headings: Vec<&'static str>,
    right: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    /// Without rows; a heading that begins with `>` is that of a column flush right.
    pub fn new(headings: &[&'static str]) -> Self {
        Self {
            headings: headings.iter().map(|h| h.trim_start_matches('>')).collect(),
            right: headings.iter().map(|h| h.starts_with('>')).collect(),
            rows: vec![],
        }
    }

    /// Adds a row, one cell a heading.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// For a terminal of `width` columns; nothing where there is no row.
    pub fn text(&self, width: u16) -> String {
        if self.is_empty() {
            return String::new();
        }
        let mut table = Table::new();
        let rule = LineStyle::none().fill('─').junction('─');
        table.load_style(TableStyle::new().header_separator(rule));
        table.set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(width);
        table.set_header(&self.headings);
        for row in &self.rows {
            table.add_row(row);
        }
        for (column, right) in table.column_iter_mut().zip(&self.right) {
            column.set_padding((0, 1));
            if *right {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table.trim_fmt() + "\n"
    }

    /// As a table of Markdown; no cell can end its row or begin markup.
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut out = line(self.headings.iter().map(|h| (*h).to_owned()).collect());
        let rule = |&right: &bool| if right { "---:" } else { "---" }.to_owned();
        out += &line(self.right.iter().map(rule).collect());
        for row in &self.rows {
            out += &line(row.iter().map(|cell| escaped(cell)).collect());
        }
        out
    }
}

/// Text that Markdown shows as it is.
pub fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in printable(text, 200).chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '!' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_in_two_forms() {
        let mut grid = Grid::new(&["name", ">n"]);
        assert_eq!(grid.text(80), "");
        grid.row(["a|b<script>".to_owned(), "1".to_owned()]);
        assert_eq!(grid.text(80), "name         n\n───────────────\na|b<script>  1\n");
        assert_eq!(grid.markdown(), "| name | n |\n| --- | ---: |\n| a\\|b&lt;script&gt; | 1 |\n");
    }
}
