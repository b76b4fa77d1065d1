//! Reads YAML so that every mistake names its place in the file.

use crate::error::Located;
use serde::de::DeserializeOwned;
use serde_saphyr::{DefaultMessageFormatter, MessageFormatter};
use std::sync::Arc;

/// Reads `text`, the contents of `file`, as a `T`.
///
/// # Errors
/// The first mistake and its place: not YAML, an unknown or missing key, a value of the wrong
/// type, or one that `T` refuses.
pub fn parse<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, Located> {
    serde_saphyr::from_str(text).map_err(|error| located(file, text, &error))
}

fn located(file: &str, text: &str, error: &serde_saphyr::Error) -> Located {
    let error = error.without_snippet();
    let span = error.location().map(|location| location.span());
    let byte = |n: Option<u64>| n.and_then(|n| usize::try_from(n).ok());
    Located {
        file: file.to_owned(),
        text: Arc::from(text),
        offset: byte(span.and_then(|span| span.byte_offset())).unwrap_or(0).min(text.len()),
        len: byte(span.and_then(|span| span.byte_len())).unwrap_or(0),
        message: DefaultMessageFormatter.format_message(error).into_owned(),
        help: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Form {
        #[expect(dead_code, reason = "only its parsing is tested")]
        count: u32,
    }

    #[test]
    fn mistakes_name_their_line() {
        for (text, at, message) in [
            ("# ok\ncount: many\n", (2, 8), "u32"),
            ("count: 1\nunit: 2\n", (2, 1), "unit"),
            ("other: 1\n", (1, 1), "other"),
            ("{ count: 1\n", (1, 1), "unclosed"),
        ] {
            let mistake = parse::<Form>("f.yaml", text).unwrap_err();
            assert_eq!(mistake.line_column(), at, "{mistake}");
            assert!(mistake.message.contains(message), "{mistake}");
        }
    }
}
