//! Tables that scroll within themselves where the page is narrow, reachable by keyboard.

use super::{cell, words};
use crate::render::sentence;
use gpubench_document::{Align, Cell, Table, Unit};
use maud::{Markup, html};

pub(super) fn table(table: &Table) -> Markup {
    let columns = table.columns();
    let matrix = table.shade().map(|_| "matrix");
    html! {
        div.scroll role="region" aria-label=(sentence(&table.title)) tabindex="0" {
            table class=[matrix] {
                caption { (words(&table.title)) }
                thead {
                    tr {
                        @for column in columns {
                            th scope="col" class=[(column.align == Align::Right).then_some("n")] { (words(&column.title)) }
                        }
                    }
                }
                tbody {
                    @for (i, row) in table.rows().iter().enumerate() {
                        tr {
                            @for (j, (cell, column)) in row.iter().zip(columns).enumerate() {
                                @let class = classes(table, i, j, cell);
                                @if j == 0 {
                                    th scope="row" class=(class) { (content(cell, column.unit)) }
                                } @else {
                                    td class=[(!class.is_empty()).then_some(class)] { (content(cell, column.unit)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn classes(table: &Table, row: usize, column: usize, cell: &Cell) -> String {
    let right = table.columns().get(column).is_some_and(|column| column.align == Align::Right);
    let mut classes = vec![if right { "n" } else { "name" }.to_owned()];
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
pub(super) fn content(content: &Cell, unit: Unit) -> Markup {
    match content {
        Cell::Text(sentence) => words(sentence),
        Cell::Mark(mark) => html! { span title=(mark.word()) { (mark.sign()) } },
        other => html! { (cell(other, unit)) },
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
