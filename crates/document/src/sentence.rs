//! Text with figures in it.

use super::{Figure, Quantity, Unit};
use schemars::JsonSchema;
use serde::Serialize;

/// What a sentence is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// The program's own words.
    Words(&'static str),
    /// Text that others chose: a kernel, a device, a reason. Renderers make it harmless.
    Name(String),
    /// A number.
    Figure(Figure),
    /// In place of a number that there is not.
    Missing,
}

/// Text whose numbers are typed. Words are literals of the program, so that a number can only come
/// in as a figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(into = "Form")]
#[schemars(with = "Form")]
pub struct Sentence {
    pieces: Vec<Piece>,
}

/// What programs read of a sentence.
#[derive(Serialize, JsonSchema)]
struct Form {
    /// As people read it, names whole.
    text: String,
    /// Its figures, in full and in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    figures: Vec<Figure>,
}

impl From<Sentence> for Form {
    fn from(sentence: Sentence) -> Self {
        Self { text: sentence.text_with(Clone::clone), figures: sentence.figures().collect() }
    }
}

impl Sentence {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds words.
    pub fn text(self, words: &'static str) -> Self {
        self.with(Piece::Words(words))
    }

    /// Adds text that comes from outside.
    pub fn name(self, name: impl Into<String>) -> Self {
        self.with(Piece::Name(name.into()))
    }

    /// Adds a number of `unit`; a dash where it is not finite.
    pub fn value(self, value: f64, unit: Unit) -> Self {
        self.quantity(Quantity::new(value), unit)
    }

    /// Adds a quantity of `unit`; a dash where there is none.
    pub fn quantity(self, quantity: Option<Quantity>, unit: Unit) -> Self {
        self.with(
            quantity.map_or(Piece::Missing, |quantity| Piece::Figure(Figure { quantity, unit })),
        )
    }

    /// Adds a number of things: `1 chunk`, `2 chunks`.
    pub fn counted(self, n: u64, thing: &'static str) -> Self {
        let counted = self.value(n as f64, Unit::Count).text(" ").text(thing);
        if n == 1 { counted } else { counted.text("s") }
    }

    /// Adds another sentence.
    pub fn then(mut self, other: impl Into<Self>) -> Self {
        self.pieces.extend(other.into().pieces);
        self
    }

    /// Adds sentences with `separator` between them.
    pub fn list<S: Into<Self>>(
        self,
        separator: &'static str,
        items: impl IntoIterator<Item = S>,
    ) -> Self {
        items.into_iter().enumerate().fold(self, |all, (i, item)| {
            let all = if i == 0 { all } else { all.text(separator) };
            all.then(item)
        })
    }

    /// Its pieces, in order.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// As people read it, with each name as `name` makes it.
    pub fn text_with(&self, name: impl Fn(&String) -> String) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Words(words) => (*words).to_owned(),
            Piece::Name(text) => name(text),
            Piece::Figure(figure) => figure.text(),
            Piece::Missing => "–".to_owned(),
        };
        self.pieces.iter().map(piece).collect()
    }

    /// Its figures, in order.
    pub fn figures(&self) -> impl Iterator<Item = Figure> + '_ {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Figure(figure) => Some(*figure),
            _ => None,
        })
    }

    fn with(mut self, piece: Piece) -> Self {
        self.pieces.push(piece);
        self
    }
}

impl From<&'static str> for Sentence {
    fn from(words: &'static str) -> Self {
        Self::new().text(words)
    }
}

impl From<String> for Sentence {
    fn from(name: String) -> Self {
        Self::new().name(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_their_order_and_nonsense_is_a_dash() {
        let sentence = Sentence::new()
            .text("upload ")
            .value(1e-3, Unit::Seconds)
            .text(", ")
            .value(f64::NAN, Unit::Seconds)
            .list(", ", [Sentence::new().counted(1, "chunk"), Sentence::new().counted(4, "chunk")]);
        let values: Vec<f64> = sentence.figures().map(|f| f.quantity.value()).collect();
        assert_eq!(values, [1e-3, 1.0, 4.0]);
        assert!(sentence.pieces().contains(&Piece::Missing));
        assert_eq!(sentence.pieces().last(), Some(&Piece::Words("s")));
    }
}
