//! What ran when: one row a track, one box a span.

use super::figure::{WIDTH, colour, figure, label, num};
use super::scale::Range;
use crate::render::name;
use gpubench_document::{Axis, Figure, Scale, Sentence, Span, Timeline, Unit};
use maud::{Markup, html};

const LEFT: f64 = 62.0;
const RIGHT: f64 = 12.0;
const ROW: f64 = 44.0;
const TOP: f64 = 12.0;

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
            g class=(colour(row)) { @for span in track.spans() { (bar(span, y + 6.0, &place)) } }
        }
        @for tick in range.ticks(4) {
            text.tick.mid x=(num(place(tick).min(WIDTH - 20.0))) y=(num(bottom + 14.0)) { (axis.tick(tick)) }
        }
        text.title.end x=(num(WIDTH - RIGHT)) y=(num(bottom + 32.0)) { (label(&axis.label, 10)) }
    };
    let length = Sentence::new().quantity(Some(timeline.length()), Unit::Seconds);
    let description = length.text(" from the first start to the last end");
    figure(&timeline.title, &description, bottom + 38.0, &drawing, &[])
}

fn bar(span: &Span, y: f64, place: &dyn Fn(f64) -> f64) -> Markup {
    let start = span.start().value();
    let (x, end) = (place(start), place(start + span.duration().value()));
    let duration = Figure { quantity: span.duration(), unit: Unit::Seconds };
    html! {
        rect.area x=(num(x)) y=(num(y)) width=(num((end - x).max(0.7))) height=(num(ROW - 12.0)) {
            title { (name(span.name())) ": " (duration.text()) }
        }
    }
}
