//! Plots as SVG: a frame with axes, marks that differ in shape as well as in colour, a legend.
//!
//! All are drawn 360 units wide and shown at least as wide as a phone, so that text of 11 units
//! is never smaller than eleven pixels; where there is room, several stand side by side.

use super::scale::Scale;
use gpubench_core::units::with_prefix;
use maud::{Markup, Render, html};
use std::fmt::Write;

/// Width of every plot in its own units.
pub(super) const WIDTH: f64 = 360.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 22.0;
const BOTTOM: f64 = 38.0;
/// Width of a character of tick labels, generously.
const CHARACTER: f64 = 6.6;
/// How many series look different.
pub(super) const LOOKS: usize = 8;

/// A number for an SVG attribute: a tenth of a unit is finer than any screen.
pub(super) fn num(x: f64) -> String {
    let text = format!("{x:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

/// A quantity with its prefix, for ticks: no zeros behind the point.
pub(super) fn short(value: f64) -> String {
    short_with(value, "")
}

/// Seconds, for ticks.
pub(super) fn short_seconds(value: f64) -> String {
    short_with(value, "s")
}

/// A number as it is, for ticks.
pub(super) fn plain(value: f64) -> String {
    if (0.001..100_000.0).contains(&value.abs()) || value == 0.0 {
        format!("{}", (value * 1e6).round() / 1e6)
    } else {
        format!("{value:e}")
    }
}

fn short_with(value: f64, unit: &str) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let text = with_prefix(value, unit);
    let Some((number, unit)) = text.split_once(' ') else { return text };
    let number = match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    };
    format!("{number} {unit}").trim_end().to_owned()
}

/// One axis.
pub(super) struct Axis {
    /// What it shows, with the unit.
    pub title: String,
    /// How.
    pub scale: Scale,
    /// What a tick says.
    pub tick: fn(f64) -> String,
    /// Where ticks stand, where round numbers are not the natural places.
    pub at: Vec<f64>,
}

impl Axis {
    /// With ticks at round numbers.
    pub(super) fn new(title: impl Into<String>, scale: Scale, tick: fn(f64) -> String) -> Self {
        Self { title: title.into(), scale, tick, at: vec![] }
    }

    /// With ticks at `places`, as far as they fit.
    pub(super) fn at(mut self, places: impl IntoIterator<Item = f64>) -> Self {
        self.at = places.into_iter().collect();
        self.at.sort_by(f64::total_cmp);
        self.at.dedup();
        self
    }

    fn ticks(&self, count: usize) -> Vec<f64> {
        if self.at.is_empty() { self.scale.ticks(count) } else { self.at.clone() }
    }
}

/// The frame of a plot.
pub(super) struct Plot {
    /// What is seen, for the caption.
    pub title: String,
    /// What it shows, for those who do not see it.
    pub description: String,
    /// Height in units.
    pub height: f64,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
}

impl Plot {
    /// Where `value` stands horizontally.
    pub(super) fn x(&self, value: f64) -> f64 {
        LEFT + self.x.scale.place(value) * (WIDTH - LEFT - RIGHT)
    }

    /// Where `value` stands vertically.
    pub(super) fn y(&self, value: f64) -> f64 {
        let bottom = self.height - BOTTOM;
        bottom - self.y.scale.place(value) * (bottom - TOP)
    }

    /// A line through points.
    pub(super) fn line(&self, points: impl IntoIterator<Item = (f64, f64)>) -> String {
        let mut d = String::new();
        for (x, y) in points {
            let command = if d.is_empty() { 'M' } else { 'L' };
            let _ = write!(d, "{command}{} {}", num(self.x(x)), num(self.y(y)));
        }
        d
    }

    /// The figure, with `inside` drawn over the grid and `legend` below.
    pub(super) fn figure(&self, inside: &Markup, legend: &[Entry]) -> Markup {
        let bottom = self.height - BOTTOM;
        let drawing = html! {
            (self.grid())
            (inside)
            path.axis d={ "M" (num(LEFT)) " " (num(TOP)) "V" (num(bottom)) "H" (num(WIDTH - RIGHT)) } {}
            text.title x="2" y="12" { (self.y.title) }
            text.title.end x=(num(WIDTH - RIGHT)) y=(num(self.height - 6.0)) { (self.x.title) }
        };
        figure(&self.title, &self.description, self.height, &drawing, legend)
    }

    fn grid(&self) -> Markup {
        let bottom = self.height - BOTTOM;
        let mut free = f64::NEG_INFINITY;
        let mut across = vec![];
        for value in self.x.ticks(5) {
            let (x, text) = (self.x(value), (self.x.tick)(value));
            let half = text.chars().count() as f64 * CHARACTER / 2.0;
            let center = x.min(WIDTH - 1.0 - half);
            if center - half >= free {
                free = center + half + 5.0;
                across.push((x, center, text));
            }
        }
        let mut free = f64::INFINITY;
        let mut up = vec![];
        for value in self.y.ticks(5) {
            let y = self.y(value);
            if y <= free {
                free = y - 14.0;
                up.push((y, (self.y.tick)(value)));
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

/// A drawing with its caption, description and legend.
pub(super) fn figure(
    title: &str,
    description: &str,
    height: f64,
    drawing: &Markup,
    legend: &[Entry],
) -> Markup {
    html! {
        figure {
            figcaption { (title) }
            svg role="img" viewBox={ "0 0 " (num(WIDTH)) " " (num(height)) } {
                title { (title) }
                desc { (description) }
                (drawing)
            }
            @if !legend.is_empty() {
                ul.legend { @for entry in legend { li { (entry.look) " " (entry.text) } } }
            }
        }
    }
}

/// What a mark or line of a plot means.
pub(super) struct Entry {
    /// How it looks.
    pub look: Look,
    /// What it means.
    pub text: String,
}

/// How marks and lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Marks of a series joined by a line.
    Joined(usize),
    /// Marks alone.
    Marks(usize),
}

const LINE: &str = "M1 7H25";

impl Look {
    fn pair(i: usize, pattern: usize) -> Markup {
        html! {
            g class=(series(i)) {
                path.line.(dash(pattern)) d=(LINE) {}
                path.mark d=(mark(i, 13.0, 7.0)) {}
            }
        }
    }
}

impl Render for Look {
    fn render_to(&self, buffer: &mut String) {
        let drawing = match *self {
            Self::Joined(i) => Self::pair(i, i / LOOKS),
            Self::Marks(i) => html! { g class=(series(i)) { path.mark d=(mark(i, 13.0, 7.0)) {} } },
        };
        html! { svg.key viewBox="0 0 26 14" aria-hidden="true" { (drawing) } }.render_to(buffer);
    }
}

/// The class that gives series number `i` its colour.
pub(super) fn series(i: usize) -> String {
    format!("s{}", i % LOOKS)
}

/// The class that gives line number `i` its dashes.
pub(super) fn dash(i: usize) -> String {
    format!("d{}", i % 4)
}

/// The mark of series number `i` around a point, as a path.
pub(super) fn mark(i: usize, x: f64, y: f64) -> String {
    const R: f64 = 3.6;
    let polygon = |points: &[(f64, f64)]| {
        let mut d = String::new();
        for (k, (dx, dy)) in points.iter().enumerate() {
            let command = if k == 0 { 'M' } else { 'L' };
            let _ = write!(d, "{command}{} {}", num(x + dx * R), num(y + dy * R));
        }
        d + "Z"
    };
    match i % LOOKS {
        0 => format!(
            "M{} {}a{R} {R} 0 1 0 {} 0a{R} {R} 0 1 0 {} 0Z",
            num(x - R),
            num(y),
            num(2.0 * R),
            num(-2.0 * R)
        ),
        1 => polygon(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        2 => polygon(&[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)]),
        3 => polygon(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]),
        4 => polygon(&[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)]),
        5 => polygon(&[
            (-0.4, -1.2),
            (0.4, -1.2),
            (0.4, -0.4),
            (1.2, -0.4),
            (1.2, 0.4),
            (0.4, 0.4),
            (0.4, 1.2),
            (-0.4, 1.2),
            (-0.4, 0.4),
            (-1.2, 0.4),
            (-1.2, -0.4),
            (-0.4, -0.4),
        ]),
        6 => polygon(&[(0.0, -1.2), (1.15, -0.35), (0.7, 1.0), (-0.7, 1.0), (-1.15, -0.35)]),
        _ => {
            polygon(&[(-0.5, -1.1), (0.5, -1.1), (1.1, 0.0), (0.5, 1.1), (-0.5, 1.1), (-1.1, 0.0)])
        }
    }
}
