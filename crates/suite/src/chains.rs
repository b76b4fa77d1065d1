//! WGSL that is too deep for what reads it: naga, and the drivers behind it, go down a chain of operators or of
//! `else` by calling themselves, and a stack that is used up ends the whole process.

use super::misfit::{About, Misfit};
use std::ops::Range;

/// No honest statement has so many operators in a row, nor an honest kernel so many `else`.
pub const LONGEST: usize = 1000;

/// No honest kernel has so many brackets in one another. naga counts them itself in WGSL, and not in GLSL.
const DEEPEST: usize = 100;

/// Whether a text can be read without using up the stack.
///
/// # Errors
/// Where it cannot.
pub fn check(text: &str) -> Result<(), Misfit> {
    let Some(at) = too_long(text) else { return Ok(()) };
    let message =
        format!("more than {LONGEST} operators in a statement, or {LONGEST} `else` in the text");
    Err(Misfit::new(About::Text(at), message, Some("split what it is in".into())))
}

/// As [`check`], of a text in GLSL.
///
/// # Errors
/// Where it cannot.
pub fn check_glsl(text: &str) -> Result<(), Misfit> {
    check(text)?;
    let Some(at) = too_deep(text) else { return Ok(()) };
    let message =
        format!("more than {DEEPEST} brackets, or signs before an operand, in one another");
    Err(Misfit::new(About::Text(at), message, Some("split what it is in".into())))
}

/// Where brackets, or the signs in front of an operand, become too deep. Comments count, too: too much is counted
/// rather than too little.
fn too_deep(text: &str) -> Option<Range<usize>> {
    let (mut depth, mut signs) = (0_usize, 0);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'!' | b'~' => signs += 1,
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => signs = 0,
            _ => {}
        }
        if depth > DEEPEST || signs > DEEPEST {
            return Some(at..at + 1);
        }
    }
    None
}

/// Where a chain becomes too long, if anywhere.
fn too_long(text: &str) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let (mut operators, mut accesses, mut elses) = (0, 0, 0);
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if let Some(end) = comment(&bytes[at..]) {
            at += end;
            continue;
        }
        match byte {
            b';' | b',' | b'{' | b'}' => (operators, accesses) = (0, 0),
            b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^' | b'<' | b'>' => {
                (operators, accesses) = (operators + 1, 0);
            }
            b'.' | b'[' => accesses += 1,
            b'e' if bytes[at..].starts_with(b"else") => elses += 1,
            _ => {}
        }
        if [operators, accesses, elses].into_iter().any(|length| length > LONGEST) {
            return Some(at..at + 1);
        }
        at += 1;
    }
    None
}

/// The length of the comment that begins here, if one does. One within another ends it early, and what is left
/// of it counts as text: too much is counted rather than too little.
fn comment(bytes: &[u8]) -> Option<usize> {
    let end: &[u8] = match bytes.get(..2)? {
        b"//" => b"\n",
        b"/*" => b"*/",
        _ => return None,
    };
    let found = bytes[2..].windows(end.len()).position(|window| window == end);
    Some(found.map_or(bytes.len(), |found| 2 + found + end.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wgsl::parse;

    /// Without the limit each of them but the first ends the process.
    #[test]
    fn what_would_use_up_the_stack_is_an_error_at_its_place() {
        let main = |body: &str| format!("@compute @workgroup_size(1) fn k() {{ {body} }}");
        let with = |first: &str, piece: &str, last: &str, n: usize| {
            main(&format!("{first}{}{last}", piece.repeat(n)))
        };
        assert!(parse(&with("let a = ", "1 + ", "1;", LONGEST)).is_ok());
        for text in [
            with("let a = ", "1 + ", "1;", 100_000),
            with("let a = true", " /* , */ && true", ";", 40_000),
            with("let b = vec3(1); let a = b", ".xyz", ";", 100_000),
            with("if true {} ", "else if true {} ", "", 40_000),
        ] {
            assert!(too_long(&text).is_some() && parse(&text).is_err());
        }
    }

    #[test]
    fn glsl_is_not_deeper_than_the_stack() {
        let nested = |n: usize| format!("float a = {}1{};", "(".repeat(n), ")".repeat(n));
        assert!(check_glsl(&nested(DEEPEST)).is_ok());
        assert!(check_glsl(&nested(DEEPEST + 1)).is_err());
        assert!(check_glsl(&format!("bool a = {}b;", "!".repeat(DEEPEST + 1))).is_err());
        assert!(check_glsl(&"{ a[0] = !b; }".repeat(5000)).is_ok());
    }

    #[test]
    fn honest_kernels_are_taken() {
        let lines = format!("// {}\n/* {} */\n", "-".repeat(5000), "a.b ".repeat(5000));
        let numbers = "const a = array(".to_owned() + &"-1.5, ".repeat(5000) + "1);";
        let many = "a[0] = a[1] + 2.0;".repeat(5000);
        assert_eq!(too_long(&(lines + &numbers + &many)), None);
    }
}
