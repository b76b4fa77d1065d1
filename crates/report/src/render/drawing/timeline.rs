//! What ran when: one row a track, one box a span.

use super::figure::{WIDTH, colour, figure, label, num};
use super::scale::Range;
use crate::render::{name, sentence};
use gpubench_core::text::middle;
use gpubench_document::{
    Axis, Column, Figure, Scale, Section, Sentence, Span, Table, Timeline, Track, Unit,
};
use maud::{Markup, html};

const LEFT: f64 = 62.0;
const RIGHT: f64 = 12.0;
const ROW: f64 = 44.0;
const TOP: f64 = 12.0;
/// Characters of a track's name where the width is limited.
const NAME: usize = 20;
/// Characters of a bar where it is not.
const BAR: usize = 40;
/// What stands over the names.
const HEADING: &str = "track";

/// The drawing.
pub(super) fn draw(timeline: &Timeline) -> Markup {
    let range = Range::Linear(0.0, timeline.length().value());
    let place = |time: f64| LEFT + range.place(time) * (WIDTH - LEFT - RIGHT);
    let bottom = TOP + ROW * timeline.tracks().len() as f64;
    let axis = Axis::new("time", Unit::Seconds, Scale::Linear);
    let drawing = html! {
        @for (row, track) in timeline.tracks().iter().enumerate() {
            @let y = TOP + ROW * row as f64;
            rect.band x=(num(LEFT)) y=(num(y + 3.0)) width=(num(WIDTH - LEFT - RIGHT)) height=(num(ROW - 6.0)) {}
            text.end x=(num(LEFT - 6.0)) y=(num(y + ROW / 2.0 + 4.0)) { (label(track.name(), 10)) }
            g class=(colour(row)) { @for span in track.spans() { (area(span, y + 6.0, &place)) } }
        }
        @for tick in range.ticks(4) {
            text.tick.mid x=(num(place(tick).min(WIDTH - 20.0))) y=(num(bottom + 14.0)) { (axis.tick(tick)) }
        }
        text.title.end x=(num(WIDTH - RIGHT)) y=(num(bottom + 32.0)) { (label(&axis.label, 10)) }
    };
    let description = length(timeline).text(" from the first start to the last end");
    figure(&timeline.title, &description, bottom + 38.0, &drawing, &[])
}

fn area(span: &Span, y: f64, place: &dyn Fn(f64) -> f64) -> Markup {
    let start = span.start().value();
    let (x, end) = (place(start), place(start + span.duration().value()));
    let duration = Figure { quantity: span.duration(), unit: Unit::Seconds };
    html! {
        rect.area x=(num(x)) y=(num(y)) width=(num((end - x).max(0.7))) height=(num(ROW - 12.0)) {
            title { (name(span.name())) ": " (duration.text()) }
        }
    }
}

fn length(timeline: &Timeline) -> Sentence {
    Sentence::new().quantity(Some(timeline.length()), Unit::Seconds)
}

/// A bar for each track, in lines of at most `width` characters where that is given.
pub(super) fn readable(timeline: &Timeline, width: Option<usize>) -> Section {
    let limit = if width.is_some() { NAME } else { usize::MAX };
    let name = |track: &Track| middle(&sentence(track.name()), limit);
    let names: Vec<String> = timeline.tracks().iter().map(name).collect();
    let longest = names.iter().map(|name| name.chars().count()).fold(HEADING.len(), usize::max);
    let room = width.map_or(BAR, |width| width.saturating_sub(longest + 2).clamp(8, 72));
    let length = Sentence::from("0 to ").then(length(timeline));
    let columns = [Column::text("track", HEADING), Column::text("busy", length)];
    let mut table = Table::new(timeline.key(), timeline.title.clone(), columns);
    for (track, name) in timeline.tracks().iter().zip(names) {
        table.row([name.into(), Sentence::from(bar(timeline, track, room)).into()]);
    }
    Section::new(timeline.key(), timeline.title.clone()).table(table)
}

/// Every span of every track.
pub(super) fn values(timeline: &Timeline) -> Section {
    let section = Section::new(timeline.key(), timeline.title.clone());
    let section = section.figure("length", "length", timeline.length(), Unit::Seconds);
    timeline.tracks().iter().fold(section, |section, track| section.table(spans(track)))
}

fn spans(track: &Track) -> Table {
    let seconds = |key| Column::new(key, key, Unit::Seconds);
    Table::of("track", track.name().clone(), track.spans())
        .column(Column::text("name", "name"), |span| span.name().to_owned())
        .column(seconds("start"), |span| span.start())
        .column(seconds("duration"), |span| span.duration())
        .table()
}

/// When a track was busy, over `width` characters.
fn bar(timeline: &Timeline, track: &Track, width: usize) -> String {
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
