//! WGSL as devices are given it: constants for what the text lets be overridden, and every argument in
//! group 0 at its position.
//!
//! Texts change within their lines only, so that places in a compiler's log stay those of the file.

use std::ops::Range;

/// Group numbers of bindings that no argument has lie this far up.
const UNKNOWN_GROUP: u32 = 16;

/// A declaration `override NAME: TYPE = …;`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// Its name.
    pub name: String,
    /// Its type, where it is written.
    pub r#type: Option<String>,
    /// Whether it has a value of its own.
    pub has_value: bool,
    /// Its bytes, an `@id` before it included.
    range: Range<usize>,
    /// The bytes of the word `override`.
    word: Range<usize>,
}

/// Every `override` of a text, in order.
pub fn overrides(text: &str) -> Vec<Override> {
    let code = without_comments(text);
    let declared = |start: usize| {
        let rest = &code[start + "override".len()..];
        let end = rest.find(';')?;
        let (head, value) = match rest[..end].split_once('=') {
            Some((head, _)) => (head, true),
            None => (&rest[..end], false),
        };
        let (name, r#type) = match head.split_once(':') {
            Some((name, r#type)) => (name, Some(r#type.trim().to_owned())),
            None => (head, None),
        };
        let before = code[..start].trim_end();
        let id = before.strip_suffix(')').and_then(|inner| inner.rfind("@id"));
        Some(Override {
            name: name.trim().to_owned(),
            r#type,
            has_value: value,
            range: id.unwrap_or(start)..start + "override".len() + end + 1,
            word: start..start + "override".len(),
        })
    };
    words(&code, "override").into_iter().filter_map(declared).collect()
}

/// The text without the overrides in `given`, which are declared elsewhere; the others become constants
/// of their own values.
pub(super) fn without_overrides(text: &str, given: &[&str]) -> String {
    let mut edits = vec![];
    for found in overrides(text) {
        if given.contains(&found.name.as_str()) {
            edits.push((found.range.clone(), blank(&text[found.range])));
        } else if found.has_value {
            let before = found.range.start..found.word.start;
            edits.push((before.clone(), blank(&text[before])));
            edits.push((found.word, "const   ".to_owned()));
        }
    }
    edited(text, edits)
}

/// The text with the binding `bindings[i]` at binding `i` of group 0, for each `i`; others get out of
/// the way.
pub(super) fn rebound(text: &str, bindings: &[[u32; 2]]) -> String {
    if bindings.is_empty() {
        return text.to_owned();
    }
    let code = without_comments(text);
    let numbers = |attribute: &str| -> Vec<(Range<usize>, u32)> {
        let number = |start: usize| {
            let rest = &code[start + attribute.len()..];
            let open = rest.find('(')?;
            let close = rest.find(')')?;
            let inner = rest.get(open + 1..close)?;
            let value = inner.trim().trim_end_matches(['u', 'i']).parse().ok()?;
            let from = start + attribute.len() + open + 1;
            Some((from..from + inner.len(), value))
        };
        words(&code, attribute).into_iter().filter_map(number).collect()
    };
    let mut edits = vec![];
    for ((group_at, group), (binding_at, binding)) in
        numbers("@group").into_iter().zip(numbers("@binding"))
    {
        match bindings.iter().position(|bound| *bound == [group, binding]) {
            Some(i) => {
                edits.push((group_at, "0".to_owned()));
                edits.push((binding_at, i.to_string()));
            }
            None => edits.push((group_at, (UNKNOWN_GROUP + group).to_string())),
        }
    }
    edits.sort_by_key(|(range, _)| range.start);
    edited(text, edits)
}

/// The group that the file has where `rebound` made it `group`.
pub fn original_group(group: u32) -> u32 {
    group.checked_sub(UNKNOWN_GROUP).unwrap_or(group)
}

/// The text with its parts replaced; they are in order and apart.
fn edited(text: &str, edits: Vec<(Range<usize>, String)>) -> String {
    let (mut out, mut done) = (String::with_capacity(text.len()), 0);
    for (range, new) in edits {
        out += &text[done..range.start];
        out += &new;
        done = range.end;
    }
    out + &text[done..]
}

/// As many blanks, in the same lines.
fn blank(text: &str) -> String {
    text.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect()
}

/// Where `word` stands as a word of its own.
fn words(code: &str, word: &str) -> Vec<usize> {
    let in_name = |c: char| c.is_alphanumeric() || c == '_';
    let alone = |&start: &usize| {
        let before = code[..start].chars().next_back();
        let after = code[start + word.len()..].chars().next();
        !before.is_some_and(in_name) && !after.is_some_and(in_name)
    };
    code.match_indices(word).map(|(start, _)| start).filter(alone).collect()
}

/// The text with blanks for its comments, byte for byte.
fn without_comments(text: &str) -> String {
    let mut code = text.as_bytes().to_vec();
    let (mut at, mut depth) = (0, 0_u32);
    while at < code.len() {
        let two = [code[at], code.get(at + 1).copied().unwrap_or(0)];
        let end = match (&two, depth) {
            (b"//", 0) => {
                code[at..].iter().position(|b| *b == b'\n').map_or(code.len(), |n| at + n)
            }
            (b"/*", _) => {
                depth += 1;
                at + 2
            }
            (b"*/", 1..) => {
                depth -= 1;
                at + 2
            }
            (_, 0) => {
                at += 1;
                continue;
            }
            _ => at + 1,
        };
        for byte in &mut code[at..end] {
            *byte = if *byte == b'\n' { b'\n' } else { b' ' };
        }
        at = end;
    }
    // What was blanked were whole characters: a comment begins and ends with ASCII.
    String::from_utf8(code).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "// override OLD: u32;\n@id(3) override N : u32;\noverride S: f32 = 0.5; /* é */\noverride M = 2;\n";

    #[test]
    fn overrides_are_found_outside_comments() {
        let found = overrides(TEXT);
        let names: Vec<_> = found.iter().map(|o| (o.name.as_str(), o.has_value)).collect();
        assert_eq!(names, [("N", false), ("S", true), ("M", true)]);
        assert_eq!(found[0].r#type.as_deref(), Some("u32"));
        assert!(overrides("let overrides = 1; fn my_override() {}").is_empty());
    }

    #[test]
    fn what_is_given_goes_and_the_rest_is_constant() {
        let text = without_overrides(TEXT, &["N", "M"]);
        assert_eq!(text.len(), TEXT.len());
        assert_eq!(text.lines().nth(1).map(str::trim), Some(""));
        assert!(text.contains("const    S: f32 = 0.5; /* é */"), "{text}");
        // One without a value stays, and is reported where the text is read.
        assert!(without_overrides(TEXT, &[]).contains("@id(3) override N : u32;"));
    }

    #[test]
    fn arguments_are_bound_in_group_0() {
        let text = "@group(1) @binding(0) var a;\n@binding(7u) @group(0) var b;\n@group(0) @binding(0) var c;";
        let rebound = rebound(text, &[[0, 7], [1, 0]]);
        assert_eq!(
            rebound,
            "@group(0) @binding(1) var a;\n@binding(0) @group(0) var b;\n@group(16) @binding(0) var c;"
        );
        assert_eq!([0, 3, 16, 18].map(original_group), [0, 3, 0, 2]);
    }

    #[test]
    fn only_comments_are_blanked_and_lines_stay() {
        let names = |text: &str| overrides(text).into_iter().map(|o| o.name).collect::<Vec<_>>();
        assert_eq!(names("const A = 6 / 2; override N: u32;"), ["N"]);
        assert_eq!(names("/* /* override A; */ override B; */ override C;"), ["C"]);
        let text = without_overrides("override\nN: u32; const A = N;", &["N"]);
        assert_eq!(text, "        \n        const A = N;");
        let bound = "@group (3) @binding (1) var a;\n@group( 1 ) @binding( 2 ) var b;";
        assert_eq!(
            rebound(bound, &[[3, 1]]),
            "@group (0) @binding (0) var a;\n@group(17) @binding( 2 ) var b;"
        );
    }
}
