//! Paragraphs of at most so many columns.

use textwrap::{Options, WordSeparator, WordSplitter};

/// `text` broken at spaces; a word that is longer than a line is broken where it must be. Every line
/// begins with `indent` spaces.
pub(super) fn wrap(text: &str, indent: usize, width: Option<usize>) -> String {
    let margin = " ".repeat(indent);
    let width = width.map_or(usize::MAX, |width| width.max(indent + 16));
    let options = Options::new(width)
        .initial_indent(&margin)
        .subsequent_indent(&margin)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation);
    textwrap::fill(text, options) + "\n"
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
