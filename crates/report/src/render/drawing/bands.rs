//! Plots over names: one band a name, its values along it, and its name above.

use super::figure::{WIDTH, colour, figure, label, mark, num};
use super::frame::labelled;
use super::plot::{legend, look};
use super::scale::Range;
use crate::render::{name, sentence};
use gpubench_core::text::middle;
use gpubench_document::{Direction, Figure, Marker, Plot, Quantity, Sentence, Stroke, Unit};
use maud::{Markup, html};

const SIDE: f64 = 8.0;
const ROW: f64 = 34.0;
const TOP: f64 = 6.0;
/// From a band's top to the line that its marks stand on.
const MIDDLE: f64 = 22.0;

/// The plot; nothing where no value can be drawn.
pub(super) fn draw(plot: &Plot) -> Option<Markup> {
    let points = || plot.all().iter().flat_map(|series| series.all());
    let limits = plot.limits().iter().filter(|limit| limit.direction == Direction::Horizontal);
    let reference = (plot.y.unit == Unit::Relative).then_some(1.0);
    let bounds: Vec<f64> = limits.map(|limit| limit.at.value()).chain(reference).collect();
    let ends = points().filter_map(|point| point.y().interval()).flatten();
    let values = points().map(|point| point.y().value()).chain(bounds.iter().copied());
    let range = Range::around(plot.y.scale, values.chain(ends))?;
    let place = |value: f64| SIDE + range.place(value) * (WIDTH - 2.0 * SIDE);
    let bottom = TOP + ROW * plot.x.names().len() as f64;
    let drawing = html! {
        @for (row, category) in plot.x.names().iter().enumerate() {
            @let y = TOP + ROW * row as f64;
            rect.band x=(num(SIDE)) y=(num(y + MIDDLE - 6.0)) width=(num(WIDTH - 2.0 * SIDE)) height="12" {}
            @for bound in &bounds {
                path.limit d={ "M" (num(place(*bound))) " " (num(y + MIDDLE - 6.0)) "v12" } {}
            }
            text x=(num(SIDE)) y=(num(y + 12.0)) { (middle(&name(category), 40)) }
            @if let Some(value) = leading(plot, row) {
                text.end x=(num(WIDTH - SIDE)) y=(num(y + 12.0)) { (value.text()) }
            }
            (values_of(plot, row, y + MIDDLE, range, &place))
        }
        @for (tick, text) in labelled(&plot.y, range) {
            text.tick.mid x=(num(place(tick).clamp(14.0, WIDTH - 16.0))) y=(num(bottom + 14.0)) { (text) }
        }
        text.title.end x=(num(WIDTH - SIDE)) y=(num(bottom + 30.0)) { (label(&plot.y.label, 50)) }
    };
    // What is called as its band is needs no legend.
    let named = |text: &Sentence| plot.x.names().iter().any(|band| name(band) == sentence(text));
    let mut legend = legend(plot);
    legend.retain(|entry| !named(&entry.text));
    Some(figure(&plot.title, &plot.description, bottom + 36.0, &drawing, &legend))
}

/// Values of a series at a name.
fn at(series: &gpubench_document::Series, row: usize) -> impl Iterator<Item = Quantity> {
    series.all().iter().filter(move |point| point.x() == row as f64).map(|point| point.y())
}

/// The value of the first series that has any, where it has but one: it is written above the band.
fn leading(plot: &Plot, row: usize) -> Option<Figure> {
    let series = plot.all().iter().find(|series| at(series, row).next().is_some())?;
    let mut values = at(series, row);
    let value = values.next()?.value();
    Figure::new(value, plot.y.unit).filter(|_| values.next().is_none())
}

fn values_of(plot: &Plot, row: usize, y: f64, range: Range, place: &dyn Fn(f64) -> f64) -> Markup {
    let foot = SIDE + range.foot() * (WIDTH - 2.0 * SIDE);
    html! {
        @for (i, series) in plot.all().iter().enumerate().filter(|(_, s)| at(s, row).next().is_some()) {
            @let number = look(i, series).0;
            g class=(colour(number)) {
                @for value in at(series, row).filter(|value| range.shows(value.value())) {
                    @let x = place(value.value());
                    @match series.style.stroke() {
                        Stroke::Bars => path.line d={ "M" (num(foot)) " " (num(y)) "H" (num(x)) } {},
                        // Names have no order that a line could follow.
                        Stroke::None | Stroke::Line | Stroke::Steps => {},
                    }
                    @if let Some([low, high]) = value.interval() {
                        path.whisker d={ "M" (num(place(low))) " " (num(y)) "H" (num(place(high))) } {}
                    }
                    @match series.style.marker() {
                        Marker::Hollow => path.open d=(mark(number, x, y)) {},
                        Marker::Filled | Marker::None => path.mark d=(mark(number, x, y)) {},
                    }
                }
            }
        }
    }
}
