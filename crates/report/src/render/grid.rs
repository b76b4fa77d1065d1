//! A table of finished cells, laid out for a terminal.

use super::{cell, sentence};
use comfy_table::{CellAlignment, ContentArrangement, LineStyle, TableStyle};
use gpubench_core::text::wrapped;
use gpubench_document::{Align, Table};

/// No name survives in fewer columns.
const NARROWEST: usize = 8;
/// Between two columns, and behind the last.
const GAP: usize = 2;

/// Headings, sides and cells as text.
pub(super) struct Grid {
    headings: Vec<String>,
    right: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    /// The cells of `table`; a `*` stands before the best.
    pub(super) fn of(table: &Table) -> Self {
        let columns = table.columns();
        let text = |(i, row): (usize, &Vec<_>)| -> Vec<String> {
            let cells = row.iter().zip(columns).enumerate();
            let star = |j| if table.is_best(i, j) { "* " } else { "" };
            cells.map(|(j, (c, column))| format!("{}{}", star(j), cell(c, column.unit))).collect()
        };
        Self {
            headings: columns.iter().map(|column| sentence(&column.title)).collect(),
            right: columns.iter().map(|column| column.align == Align::Right).collect(),
            rows: table.rows().iter().enumerate().map(text).collect(),
        }
    }

    /// For `width` columns, or as wide as it is. Where not all columns fit side by side, they
    /// follow in several tables, each with the first column.
    pub(super) fn text(&self, width: Option<usize>) -> String {
        let Some(width) = width else {
            return self.block(&(0..self.right.len()).collect::<Vec<_>>(), None);
        };
        let blocks = self.blocks(width);
        let texts: Vec<String> =
            blocks.iter().map(|columns| self.block(columns, Some(width))).collect();
        texts.join("\n")
    }

    /// Which columns stand side by side.
    fn blocks(&self, width: usize) -> Vec<Vec<usize>> {
        let narrowest = |i: usize| match self.right[i] {
            true => self.widest(i),
            false => self.widest(i).min(NARROWEST),
        };
        let mut blocks: Vec<Vec<usize>> = vec![];
        let mut used = 0;
        for i in 0..self.right.len() {
            let needed = narrowest(i) + GAP;
            match blocks.last_mut() {
                Some(block) if block.len() < 2 || used + needed <= width + 1 => {
                    block.push(i);
                    used += needed;
                }
                Some(_) => {
                    blocks.push(vec![0, i]);
                    used = narrowest(0) + GAP + needed;
                }
                None => {
                    blocks.push(vec![i]);
                    used = needed;
                }
            }
        }
        blocks
    }

    fn block(&self, columns: &[usize], width: Option<usize>) -> String {
        let mut table = comfy_table::Table::new();
        let rule = LineStyle::none().fill('─').junction('─');
        table.load_style(TableStyle::new().header_separator(rule));
        table.set_content_arrangement(ContentArrangement::Disabled);
        if let Some(width) = width {
            table.set_content_arrangement(ContentArrangement::Dynamic);
            table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
        }
        let widths = self.widths(columns, width);
        let pick = |cells: &[String]| -> Vec<String> {
            let fit =
                |(&i, &width): (&usize, &usize)| wrapped(cells.get(i).map_or("", |c| c), width);
            columns.iter().zip(&widths).map(fit).collect()
        };
        table.set_header(pick(&self.headings));
        for row in &self.rows {
            table.add_row(pick(row));
        }
        for (column, &i) in table.column_iter_mut().zip(columns) {
            column.set_padding((0, 1));
            if self.right[i] {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table.trim_fmt() + "\n"
    }

    fn widest(&self, i: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(i));
        cells.chain(self.headings.get(i)).map(|text| text.chars().count()).max().unwrap_or(0)
    }

    /// Columns of figures keep their width; the widest of the others give until all fit.
    fn widths(&self, columns: &[usize], width: Option<usize>) -> Vec<usize> {
        let mut widths: Vec<usize> = columns.iter().map(|&i| self.widest(i)).collect();
        let Some(width) = width else { return widths };
        let taken = widths.iter().sum::<usize>() + GAP * widths.len();
        for _ in 0..taken.saturating_sub(width + 1) {
            let may_give = |&k: &usize| !self.right[columns[k]] && widths[k] > NARROWEST;
            let widest = (0..widths.len()).filter(may_give).max_by_key(|&k| widths[k]);
            let Some(k) = widest else { break };
            widths[k] -= 1;
        }
        widths
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_document::{Column, Unit};

    fn wide(columns: usize) -> Table {
        let numbers =
            (0..columns).map(|i| Column::new(&format!("c{i}"), format!("col {i}"), Unit::Seconds));
        let mut table =
            Table::new("t", "t", [Column::text("name", "name")].into_iter().chain(numbers));
        table.row(
            [format!("a-rather-long-name/{}", "x".repeat(30)).into()]
                .into_iter()
                .chain((0..columns).map(|i| (i as f64).into())),
        );
        table
    }

    #[test]
    fn a_table_reads_well() {
        let mut table = Table::new(
            "t",
            "t",
            [Column::text("name", "name"), Column::new("n", "time", Unit::Seconds)],
        );
        table.row(["a".into(), 1.5e-3.into()]);
        table.row(["b".into(), 1e-3.into()]);
        table.best("n");
        assert_eq!(
            Grid::of(&table).text(None),
            "name       time\n────────────────\na       1.50 ms\nb     * 1.00 ms\n"
        );
    }

    #[test]
    fn columns_that_do_not_fit_follow_below() {
        let text = Grid::of(&wide(20)).text(Some(60));
        assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
        for column in 0..20 {
            assert!(text.contains(&format!("col {column}")), "{text}");
        }
        assert!(Grid::of(&wide(20)).text(None).lines().next().unwrap().chars().count() > 150);
    }
}
