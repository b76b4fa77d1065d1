//! One table in the formats that people and programs read.

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use gpubench_core::text::{printable, wrapped};

/// A table of finished cells.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    headings: Vec<String>,
    right: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    /// Without rows; a heading that begins with `>` is that of a column flush right.
    pub fn new(headings: &[&str]) -> Self {
        Self::named(headings.iter().map(|h| (*h).to_owned()))
    }

    /// As [`Grid::new`], with headings made up at run time.
    pub fn named(headings: impl IntoIterator<Item = String>) -> Self {
        let headings = headings.into_iter().map(|heading| match heading.strip_prefix('>') {
            Some(heading) => (heading.to_owned(), true),
            None => (heading, false),
        });
        let (headings, right) = headings.unzip();
        Self { headings, right, rows: vec![] }
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
        let widths = self.widths(usize::from(width));
        for row in &self.rows {
            table.add_row(row.iter().zip(&widths).map(|(cell, &width)| wrapped(cell, width)));
        }
        for (column, right) in table.column_iter_mut().zip(&self.right) {
            column.set_padding((0, 1));
            if *right {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table.trim_fmt() + "\n"
    }

    /// Columns of figures keep their width; the widest of the others give until all fit.
    fn widths(&self, width: usize) -> Vec<usize> {
        /// Less than this no name survives.
        const MIN_NAME_WIDTH: usize = 8;
        let length = |text: &str| text.chars().count();
        let widest = |(i, heading): (usize, &String)| {
            let cells = self.rows.iter().filter_map(|row| row.get(i)).map(|cell| length(cell));
            cells.chain([length(heading)]).max().unwrap_or(0)
        };
        let mut widths: Vec<usize> = self.headings.iter().enumerate().map(widest).collect();
        // A space behind every column and one between two of them.
        let spaces = 2 * widths.len() - 1;
        let mut over = (widths.iter().sum::<usize>() + spaces).saturating_sub(width);
        while over > 0 {
            let names = (0..widths.len()).filter(|&i| !self.right[i] && widths[i] > MIN_NAME_WIDTH);
            let Some(i) = names.max_by_key(|&i| widths[i]) else { break };
            widths[i] -= 1;
            over -= 1;
        }
        widths
    }

    /// As a table of Markdown; no cell can end its row or begin markup.
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut out = line(self.headings.iter().map(|heading| escaped(heading)).collect());
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
    fn a_table_in_two_formats() {
        let mut grid = Grid::new(&["name", ">n"]);
        assert_eq!(grid.text(80), "");
        grid.row(["a|b<script>".to_owned(), "1".to_owned()]);
        assert_eq!(grid.text(80), "name         n\n───────────────\na|b<script>  1\n");
        assert_eq!(grid.markdown(), "| name | n |\n| --- | ---: |\n| a\\|b&lt;script&gt; | 1 |\n");
    }
}
