//! Plots and timelines for formats without drawings.

use gpubench_document::{Cell, Column, Plot, Quantity, Table, Timeline, Track};

/// More points than this say less than the drawing.
const ROWS: usize = 16;

/// Where a format without drawings sends its readers.
pub(super) const ELSEWHERE: &str = "HTML draws it; JSON and figures list its points";

/// The points of a plot, one row for each place along the horizontal axis; `None` where there are
/// too many to be read.
pub(super) fn points(plot: &Plot) -> Option<Table> {
    let x = match plot.x.names() {
        [] => Column::new("x", plot.x.label.clone(), plot.x.unit),
        _ => Column::text("x", plot.x.label.clone()),
    };
    let series = plot.all().iter().map(|series| Column::new("y", series.name.clone(), plot.y.unit));
    let mut table = Table::new(plot.key(), plot.title.clone(), [x].into_iter().chain(series));
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
        let first = match plot.x.names() {
            [] => row[0].0.into(),
            names => names.get(row[0].0 as usize).cloned().into(),
        };
        [first].into_iter().chain(cells).collect()
    };
    entries.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).map(row).collect()
}

/// When a track was busy, over `width` characters.
pub(super) fn bar(timeline: &Timeline, track: &Track, width: usize) -> String {
    let mut busy = vec![false; width];
    let place = |time: f64| time / timeline.length().value() * width as f64;
    for span in track.spans() {
        let start = span.start().value();
        let first = (place(start) as usize).min(width.saturating_sub(1));
        let end = place(start + span.duration().value()).ceil() as usize;
        busy[first..end.clamp(first + 1, width.max(first + 1))].fill(true);
    }
    busy.into_iter().map(|busy| if busy { '█' } else { '·' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_document::{Axis, Scale, Series, Style, Unit};

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

    #[test]
    fn bars_show_when_a_track_was_busy() {
        let seen = |start, end| (String::new(), start, end);
        let tracks = [
            ("a".into(), vec![seen(0.0, 1.0), seen(3.0, 3.0)]),
            ("b".into(), vec![seen(1.0, 4.0)]),
        ];
        let timeline = Timeline::new("t", "t", tracks).unwrap();
        let bars: Vec<String> = timeline.tracks().iter().map(|t| bar(&timeline, t, 8)).collect();
        assert_eq!(bars, ["██····█·", "··██████"]);
    }
}
