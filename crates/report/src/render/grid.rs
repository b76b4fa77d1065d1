//! A table of finished cells, laid out for a terminal.

use super::{column_cell, sentence, wrap};
use Room::{Above, Below};
use gpubench_core::text::wrapped;
use gpubench_document::{Align, Table};
use std::mem::take;
use std::ops::Range;
use textwrap::core::display_width;

/// No text survives in fewer columns.
const NARROWEST: usize = 8;
/// Longer words of a heading over several columns are broken.
const LONGEST_PART: usize = 20;
/// A heading takes no more lines.
const HEADING: usize = 4;
/// Between two groups of columns; those of a group stand closer.
const GAP: usize = 2;

/// Columns of text, and which of them stand under one heading.
pub(super) struct Grid {
    columns: Vec<Column>,
    groups: Vec<Range<usize>>,
    rows: usize,
}

struct Column {
    /// What stands over it and its neighbours: at the first of them.
    group: String,
    heading: String,
    cells: Vec<String>,
    right: bool,
    whole: bool,
    /// Whether its heading may take several lines: what stands under a heading of several columns has short ones.
    breaks: bool,
    /// Spaces before it.
    gap: usize,
}

/// Where a cell leaves room that has fewer lines than its neighbours.
#[derive(PartialEq)]
enum Room {
    Above,
    Below,
}

/// Columns that stand side by side, with their widths.
type Block = Vec<(usize, usize)>;

impl Grid {
    /// The cells of `table`; a `*` stands before the best.
    pub(super) fn of(table: &Table) -> Self {
        let mut columns: Vec<Column> =
            (0..table.columns().len()).map(|j| column(table, j)).collect();
        let groups = table.groups();
        groups.iter().for_each(|group| close_up(&mut columns[group.clone()]));
        Self { columns, groups, rows: table.rows().len() }
    }

    /// For `width` columns, or as wide as it is. Where not all columns fit side by side, they
    /// follow in several tables, each with the first column.
    pub(super) fn text(&self, width: Option<usize>) -> String {
        let blocks = self.blocks(width.unwrap_or(usize::MAX));
        let texts: Vec<String> = blocks.iter().map(|block| self.block(block)).collect();
        texts.join("\n")
    }

    /// Which columns stand side by side, and how wide each is.
    fn blocks(&self, width: usize) -> Vec<Block> {
        let needed_of = |group: &Range<usize>, limit: usize| -> usize {
            self.columns[group.clone()].iter().map(|one| one.gap + one.narrowest(limit)).sum()
        };
        // Names may take what the widest of the other groups leaves.
        let others = self.groups.iter().skip(1).map(|group| needed_of(group, NARROWEST)).max();
        let limit = width.saturating_sub(others.unwrap_or(0));
        let mut blocks: Vec<Vec<usize>> = vec![];
        let mut used = 0;
        for (n, group) in self.groups.iter().enumerate() {
            let needed = needed_of(group, limit);
            match blocks.last_mut() {
                Some(block) if n < 2 || used + needed <= width.saturating_add(GAP) => {
                    block.extend(group.clone());
                    used += needed;
                }
                before => {
                    let first = before.map_or(0..0, |_| self.groups[0].clone());
                    used = needed_of(&first, limit) + needed;
                    blocks.push(first.chain(group.clone()).collect());
                }
            }
        }
        blocks.into_iter().map(|block| self.fitted(block, width, limit)).collect()
    }

    /// The widest columns give until all fit: first those of text, and where that is not enough,
    /// those of figures.
    fn fitted(&self, columns: Vec<usize>, width: usize, limit: usize) -> Block {
        let mut block: Block = columns.into_iter().map(|i| (i, self.columns[i].widest())).collect();
        let taken = self.width(&block);
        for _ in 0..taken.saturating_sub(width) {
            let widest = |needed_of: &dyn Fn(&Column) -> usize| {
                let may_give = |(_, (i, width)): &(usize, &(usize, usize))| {
                    *width > needed_of(&self.columns[*i])
                };
                let of = block.iter().enumerate().filter(may_give);
                of.max_by_key(|(_, (_, width))| *width).map(|(k, _)| k)
            };
            let text = widest(&|column| column.narrowest(limit));
            let Some(k) = text.or_else(|| widest(&|_| NARROWEST)) else { break };
            block[k].1 -= 1;
        }
        block
    }

    /// How wide columns are with what stands between them.
    fn width(&self, block: &[(usize, usize)]) -> usize {
        let gaps = block.iter().skip(1).map(|(i, _)| self.columns[*i].gap);
        gaps.chain(block.iter().map(|(_, width)| *width)).sum()
    }

    fn block(&self, block: &Block) -> String {
        let mut out = self.group_headings(block);
        out += &self.line(block, |column| &column.heading, Above);
        out += &"─".repeat(self.width(block));
        out.push('\n');
        (0..self.rows).for_each(|row| out += &self.line(block, |column| &column.cells[row], Below));
        out
    }

    /// The lines over the headings, where there are some: each heading over the middle of its columns, and
    /// broken where it is wider than they are.
    fn group_headings(&self, block: &Block) -> String {
        let mut headings: Vec<(usize, usize, Vec<String>)> = vec![];
        for (k, &(i, _)) in block.iter().enumerate() {
            let Some(group) = self.groups.iter().find(|group| group.start == i) else { continue };
            let gap = if k == 0 { 0 } else { self.columns[i].gap };
            let size = self.width(&block[k..k + group.len()]);
            let text = wrapped(&self.columns[i].group, size.max(1));
            headings.push((gap, size, text.lines().map(str::to_owned).collect()));
        }
        let height = headings.iter().map(|(_, _, lines)| lines.len()).max().unwrap_or(0);
        let mut out = String::new();
        for n in 0..height {
            let mut line = String::new();
            for (gap, size, lines) in &headings {
                // The last lines stand beside each other.
                let text = (n + lines.len()).checked_sub(height).and_then(|at| lines.get(at));
                let text = text.map_or("", String::as_str);
                line += &format!("{:gap$}{text:^size$}", "");
            }
            let line = line.trim_end();
            out += line;
            out += if line.is_empty() { "" } else { "\n" };
        }
        out
    }

    /// A row, over as many lines as its longest cell.
    fn line<'g>(
        &'g self,
        block: &Block,
        text: impl Fn(&'g Column) -> &'g str,
        room: Room,
    ) -> String {
        let lines =
            |&(i, width): &(usize, usize)| self.columns[i].lines(text(&self.columns[i]), width);
        let mut cells: Vec<Vec<String>> = block.iter().map(lines).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        if room == Above {
            cells.iter_mut().for_each(|cell| {
                *cell = [vec![String::new(); height - cell.len()], take(cell)].concat()
            });
        }
        let mut out = String::new();
        for n in 0..height {
            let mut line = String::new();
            for (k, (&(i, width), cell)) in block.iter().zip(&cells).enumerate() {
                let column = &self.columns[i];
                let text = cell.get(n).map_or("", String::as_str);
                let margin = width.saturating_sub(display_width(text));
                let gap = if k == 0 { 0 } else { column.gap };
                let [before, behind] = if column.right { [margin, 0] } else { [0, margin] };
                line += &format!("{0:1$}{text}{0:2$}", "", gap + before, behind);
            }
            out += line.trim_end();
            out.push('\n');
        }
        out
    }
}

impl Column {
    fn widest(&self) -> usize {
        self.widest_cell().max(display_width(&self.heading))
    }

    fn widest_cell(&self) -> usize {
        self.cells.iter().map(|text| display_width(text)).max().unwrap_or(0)
    }

    /// The width below which its heading would be a tower, or broken within a word.
    fn narrowest_heading(&self) -> usize {
        let longest = self.heading.split(' ').map(display_width).max().unwrap_or(0);
        let is_low = |width: &usize| wrap::lines(&self.heading, *width, [""; 2]).len() <= HEADING;
        (longest..self.widest()).find(is_low).unwrap_or(self.widest())
    }

    /// The width below which it does not go; names wider than `limit` are broken within words.
    fn narrowest(&self, limit: usize) -> usize {
        let parts = || self.cells.iter().chain([&self.heading]).flat_map(|text| text.split(' '));
        match (self.right, self.whole) {
            (true, _) if self.breaks => self.widest_cell().max(self.narrowest_heading()),
            (true, _) => self.widest(),
            (_, true) => parts().map(display_width).max().unwrap_or(0).min(limit.max(NARROWEST)),
            _ => self.widest().min(NARROWEST),
        }
    }

    /// `text` in lines of at most `width`.
    fn lines(&self, text: &str, width: usize) -> Vec<String> {
        match self.whole {
            true => wrap::lines(text, width, ["", "  "]),
            false if self.breaks => wrap::lines(text, width, [""; 2]),
            false => wrapped(text, width).lines().map(str::to_owned).collect(),
        }
    }
}

/// The cells of column `j`.
fn column(table: &Table, j: usize) -> Column {
    let column = &table.columns()[j];
    let cell = |(i, row): (usize, &Vec<_>)| {
        let star = if table.is_best(i, j) { "*" } else { "" };
        format!("{star}{}", column_cell(&row[j], column))
    };
    let has_best = table.bests().iter().any(|(_, best)| *best == j);
    let mut cells: Vec<String> = table.rows().iter().enumerate().map(cell).collect();
    align(&mut cells);
    Column {
        group: column.group.as_ref().map_or_else(String::new, sentence),
        heading: sentence(&column.title),
        cells,
        right: column.align == Align::Right,
        whole: column.is_whole,
        breaks: column.align == Align::Right && column.group.is_none(),
        gap: if has_best { GAP - 1 } else { GAP },
    }
}

/// Puts the signs of intervals below each other, and so the figures before them.
fn align(cells: &mut [String]) {
    let behind = |cell: &str| cell.find(" ±").map_or(0, |at| display_width(&cell[at..]));
    let widest = cells.iter().map(|cell| behind(cell)).max().unwrap_or(0);
    for cell in cells.iter_mut().filter(|cell| cell.contains(" ±")) {
        let missing = widest - behind(cell);
        *cell += &" ".repeat(missing);
    }
}

/// Columns of a group stand close, and are as wide as the longest word of its heading.
fn close_up(group: &mut [Column]) {
    for column in group.iter_mut().skip(1) {
        column.gap = 1;
        column.group.clear();
    }
    let others: usize = group.iter().skip(1).map(|column| column.widest() + column.gap).sum();
    let first = &mut group[0];
    let longest = first.group.split(' ').map(display_width).max().unwrap_or(0);
    let room = longest.min(LONGEST_PART).saturating_sub(others);
    if room > first.widest() {
        first.heading = format!("{:>room$}", first.heading);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_document::{Cell, Column, Quantity, Unit};

    fn many_columns(columns: usize) -> Table {
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
            "name     time\n─────────────\na     1.50 ms\nb    *1.00 ms\n"
        );
    }

    /// Two cases on `devices`, as results are shown.
    fn results(devices: usize) -> Table {
        let device = |i: usize| {
            let time = Column::new(&format!("time {i}"), "median ± 95 %", Unit::Seconds);
            let rate = Column::bare(&format!("rate {i}"), Unit::FlopsPerSecond);
            [time, rate].map(|column| column.under(format!("device:{i} (simulated)")))
        };
        let columns = (0..devices).flat_map(device);
        let mut table =
            Table::new("t", "t", [Column::names("case", "case")].into_iter().chain(columns));
        let time = Quantity::between(2.03e-3, [1.5e-3, 3.5e-3]);
        let name = "a_name_of_40_characters/variant_of_16x16 m=4096 k=2 n=4096";
        for name in [name, "short n=1"] {
            let cells = (0..devices).flat_map(|_| [time.into(), 1.65e10.into()]);
            table.row([name.into()].into_iter().chain(cells));
        }
        table
    }

    #[test]
    fn names_stay_whole_and_a_device_is_not_split() {
        insta::assert_snapshot!(Grid::of(&results(6)).text(Some(80)));
    }

    #[test]
    fn a_case_is_a_line_where_the_width_is_free() {
        let text = Grid::of(&results(6)).text(None);
        assert_eq!(text.lines().count(), 5);
        assert_eq!(text.lines().nth(3).unwrap().matches("±72 % 16.5 G").count(), 6);
    }

    #[test]
    fn a_long_heading_of_columns_is_broken_and_makes_them_no_wider() {
        let under = |name: &str| {
            let time = Column::new(&format!("{name} time"), "median ± 95 %", Unit::Seconds);
            time.under(name.to_owned())
        };
        let mut table = Table::new("t", "t", [under("A card · 1.0 · opencl"), under("B")]);
        table.row([1.23e-3.into(), 2.34e-3.into()]);
        let text = Grid::of(&table).text(Some(80));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 5, "{text}");
        assert!(lines.iter().all(|line| display_width(line) <= 28), "{text}");
        assert!(lines[0].contains("A card") && !lines[0].contains('B'), "{text}");
        assert!(lines[1].contains("opencl") && lines[1].contains('B'), "{text}");
    }

    #[test]
    fn a_long_heading_of_figures_takes_lines_before_columns_follow_below() {
        let of = |i: usize| {
            let heading = format!("AMD EPYC {i} · PoCL 3.1 · opencl (CPU)");
            Column::new(&format!("c{i}"), heading, Unit::Fraction)
        };
        let columns = [Column::names("workload", "workload")].into_iter().chain((0..4).map(of));
        let mut table = Table::new("t", "t", columns);
        table
            .row([Cell::from("matmul")].into_iter().chain([0.5, 0.25, 1.0, 0.125].map(Cell::from)));
        let text = Grid::of(&table).text(Some(80));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.iter().all(|line| display_width(line) <= 80), "{text}");
        assert_eq!(lines.iter().filter(|line| line.contains("matmul")).count(), 1, "{text}");
        let heading = lines.iter().position(|line| line.starts_with("workload")).unwrap();
        assert!(lines[heading].contains("(CPU)") && lines[heading + 1].starts_with('─'), "{text}");
        let unbroken = Grid::of(&table).text(None);
        assert_eq!(unbroken.lines().count(), 3, "{unbroken}");
    }

    #[test]
    fn columns_that_do_not_fit_follow_below() {
        let text = Grid::of(&many_columns(20)).text(Some(60));
        assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
        for column in 0..20 {
            assert!(text.contains(&format!("col {column}")), "{text}");
        }
        assert!(
            Grid::of(&many_columns(20)).text(None).lines().next().unwrap().chars().count() > 150
        );
    }
}
