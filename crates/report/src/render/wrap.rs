//! Paragraphs of at most so many columns.

use std::borrow::Cow;
use textwrap::{Options, WordSeparator, WordSplitter};

/// `text` broken at spaces; a word that is longer than a line is broken where it must be. Every line
/// begins with `indent` spaces.
pub(super) fn wrap(text: &str, indent: usize, width: Option<usize>) -> String {
    let margin = " ".repeat(indent);
    let width = width.map_or(usize::MAX, |width| width.max(indent + 16));
    lines(text, width, [&margin; 2]).join("\n") + "\n"
}

/// The same in lines, the first behind `first` and the others behind `rest`.
pub(super) fn lines(text: &str, width: usize, [first, rest]: [&str; 2]) -> Vec<String> {
    let options = Options::new(width)
        .initial_indent(first)
        .subsequent_indent(rest)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation);
    textwrap::wrap(text, options).into_iter().map(Cow::into_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn lines_keep_within_the_width() {
        let text = format!("a few names and then {} end", "x".repeat(50));
        let out = wrap(&text, 2, Some(24));
        assert!(
            out.lines().all(|line| line.starts_with("  ") && line.chars().count() <= 24),
            "{out}"
        );
        assert_eq!(out.replace(['\n', ' '], ""), text.replace(' ', ""));
        assert_eq!(wrap("a b", 2, None), "  a b\n");
    }
}
