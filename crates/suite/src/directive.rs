//! What a kernel of a suite may not ask of the OpenCL compiler: to read other files.
//!
//! Only a preprocessor knows what is a directive and what a comment or a string. Here everything
//! that could be one is found, wherever it stands: too much is refused rather than too little.

use std::ops::Range;

/// Directives that name a file.
const DIRECTIVES: [&[u8]; 5] =
    [b"include", b"include_next", b"import", b"embed", b"__include_macros"];
/// Operators that ask whether there is a file.
const OPERATORS: [&[u8]; 2] = [b"__has_include", b"__has_embed"];
/// As far behind its `#` a directive's name is looked for.
const WINDOW: usize = 256;

/// Where `text` has the compiler look for another file, if anywhere.
pub fn names_file(text: &str) -> Option<Range<usize>> {
    let (plain, places) = spliced(text.as_bytes());
    let directive = (0..plain.len()).find_map(|at| Some(at..directive(&plain, at)?));
    let found = directive.or_else(|| {
        OPERATORS.iter().find_map(|operator| {
            let at = plain.windows(operator.len()).position(|window| window == *operator)?;
            Some(at..at + operator.len())
        })
    })?;
    // What ends the range may lie behind a splice: the character before it shows where it ends.
    let range = places[found.start]..places[found.end - 1] + 1;
    Some(range.start..text.ceil_char_boundary(range.end))
}

/// The end of the directive that begins at `at` and names a file, if there is one. A `#` behind
/// which nothing can be made out counts as one.
fn directive(plain: &[u8], at: usize) -> Option<usize> {
    let mut rest = match &plain[at..] {
        [b'#', rest @ ..] | [b'%', b':', rest @ ..] => rest,
        _ => return None,
    };
    let start = plain.len() - rest.len();
    let all = start..plain.len().min(start + WINDOW);
    rest = &plain[all.clone()];
    loop {
        rest = match rest {
            [b' ' | b'\t' | 0x0b | 0x0c | 0, after @ ..] => after,
            [b'/', b'*', comment @ ..] => {
                match comment.windows(2).position(|window| window == b"*/") {
                    Some(end) => &comment[end + 2..],
                    None => return Some(all.end),
                }
            }
            _ => break,
        };
    }
    let len = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let cut_off = rest.is_empty() && all.len() == WINDOW;
    (cut_off || DIRECTIVES.contains(&&rest[..len])).then(|| all.end - rest.len() + len)
}

/// The text as a preprocessor reads it, trigraphs replaced and continued lines joined, and where
/// each byte of it stood.
fn spliced(text: &[u8]) -> (Vec<u8>, Vec<usize>) {
    let (mut plain, mut places) = (Vec::with_capacity(text.len()), Vec::with_capacity(text.len()));
    let mut at = 0;
    while let Some(first) = text.get(at) {
        let (byte, len) = match &text[at..] {
            [b'?', b'?', b'=', ..] => (b'#', 3),
            [b'?', b'?', b'/', ..] => (b'\\', 3),
            _ => (*first, 1),
        };
        if byte == b'\\'
            && let Some(splice) = line_end(&text[at + len..])
        {
            at += len + splice;
            continue;
        }
        plain.push(byte);
        places.push(at);
        at += len;
    }
    (plain, places)
}

/// How many bytes the end of the line takes, if nothing stands before it; compilers allow blanks
/// behind the backslash of a continued line.
fn line_end(rest: &[u8]) -> Option<usize> {
    let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | 0x0b | 0x0c)).count();
    match &rest[blanks..] {
        [b'\r', b'\n', ..] | [b'\n', b'\r', ..] => Some(blanks + 2),
        [b'\n' | b'\r', ..] => Some(blanks + 1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_spell_it_is_found() {
        for text in [
            "#include \"/etc/passwd\"\n",
            "  #\tinclude <x.h>",
            "kernel void f() {}\n#include X\n",
            "# /* a */ /* b\n c */ include <x>",
            "#\\\ninc\\  \r\nlude <x>",
            "%:include <x>",
            "%\\\n:include <x>",
            "?\u{3f}=include <x>",
            "#inc?\u{3f}/\nlude <x>",
            "#import <x>\n",
            "#include_next <x>",
            "#embed \"/etc/passwd\"",
            "constant char* s = \"/*\";\n#include <x>\n// */",
            "#if __has_include(\"/etc/passwd\")\n#endif",
            "#if __has_\\\nembed(\"/etc/passwd\")\n#endif",
        ] {
            let found = names_file(text).unwrap_or_else(|| panic!("{text}"));
            assert!(text.get(found.clone()).is_some_and(|found| !found.is_empty()), "{text}");
        }
        let text = "float é;\n#include <x>";
        assert_eq!(&text[names_file(text).unwrap()], "#include");
        // What cannot be made out is refused.
        assert!(names_file("# /* a comment without an end").is_some());
        assert!(names_file(&format!("#{}include <x>", " ".repeat(1000))).is_some());
    }

    #[test]
    fn honest_kernels_have_none() {
        for text in [
            "",
            "#",
            "%:",
            "#define include 1\n",
            "#pragma unroll\n#if N % 2 == 0\n#endif\n#\n",
            "// includes nothing\nkernel void import(global float* embed) {}",
            "#includes\n# 17\n#define A(x) #x\n",
            "a = b ? c : d; x %= 3; s = \"100 %\\n\";",
        ] {
            assert_eq!(names_file(text), None, "{text}");
        }
    }

    #[test]
    fn long_texts_are_read_once() {
        for piece in ["#", "#/*", "# ", "%:/**/", "#/*#/*#*/", "\\\n", "?\u{3f}/\n", "é#"] {
            let _ = names_file(&piece.repeat((1 << 20) / piece.len()));
        }
    }
}
