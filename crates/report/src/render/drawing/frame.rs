//! The frame of a plot: its axes, its grid, and where a value stands in it.

use super::figure::{WIDTH, label, num};
use super::scale::Range;
use gpubench_document::{Axis, Plot};
use maud::{Markup, html};

/// Height of every plot.
pub(super) const HEIGHT: f64 = 240.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 22.0;
const BOTTOM: f64 = 38.0;
/// Width of a character of tick labels, generously.
const CHARACTER: f64 = 6.6;

/// Both axes with their ranges.
pub(super) struct Frame<'p> {
    plot: &'p Plot,
    x: Range,
    y: Range,
}

impl<'p> Frame<'p> {
    /// Around all points and limits; `None` where no point can be drawn.
    pub(super) fn around(plot: &'p Plot) -> Option<Self> {
        use gpubench_document::Direction::{Horizontal, Vertical};
        let points = || plot.all().iter().flat_map(|series| series.all());
        let limits = |direction| {
            let of = plot.limits().iter().filter(move |limit| limit.direction == direction);
            of.map(|limit| limit.at.value())
        };
        // An interval many times as wide as its value must not flatten all others: it is cut.
        let ends = |value: f64, [low, high]: [f64; 2]| {
            let reach = 2.0 * value.abs();
            [low.max(value - reach), high.min(value + reach)]
        };
        let reach =
            points().filter_map(|point| Some(ends(point.y().value(), point.y().interval()?)));
        let shared = |axis: &'p Axis| axis.places().iter().copied();
        let x = points().map(|point| point.x()).chain(limits(Vertical)).chain(shared(&plot.x));
        let y = points()
            .map(|point| point.y().value())
            .chain(limits(Horizontal))
            .chain(reach.flatten())
            .chain(shared(&plot.y));
        Some(Self { plot, x: Range::around(plot.x.scale, x)?, y: Range::around(plot.y.scale, y)? })
    }

    /// Whether a point has a place: not where a logarithmic axis would have to show zero.
    pub(super) fn shows(&self, x: f64, y: f64) -> bool {
        self.x.shows(x) && self.y.shows(y)
    }

    /// Where `value` stands horizontally.
    pub(super) fn x(&self, value: f64) -> f64 {
        LEFT + self.x.place(value) * (WIDTH - LEFT - RIGHT)
    }

    /// Where `value` stands vertically.
    pub(super) fn y(&self, value: f64) -> f64 {
        self.height(self.y.place(value))
    }

    /// Where bars stand.
    pub(super) fn foot(&self) -> f64 {
        self.height(self.y.foot())
    }

    /// Left and right end.
    pub(super) fn across(&self) -> [f64; 2] {
        [LEFT, WIDTH - RIGHT]
    }

    /// Upper and lower end.
    pub(super) fn upright(&self) -> [f64; 2] {
        [TOP, HEIGHT - BOTTOM]
    }

    fn height(&self, place: f64) -> f64 {
        let bottom = HEIGHT - BOTTOM;
        bottom - place * (bottom - TOP)
    }

    /// The grid, with `inside` drawn over it, and the axes.
    pub(super) fn drawing(&self, inside: &Markup) -> Markup {
        let bottom = HEIGHT - BOTTOM;
        html! {
            (self.grid())
            (inside)
            path.axis d={ "M" (num(LEFT)) " " (num(TOP)) "V" (num(bottom)) "H" (num(WIDTH - RIGHT)) } {}
            text.title x="2" y="12" { (title(&self.plot.y)) }
            text.title.end x=(num(WIDTH - RIGHT)) y=(num(HEIGHT - 6.0)) { (title(&self.plot.x)) }
        }
    }

    fn grid(&self) -> Markup {
        let bottom = HEIGHT - BOTTOM;
        let mut free = f64::NEG_INFINITY;
        let mut across = vec![];
        for (value, text) in labelled(&self.plot.x, self.x) {
            let x = self.x(value);
            let half = text.chars().count() as f64 * CHARACTER / 2.0;
            let center = x.min(WIDTH - 1.0 - half);
            if center - half >= free {
                free = center + half + 5.0;
                across.push((x, center, text));
            }
        }
        let mut free = f64::INFINITY;
        let mut up = vec![];
        for (value, text) in labelled(&self.plot.y, self.y) {
            let y = self.y(value);
            if y <= free {
                free = y - 14.0;
                up.push((y, text));
            }
        }
        html! {
            @for (x, center, text) in &across {
                path.grid d={ "M" (num(*x)) " " (num(TOP)) "V" (num(bottom)) } {}
                text.tick.mid x=(num(*center)) y=(num(bottom + 14.0)) { (text) }
            }
            @for (y, text) in &up {
                path.grid d={ "M" (num(LEFT)) " " (num(*y)) "H" (num(WIDTH - RIGHT)) } {}
                text.tick.end x=(num(LEFT - 5.0)) y=(num(y + 4.0)) { (text) }
            }
        }
    }
}

/// The unit, where it would not fit behind every tick: the axis' title has it then.
fn long_unit(axis: &Axis) -> Option<&'static str> {
    Some(axis.unit.symbol()).filter(|symbol| symbol.starts_with("FLOP"))
}

fn title(axis: &Axis) -> String {
    let unit = long_unit(axis).map_or_else(String::new, |unit| format!(", {unit}"));
    label(&axis.label, 50) + &unit
}

/// Ticks with what they say.
pub(super) fn labelled(axis: &Axis, range: Range) -> Vec<(f64, String)> {
    let short = |text: String| match long_unit(axis) {
        Some(unit) => text.trim_end_matches(unit).trim_end().to_owned(),
        None => text,
    };
    range.ticks(5).into_iter().map(|value| (value, short(axis.tick(value)))).collect()
}
