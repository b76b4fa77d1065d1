//! For programs: sections as they are, numbers in full and in their unit.

use gpubench_core::text::is_invisible;
use serde::Serialize;
use std::fmt::Write;

/// Data as text. Characters that reorder or hide text are escaped, as JSON allows.
pub fn json(data: &impl Serialize) -> String {
    // Text, finite numbers and text for keys: they always serialise.
    escaped(&serde_json::to_string_pretty(data).unwrap_or_default())
}

/// As [`json`], in one line.
pub fn line(data: &impl Serialize) -> String {
    escaped(&serde_json::to_string(data).unwrap_or_default())
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if is_invisible(c) || ('\u{7f}'..='\u{9f}').contains(&c) => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;
    use serde_json::Value;

    #[test]
    fn a_section_reads_well() {
        insta::assert_snapshot!(json(&sample::section()));
    }

    #[test]
    fn hostile_names_are_whole_and_harmless() {
        let text = json(&sample::hostile());
        assert!(!text.contains(sample::speaks), "{text:?}");
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read["title"]["text"], sample::NAME);
    }

    #[test]
    fn the_schema_names_every_part() {
        let schema = schemars::schema_for!(gpubench_document::Section);
        let schema = serde_json::to_string(&schema).unwrap();
        for part in ["text", "facts", "table", "plot", "timeline", "note", "section"] {
            assert!(schema.contains(&format!("\"const\":\"{part}\"")), "{part}: {schema}");
        }
    }
}
