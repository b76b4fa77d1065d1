//! A small arithmetic over named sizes: `4*m*n`, `ceil_div(n, 64)`, `min(n, 2^20)`.
//!
//! Numbers are IEEE 754 binary64; `/` is the real quotient, `%` the remainder with the sign of
//! the dividend. An expression is kept in postfix order, so that evaluating or dropping one
//! never recurses, however it was written.

mod parser;

use gpubench_core::units::quoted;
use parser::parsed;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;

/// A parsed expression; in JSON it is its text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Expr {
    text: Box<str>,
    postfix: Vec<Item>,
}

/// Values of the names an expression may use; a later one of the same name wins.
pub type Scope = [(String, f64)];

/// What is wrong within an expression: the byte range, and what was expected there.
pub type Wrong = (Range<usize>, String);

#[derive(Clone, Debug, PartialEq)]
enum Item {
    Number(f64),
    Name(Range<usize>),
    Apply(Operation),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Pow,
    Neg,
    Min,
    Max,
    CeilDiv,
    Floor,
    Ceil,
    Log2,
    Sqrt,
}

/// The longest expression in bytes.
const MAX_BYTES: usize = 1000;
/// The largest whole number that binary64 holds together with all smaller ones.
const MAX_COUNT: f64 = 9_007_199_254_740_992.0;

impl Expr {
    /// Parses `text`.
    ///
    /// # Errors
    /// The byte range within `text` that is wrong, and what was expected there.
    pub fn parse(text: &str) -> Result<Self, Wrong> {
        if text.len() > MAX_BYTES {
            return Err((0..text.len(), format!("an expression has at most {MAX_BYTES} bytes")));
        }
        Ok(Self { text: text.into(), postfix: parsed(text)? })
    }

    /// The expression that is the number `value`.
    pub fn number(value: f64) -> Self {
        Self { text: value.to_string().into(), postfix: vec![Item::Number(value)] }
    }

    /// The expression that is the value of `name`: letters, digits and `_`.
    pub fn name(name: &str) -> Self {
        Self { text: name.into(), postfix: vec![Item::Name(0..name.len())] }
    }

    /// Whether it is nothing but the number `value`.
    pub fn is_number(&self, value: f64) -> bool {
        matches!(self.postfix.as_slice(), [Item::Number(number)] if *number == value)
    }

    /// Every name it uses, with its byte range in the text.
    pub fn names(&self) -> impl Iterator<Item = (&str, Range<usize>)> {
        self.postfix.iter().filter_map(|item| match item {
            Item::Name(range) => Some((&self.text[range.clone()], range.clone())),
            _ => None,
        })
    }

    /// The value where the names have the values of `scope`.
    ///
    /// # Errors
    /// An unknown name, an overflow, a division by zero: the text says which.
    pub fn eval(&self, scope: &Scope) -> Result<f64, String> {
        self.compute(scope).map_err(|why| format!("`{self}`: {why}"))
    }

    /// The value as a whole, non-negative number.
    ///
    /// # Errors
    /// As [`Expr::eval`], and when the value is negative, fractional or above 2^53.
    pub fn count(&self, scope: &Scope) -> Result<u64, String> {
        let value = self.eval(scope)?;
        if value < 0.0 {
            Err(format!("`{self}` is {}, but a count is not negative", quoted(value)))
        } else if value > MAX_COUNT {
            Err(format!("`{self}` is {}, but a count is at most 2^53", quoted(value)))
        } else if value.fract() != 0.0 {
            Err(format!(
                "`{self}` is {}, but a count is whole: use floor(…) or ceil_div(…)",
                quoted(value)
            ))
        } else {
            Ok(value as u64)
        }
    }

    fn compute(&self, scope: &Scope) -> Result<f64, String> {
        let mut stack = Vec::with_capacity(self.postfix.len());
        for item in &self.postfix {
            let value = match item {
                Item::Number(value) => *value,
                Item::Name(range) => {
                    let name = &self.text[range.clone()];
                    let found = scope.iter().rev().find(|(n, _)| n == name);
                    found.ok_or_else(|| format!("there is no size or parameter `{name}`"))?.1
                }
                Item::Apply(operation) => operation.apply(&mut stack)?,
            };
            if !value.is_finite() {
                return Err("the value is too large (overflow)".to_owned());
            }
            stack.push(value);
        }
        stack.pop().ok_or_else(|| "there is nothing to compute".to_owned())
    }
}

impl Default for Expr {
    fn default() -> Self {
        Self::number(0.0)
    }
}

impl TryFrom<String> for Expr {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).map_err(|(_, expected)| format!("`{text}`: {expected}"))
    }
}

impl From<Expr> for String {
    fn from(expr: Expr) -> Self {
        expr.text.into()
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text.trim())
    }
}

impl Operation {
    /// Takes the operands from the end of `stack`; the parser put them there.
    fn apply(self, stack: &mut Vec<f64>) -> Result<f64, String> {
        let b = stack.pop().unwrap_or(f64::NAN);
        let unary = matches!(self, Self::Neg | Self::Floor | Self::Ceil | Self::Log2 | Self::Sqrt);
        let a = if unary { b } else { stack.pop().unwrap_or(f64::NAN) };
        Ok(match self {
            Self::Div | Self::Rem | Self::CeilDiv if b == 0.0 => {
                return Err(format!("{a} is divided by 0"));
            }
            Self::Log2 if b <= 0.0 => return Err(format!("{b} has no logarithm")),
            Self::Sqrt if b < 0.0 => return Err(format!("{b} has no square root")),
            Self::Pow if a < 0.0 && b.fract() != 0.0 => {
                return Err(format!("{a} has no power {b}"));
            }
            Self::Pow if a == 0.0 && b < 0.0 => return Err(format!("0 has no power {b}")),
            Self::Add => a + b,
            Self::Sub => a - b,
            Self::Mul => a * b,
            Self::Div => a / b,
            Self::Rem => a % b,
            Self::Pow => a.powf(b),
            Self::Neg => -b,
            Self::Min => a.min(b),
            Self::Max => a.max(b),
            Self::CeilDiv => (a / b).ceil(),
            Self::Floor => b.floor(),
            Self::Ceil => b.ceil(),
            Self::Log2 => b.log2(),
            Self::Sqrt => b.sqrt(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(text: &str) -> Result<f64, String> {
        let scope = [("n".to_owned(), 10.0), ("m".to_owned(), 3.0)];
        Expr::parse(text).map_err(|(range, why)| format!("{range:?}: {why}"))?.eval(&scope)
    }

    #[test]
    fn precedence_and_functions() {
        for (text, wanted) in [
            ("15*n*n", 1500.0),
            ("2 + 3*4", 14.0),
            ("10-3-2", 5.0),
            ("2^3^2", 512.0),
            ("-2^2", -4.0),
            ("2^-1", 0.5),
            ("(n+m)%5", 3.0),
            ("--n", 10.0),
            ("ceil_div(n, m)", 4.0),
            ("min(n, m, 2*m)", 3.0),
            ("max(n, m, 11)", 11.0),
            ("floor(n/m) + ceil(n/m)", 7.0),
            ("log2(1024) + sqrt(16)", 14.0),
            ("1e3 + 2.5E-1 + .5", 1000.75),
            (" n\t*\n m ", 30.0),
            ("2^40", 1_099_511_627_776.0),
        ] {
            assert_eq!(value(text), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn mistakes_have_a_range() {
        for (text, range) in [
            ("", 0..0),
            ("n*", 2..2),
            ("n $ 2", 2..3),
            ("2n", 0..2),
            ("foo(n)", 0..3),
            ("min(n)", 0..3),
            ("ceil_div(1,2,3)", 0..8),
            ("(n", 2..2),
            ("n)", 1..2),
            ("n é", 2..4),
            ("1e999", 0..5),
            ("min()", 4..5),
        ] {
            assert_eq!(Expr::parse(text).map_err(|e| e.0), Err(range), "{text}");
        }
    }

    #[test]
    fn values_that_make_no_sense_are_errors() {
        for text in [
            "1e300*1e300",
            "10^400",
            "n/(m-3)",
            "n%0",
            "ceil_div(1,0)",
            "log2(0)",
            "sqrt(-1)",
            "(-2)^0.5",
            "0^-1",
            "k",
        ] {
            assert!(value(text).is_err(), "{text}");
        }
    }

    #[test]
    fn counts_are_whole_and_not_negative() {
        let count = |text| Expr::parse(text).unwrap().count(&[]);
        assert_eq!(count("2^53"), Ok(1 << 53));
        assert_eq!(count("7-7"), Ok(0));
        assert!(count("2^54").unwrap_err().contains("at most"));
        assert!(count("-4").unwrap_err().contains("not negative"));
        assert!(count("7/2").unwrap_err().contains("whole"));
    }

    #[test]
    fn the_later_of_two_names_wins() {
        let scope = [("n".to_owned(), 1.0), ("n".to_owned(), 2.0)];
        assert_eq!(Expr::parse("n").unwrap().eval(&scope), Ok(2.0));
    }

    #[test]
    fn names_are_listed_with_their_place() {
        let expr = Expr::parse("a + min(b, 2)*a").unwrap();
        let names: Vec<_> = expr.names().collect();
        assert_eq!(names, [("a", 0..1), ("b", 8..9), ("a", 14..15)]);
    }

    #[test]
    fn deep_nesting_is_rejected() {
        for unit in ["(", "-", "2^", "min(1,"] {
            let wrong = Expr::parse(&unit.repeat(100)).unwrap_err();
            assert!(wrong.1.contains("nested"), "{wrong:?}");
        }
        assert!(Expr::parse(&"1+".repeat(1000)).is_err());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[-+*/%^(), a-cé0-9.emin]{0,60}") {
            match Expr::parse(&text) {
                Ok(expr) => { let _ = expr.count(&[("a".to_owned(), 3.0)]); }
                Err((range, _)) => prop_assert!(text.get(range).is_some()),
            }
        }

        #[test]
        fn no_string_panics(text in any::<String>()) {
            if let Err((range, _)) = Expr::parse(&text) {
                prop_assert!(text.get(range).is_some());
            }
        }
    }

    #[test]
    fn nothing_has_a_root_and_a_power_of_zero() {
        let value = |text: &str| Expr::parse(text).unwrap().eval(&[]);
        assert_eq!((value("sqrt(0)"), value("0^0"), value("0^2")), (Ok(0.0), Ok(1.0), Ok(0.0)));
        assert!(value("sqrt(0 - 1)").is_err() && value("log2(0)").is_err());
    }
}
