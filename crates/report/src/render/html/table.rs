//! Tables that scroll within themselves where the page is narrow, reachable by keyboard.

use crate::render::markup::{shown, whole};
use crate::render::{column_cell, sentence};
use gpubench_document::{Align, Cell, Column, Scale, Shade, Table};
use maud::{Markup, html};
use std::ops::Range;

/// With more groups of columns than this, the columns of a group stand below each other: a page has no room
/// for eight devices side by side otherwise.
const SIDE_BY_SIDE: usize = 3;

pub(crate) fn table(table: &Table) -> Markup {
    let matrix = table.shade().map(|_| "matrix");
    let has_heading = |group: &&Range<usize>| table.columns()[group.start].group.is_some();
    let is_stacked = table.groups().iter().filter(has_heading).count() > SIDE_BY_SIDE;
    html! {
        div.scroll role="region" aria-label=(sentence(&table.title)) tabindex="0" {
            table class=[matrix.or(is_stacked.then_some("stacked"))] {
                caption { (shown(&table.title)) }
                @if is_stacked { (stacked(table)) } @else { (plain(table)) }
            }
        }
    }
}

/// Columns side by side.
fn plain(table: &Table) -> Markup {
    html! {
        thead { (headings(table)) }
        tbody {
            @for i in 0..table.rows().len() {
                tr { @for j in 0..table.columns().len() { (cell(table, i, j)) } }
            }
        }
    }
}

/// A column for each group: what it holds stands below each other, with its unit.
fn stacked(table: &Table) -> Markup {
    let (columns, groups) = (table.columns(), table.groups());
    html! {
        thead {
            tr {
                @for group in &groups {
                    @let first = &columns[group.start];
                    th scope="col" class=[right(first)] { (shown(first.group.as_ref().unwrap_or(&first.title))) }
                }
            }
        }
        tbody {
            @for (i, row) in table.rows().iter().enumerate() {
                tr {
                    @for group in &groups {
                        @if group.len() == 1 { (cell(table, i, group.start)) } @else {
                            @let (marks, lines) = filled(row, group);
                            td.n {
                                @for (n, &j) in lines.iter().enumerate() {
                                    div class=(classes(table, i, j, &row[j])) {
                                        (with_unit(&row[j], &columns[j]))
                                        @for &mark in marks.iter().filter(|_| n == 0) { " " (content(&row[mark], &columns[mark])) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What a row has in a group: marks, and all else.
fn filled(row: &[Cell], group: &Range<usize>) -> (Vec<usize>, Vec<usize>) {
    let filled = group.clone().filter(|&column| row[column] != Cell::Missing);
    filled.partition(|&column| matches!(row[column], Cell::Mark(_)))
}

fn cell(table: &Table, row: usize, column: usize) -> Markup {
    let (cell, of) = (&table.rows()[row][column], &table.columns()[column]);
    let class = classes(table, row, column, cell);
    html! {
        @if column == 0 {
            th scope="row" class=(class) { (content(cell, of)) }
        } @else {
            td class=[(!class.is_empty()).then_some(class)] { (content(cell, of)) }
        }
    }
}

fn right(column: &Column) -> Option<&'static str> {
    (column.align == Align::Right).then_some("n")
}

/// A line of headings, below one of groups where there are some.
fn headings(table: &Table) -> Markup {
    let (columns, groups) = (table.columns(), table.groups());
    let has_groups = columns.iter().any(|column| column.group.is_some());
    html! {
        @if has_groups {
            tr {
                @for group in &groups {
                    @match &columns[group.start].group {
                        Some(heading) => th.group scope="colgroup" colspan=(group.len()) { (shown(heading)) },
                        None => td {},
                    }
                }
            }
        }
        tr {
            @for column in columns { th scope="col" class=[right(column)] { (shown(&column.title)) } }
        }
    }
}

fn classes(table: &Table, row: usize, column: usize, cell: &Cell) -> String {
    let right = table.columns().get(column).is_some_and(|column| column.align == Align::Right);
    let has_title = table.columns().get(column).is_some_and(|column| !column.title.is_empty());
    let mut classes = match (right, has_title) {
        (true, _) => vec!["n".to_owned()],
        (_, true) => vec!["name".to_owned()],
        _ => vec![],
    };
    if table.is_best(row, column) {
        classes.push("best".to_owned());
    }
    if let (Some(range), Cell::Quantity(quantity)) = (table.shade(), cell) {
        classes.push(heat(quantity.value(), range));
    }
    classes.join(" ")
}

/// One of six shades.
fn heat(value: f64, Shade { low, high, scale }: Shade) -> String {
    let share = match scale {
        Scale::Linear => (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0),
        Scale::Log2 | Scale::Log10 => (value / low).ln() / (high / low).ln(),
    };
    format!("h{}", (share * 5.0).round().clamp(0.0, 5.0) as u32)
}

/// A cell that no heading says the unit of.
fn with_unit(cell: &Cell, column: &Column) -> Markup {
    match cell {
        Cell::Quantity(_) => html! { (whole(&crate::render::cell(cell, column.unit))) },
        other => content(other, column),
    }
}

/// A cell, with names that may break.
fn content(content: &Cell, column: &Column) -> Markup {
    match content {
        Cell::Text(sentence) => shown(sentence),
        Cell::Mark(mark) => html! { span.(mark.label()) title=(mark.label()) { (mark.sign()) } },
        other => html! { (whole(&column_cell(other, column))) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_document::{Mark, Sentence, Unit};

    #[test]
    fn shades_are_held_within() {
        let evenly = |low, high| Shade { low, high, scale: Scale::Linear };
        assert_eq!(
            [0.9, 1.0, 1.5, 2.0, 9.0].map(|v| heat(v, evenly(1.0, 2.0))),
            ["h0", "h0", "h3", "h5", "h5"]
        );
        assert_eq!(heat(f64::MAX, evenly(-f64::MAX, f64::MAX)), "h5");
        let factors = Shade { low: 1.0 / 32.0, high: 1.0, scale: Scale::Log2 };
        assert_eq!(
            [-1.0, 0.0, 1e-9, 0.0625, 0.125, 0.5, 1.0, 7.0].map(|v| heat(v, factors)),
            ["h0", "h0", "h0", "h1", "h2", "h4", "h5", "h5"]
        );
    }

    fn of_devices(count: usize) -> Table {
        let columns = (0..count).flat_map(|device| {
            let heading = Sentence::from(format!("device {device}"));
            let key = |what: &str| format!("{device} {what}");
            [
                Column::new(&key("time"), "median", Unit::Seconds),
                Column::bare(&key("rate"), Unit::FlopsPerSecond),
                Column::text(&key("mark"), Sentence::new()),
            ]
            .map(|column| column.under(heading.clone()))
        });
        let columns = [Column::names("case", "case")].into_iter().chain(columns);
        let mut table = Table::new("t", "t", columns);
        let cells = (0..count).flat_map(|_| [2e-3.into(), 3e9.into(), Mark::Warning.into()]);
        table.row([Cell::from("matmul")].into_iter().chain(cells));
        table.best("1_time");
        table.row([Cell::from("fma"), "skipped".into()]);
        table
    }

    #[test]
    fn many_devices_stand_in_a_column_each_with_their_units() {
        let few = table(&of_devices(SIDE_BY_SIDE)).0;
        assert!(few.contains("colgroup") && !few.contains("stacked"), "{few}");
        let many = table(&of_devices(SIDE_BY_SIDE + 1)).0;
        assert!(many.contains("class=\"stacked\"") && !many.contains("colgroup"));
        let count = |text: &str| many.matches(text).count();
        let devices = SIDE_BY_SIDE + 1;
        assert_eq!(count("<th scope=\"col\""), devices + 1, "{many}");
        assert_eq!(count(">3.00\u{a0}GFLOP/s</div>"), devices, "{many}");
        // The mark stands beside the time, and nothing where there is nothing.
        assert_eq!(count("2.00\u{a0}ms <span class=\"warning\""), devices, "{many}");
        assert_eq!(count("<div"), 2 * devices + 2, "{many}");
        assert_eq!(count("n best"), 1);
    }
}
