//! Comparisons of two expressions: `GROUP_X*GROUP_Y <= 256`, `TILE % GROUP_Y == 0`.

use super::Expr;
use super::decode::{Decode, Diagnostics};
use super::expr::{Scope, Wrong};
use gpubench_core::yaml::{Node, Value};
use std::fmt;
use std::ops::Range;

/// What two sides are compared by. Longer spellings stand before their beginnings.
const RELATIONS: [(&str, Relation); 6] = [
    ("<=", |a, b| a <= b),
    (">=", |a, b| a >= b),
    ("==", |a, b| a == b),
    ("!=", |a, b| a != b),
    ("<", |a, b| a < b),
    (">", |a, b| a > b),
];

type Relation = fn(f64, f64) -> bool;

/// A comparison of two expressions.
#[derive(Clone, Debug)]
pub struct Condition {
    text: Box<str>,
    left: Expr,
    right: Expr,
    relation: Relation,
}

impl Condition {
    /// Parses `text`.
    ///
    /// # Errors
    /// The byte range within `text` that is wrong, and what was expected there.
    pub fn parse(text: &str) -> Result<Self, Wrong> {
        let first = |symbol: &&(&str, Relation)| text.find(symbol.0);
        let found = RELATIONS.iter().filter(|symbol| first(symbol).is_some());
        // Of those at one place the longer one stands first in the list.
        let Some(symbol) = found.min_by_key(first) else {
            let wanted =
                "expected a comparison: two expressions with <=, >=, ==, !=, < or > between";
            return Err((0..text.len(), wanted.to_owned()));
        };
        let (sign, relation) = *symbol;
        let at = first(&symbol).unwrap_or_default();
        let side = |range: Range<usize>| {
            let start = range.start;
            let moved = |(wrong, why): Wrong| (wrong.start + start..wrong.end + start, why);
            Expr::parse(&text[range]).map_err(moved)
        };
        let (left, right) = (side(0..at)?, side(at + sign.len()..text.len())?);
        Ok(Self { text: text.into(), left, right, relation })
    }

    /// Whether it holds where the names have the values of `scope`.
    ///
    /// # Errors
    /// As [`Expr::eval`].
    pub fn holds(&self, scope: &Scope) -> Result<bool, String> {
        Ok((self.relation)(self.left.eval(scope)?, self.right.eval(scope)?))
    }

    /// Every name it uses.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.left.names().chain(self.right.names()).map(|(name, _)| name)
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text.trim())
    }
}

impl Decode for Condition {
    fn decode(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let Value::Text(text) = &node.value else {
            return diagnostics.unexpected(node, "a comparison such as `GROUP_X <= 64`");
        };
        match Self::parse(text) {
            Ok(condition) => Some(condition),
            Err((part, why)) => {
                let written = diagnostics.source().text.get(node.at.clone()).unwrap_or_default();
                let at = match written.find(text.as_str()) {
                    Some(start) => {
                        node.at.start + start + part.start..node.at.start + start + part.end
                    }
                    None => node.at.clone(),
                };
                diagnostics.reject(&at, why, None)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{decoded, wrong};

    #[test]
    fn each_relation_compares_both_sides() {
        let scope = [("n".to_owned(), 8.0)];
        for (text, holds) in [
            ("n*2 <= 16", true),
            ("n < 8", false),
            ("n>=8", true),
            ("n > 8", false),
            ("n % 4 == 0", true),
            ("n != 8", false),
        ] {
            assert_eq!(Condition::parse(text).unwrap().holds(&scope), Ok(holds), "{text}");
        }
    }

    #[test]
    fn mistakes_have_a_range() {
        for (text, range) in [("n", 0..1), ("n <= ", 5..5), ("n <= 2 <= 3", 7..8), ("2n < 3", 0..2)]
        {
            assert_eq!(Condition::parse(text).map(|_| ()).map_err(|e| e.0), Err(range), "{text}");
        }
    }

    #[test]
    fn a_condition_is_shown_as_it_was_written() {
        assert_eq!(Condition::parse(" GROUP_X <= 64 ").unwrap().to_string(), "GROUP_X <= 64");
    }

    #[test]
    fn a_relation_knows_less_equal_and_more() {
        for (sign, wanted) in [
            ("<=", [true, true, false]),
            (">=", [false, true, true]),
            ("==", [false, true, false]),
            ("!=", [true, false, true]),
            ("<", [true, false, false]),
            (">", [false, false, true]),
        ] {
            let condition = Condition::parse(&format!("n {sign} 8")).unwrap();
            let holds = [7.0, 8.0, 9.0].map(|n| condition.holds(&[("n".to_owned(), n)]).unwrap());
            assert_eq!(holds, wanted, "{sign}");
        }
    }

    #[test]
    fn the_names_of_both_sides_are_listed() {
        let condition = Condition::parse("a + b <= c").unwrap();
        assert_eq!(condition.names().collect::<Vec<_>>(), ["a", "b", "c"]);
        assert!(condition.holds(&[]).unwrap_err().contains("`a`"));
    }

    #[test]
    fn a_mistake_stands_where_the_file_has_it() {
        for (text, at) in [
            ("n <= 2m", "2m"),
            ("'n <= 2m'", "2m"),
            ("\"2m <= n\"", "2m"),
            ("\"n\\u0020<= 2m\"", "\"n\\u0020<= 2m\""),
            ("n", "n"),
        ] {
            assert_eq!(wrong::<Condition>(text).1, at, "{text}");
        }
        assert!(wrong::<Condition>("7").0.starts_with("expected a comparison such as"));
        assert_eq!(decoded::<Condition>("n < 2").unwrap().to_string(), "n < 2");
    }
}
