//! A compiler's log as the user should read it: with the user's file instead of the names that
//! drivers give to a program's text.

/// The log with every name for the program's text replaced by `file`, without control characters; names
/// of `headers` stay.
pub(super) fn clean(log: &[u8], file: &str, headers: &[String]) -> String {
    let log = String::from_utf8_lossy(log);
    let lines = log.lines().map(|line| {
        let line = line.replace(|c: char| c.is_control() && c != '\t', "");
        let words = line.trim_end().split(' ').map(|word| clean_word(word, file, headers));
        words.collect::<Vec<_>>().join(" ")
    });
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// Replaces the name in `NAME:LINE:COLUMN:…`. Each driver has its own (`<kernel>`, `1`,
/// `/tmp/….cl`); a program has no other text, except for the compiler's own headers.
fn clean_word(word: &str, file: &str, headers: &[String]) -> String {
    match place(word) {
        Some((name, rest))
            if !name.ends_with(".h") && !headers.iter().any(|known| known == name) =>
        {
            format!("{file}{rest}")
        }
        _ => word.to_owned(),
    }
}

/// Splits `NAME:12:3:…` before its `:LINE:COLUMN:`.
fn place(word: &str) -> Option<(&str, &str)> {
    let number = |part: Option<&str>| {
        part.is_some_and(|p| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit()))
    };
    let colons = word.match_indices(':').filter(|&(at, _)| at > 0);
    colons.map(|(at, _)| word.split_at(at)).find(|(_, rest)| {
        let mut parts = rest[1..].splitn(3, ':');
        number(parts.next()) && number(parts.next()) && parts.next().is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_names_become_the_users_file() {
        let log = b"error: /root/.cache/pocl/tempfile-1.cl:3:5: expected ';'\n\x1b<kernel>:4:1: x\n1:2:3: y\nC:\\tmp\\a.cl:1:2: z\n\0";
        assert_eq!(
            clean(log, "my kernel.cl", &[]),
            "error: my kernel.cl:3:5: expected ';'\nmy kernel.cl:4:1: x\nmy kernel.cl:2:3: y\nmy kernel.cl:1:2: z"
        );
    }

    #[test]
    fn headers_keep_their_names() {
        let headers = ["lib/types.cl".to_owned()];
        let log = b"lib/types.cl:3:5: error: x\n<kernel>:1:2: y";
        assert_eq!(clean(log, "f.cl", &headers), "lib/types.cl:3:5: error: x\nf.cl:1:2: y");
    }

    #[test]
    fn other_words_stay() {
        let log = b"/usr/lib/clang/opencl-c.h:3:5: note\n    12:30 a:b:c :1:2: x\n        ^";
        assert_eq!(
            clean(log, "f.cl", &[]),
            "/usr/lib/clang/opencl-c.h:3:5: note\n    12:30 a:b:c :1:2: x\n        ^"
        );
    }
}
