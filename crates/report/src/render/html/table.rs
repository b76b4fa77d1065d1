//! Tables that scroll within themselves where the page is narrow, reachable by keyboard.

use super::{shown, whole};
use crate::render::{column_cell, sentence};
use gpubench_document::{Align, Cell, Column, Table};
use maud::{Markup, html};

pub(crate) fn table(table: &Table) -> Markup {
    let columns = table.columns();
    let matrix = table.shade().map(|_| "matrix");
    html! {
        div.scroll role="region" aria-label=(sentence(&table.title)) tabindex="0" {
            table class=[matrix] {
                caption { (shown(&table.title)) }
                thead { (headings(table)) }
                tbody {
                    @for (i, row) in table.rows().iter().enumerate() {
                        tr {
                            @for (j, (cell, column)) in row.iter().zip(columns).enumerate() {
                                @let class = classes(table, i, j, cell);
                                @if j == 0 {
                                    th scope="row" class=(class) { (content(cell, column)) }
                                } @else {
                                    td class=[(!class.is_empty()).then_some(class)] { (content(cell, column)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A line of headings, below one of groups where there are some.
fn headings(table: &Table) -> Markup {
    let (columns, groups) = (table.columns(), table.groups());
    let has_groups = columns.iter().any(|column| column.group.is_some());
    let class = |column: &Column| (column.align == Align::Right).then_some("n");
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
            @for column in columns { th scope="col" class=[class(column)] { (shown(&column.title)) } }
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
fn heat(value: f64, [low, high]: [f64; 2]) -> String {
    let share = (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
    format!("h{}", (share * 5.0).round().clamp(0.0, 5.0) as u32)
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
    use super::heat;

    #[test]
    fn shades_are_held_within() {
        assert_eq!(
            [0.9, 1.0, 1.5, 2.0, 9.0].map(|v| heat(v, [1.0, 2.0])),
            ["h0", "h0", "h3", "h5", "h5"]
        );
        assert_eq!(heat(f64::MAX, [-f64::MAX, f64::MAX]), "h5");
    }
}
