//! Text that others chose, made fit for a terminal or a table.

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

fn push(out: &mut String, length: &mut usize, c: char) {
    out.push(c);
    *length += 1;
}

/// A control sequence (`ESC [ … letter`) is skipped whole; of any other escape, one character.
fn skip_escape(chars: &mut std::str::Chars) {
    if chars.next() == Some('[') {
        chars.find(|c| ('\u{40}'..='\u{7e}').contains(c));
    }
}

/// Marks that reorder or hide what a terminal shows.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn nothing_reaches_the_terminal_but_text() {
        assert_eq!(printable("a\u{1b}[31mred\u{1b}[0m\tb\u{7}\u{202e}", 80), "ared b");
        assert_eq!(printable("\u{1b}]0;title\u{7}x", 80), "0;titlex");
        assert_eq!(printable("µs Größe", 80), "µs Größe");
    }

    #[test]
    fn long_text_is_cut() {
        assert_eq!(printable("abcdef", 6), "abcdef");
        assert_eq!(printable("abcdefg", 6), "abcde…");
    }
}
