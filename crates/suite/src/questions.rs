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
