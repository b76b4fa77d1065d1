//! What a kernel of a suite may not ask of the OpenCL compiler: to look for other files, or to take
//! assembly, which reads them too (`.incbin`).
//!
//! Only a preprocessor knows what is a directive and what a comment or a string. Here everything
//! that could be one is found, wherever it stands: too much is refused rather than too little. Where a macro
//! joins words (`a ## sm`), all words of the text are taken for its parts.

use std::collections::HashSet;
use std::ops::Range;

/// Directives that name a file.
const DIRECTIVES: [&[u8]; 5] =
    [b"include", b"include_next", b"import", b"embed", b"__include_macros"];
/// Words behind `#pragma` that name a file or a module.
const PRAGMAS: [&[u8]; 5] =
    [b"dependency", b"module", b"include_alias", b"include_instead", b"pch_preprocess"];
/// Operators that ask whether there is a file, or are a pragma or assembly.
const OPERATORS: [&[u8]; 4] = [b"__has_include", b"__has_embed", b"_Pragma", b"__pragma"];
/// Words that begin assembly.
const ASSEMBLY: [&[u8]; 4] = [b"asm", b"__asm", b"__asm__", b"_asm"];
/// As far behind its `#` a directive's name is looked for.
const WINDOW: usize = 256;

/// Where `text` has the compiler look for another file, or take assembly, if anywhere, whether or not
/// it replaces trigraphs.
pub fn beyond_its_text(text: &str) -> Option<Range<usize>> {
    // Some compilers read no further, others take it for a blank that may stand where no other may.
    if let Some(at) = text.find('\0') {
        return Some(at..at + 1);
    }
    [true, false].into_iter().find_map(|trigraphs| beyond(text, trigraphs))
}

fn beyond(text: &str, trigraphs: bool) -> Option<Range<usize>> {
    let (plain, places) = spliced(text, trigraphs);
    let directive = (0..plain.len()).find_map(|at| Some(at..directive(&plain, &places, at)?));
    let found = directive.or_else(|| {
        OPERATORS.iter().find_map(|operator| {
            let at = plain.windows(operator.len()).position(|window| window == *operator)?;
            Some(at..at + operator.len())
        })
    });
    let found = found.or_else(|| {
        let words = words(&plain);
        words.into_iter().find(|word| ASSEMBLY.contains(&&plain[word.clone()]))
    });
    let found = found.or_else(|| pasted(&plain))?;
    // What ends the range may lie behind a splice: the character before it shows where it ends.
    let range = places[found.start]..places[found.end - 1] + 1;
    Some(range.start..text.ceil_char_boundary(range.end))
}

/// Whether a macro of `text` could join words of it and of definitions to one that may not stand there.
pub fn joins_with(text: &str, definitions: &str) -> bool {
    let whole = format!("{text}\n{definitions}");
    [true, false].into_iter().any(|trigraphs| pasted(&spliced(&whole, trigraphs).0).is_some())
}

/// Where parts are joined, if words of the text could be those of one that may not stand there.
fn pasted(plain: &[u8]) -> Option<Range<usize>> {
    let find = |sign: &[u8]| plain.windows(sign.len()).position(|window| window == sign);
    let (at, len) = find(b"##").map(|at| (at, 2)).or_else(|| Some((find(b"%:%:")?, 4)))?;
    let words: HashSet<&[u8]> = words(plain).into_iter().map(|word| &plain[word]).collect();
    let mut forbidden = OPERATORS.into_iter().chain(ASSEMBLY);
    forbidden.any(|word| is_made_of(&words, word)).then_some(at..at + len)
}

/// Whether a word is one of these after the other.
fn is_made_of(parts: &HashSet<&[u8]>, word: &[u8]) -> bool {
    // Whether the first so many bytes are.
    let mut made = vec![true];
    for end in 1..=word.len() {
        let is = (0..end).any(|begin| made[begin] && parts.contains(&word[begin..end]));
        made.push(is);
    }
    made[word.len()]
}

/// Where names and numbers stand.
fn words(plain: &[u8]) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = vec![];
    for at in (0..plain.len()).filter(|&at| in_name(plain[at])) {
        match words.last_mut() {
            Some(last) if last.end == at => last.end += 1,
            _ => words.push(at..at + 1),
        }
    }
    words
}

fn in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

/// The end of the directive that begins at `at` and names a file, if there is one. A `#` behind
/// which nothing can be made out counts as one, as does one with a comment before its name: compilers do not
/// agree where that ends.
fn directive(plain: &[u8], places: &[usize], at: usize) -> Option<usize> {
    let rest = match &plain[at..] {
        [b'#', rest @ ..] | [b'%', b':', rest @ ..] => rest,
        _ => return None,
    };
    let start = plain.len() - rest.len();
    let all = start..plain.len().min(start + WINDOW);
    let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | 0x0b | 0x0c);
    let rest = &plain[all.clone()];
    let rest = &rest[rest.iter().take_while(is_blank).count()..];
    let len = rest.iter().take_while(|byte| in_name(**byte)).count();
    let cut_off = rest.is_empty() && all.len() == WINDOW;
    let end = all.end - rest.len() + len;
    if rest.starts_with(b"/*") {
        return Some(end + 2);
    }
    if cut_off || DIRECTIVES.contains(&&rest[..len]) {
        return Some(end);
    }
    (&rest[..len] == b"pragma" && pragma(&plain[end..], &places[end..])).then_some(end)
}

/// Whether the line behind `#pragma` names a file or a module. One in which that cannot be made out
/// does. Where a comment with joined lines begins in it, so much of what follows is looked at as is ever looked at:
/// compilers do not agree where that ends. The line must end there, too.
fn pragma(line: &[u8], places: &[usize]) -> bool {
    let mut rest = &line[..line.len().min(WINDOW)];
    let (mut disputed, mut has_ended) = (false, false);
    loop {
        rest = match rest {
            [] => return line.len() > WINDOW && !has_ended,
            [b'\n' | b'\r', ..] | [b'/', b'/', ..] if !disputed => return false,
            [b'\n' | b'\r', after @ ..] => {
                has_ended = true;
                after
            }
            [b'*', b'/', after @ ..] => {
                has_ended = false;
                after
            }
            [b'/', b'*', comment @ ..] => {
                let Some(len) = comment.windows(2).position(|window| window == b"*/") else {
                    return true;
                };
                let begin = line.len().min(WINDOW) - comment.len();
                disputed |= places[begin + len + 1] - places[begin] != len + 1;
                if disputed { comment } else { &comment[len + 2..] }
            }
            [byte, after @ ..] if !in_name(*byte) => after,
            _ => {
                let len = rest.iter().take_while(|byte| in_name(**byte)).count();
                let (word, behind) = rest.split_at(len);
                if PRAGMAS.contains(&word) || word == b"comment" && is_called(behind) {
                    return true;
                }
                behind
            }
        }
    }
}

/// Whether a parenthesis follows, or what may hide one: `#pragma comment(lib, "x")` names a file for the linker.
fn is_called(behind: &[u8]) -> bool {
    let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | 0x0b | 0x0c);
    let next = behind.iter().find(|byte| !is_blank(byte));
    next.is_some_and(|byte| matches!(byte, b'(' | b'/'))
}

/// The text as a preprocessor reads it, trigraphs replaced and continued lines joined, and where
/// each byte of it stood. What is not ASCII is a blank: to some compilers some of it is, others drop what they do not
/// know.
fn spliced(text: &str, trigraphs: bool) -> (Vec<u8>, Vec<usize>) {
    let bytes = text.as_bytes();
    let (mut plain, mut places) =
        (Vec::with_capacity(bytes.len()), Vec::with_capacity(bytes.len()));
    let mut at = 0;
    while let Some(first) = bytes.get(at) {
        let (byte, len) = match &bytes[at..] {
            [b'?', b'?', b'=', ..] if trigraphs => (b'#', 3),
            [b'?', b'?', b'/', ..] if trigraphs => (b'\\', 3),
            _ => (if first.is_ascii() { *first } else { b' ' }, 1),
        };
        if byte == b'\\'
            && let Some(splice) = line_end(&bytes[at + len..])
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
            "#pragma GCC /*\n*/ dependency <x>",
            "#pragma GCC dependency \"/etc/passwd\"",
            "# pragma GCC/**/dependency\t<x>",
            "#pragma clang module import x",
            "#pra\\\ngma include_alias(\"a\", \"b\")",
            "#define P _Pragma(\"GCC dependency \\\"x\\\"\")",
            "__pragma(module)",
            "#pragma comment(lib, \"/etc/passwd\")",
            "#pragma comment /**/ (lib, \"/etc/passwd\")",
            "#pragma com\\\nment\\\n\t(lib, \"x\")",
            "asm(\".incbin \\\"/etc/passwd\\\"\");",
            "void f() { __as\\\nm__ volatile(\"nop\"); }",
            "int x asm(\"y\");",
            "{__asm nop}",
            "#\u{a0}include <x>",
            "#\u{2003}pragma\u{a0}GCC\u{3000}dependency <x>",
            "void f() { \u{a0}__asm__(\"nop\"); }",
            "__asm__\u{2028}(\"nop\");",
            "int \u{180e}asm(\"nop\");",
            "\u{feff}asm(\"nop\");",
            "//x?\u{3f}/\nasm(\"nop\");",
            // What a macro joins.
            "#define C(a, b) a##b\nC(__as,m__)(\".incbin \\\"/etc/passwd\\\"\");",
            "#define C(a, b) a%:%:b\nC(__a, C(s, m))(\"nop\");",
            "#define C(x, y) x?\u{3f}=?\u{3f}=y\nC(_Prag,ma)(\"GCC dependency \\\"x\\\"\")",
            "#define C(x, y) x#\\\n#y\n#if C(__has_inc,lude)(\"/etc/passwd\")\n#endif",
            // What no compiler knows.
            "#\u{2060}include <x>",
            "#include\u{2603}<x>",
            // Comments that end where only some compilers see it: a zero, blanks or lines before the slash.
            "# /* *\\\0\n/ include <x> /* */ define X",
            "# /* *\\ \n/ x */ include <x>",
            "#pragma GCC /* *\\\0\n/ dependency <x>\n/* */",
            "#pragma GCC /* *\\ \n/ x */ dependency <x>",
            "kernel void f() {}\0",
        ] {
            let found = beyond_its_text(text).unwrap_or_else(|| panic!("{text}"));
            assert!(text.get(found.clone()).is_some_and(|found| !found.is_empty()), "{text}");
        }
        let text = "float é;\n#include <x>";
        assert_eq!(&text[beyond_its_text(text).unwrap()], "#include");
    }

    #[test]
    fn what_cannot_be_made_out_is_rejected() {
        let far = " ".repeat(WINDOW);
        for before in ["/**/", "/*\n*/", "/**/ /**/", "/* *\\ \n/ \n */"] {
            let text = format!("#pragma GCC {before}{far}dependency <x>");
            assert!(beyond_its_text(&text).is_some(), "{before}");
        }
        let text = format!("#pragma GCC {}dependency <x>", "/**/".repeat(WINDOW));
        assert!(beyond_its_text(&text).is_some());
        assert!(beyond_its_text("# /* a comment without an end").is_some());
        assert!(beyond_its_text(&format!("#{}include <x>", " ".repeat(1000))).is_some());
    }

    #[test]
    fn a_definition_may_be_a_part() {
        let text = "#define C(a, b) a##b\n#define D(a, b) C(a, b)\nD(__as, REST)(\"nop\");";
        assert_eq!(beyond_its_text(text), None);
        assert!(joins_with(text, "m__") && !joins_with(text, "float4 17"));
        assert!(!joins_with("D(__as, REST)", "m__"), "nothing is joined");
    }

    #[test]
    fn honest_kernels_have_none() {
        for text in [
            "",
            "#",
            "%:",
            "#define include 1\n",
            "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#pragma once\nint module;",
            "#pragma ivdep /* no loop-carried dependency */\nfor (;;) {}",
            "#pragma unroll /* each row */\nint module; /* what follows",
            "#pragma unroll /* each\nrow */ 4 /* of all */\n/** Adds. */ int dependency;",
            "#pragma unroll 4 /* a comment */\nint a; // a comment",
            &format!("#pragma unroll /* 4 */\n/* {0} */\nint a;{0}{0}{0}", " ".repeat(WINDOW / 2)),
            "float asmx, plasm, asm_2; // assembly",
            "#define JOIN(a, b) a##b\nfloat JOIN(x, 1), s;",
            "float a, s, m;",
            "#pragma unroll\n#if N % 2 == 0\n#endif\n#\n",
            "// includes nothing\nkernel void import(global float* embed) {}",
            "#includes\n# 17\n#define A(x) #x\n",
            "?\u{3f}=include?\u{3f}/\nx <y>",
            "a = b ? c : d; x %= 3; s = \"100 %\\n\";",
        ] {
            assert_eq!(beyond_its_text(text), None, "{text}");
        }
    }

    #[test]
    fn long_texts_are_read_once() {
        // Each byte against each would take 2^40 steps; a window of each, half a minute.
        let begun = std::time::Instant::now();
        for piece in [
            "#",
            "#/*",
            "# ",
            "%:/**/",
            "#/*#/*#*/",
            "\\\n",
            "?\u{3f}/\n",
            "é#",
            "asm_ ",
            "#pragma ",
        ] {
            let text = piece.repeat((1 << 20) / piece.len());
            let found = beyond_its_text(&text);
            assert!(found.is_none_or(|found| text.get(found).is_some()), "{piece:?}");
        }
        assert!(begun.elapsed().as_secs() < 30, "{:?}", begun.elapsed());
    }

    #[test]
    fn what_is_found_is_shown_whole() {
        for (text, shown) in [
            ("int a;\n#include <x>", "#include"),
            (" # /* a */ embed <x>", "# /*"),
            ("#pragma GCC dependency <x>", "#pragma"),
            ("#if __has_include(<x>)", "__has_include"),
            ("a; _Pragma(\"x\") b", "_Pragma"),
            ("a; __asm__ b", "__asm__"),
            ("#inc\\\nlude <x>", "#inc\\\nlude"),
            ("%:include <x>", "%:include"),
            ("\u{3000}asm(1)", "asm"),
            ("#embed\u{a0}<x>", "#embed"),
        ] {
            assert_eq!(&text[beyond_its_text(text).unwrap()], shown, "{text}");
        }
    }

    #[test]
    fn a_line_goes_on_behind_whatever_ends_it() {
        for end in ["\n", "\r", "\r\n", "\n\r", " \n", "\t\n", "\u{b}\n", "\u{c}\r\n", " \t \n\r"] {
            let text = format!("#inc\\{end}lude <x>");
            let found = beyond_its_text(&text).unwrap_or_else(|| panic!("{end:?}"));
            assert_eq!(text[found], text[..text.len() - 4], "{end:?}");
        }
        assert_eq!(beyond_its_text("#inc\\x\nlude <x>"), None);
        assert_eq!(beyond_its_text("#inc\\\n\nlude <x>"), None);
    }

    #[test]
    fn blanks_and_comments_may_stand_behind_the_sign() {
        for blank in [" ", "\t", "\u{b}", "\u{c}", "\0", "/**/", "/* x */", "\u{a0}", "/*/ */"] {
            assert!(beyond_its_text(&format!("#{blank}include <x>")).is_some(), "{blank:?}");
        }
        for other in ["x", "\n", "/", "//", "\""] {
            assert_eq!(beyond_its_text(&format!("#{other}include <x>")), None, "{other:?}");
        }
    }

    #[test]
    fn a_name_is_a_whole_word() {
        for text in [
            "$asm",
            "asm$",
            "asm1",
            "_asm_",
            "#include1",
            "#pragma xdependency",
            "#pragma dependency_",
        ] {
            assert_eq!(beyond_its_text(text), None, "{text}");
        }
        for text in [
            "asm",
            "_asm",
            "-asm-",
            "#pragma x dependency",
            "#pragma module",
            "#pragma once(pch_preprocess)",
        ] {
            assert!(beyond_its_text(text).is_some(), "{text}");
        }
    }

    #[test]
    fn a_directive_is_looked_for_so_far_and_what_is_farther_is_taken_for_one() {
        let far = |blanks: usize, rest: &str| {
            beyond_its_text(&format!("#{}{rest}", " ".repeat(blanks))).is_some()
        };
        assert!(!far(255, "") && far(256, ""));
        assert!(far(249, "include") && !far(249, "exclude"));
        let pragma = |rest: &str| beyond_its_text(&format!("#pragma{rest}")).is_some();
        assert!(!pragma(&" a".repeat(128)) && pragma(&(" a".repeat(128) + " ")));
        assert!(!pragma(&(" a".repeat(100) + "\n" + &" a".repeat(100))));
        assert!(
            pragma(" /* a long comment */module")
                && pragma(" /* without an end")
                && !pragma(" // module")
        );
        assert!(
            !pragma("\nmodule")
                && !pragma("\rmodule")
                && pragma(" /*/ */ module")
                && pragma(" / module")
        );
    }
}
