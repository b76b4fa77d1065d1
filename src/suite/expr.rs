//! A small arithmetic over named sizes: `4*m*n`, `ceil_div(n, 64)`, `min(n, 2^20)`.
//!
//! ```text
//! sum     = product (("+" | "-") product)*
//! product = unary (("*" | "/" | "%") unary)*
//! unary   = "-" unary | power
//! power   = atom ("^" unary)?
//! atom    = number | name | function "(" sum ("," sum)* ")" | "(" sum ")"
//! ```
//!
//! Numbers are IEEE 754 binary64; `/` is the real quotient, `%` the remainder with the sign of
//! the dividend. An expression is kept in postfix order, so that evaluating or dropping one
//! never recurses, however it was written.

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

/// Functions by name, with the fewest and the most arguments.
const FUNCTIONS: [(&str, Operation, usize, usize); 7] = [
    ("ceil", Operation::Ceil, 1, 1),
    ("ceil_div", Operation::CeilDiv, 2, 2),
    ("floor", Operation::Floor, 1, 1),
    ("log2", Operation::Log2, 1, 1),
    ("max", Operation::Max, 2, usize::MAX),
    ("min", Operation::Min, 2, usize::MAX),
    ("sqrt", Operation::Sqrt, 1, 1),
];

/// The longest expression in bytes.
const MAX_BYTES: usize = 1000;
/// The deepest nesting of parentheses, signs and powers.
const MAX_DEPTH: u32 = 40;
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
        let mut parser = Parser { text, at: 0, depth: 0, postfix: vec![] };
        parser.sum()?;
        parser.space();
        if parser.at < text.len() {
            return Err(parser.expected("an operator (+ - * / % ^) or the end"));
        }
        Ok(Self { text: text.into(), postfix: parser.postfix })
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
            Err(format!("`{self}` is {value}, but a count is not negative"))
        } else if value > MAX_COUNT {
            Err(format!("`{self}` is {value}, but a count is at most 2^53"))
        } else if value.fract() != 0.0 {
            Err(format!("`{self}` is {value}, but a count is whole: use floor(…) or ceil_div(…)"))
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

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
    postfix: Vec<Item>,
}

impl Parser<'_> {
    fn sum(&mut self) -> Result<(), Wrong> {
        self.chain(Self::product, &[(b'+', Operation::Add), (b'-', Operation::Sub)])
    }

    fn product(&mut self) -> Result<(), Wrong> {
        const OPERATORS: [(u8, Operation); 3] =
            [(b'*', Operation::Mul), (b'/', Operation::Div), (b'%', Operation::Rem)];
        self.chain(Self::unary, &OPERATORS)
    }

    /// Operands of one precedence, joined from the left.
    fn chain(
        &mut self,
        operand: fn(&mut Self) -> Result<(), Wrong>,
        operators: &[(u8, Operation)],
    ) -> Result<(), Wrong> {
        operand(self)?;
        while let Some(&(_, operation)) =
            self.peek().and_then(|c| operators.iter().find(|(symbol, _)| *symbol == c))
        {
            self.at += 1;
            operand(self)?;
            self.postfix.push(Item::Apply(operation));
        }
        Ok(())
    }

    /// Every recursion of the grammar passes through here, so the depth is limited here.
    fn unary(&mut self) -> Result<(), Wrong> {
        if self.depth == MAX_DEPTH {
            let help = format!("the expression is nested more than {MAX_DEPTH} deep");
            return Err((self.at..self.at, help));
        }
        self.depth += 1;
        if self.eat(b'-') {
            self.unary()?;
            self.postfix.push(Item::Apply(Operation::Neg));
        } else {
            self.power()?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn power(&mut self) -> Result<(), Wrong> {
        self.atom()?;
        if self.eat(b'^') {
            self.unary()?;
            self.postfix.push(Item::Apply(Operation::Pow));
        }
        Ok(())
    }

    fn atom(&mut self) -> Result<(), Wrong> {
        match self.peek() {
            Some(b'(') => {
                self.at += 1;
                self.sum()?;
                self.close()
            }
            Some(c) if c.is_ascii_digit() || c == b'.' => self.decimal(),
            Some(c) if c.is_ascii_alphabetic() || c == b'_' => self.word(),
            _ => Err(self.expected("a number, a name or `(`")),
        }
    }

    fn decimal(&mut self) -> Result<(), Wrong> {
        let bytes = self.text.as_bytes();
        let mut end = self.at;
        while bytes.get(end).is_some_and(|&c| c.is_ascii_alphanumeric() || c == b'.' || c == b'_') {
            end += 1;
            let exponent = matches!(bytes[end - 1], b'e' | b'E');
            if exponent && matches!(bytes.get(end), Some(b'+' | b'-')) {
                end += 1;
            }
        }
        let range = self.at..end;
        let value: f64 = match self.text[range.clone()].parse() {
            Ok(value) => value,
            Err(_) => {
                let found = &self.text[range.clone()];
                return Err((range, format!("`{found}` is no number (a product needs a `*`)")));
            }
        };
        if value.is_infinite() {
            return Err((range, "the number is too large".to_owned()));
        }
        self.at = end;
        self.postfix.push(Item::Number(value));
        Ok(())
    }

    /// A name, or a function with its arguments.
    fn word(&mut self) -> Result<(), Wrong> {
        let rest = &self.text[self.at..];
        let len = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let range = self.at..self.at + len;
        self.at = range.end;
        if self.peek() != Some(b'(') {
            self.postfix.push(Item::Name(range));
            return Ok(());
        }
        let name = &self.text[range.clone()];
        let Some(&(_, operation, fewest, most)) = FUNCTIONS.iter().find(|f| f.0 == name) else {
            let known: Vec<_> = FUNCTIONS.iter().map(|f| f.0).collect();
            let known = known.join(", ");
            return Err((range, format!("there is no function `{name}`; there are {known}")));
        };
        self.at += 1;
        let given = self.arguments(operation)?;
        if given < fewest || given > most {
            let wanted = if fewest == 1 { "1 argument" } else { "2 arguments" };
            let more = if most > fewest { " or more" } else { "" };
            return Err((range, format!("`{name}` takes {wanted}{more}, not {given}")));
        }
        Ok(())
    }

    /// The arguments up to the closing parenthesis. A function of several is applied from the
    /// left, two at a time: `min(a, b, c)` is `min(min(a, b), c)`.
    fn arguments(&mut self, operation: Operation) -> Result<usize, Wrong> {
        let mut given = 0;
        loop {
            self.sum()?;
            given += 1;
            if given > 1 {
                self.postfix.push(Item::Apply(operation));
            }
            if !self.eat(b',') {
                break;
            }
        }
        if given == 1 {
            self.postfix.push(Item::Apply(operation));
        }
        self.close()?;
        Ok(given)
    }

    fn close(&mut self) -> Result<(), Wrong> {
        if self.eat(b')') {
            return Ok(());
        }
        Err(self.expected("an operator (+ - * / % ^) or `)`"))
    }

    fn eat(&mut self, symbol: u8) -> bool {
        let found = self.peek() == Some(symbol);
        self.at += usize::from(found);
        found
    }

    /// The next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        self.space();
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn expected(&self, what: &str) -> Wrong {
        match self.text[self.at..].chars().next() {
            Some(c) => (self.at..self.at + c.len_utf8(), format!("expected {what}, found `{c}`")),
            None => (self.at..self.at, format!("expected {what}, found the end")),
        }
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
    fn deep_nesting_is_refused() {
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
}
