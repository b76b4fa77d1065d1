//! Reads YAML so that every mistake names its place in the file, and no file, however hostile,
//! costs more than its budget.

mod decode;
mod tree;

pub use tree::{Key, Node, Value};

use crate::error::Located;
use serde::de::DeserializeOwned;
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::{Error, Location, MessageFormatter, Options, UserMessageFormatter};
use std::ops::Range;

/// The deepest nesting of lists and maps.
pub const MAX_DEPTH: usize = 32;
/// The most scalars, lists and maps, those that aliases repeat included.
pub const MAX_NODES: usize = 20_000;
/// The most aliases.
pub const MAX_ALIASES: usize = 100;

/// Reads `text`, the contents of `file`, as a `T`.
///
/// # Errors
/// As [`Node::parse`]; or an unknown or missing key, a value of the wrong type, or one that `T`
/// refuses.
pub fn parse<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, Located> {
    let node = Node::parse(file, text)?;
    decode::decode(&node, text).map_err(|mistake| {
        let at = mistake.at.unwrap_or(node.at);
        Located::at(file, text, at, mistake.message, None)
    })
}

/// Where in `text` something stands.
fn range(text: &str, location: Location) -> Range<usize> {
    let byte = |n: Option<u64>| n.and_then(|n| usize::try_from(n).ok());
    let span = location.span();
    // The scanner's own errors have a line and a column, but no bytes.
    let start = byte(span.byte_offset()).unwrap_or_else(|| offset(text, location)).min(text.len());
    start..start.saturating_add(byte(span.byte_len()).unwrap_or(0)).min(text.len())
}

fn options() -> Options {
    serde_saphyr::options! {
        strict_booleans: true,
        with_snippet: false,
        reject_unsupported_tags: true,
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: 2 * MAX_NODES },
        budget: serde_saphyr::budget! {
            max_depth: MAX_DEPTH,
            max_nodes: MAX_NODES,
            max_aliases: MAX_ALIASES,
            max_anchors: MAX_ALIASES,
            max_recorded_anchor_events: 2 * MAX_NODES,
        },
    }
}

fn offset(text: &str, location: Location) -> usize {
    let index = |n: u64| usize::try_from(n).unwrap_or(usize::MAX).saturating_sub(1);
    let line_start = match index(location.line()) {
        0 => 0,
        breaks => text.match_indices('\n').nth(breaks - 1).map_or(text.len(), |(at, _)| at + 1),
    };
    let line = text[line_start..].split('\n').next().unwrap_or_default();
    let column = line.char_indices().nth(index(location.column()));
    line_start + column.map_or(line.len(), |(at, _)| at)
}

fn located(file: &str, text: &str, error: &Error) -> Located {
    let error = error.without_snippet();
    let at = error.location().map_or(0..0, |location| range(text, location));
    let (message, help) = explain(error);
    Located::at(file, text, at, message, help.as_deref())
}

fn explain(error: &Error) -> (String, Option<String>) {
    let limit = |what: String| (what, Some("no honest file needs that much".to_owned()));
    match error {
        Error::AliasError { error, .. } => explain(error),
        Error::DuplicateMappingKey { key: Some(key), .. } => (
            format!("`{key}` stands twice in one map"),
            Some("give one of the two another name, or remove it".to_owned()),
        ),
        Error::MultipleDocuments { .. } => (
            "a second document begins here".to_owned(),
            Some("put it into a file of its own".to_owned()),
        ),
        Error::Budget { breach: BudgetBreach::Depth { .. }, .. } => {
            limit(format!("lists and maps are nested more than {MAX_DEPTH} deep"))
        }
        Error::Budget { breach: BudgetBreach::Nodes { .. }, .. }
        | Error::AliasReplayLimitExceeded { .. } => {
            limit(format!("the file has more than {MAX_NODES} values, aliases followed"))
        }
        Error::Budget { breach: BudgetBreach::Aliases { .. }, .. } => {
            limit(format!("the file has more than {MAX_ALIASES} aliases"))
        }
        other => (UserMessageFormatter.format_message(other).into_owned(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Example {
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
            ("count: 1\ncount: 2\n", (2, 1), "twice"),
            ("# é\ncount:\n\tb: 1\n", (3, 2), "tabs"),
            ("count: 1\n---\ncount: 2\n", (3, 1), "second document"),
        ] {
            let diagnostic = parse::<Example>("f.yaml", text).unwrap_err();
            assert_eq!(diagnostic.line_column(), at, "{diagnostic}");
            assert!(diagnostic.message.contains(message), "{diagnostic}");
        }
    }

    #[test]
    fn a_type_decides_what_a_scalar_is() {
        let read = parse::<Vec<String>>("f.yaml", "[1.50, true, 'x', &a 7, *a]").unwrap();
        assert_eq!(read, ["1.50", "true", "x", "7", "7"]);
        let read = parse::<Vec<u64>>("f.yaml", "[0, 18446744073709551615]").unwrap();
        assert_eq!(read, [0, u64::MAX]);
        let read = parse::<(Option<f64>, Option<f64>)>("f.yaml", "[null, 2]").unwrap();
        assert_eq!(read, (None, Some(2.0)));
        let diagnostic = parse::<[f64; 2]>("f.yaml", "[1,\n 2,\n 3]").unwrap_err();
        assert!(diagnostic.message.contains("too many"), "{diagnostic}");
        let diagnostic = parse::<Vec<f64>>("f.yaml", "[1,\n '2']").unwrap_err();
        assert_eq!(diagnostic.line_column(), (2, 2), "{diagnostic}");
    }

    #[test]
    fn hostile_files_break_their_budget() {
        let bomb = |depth: usize| {
            let lines = (1..depth).map(|i| {
                format!("k{i}: &k{i} [*k{0},*k{0},*k{0},*k{0},*k{0},*k{0},*k{0},*k{0}]\n", i - 1)
            });
            format!("k0: &k0 [1]\n{}", lines.collect::<String>())
        };
        for (text, message) in [
            ("[".repeat(200) + &"]".repeat(200), "nested"),
            ("[".repeat(1000), "recursion"),
            ((0..1000).map(|i| format!("{:i$}k:\n", "")).collect(), "nested"),
            (bomb(9), "values"),
            (format!("a: &a 1\nb: [{}]", "*a, ".repeat(101)), "aliases"),
            (format!("[{}]", "1, ".repeat(MAX_NODES)), "values"),
        ] {
            let diagnostic = parse::<serde_json::Value>("f.yaml", &text).unwrap_err();
            assert!(diagnostic.message.contains(message), "{diagnostic}");
            assert!(
                diagnostic
                    .text
                    .get(diagnostic.offset..diagnostic.offset + diagnostic.len)
                    .is_some()
            );
        }
    }

    #[test]
    fn a_choice_is_a_word_or_a_map_of_one() {
        #[derive(Debug, PartialEq, serde::Deserialize)]
        #[serde(rename_all = "snake_case")]
        enum Choice {
            Nothing,
            Number(u32),
        }
        let read = |text: &str| parse::<Vec<Choice>>("f.yaml", text);
        assert_eq!(read("[nothing, { number: 3 }]").unwrap(), [Choice::Nothing, Choice::Number(3)]);
        for wrong in ["[{ number: 3, nothing: }]", "[{}]", "[3]"] {
            let diagnostic = read(wrong).unwrap_err();
            assert!(diagnostic.message.contains("expected enum Choice"), "{wrong}: {diagnostic}");
        }
        assert!(read("[{ number: x }]").unwrap_err().message.contains("u32"));
    }

    #[test]
    fn a_map_or_list_in_the_wrong_place_is_where_it_begins() {
        type Numbers = std::collections::BTreeMap<String, u32>;
        for (text, at) in
            [("a:\n  b: 1\n", (2, 3)), ("a:\n  - - 7\n", (2, 7)), ("a:\n  []\n", (1, 1))]
        {
            let diagnostic = parse::<Numbers>("f.yaml", text).unwrap_err();
            assert_eq!(diagnostic.line_column(), at, "{text}: {diagnostic}");
        }
    }

    #[test]
    fn what_stands_somewhere_is_named_in_messages() {
        let text = "[~, true, -3, 0.5, 1e300, 18446744073709551615, a word, [], {}]";
        let Value::List(items) = Node::parse("f.yaml", text).unwrap().value else {
            panic!("a list")
        };
        let names: Vec<_> = items.iter().map(Node::what).collect();
        let numbers = ["`-3`", "`0.5`", "`1e300`", "`1.8446744073709552e19`"];
        assert_eq!(names[2..6], numbers);
        assert_eq!(
            [&names[..2], &names[6..]].concat(),
            ["nothing", "`true`", "`a word`", "a list", "a map"]
        );
    }
}
