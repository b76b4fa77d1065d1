//! A compiler's log as the user should read it: with the user's file and line, without the
//! driver's temporary files.

/// A directive before the text that makes compilers name `file` in their messages and count
/// its lines from 1. (It costs a line, which it gives back.)
pub(super) fn line_directive(file: &str) -> String {
    let file: String =
        file.chars().filter(|c| !c.is_control() && !matches!(c, '"' | '\\')).collect();
    format!("#line 1 \"{file}\"\n")
}

/// The log with other names for the kernel's file replaced by `file`.
pub(super) fn clean(log: &[u8], file: &str) -> String {
    let log = String::from_utf8_lossy(log);
    let lines = log.lines().map(|line| {
        let line = line.trim_end_matches(|c: char| c.is_control() || c == ' ');
        line.split(' ').map(|word| clean_word(word, file)).collect::<Vec<_>>().join(" ")
    });
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// Replaces a private name in `NAME:LINE:COLUMN:…`; the name is private when it is a
/// compiler's placeholder or an absolute path that is not the user's.
fn clean_word(word: &str, file: &str) -> String {
    let Some((name, rest)) = place(word) else { return word.to_owned() };
    let private = name.starts_with(['/', '<']) || name.contains(":\\") || name == "1";
    if private && name != file { format!("{file}{rest}") } else { word.to_owned() }
}

/// Splits `NAME:12:3…` before the first `:LINE:COLUMN`.
fn place(word: &str) -> Option<(&str, &str)> {
    word.match_indices(':').map(|(at, _)| word.split_at(at)).find(|(_, rest)| {
        let mut parts = rest[1..].splitn(3, ':');
        let digits = |part: Option<&str>| {
            part.is_some_and(|p| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit()))
        };
        digits(parts.next()) && digits(parts.next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_names_become_the_users_file() {
        let log = b"error: /root/.cache/pocl/tempfile-1.cl:3:5: expected ';'\n<kernel>:4:1: x\n1:2:3: y\n\0";
        assert_eq!(
            clean(log, "my kernel.cl"),
            "error: my kernel.cl:3:5: expected ';'\nmy kernel.cl:4:1: x\nmy kernel.cl:2:3: y"
        );
    }

    #[test]
    fn other_words_stay() {
        let log = b"/home/me/my.cl:3:5: error\nC:\\tmp\\a.cl:1:2: z\n  12:30 a:b:c ::1:2";
        assert_eq!(
            clean(log, "/home/me/my.cl"),
            "/home/me/my.cl:3:5: error\n/home/me/my.cl:1:2: z\n  12:30 a:b:c ::1:2"
        );
    }

    #[test]
    fn the_directive_cannot_be_broken_out_of() {
        assert_eq!(line_directive("a\"\n\\b.cl"), "#line 1 \"ab.cl\"\n");
    }
}
