//! The points of a plot as tables: for readers of text, and for programs.

use gpubench_document::{Cell, Column, Direction, Plot, Quantity, Section, Series, Table};

/// More points than this say less than the drawing.
const ROWS: usize = 16;

/// Where a format without drawings sends its readers.
const ELSEWHERE: &str = ": HTML draws it; JSON and figures list its points.";

/// Its points, unless a table of `section` holds them, and its limits.
pub(super) fn readable(plot: &Plot, section: &Section) -> Section {
    let mut out = Section::new(plot.key(), plot.title.clone());
    if plot.table().and_then(|key| section.find_table(key)).is_none() {
        out = match points(plot) {
            Some(table) => out.table(table),
            None => out.text(plot.title.clone().text(ELSEWHERE)),
        };
    }
    plot.limits().iter().fold(out, |out, limit| {
        let at = plot.figure(limit);
        out.figure("limit", limit.label.clone(), at.quantity, at.unit)
    })
}

/// Every series with its labels, and the limits.
pub(super) fn values(plot: &Plot) -> Section {
    let mut out = Section::new(plot.key(), plot.title.clone()).text(plot.description.clone());
    for (i, series) in plot.all().iter().enumerate() {
        out = out.table(series_points(plot, i + 1, series)).table(along(i + 1, series));
    }
    out.table(limits(plot, Direction::Horizontal)).table(limits(plot, Direction::Vertical))
}

fn series_points(plot: &Plot, number: usize, series: &Series) -> Table {
    let y = Column::new("y", plot.y.label.clone(), plot.y.unit);
    Table::of(&format!("series_{number}"), series.name.clone(), series.all())
        .column(horizontal(plot), |point| place(plot, point.x()))
        .column(y, |point| point.y())
        .table()
}

/// What stands along the lines from point to point.
fn along(number: usize, series: &Series) -> Table {
    let key = format!("along_{number}");
    let mut table = Table::new(&key, series.name.clone(), [Column::text("along", "along")]);
    series.labels().iter().for_each(|label| table.row([label.clone().into()]));
    table
}

/// The limits in a direction, which share a unit.
fn limits(plot: &Plot, direction: Direction) -> Table {
    let (key, axis) = match direction {
        Direction::Horizontal => ("limits", &plot.y),
        Direction::Vertical => ("limits_x", &plot.x),
    };
    let limits = plot.limits().iter().filter(|limit| limit.direction == direction);
    Table::of(key, "limits", limits)
        .column(Column::text("label", "limit"), |limit| limit.label.clone())
        .column(Column::new("at", axis.label.clone(), axis.unit), |limit| limit.at)
        .table()
}

fn horizontal(plot: &Plot) -> Column {
    match plot.x.names() {
        [] => Column::new("x", plot.x.label.clone(), plot.x.unit),
        _ => Column::text("x", plot.x.label.clone()),
    }
}

fn place(plot: &Plot, x: f64) -> Cell {
    plot.x.names().get(x as usize).map_or_else(|| x.into(), |name| name.clone().into())
}

/// The points of a plot, one row for each place along the horizontal axis; `None` where there are
/// too many to be read.
fn points(plot: &Plot) -> Option<Table> {
    let series = plot.all().iter().map(|series| Column::new("y", series.name.clone(), plot.y.unit));
    let mut table =
        Table::new(plot.key(), plot.title.clone(), [horizontal(plot)].into_iter().chain(series));
    let rows = rows(plot);
    if rows.len() > ROWS {
        return None;
    }
    rows.into_iter().for_each(|row| table.row(row));
    Some(table)
}

/// A point for the table: its place, which of its series' points there it is, series and value.
type Entry = (f64, usize, usize, Quantity);

fn rows(plot: &Plot) -> Vec<Vec<Cell>> {
    let mut entries: Vec<Entry> = vec![];
    for (i, series) in plot.all().iter().enumerate() {
        let mut points = series.all().to_vec();
        points.sort_by(|a, b| a.x().total_cmp(&b.x()));
        // A series may hold several points of one place: they stand below each other.
        for here in points.chunk_by(|a, b| a.x() == b.x()) {
            entries.extend(here.iter().enumerate().map(|(nth, p)| (p.x(), nth, i, p.y())));
        }
    }
    entries.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let row = |row: &[Entry]| {
        let mut cells = vec![Cell::Missing; plot.all().len()];
        row.iter().for_each(|&(_, _, i, y)| cells[i] = y.into());
        [place(plot, row[0].0)].into_iter().chain(cells).collect()
    };
    entries.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_document::{Axis, Scale, Style, Unit};

    #[test]
    fn points_of_one_place_share_a_row() {
        let axis = || Axis::new("n", Unit::Count, Scale::Linear);
        let plot = Plot::new("p", "p", axis(), axis())
            .series(Series::new("a", Style::Line).points([(2.0, 5.0), (1.0, 4.0), (1.0, 3.0)]))
            .series(Series::new("b", Style::Line).points([(1.0, 9.0)]));
        let table = points(&plot).unwrap();
        assert_eq!(table.rows().len(), 3);
        assert_eq!(table.rows()[0], [1.0.into(), 4.0.into(), 9.0.into()]);
        assert_eq!(table.rows()[1], [1.0.into(), 3.0.into(), Cell::Missing]);
        let many =
            Series::new("a", Style::Points).points((0..100_000).map(|i| (f64::from(i), 1.0)));
        assert_eq!(points(&Plot::new("p", "p", axis(), axis()).series(many)), None);
    }
}
