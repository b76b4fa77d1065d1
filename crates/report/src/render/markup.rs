//! Sentences as markup that breaks where it may.

use super::name;
use gpubench_document::{Piece, Sentence};
use maud::{Markup, html};

/// A sentence whose names may break behind `_`, `/` and `-`.
pub(crate) fn shown(sentence: &Sentence) -> Markup {
    html! {
        @for one in sentence.pieces() {
            @match one {
                Piece::Text(text) => (text),
                Piece::Name(text) => (breaking(&name(text))),
                Piece::Figure(figure) => (whole(&figure.text())),
                Piece::Missing => "–",
            }
        }
    }
}

/// A figure that no line breaks apart.
pub(super) fn whole(figure: &str) -> String {
    figure.replace(' ', "\u{a0}")
}

fn breaking(text: &str) -> Markup {
    let pieces = text.split_inclusive(['_', '/', '-']);
    html! { @for (i, piece) in pieces.enumerate() { @if i > 0 { wbr; } (piece) } }
}
