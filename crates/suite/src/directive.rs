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
mod tests;
