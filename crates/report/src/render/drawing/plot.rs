//! Plots of quantities: series, their intervals, limits and the legend.

use super::figure::{Entry, Look, colour, dash, figure, label, mark, num};
use super::frame::{Frame, HEIGHT};
use gpubench_document::{Direction, Limit, Marker, Plot, Point, Sentence, Series, Stroke};
use maud::{Markup, html};
use std::fmt::Write;

/// The plot; nothing where no point can be drawn.
pub(super) fn draw(plot: &Plot) -> Option<Markup> {
    let frame = Frame::around(plot)?;
    let inside = html! {
        @for limit in plot.limits() { (across(&frame, limit)) }
        @for (i, one) in plot.all().iter().enumerate() { (series(&frame, plot, i, one)) }
    };
    Some(figure(&plot.title, &plot.description, HEIGHT, &frame.drawing(&inside), &legend(plot)))
}

/// What every series and limit means.
pub(super) fn legend(plot: &Plot) -> Vec<Entry> {
    let series = plot.all().iter().enumerate().map(|(i, series)| {
        let (colour, dashes) = look(i, series);
        Entry { look: Look::Series(series.style, colour, dashes), text: series.name.clone() }
    });
    let limits = plot.limits().iter().map(|limit| {
        let at = plot.figure(limit);
        let text = limit.label.clone().text(": ").quantity(Some(at.quantity), at.unit);
        Entry { look: Look::Limit, text }
    });
    series.chain(limits).collect()
}

/// Number of the colour and mark, and of the dashes, of series number `i`.
pub(super) fn look(i: usize, series: &Series) -> (usize, usize) {
    match series.colour {
        Some(colour) => (colour, series.dash),
        None => (i, series.dash + i / super::figure::LOOKS),
    }
}

fn across(frame: &Frame, limit: &Limit) -> Markup {
    let ([left, right], [top, bottom]) = (frame.across(), frame.upright());
    let at = limit.at.value();
    let d = match limit.direction {
        Direction::Horizontal => format!("M{} {}H{}", num(left), num(frame.y(at)), num(right)),
        Direction::Vertical => format!("M{} {}V{}", num(frame.x(at)), num(top), num(bottom)),
    };
    html! { path.limit d=(d) {} }
}

fn series(frame: &Frame, plot: &Plot, i: usize, series: &Series) -> Markup {
    let points: Vec<Point> =
        series.all().iter().copied().filter(|p| frame.shows(p.x(), p.y().value())).collect();
    let (number, dashes) = look(i, series);
    let shape = |point: &Point| mark(number, frame.x(point.x()), frame.y(point.y().value()));
    html! {
        g class=(colour(number)) {
            @match series.style.stroke() {
                Stroke::Line => path.line.(dash(dashes)) d=(line(frame, &points, false)) {},
                Stroke::Steps => path.line.(dash(dashes)) d=(line(frame, &points, true)) {},
                Stroke::Bars => (bars(frame, plot, i, &points)),
                Stroke::None => {},
            }
            @for point in &points { (whisker(frame, point)) }
            @match series.style.marker() {
                Marker::Filled => @for point in &points { path.mark d=(shape(point)) {} },
                Marker::Hollow => @for point in &points { path.open d=(shape(point)) {} },
                Marker::None => {},
            }
            @for (pair, text) in points.windows(2).zip(series.labels()) {
                (along(frame, [pair[0], pair[1]], text))
            }
        }
    }
}

/// A label over the middle of a line, in its direction.
fn along(frame: &Frame, ends: [Point; 2], text: &Sentence) -> Markup {
    let [[x1, y1], [x2, y2]] = ends.map(|end| [frame.x(end.x()), frame.y(end.y().value())]);
    let (x, y) = (num((x1 + x2) / 2.0), num((y1 + y2) / 2.0));
    let turn = num((y2 - y1).atan2(x2 - x1).to_degrees());
    html! {
        text.along.mid x=(x) y=(y) dy="-5" transform={ "rotate(" (turn) " " (x) " " (y) ")" } { (label(text, 40)) }
    }
}

fn line(frame: &Frame, points: &[Point], steps: bool) -> String {
    let mut d = String::new();
    for point in points {
        let (x, y) = (num(frame.x(point.x())), num(frame.y(point.y().value())));
        let _ = match (d.is_empty(), steps) {
            (true, _) => write!(d, "M{x} {y}"),
            (false, true) => write!(d, "H{x}V{y}"),
            (false, false) => write!(d, "L{x} {y}"),
        };
    }
    d
}

fn whisker(frame: &Frame, point: &Point) -> Markup {
    let x = frame.x(point.x());
    html! {
        @if let Some([low, high]) = point.y().interval() {
            path.whisker d={ "M" (num(x)) " " (num(frame.y(low))) "V" (num(frame.y(high))) } {}
        }
    }
}

/// Bars as wide as the nearest places allow; those of several series share the room.
fn bars(frame: &Frame, plot: &Plot, i: usize, points: &[Point]) -> Markup {
    let is_bars = |series: &&Series| series.style.stroke() == Stroke::Bars;
    let all = plot.all().iter().filter(is_bars);
    let count = all.clone().count().max(1) as f64;
    let before = plot.all().iter().take(i).filter(is_bars).count() as f64;
    let mut places: Vec<f64> = all.flat_map(|s| s.all()).map(|p| frame.x(p.x())).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let nearest = places.windows(2).map(|pair| pair[1] - pair[0]).fold(40.0, f64::min);
    let width = (nearest * 0.8 / count).max(0.7);
    let foot = frame.foot();
    html! {
        @for point in points {
            @let left = frame.x(point.x()) + (before - count / 2.0) * width;
            @let y = frame.y(point.y().value());
            rect.area x=(num(left)) y=(num(y.min(foot))) width=(num(width)) height=(num((y - foot).abs())) {}
        }
    }
}
