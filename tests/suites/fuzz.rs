//! No text makes the loader panic, and every mistake has a place within its text.

use super::{data, folder, load};
use gpubench::error::Error;
use proptest::prelude::*;

/// What replaces a part of a valid suite.
const SCRAPS: [&str; 24] = [
    "",
    " ",
    "\n",
    ":",
    ": ",
    "- ",
    "{",
    "}",
    "[",
    "]",
    ",",
    "\"",
    "'",
    "&a ",
    "*a",
    "!!int ",
    "0",
    "-1",
    "1e999",
    "n*",
    "~",
    "é",
    "\t",
    "18446744073709551616",
];

fn check(text: &str) -> Result<(), TestCaseError> {
    let folder =
        folder(&[("full.yaml", text), ("more/included.yaml", "version: 1\nworkloads: {}\n")]);
    match load(&folder.path().join("full.yaml")) {
        Ok(_) => {}
        Err(Error::Suite(diagnostics)) => {
            prop_assert!(!diagnostics.is_empty());
            for diagnostic in diagnostics {
                let end = diagnostic.offset + diagnostic.len;
                let within = diagnostic.text.get(diagnostic.offset..end).is_some();
                prop_assert!(within, "{diagnostic} at {}..{end}", diagnostic.offset);
                prop_assert!(!diagnostic.message.is_empty());
            }
        }
        Err(other) => prop_assert!(false, "{other}"),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn a_spoiled_suite(spoils in prop::collection::vec((any::<prop::sample::Index>(), 0..12usize, 0..SCRAPS.len()), 1..4)) {
        let mut text: Vec<char> =
            std::fs::read_to_string(data().join("full.yaml")).unwrap().chars().collect();
        for (at, len, scrap) in spoils {
            let at = at.index(text.len());
            let end = (at + len).min(text.len());
            text.splice(at..end, SCRAPS[scrap].chars());
        }
        check(&text.into_iter().collect::<String>())?;
    }

    #[test]
    fn any_text(text in "\\PC{0,200}") {
        check(&text)?;
    }

    #[test]
    fn any_yaml_like_text(text in "([a-z]{1,8}: |- |\\[|\\]|\\{|\\}|, |\n|  |[0-9]{1,20}|&a |\\*a |\"|workloads:\n|version: 1\n){0,40}") {
        check(&text)?;
    }
}
