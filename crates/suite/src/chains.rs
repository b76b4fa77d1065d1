//! WGSL that is too deep for what reads it: naga, and the drivers behind it, go down a chain of operators or of
//! `else` by calling themselves, and a stack that is used up ends the whole process.

use std::ops::Range;

/// No honest statement has so many operators one behind the other, nor an honest kernel so many `else` or
/// declarations.
pub const LONGEST: usize = 1000;
/// What naga ends a line at.
const LINE_ENDS: [char; 7] =
    ['\n', '\u{000b}', '\u{000c}', '\r', '\u{0085}', '\u{2028}', '\u{2029}'];
/// What begins a declaration: naga orders them by going down from each to those that it uses.
const DECLARATIONS: [&str; 6] = ["fn", "const", "alias", "struct", "var", "override"];

/// Where a chain becomes too long, if anywhere.
pub fn too_long(text: &str) -> Option<Range<usize>> {
    let mut counts = Counts::default();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let len = match comment(rest) {
            Some(len) => len,
            None if c.is_ascii_alphabetic() || c == '_' => {
                let word = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                let word = &rest[..word.unwrap_or(rest.len())];
                counts.word(word);
                word.len()
            }
            None => {
                counts.sign(c);
                c.len_utf8()
            }
        };
        if counts.are_too_many() {
            return Some(at..at + len);
        }
        at += len;
    }
    None
}

/// How long the chains are that are still open.
#[derive(Default)]
struct Counts {
    /// Operators, and accesses to parts, of the expression outside brackets.
    open: [usize; 2],
    /// Those of the expressions around the brackets that are open.
    outer: Vec<[usize; 2]>,
    elses: usize,
    declarations: usize,
}

impl Counts {
    fn word(&mut self, word: &str) {
        self.elses += usize::from(word == "else");
        // Those within functions are as deep as the functions are.
        self.declarations += usize::from(DECLARATIONS.contains(&word));
    }

    fn sign(&mut self, c: char) {
        match c {
            ';' | '{' | '}' => (self.open, self.outer) = ([0; 2], vec![]),
            ',' => self.open = [0; 2],
            '(' | '[' => {
                self.open[1] += usize::from(c == '[');
                self.outer.push(std::mem::take(&mut self.open));
            }
            ')' | ']' => self.open = self.outer.pop().unwrap_or_default(),
            '.' => self.open[1] += 1,
            '+' | '-' | '*' | '/' | '%' | '&' | '|' | '^' | '<' | '>' | '=' | '!' | '~' => {
                self.open = [self.open[0] + 1, 0];
            }
            _ => {}
        }
    }

    fn are_too_many(&self) -> bool {
        let [operators, accesses] = self.open;
        let all = [operators, accesses, self.outer.len(), self.elses, self.declarations];
        all.into_iter().any(|count| count > LONGEST)
    }
}

/// The length of the comment that begins here, if one does; as naga reads them, one may hold another.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find(LINE_ENDS).unwrap_or(text.len()));
    }
    let mut rest = text.strip_prefix("/*")?;
    let mut depth = 1;
    while depth > 0 {
        let Some(at) = rest.find(['/', '*']) else { return Some(text.len()) };
        rest = &rest[at..];
        let (step, len) = match rest.get(..2) {
            Some("/*") => (1, 2),
            Some("*/") => (-1, 2),
            _ => (0, 1),
        };
        depth += step;
        rest = &rest[len..];
    }
    Some(text.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wgsl::parse;

    /// Without the limit most of them end the process.
    #[test]
    fn what_would_use_up_the_stack_is_an_error_at_its_place() {
        let main = |body: &str| format!("@compute @workgroup_size(1) fn k() {{ {body} }}");
        let with = |first: &str, piece: &str, last: &str, n: usize| {
            main(&format!("{first}{}{last}", piece.repeat(n)))
        };
        let each = |n: usize, one: fn(usize) -> String| (0..n).map(one).collect::<String>();
        assert!(parse(&with("let a = ", "1 + ", "1;", LONGEST - 1)).is_ok());
        for text in [
            with("let a = ", "1 + ", "1;", 100_000),
            with("let a = true", " /* , */ && true", ";", 40_000),
            with("let b = vec3(1); let a = b", ".xyz", ";", 100_000),
            with("if true {} ", "else if true {} ", "", 40_000),
            with("let a = 1", " == 1", ";", 100_000),
            with("let a = ", "!", "true;", 100_000),
            with("let a = ", "~", "1;", 100_000),
            with("let a = ", "max(1, 2) + ", "1;", 40_000),
            with("// \r let a = ", "1 + ", "1;", 100_000),
            with("/* /* */ // */ let a = ", "1 + ", "1;", 100_000),
            with("let a = ", "(", "1;", 100_000),
            each(40_000, |i| format!("fn f{i}() {{ f{}(); }}\n", i + 1)),
            each(40_000, |i| format!("const A{i} = A{};\n", i + 1)),
            each(40_000, |i| format!("alias A{i} = A{};\n", i + 1)),
            each(40_000, |i| format!("struct S{i} {{ a: S{} }}\n", i + 1)),
        ] {
            assert!(too_long(&text).is_some() && parse(&text).is_err(), "{}", &text[..80]);
        }
    }

    #[test]
    fn honest_kernels_are_taken() {
        let lines = format!("// {}\n/* {} */\n", "-".repeat(5000), "a.b /* c */ ".repeat(5000));
        let numbers = "const a = array(".to_owned() + &"-1.5, ".repeat(5000) + "1);";
        let many = "a[0] = a[1] + 2.0;".repeat(5000);
        assert_eq!(too_long(&(lines + &numbers + &many)), None);
    }
}
