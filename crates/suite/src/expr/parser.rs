//! The grammar of expressions, parsed into postfix order:
//!
//! ```text
//! sum     = product (("+" | "-") product)*
//! product = unary (("*" | "/" | "%") unary)*
//! unary   = "-" unary | power
//! power   = atom ("^" unary)?
//! atom    = number | name | function "(" sum ("," sum)* ")" | "(" sum ")"
//! ```

use super::{Item, Operation, Wrong};

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

/// The deepest nesting of parentheses, signs and powers.
const MAX_DEPTH: u32 = 40;

/// The items of `text` in postfix order.
///
/// # Errors
/// The byte range within `text` that is wrong, and what was expected there.
pub(super) fn parsed(text: &str) -> Result<Vec<Item>, Wrong> {
    let mut parser = Parser { text, at: 0, depth: 0, postfix: vec![] };
    parser.sum()?;
    parser.space();
    if parser.at < text.len() {
        return Err(parser.expected("an operator (+ - * / % ^) or the end"));
    }
    Ok(parser.postfix)
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
            Some(c) if c.is_ascii_alphabetic() || c == b'_' => self.identifier(),
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
    fn identifier(&mut self) -> Result<(), Wrong> {
        let rest = &self.text[self.at..];
        let len = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let range = self.at..self.at + len;
        self.at = range.end;
        if self.peek() != Some(b'(') {
            self.postfix.push(Item::Name(range));
            return Ok(());
        }
        let name = &self.text[range.clone()];
        let Some(&(_, operation, min_arguments, max_arguments)) =
            FUNCTIONS.iter().find(|f| f.0 == name)
        else {
            let known: Vec<_> = FUNCTIONS.iter().map(|f| f.0).collect();
            let known = known.join(", ");
            return Err((range, format!("there is no function `{name}`; there are {known}")));
        };
        self.at += 1;
        let given = self.arguments(operation)?;
        if given < min_arguments || given > max_arguments {
            let wanted = if min_arguments == 1 { "1 argument" } else { "2 arguments" };
            let more = if max_arguments > min_arguments { " or more" } else { "" };
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
