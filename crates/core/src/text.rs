//! Text that others chose: read within bounds, and made fit for a terminal or a table.

use crate::error::Error;
use std::borrow::Cow;
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// The text of a regular file of at most `max_bytes` bytes.
///
/// # Errors
/// As [`read_bytes`], and where it is not UTF-8.
pub fn read(path: &Path, max_bytes: u64) -> Result<String, String> {
    String::from_utf8(read_bytes(path, max_bytes)?).map_err(|error| {
        format!("the file is not UTF-8 text (byte {})", error.utf8_error().valid_up_to())
    })
}

/// What `parse` makes of a file's name for messages and of its text, which has at most `max_bytes` bytes.
///
/// # Errors
/// `Usage` as [`read`], and what `parse` says.
pub fn parsed<T>(
    path: &Path,
    max_bytes: u64,
    parse: impl FnOnce(&str, &str) -> crate::error::Result<T>,
) -> crate::error::Result<T> {
    let file = path.display().to_string();
    let text = read(path, max_bytes).map_err(|why| Error::Usage(format!("{file}: {why}")))?;
    parse(&file, &text)
}

/// A regular file of at most `max_bytes` bytes. Nothing else is opened, since a pipe or a device may
/// never end.
///
/// # Errors
/// Why not, as the second half of a sentence about the file.
pub fn read_bytes(path: &Path, max_bytes: u64) -> Result<Vec<u8>, String> {
    let data = fs::metadata(path).map_err(|error| explain(&error))?;
    if let Some(why) = no_file(&data) {
        return Err(why.to_owned());
    }
    let file = fs::File::open(path).map_err(|error| explain(&error))?;
    let mut bytes = vec![];
    file.take(max_bytes + 1).read_to_end(&mut bytes).map_err(|error| explain(&error))?;
    if bytes.len() as u64 > max_bytes {
        return Err(format!("the file is larger than {} MiB", max_bytes >> 20));
    }
    Ok(bytes)
}

/// What something is that is no regular file, as the second half of a sentence about it.
pub fn no_file(data: &fs::Metadata) -> Option<&'static str> {
    match (data.is_file(), data.is_dir()) {
        (true, _) => None,
        (_, true) => Some(FOLDER),
        _ => Some("this is a pipe or a device, not a file"),
    }
}

/// The message for a folder where a file is wanted.
pub const FOLDER: &str = "this is a folder, not a file";

/// What an error of the system means to who named the file.
pub fn explain(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::PermissionDenied => "you may not read it".to_owned(),
        _ => error.to_string(),
    }
}

/// `text` without control characters (a tab becomes a space) and without terminal escape
/// sequences, cut to `limit` characters with an ellipsis.
pub fn printable(text: &str, limit: usize) -> String {
    let mut out = String::new();
    let mut length = 0;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
            '\t' | '\n' => push(&mut out, &mut length, ' '),
            c if c.is_control() || is_invisible(c) => {}
            c => push(&mut out, &mut length, c),
        }
        if length > limit {
            out.pop();
            out.pop();
            out.push('…');
            break;
        }
    }
    out
}

/// `text` in its lines without any other control character but tabs, without terminal escape sequences,
/// and without marks that reorder or hide text: what every way out to a terminal or a file passes.
pub fn harmless(text: &str) -> Cow<'_, str> {
    let kept = |c: char| matches!(c, '\n' | '\t') || !(c.is_control() || is_invisible(c));
    if text.chars().all(kept) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
            c if kept(c) => out.push(c),
            _ => {}
        }
    }
    Cow::Owned(out)
}

fn push(out: &mut String, length: &mut usize, c: char) {
    out.push(c);
    *length += 1;
}

/// A whole control sequence (`ESC [`, numbers, a letter) is skipped. Of any other escape nothing else is: what stands
/// behind it may be the text of somebody else, a number or the end of a line.
fn skip_escape(chars: &mut std::str::Chars) {
    let number = |c: char| c.is_ascii_digit() || matches!(c, ';' | ':' | '?');
    let letter = chars.as_str().strip_prefix('[').map(|rest| rest.trim_start_matches(number));
    let behind = letter.and_then(|text| text.strip_prefix(|c: char| c.is_ascii_alphabetic()));
    if let Some(behind) = behind {
        *chars = behind.chars();
    }
}

/// Marks that reorder or hide what a terminal shows, or that some readers of tables take for the end of a line.
pub fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Parts in lower case, joined by dashes, with nothing but letters and digits between them: safe as a file's
/// name. Letters and digits beyond ASCII are their numbers, so that two names in them stay two.
pub fn slug(parts: &[&str], limit: usize) -> String {
    let mut slug = String::new();
    for part in parts {
        for c in part.chars() {
            match c {
                c if c.is_ascii_alphanumeric() => slug.push(c.to_ascii_lowercase()),
                c if c.is_alphanumeric() => slug.push_str(&format!("{:x}", u32::from(c))),
                _ if !slug.is_empty() && !slug.ends_with('-') => slug.push('-'),
                _ => {}
            }
        }
        if !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(limit);
    slug.trim_end_matches('-').to_owned()
}

/// `1 case`, `2 cases`: a number with what it counts.
pub fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// The first of these, `max` of them, and how many more there are.
pub fn listed(names: impl IntoIterator<Item = String>, max: usize) -> String {
    let mut names: Vec<String> = names.into_iter().collect();
    let more = names.len().saturating_sub(max);
    names.truncate(max);
    match more {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

/// `text` over lines of at most `width` characters, broken behind a space, `-`, `/`, `_`, `,` or
/// `)` where there is one; what would need more than three lines is shortened in the middle.
pub fn wrapped(text: &str, width: usize) -> String {
    const LINES: usize = 3;
    let width = width.max(4);
    let lines = lines(text, width);
    if lines.len() <= LINES {
        return lines.join("\n");
    }
    // Breaking early wastes room: shorter and shorter texts, until one fits.
    (width..=LINES * width)
        .rev()
        .map(|length| self::lines(&middle(text, length), width))
        .find(|lines| lines.len() <= LINES)
        .unwrap_or_else(|| vec![middle(text, width)])
        .join("\n")
}

/// `text` cut to `limit` characters with an ellipsis in the middle: names differ at either end.
pub fn middle(text: &str, limit: usize) -> String {
    let length = text.chars().count();
    if length <= limit {
        return text.to_owned();
    }
    let kept = limit.saturating_sub(1);
    let head: String = text.chars().take(kept.div_ceil(2)).collect();
    let tail: String = text.chars().skip(length - kept / 2).collect();
    format!("{head}…{tail}")
}

fn lines(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![];
    let mut line: Vec<char> = vec![];
    for c in text.chars() {
        line.push(c);
        if line.iter().rev().skip_while(|c| **c == ' ').count() > width {
            let is_break = |c: &char| matches!(c, ' ' | '-' | '/' | '_' | ',' | ')');
            let at = match line[width] {
                ' ' => width + 1,
                _ => line[..width].iter().rposition(is_break).map_or(width, |i| i + 1),
            };
            let rest = line.split_off(at);
            lines.push(line.iter().collect::<String>().trim_end().to_owned());
            line = rest;
        }
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line.iter().collect::<String>().trim_end().to_owned());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let path = std::env::temp_dir().join(format!("gpubench-text-{}", std::process::id()));
        fs::write(&path, "eight by").unwrap();
        assert_eq!(read(&path, 8), Ok("eight by".to_owned()));
        assert_eq!(read(&path, 7), Err("the file is larger than 0 MiB".to_owned()));
        fs::write(&path, b"ab\xff").unwrap();
        assert_eq!(read(&path, 8), Err("the file is not UTF-8 text (byte 2)".to_owned()));
        assert_eq!(no_file(&fs::metadata(&path).unwrap()), None);
        fs::remove_file(&path).unwrap();
        assert_eq!(read(&std::env::temp_dir(), 8), Err(FOLDER.to_owned()));
        assert_eq!(read(&path, 8), Err("there is no such file".to_owned()));
    }

    #[test]
    fn errors_and_numbers_have_plain_words() {
        let of = |kind: ErrorKind| explain(&kind.into());
        assert_eq!(of(ErrorKind::PermissionDenied), "you may not read it");
        assert_eq!(of(ErrorKind::NotFound), "there is no such file");
        assert_eq!([0, 1, 2].map(|n| counted(n, "case")), ["0 cases", "1 case", "2 cases"]);
    }

    #[test]
    fn names_break_where_their_parts_end() {
        assert_eq!(wrapped("transpose_padded/32x8", 12), "transpose_\npadded/32x8");
        assert_eq!(wrapped("rows=2048 cols=2048", 10), "rows=2048\ncols=2048");
        assert_eq!(wrapped("a rather long name", 13), "a rather long\nname");
        assert_eq!(wrapped("abcdefgh", 8), "abcdefgh");
        assert_eq!(wrapped("abcdefghij", 4), "abcd\nefgh\nij");
        assert_eq!(wrapped("abcdefghijklmnop", 4), "abcd\nef…l\nmnop", "three full lines");
        assert_eq!(wrapped("", 4), "");
    }

    #[test]
    fn what_never_fits_is_shortened_in_the_middle() {
        let long = "a-very/".repeat(700) + "end";
        let text = wrapped(&long, 16);
        assert!(text.lines().count() <= 3 && text.lines().all(|l| l.chars().count() <= 16));
        assert!(text.starts_with("a-very/") && text.ends_with("end") && text.contains('…'));
        assert_eq!(middle("abcdefg", 5), "ab…fg");
        assert_eq!(middle("abc", 3), "abc");
    }

    #[test]
    fn nothing_reaches_the_terminal_but_text() {
        assert_eq!(printable("a\u{1b}[31mred\u{1b}[0m\tb\u{7}\u{202e}", 80), "ared b");
        assert_eq!(printable("\u{1b}]0;title\u{7}x", 80), "]0;titlex");
        assert_eq!(printable("µs Größe", 80), "µs Größe");
    }

    #[test]
    fn lines_and_tabs_are_harmless_and_nothing_else_that_commands() {
        assert_eq!(harmless("a\tb\nµ ✓ €"), "a\tb\nµ ✓ €");
        assert_eq!(harmless("a\u{1b}[31mred\u{1b}[0m\r\n\u{9b}2J\u{7f}\u{202e}b"), "ared\n2Jb");
        assert_eq!(harmless("\u{1b}"), "");
        assert_eq!(
            harmless("a\u{2028}b\u{2029}c\u{61c}d"),
            "abcd",
            "lines that are none, marks of Arabic"
        );
        let hidden = "a\u{ad}\u{180e}\u{206a}\u{fff9}b\u{fffb}\u{e0041}\u{e007f}c";
        assert_eq!(harmless(hidden), "abc", "hyphens, annotations and tags that nobody sees");
    }

    /// A text ends in the beginning of a sequence; the next one is a figure, a cell or a tag.
    #[test]
    fn an_escape_without_an_end_takes_nothing_of_what_follows() {
        for (text, left) in [
            ("copy\u{1b}[ n=65536", "copy[ n=65536"),
            ("copy\u{1b}[  657 µs", "copy[  657 µs"),
            ("copy\u{1b}[31 µs", "copy[31 µs"),
            ("copy\u{1b}\nnext", "copy\nnext"),
            ("copy\u{1b}</td>", "copy</td>"),
            ("copy\u{1b}[</td>", "copy[</td>"),
            ("copy\u{1b}[?25lx\u{1b}[1;31mred", "copyxred"),
            ("copy\u{1b}[12", "copy[12"),
        ] {
            assert_eq!(harmless(text), left);
            assert_eq!(printable(text, 80), left.replace('\n', " "));
        }
    }

    #[test]
    fn slugs_are_letters_digits_and_single_dashes() {
        assert_eq!(slug(&["GeForce (TM)", "RTX 5090"], 96), "geforce-tm-rtx-5090");
        assert_eq!(slug(&["  a__b", "", "c "], 96), "a-b-c");
        assert_eq!(slug(&["ab", "cd"], 3), "ab");
        assert_eq!([slug(&["Café"], 9), slug(&["猫"], 9)], ["cafe9", "732b"]);
    }

    #[test]
    fn long_text_is_cut() {
        assert_eq!(printable("abcdef", 6), "abcdef");
        assert_eq!(printable("abcdefg", 6), "abcde…");
    }
}
