//! A drawing with its caption and legend, and the marks that differ in shape as well as in colour.
//!
//! All are drawn 360 units wide and shown at least as wide as a phone, so that text of 11 units
//! is never smaller than eleven pixels.

use crate::render::markup::shown;
use crate::render::sentence;
use gpubench_core::text::middle;
use gpubench_document::{Marker, Sentence, Stroke, Style};
use maud::{Markup, Render, html};
use std::fmt::Write;

/// Width of every drawing in its own units.
pub(crate) const WIDTH: f64 = 360.0;
/// How many series look different.
pub(crate) const LOOKS: usize = 8;

/// A number for an SVG attribute: a tenth of a unit is finer than any screen.
pub(crate) fn num(x: f64) -> String {
    let text = format!("{x:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

/// Text within a drawing, of at most `limit` characters. It holds no markup: within SVG, HTML's
/// marks for where a name may break would hide what follows them.
pub(crate) fn label(text: &Sentence, limit: usize) -> String {
    middle(&sentence(text), limit)
}

/// What an entry of a legend looks like.
pub(crate) enum Look {
    /// A series of a colour and dashes.
    Series(Style, usize, usize),
    /// A line across the frame.
    Limit,
}

/// An entry of a legend.
pub(crate) struct Entry {
    /// How it looks.
    pub look: Look,
    /// What it means.
    pub text: Sentence,
}

/// A drawing with its caption, description and legend.
pub(crate) fn figure(
    title: &Sentence,
    description: &Sentence,
    height: f64,
    drawing: &Markup,
    legend: &[Entry],
) -> Markup {
    html! {
        figure {
            figcaption { (shown(title)) }
            svg role="img" viewBox={ "0 0 " (num(WIDTH)) " " (num(height)) } {
                title { (sentence(title)) }
                desc { (sentence(description)) }
                (drawing)
            }
            @if !legend.is_empty() {
                ul.legend { @for entry in legend { li { (entry.look) " " (shown(&entry.text)) } } }
            }
        }
    }
}

impl Render for Look {
    fn render_to(&self, buffer: &mut String) {
        const LINE: &str = "M1 7H25";
        let drawing = match *self {
            Self::Limit => html! { path.limit d=(LINE) {} },
            Self::Series(style, i, dashes) => html! {
                g class=(colour(i)) {
                    @match style.stroke() {
                        Stroke::Line | Stroke::Steps => path.line.(dash(dashes)) d=(LINE) {},
                        Stroke::Bars => rect.area x="4" y="3" width="18" height="8" {},
                        Stroke::None => {},
                    }
                    @match style.marker() {
                        Marker::Filled => path.mark d=(mark(i, 13.0, 7.0)) {},
                        Marker::Hollow => path.open d=(mark(i, 13.0, 7.0)) {},
                        Marker::None => {},
                    }
                }
            },
        };
        html! { svg.key viewBox="0 0 26 14" aria-hidden="true" { (drawing) } }.render_to(buffer);
    }
}

/// The class that gives series number `i` its colour.
pub(crate) fn colour(i: usize) -> String {
    format!("s{}", i % LOOKS)
}

/// The class that gives line number `i` its dashes.
pub(crate) fn dash(i: usize) -> String {
    format!("d{}", i % 4)
}

/// Half the width of a mark.
const R: f64 = 3.6;

/// The mark of series number `i` around a point, as a path.
pub(crate) fn mark(i: usize, x: f64, y: f64) -> String {
    let corners: &[(f64, f64)] = match i % LOOKS {
        0 => return disc(x, y),
        1 => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
        2 => &[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)],
        3 => &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
        4 => &[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)],
        5 => &PLUS,
        6 => &[(0.0, -1.2), (1.15, -0.35), (0.7, 1.0), (-0.7, 1.0), (-1.15, -0.35)],
        _ => &[(-0.5, -1.1), (0.5, -1.1), (1.1, 0.0), (0.5, 1.1), (-0.5, 1.1), (-1.1, 0.0)],
    };
    let mut d = String::new();
    for (dx, dy) in corners {
        let command = if d.is_empty() { 'M' } else { 'L' };
        let _ = write!(d, "{command}{} {}", num(x + dx * R), num(y + dy * R));
    }
    d + "Z"
}

fn disc(x: f64, y: f64) -> String {
    let across = num(2.0 * R);
    format!("M{} {}a{R} {R} 0 1 0 {across} 0a{R} {R} 0 1 0 -{across} 0Z", num(x - R), num(y))
}

const PLUS: [(f64, f64); 12] = [
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
];
