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
mod tests;
