//! Charts. Of each sort: how it is drawn, what it says to readers of text, and its values for programs.

mod bands;
pub(crate) mod figure;
mod frame;
mod plot;
mod points;
pub(crate) mod scale;
mod timeline;

use gpubench_document::{Drawing, Plot, Section};
use maud::Markup;

/// As SVG with its caption; nothing where no point can be drawn.
pub(super) fn drawn(drawing: &Drawing) -> Option<Markup> {
    match drawing {
        Drawing::Plot(plot) => drawn_plot(plot),
        Drawing::Timeline(timeline) => Some(timeline::draw(timeline)),
    }
}

/// In parts that text can show, in lines of at most `width` characters where that is given. What a table of `section`
/// says is not repeated.
pub(super) fn readable(drawing: &Drawing, section: &Section, width: Option<usize>) -> Section {
    match drawing {
        Drawing::Plot(plot) => points::readable(plot, section),
        Drawing::Timeline(timeline) => timeline::readable(timeline, width),
    }
}

/// Every value, in tables.
pub(super) fn values(drawing: &Drawing) -> Section {
    match drawing {
        Drawing::Plot(plot) => points::values(plot),
        Drawing::Timeline(timeline) => timeline::values(timeline),
    }
}

/// A plot of its own, outside a section.
pub(crate) fn drawn_plot(plot: &Plot) -> Option<Markup> {
    if plot.x.names().is_empty() { plot::draw(plot) } else { bands::draw(plot) }
}
