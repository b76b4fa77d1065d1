//! Paragraphs of at most so many columns.

/// `text` broken at spaces; a word that is longer than a line is broken where it must be. Later
/// lines begin with `indent` spaces, as the first one does.
pub(super) fn wrap(text: &str, indent: usize, width: Option<usize>) -> String {
    let margin = " ".repeat(indent);
    let Some(width) = width else { return format!("{margin}{text}\n") };
    let room = width.saturating_sub(indent).max(16);
    let mut lines: Vec<String> = vec![String::new()];
    let mut length = 0;
    for word in text.split(' ') {
        let mut word: Vec<char> = word.chars().collect();
        let space = usize::from(length > 0);
        if length + space + word.len() > room && length > 0 {
            lines.push(String::new());
            length = 0;
        }
        while word.len() > room {
            let rest = word.split_off(room);
            lines.last_mut().into_iter().for_each(|line| line.extend(&word));
            lines.push(String::new());
            word = rest;
        }
        if let Some(line) = lines.last_mut() {
            if length > 0 {
                line.push(' ');
                length += 1;
            }
            line.extend(&word);
        }
        length += word.len();
    }
    lines.iter().map(|line| format!("{margin}{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn lines_keep_within_the_width() {
        let text = format!("a few words and then {} end", "x".repeat(50));
        let out = wrap(&text, 2, Some(24));
        assert!(
            out.lines().all(|line| line.starts_with("  ") && line.chars().count() <= 24),
            "{out}"
        );
        assert_eq!(out.replace(['\n', ' '], ""), text.replace(' ', ""));
        assert_eq!(wrap("a b", 2, None), "  a b\n");
    }
}
