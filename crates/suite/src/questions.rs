//! Questions that a suite still asks of its author: texts that begin with `?`, as `gpubench new` leaves
//! them.

use super::decode::Diagnostics;
use gpubench_core::yaml::{Node, Value};

/// Reports every question that stands in `node`, and says whether there is any.
pub fn report(node: &Node, diagnostics: &mut Diagnostics) -> bool {
    match &node.value {
        Value::Text(text) => {
            let Some(question) = text.strip_prefix('?') else { return false };
            let message = format!("still to answer: {}", question.trim());
            diagnostics.push(&node.at, message, Some("write the answer in the question's place"));
            true
        }
        Value::List(items) => items.iter().filter(|item| report(item, diagnostics)).count() > 0,
        Value::Map(entries) => {
            entries.iter().fold(false, |any, (_, value)| report(value, diagnostics) || any)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{mistakes, no_mistakes};
    use gpubench_core::yaml::Node;

    #[test]
    fn every_question_is_reported() {
        let asked = |text: &str| {
            let mut diagnostics = no_mistakes(text);
            let any = super::report(&Node::parse("", text).unwrap(), &mut diagnostics);
            (any, mistakes(diagnostics).into_iter().map(|(message, _)| message).collect::<Vec<_>>())
        };
        let what = "still to answer: what?".to_owned();
        assert_eq!(asked("'? what? '"), (true, vec![what.clone()]));
        assert_eq!(
            asked("['?what?', a, '?what?', 1]"),
            (true, vec![what.clone(), what]),
            "each at its place"
        );
        assert_eq!(
            asked("['?a', { b: '?b', c: d }]").1,
            ["still to answer: a", "still to answer: b"]
        );
        assert_eq!(
            asked("{ a: '?a', b: c, d: ['?d'] }"),
            (true, vec!["still to answer: a".into(), "still to answer: d".into()])
        );
        assert_eq!(asked("{ a: b?, c: [d, 1, true], e: }"), (false, vec![]));
    }
}
