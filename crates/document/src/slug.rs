//! Keys that programs use: lower-case letters, digits and `_`.

use gpubench_core::hash::sha256_hex;

/// The longest key.
const MAX: usize = 60;

/// `text` as a key; at most 60 characters, never empty.
pub(crate) fn slug(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
        if out.len() >= MAX {
            break;
        }
    }
    // What is cut off may be all that sets it apart.
    if text.len() > MAX {
        out.truncate(MAX - 9);
        out += &format!("_{}", &sha256_hex(text)[..8]);
    }
    let out = out.trim_end_matches('_');
    if out.is_empty() { "unnamed".to_owned() } else { out.to_owned() }
}

/// `key`, or `key_2`, `key_3` … where it is taken.
pub fn unique(key: String, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(&key) {
        return key;
    }
    let more = (2..).map(|n| format!("{key}_{n}"));
    more.into_iter().find(|key| !is_taken(key)).unwrap_or(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_plain_and_distinct() {
        assert_eq!(slug("Cost of a save"), "cost_of_a_save");
        assert_eq!(slug("<script>µ\u{202e}"), "script");
        assert_eq!(slug("–"), "unnamed");
        assert_eq!(slug(&"x".repeat(500)).len(), 60);
        assert_eq!(unique("a".into(), |key| ["a", "a_2"].contains(&key)), "a_3");
    }
}
