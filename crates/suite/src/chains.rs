//! WGSL that is too deep for what reads it: naga, and the drivers behind it, go down a chain of operators or of
//! `else` by calling themselves, and a stack that is used up ends the whole process.

use std::ops::Range;

/// No honest statement has so many operators in a row, nor an honest kernel so many `else`.
pub const LONGEST: usize = 1000;

/// Where a chain becomes too long, if anywhere.
pub fn too_long(text: &str) -> Option<Range<usize>> {
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
    fn honest_kernels_are_taken() {
        let lines = format!("// {}\n/* {} */\n", "-".repeat(5000), "a.b ".repeat(5000));
        let numbers = "const a = array(".to_owned() + &"-1.5, ".repeat(5000) + "1);";
        let many = "a[0] = a[1] + 2.0;".repeat(5000);
        assert_eq!(too_long(&(lines + &numbers + &many)), None);
    }
}
