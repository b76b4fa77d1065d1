//! Overrides: constants of the pipeline. A suite's constants are its pipeline's, so that what is left
//! of them has its default value, and an override is a constant.

use std::ops::Range;

/// `text` with every override as a constant; every byte stays at its place.
pub(super) fn as_constants(text: &str) -> String {
    let mut out = text.as_bytes().to_vec();
    for word in words(text) {
        if &text[word.clone()] == "override" {
            out[word.clone()].copy_from_slice(b"const   ");
            if let Some(id) = attribute_before(text, word.start) {
                // Its number matters to a pipeline only; a constant has none.
                out[id].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
            }
        }
    }
    // Only ASCII was replaced, by ASCII.
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

/// The names and keywords of a text, outside of its comments.
fn words(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let (mut found, mut at, mut depth) = (vec![], 0, 0);
    while at < bytes.len() {
        let rest = &bytes[at..];
        if rest.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if depth > 0 {
            let ends = rest.starts_with(b"*/");
            depth -= u32::from(ends);
            at += if ends { 2 } else { 1 };
        } else if rest.starts_with(b"//") {
            at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        } else if is_word(rest[0]) {
            let length = rest.iter().position(|byte| !is_word(*byte)).unwrap_or(rest.len());
            found.push(at..at + length);
            at += length;
        } else {
            at += 1;
        }
    }
    found
}

/// Bytes of names; those beyond ASCII too, so that no keyword is seen within one.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// The attribute `@id(…)` that ends before `at`.
fn attribute_before(text: &str, at: usize) -> Option<Range<usize>> {
    let before = text[..at].trim_end();
    let start = before.rfind('@')?;
    let attribute = &before[start..];
    let is_id = attribute[1..].trim_start().starts_with("id") && attribute.ends_with(')');
    (is_id && attribute.matches(')').count() == 1).then_some(start..before.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_override_becomes_a_constant_in_its_place() {
        let text = "@id(7) override n: u32 = 4u; // override\n/* override /* */ override */\n\
                    override override_ = n; @must_use fn f() -> u32 { return überoverride; }";
        let constant = as_constants(text);
        assert_eq!(
            constant,
            "       const    n: u32 = 4u; // override\n/* override /* */ override */\n\
             const    override_ = n; @must_use fn f() -> u32 { return überoverride; }"
        );
        assert_eq!(constant.len(), text.len());
    }
}
