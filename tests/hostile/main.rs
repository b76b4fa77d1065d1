//! Files that were made to harm: no text in any of their fields commands the terminal that it is shown on, and
//! no number in them is shown as nonsense, whatever the command and the format.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "helpers of tests panic as tests do")]

#[path = "../common/mod.rs"]
mod common;
mod inputs;
mod results;

use common::{Place, text};
use gpubench::record::{Line, Noise, Past};
use gpubench::store::{Run, read};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Output;

/// What would colour, name or clear a terminal, or turn its text around.
const EVIL: &str = "\u{1b}[31mX\u{1b}]0;X\u{7}\u{9b}2J\u{202e}\r\u{7f}";

fn shipped(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

/// Where `is_it` holds in `value`, as JSON pointers.
fn leaves(value: &Value, is_it: fn(&Value) -> bool) -> Vec<String> {
    fn walk(value: &Value, at: &str, is_it: fn(&Value) -> bool, all: &mut Vec<String>) {
        match value {
            Value::Object(items) => items.iter().for_each(|(key, item)| {
                let key = key.replace('~', "~0").replace('/', "~1");
                walk(item, &format!("{at}/{key}"), is_it, all);
            }),
            Value::Array(items) => {
                (0..).zip(items).for_each(|(i, item)| walk(item, &format!("{at}/{i}"), is_it, all));
            }
            leaf if is_it(leaf) => all.push(at.to_owned()),
            _ => {}
        }
    }
    let mut all = vec![];
    walk(value, "", is_it, &mut all);
    all
}

/// `value` with all leaves spoiled at once that are used all the same, and with each of the others by itself.
fn spoiled(
    value: &Value,
    is_it: fn(&Value) -> bool,
    spoil: &dyn Fn(&mut Value),
    is_used: &dyn Fn(&Value) -> bool,
) -> (Value, Vec<Value>) {
    let (mut all, mut rejected) = (value.clone(), vec![]);
    for at in leaves(value, is_it) {
        let mut next = all.clone();
        spoil(next.pointer_mut(&at).unwrap());
        if is_used(&next) {
            all = next;
        } else {
            rejected.push(next);
        }
    }
    (all, rejected)
}

fn taint(leaf: &mut Value) {
    *leaf = Value::String(format!("{}{EVIL}", leaf.as_str().unwrap()));
}

fn write(place: &Place, name: &str, lines: &[Value]) -> String {
    let path = place.folder.path().join(name);
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    path.display().to_string()
}

/// What a command prints, which it does without a panic.
fn printed(place: &Place, args: &[&str]) -> (Output, String) {
    let output = place.output(args);
    let all = text(&output.stdout) + &text(&output.stderr);
    let ended = output.status.code().is_some_and(|code| code < 100);
    assert!(ended && !all.contains("panicked"), "{args:?}: {:?} {all}", output.status);
    (output, all)
}

fn is_harmless(place: &Place, args: &[&str]) -> Output {
    let (output, all) = printed(place, args);
    let commands = |c: char| c.is_control() && !matches!(c, '\n' | '\t') || c == '\u{202e}';
    if let Some(at) = all.find(commands) {
        let near: String = all[..at].chars().rev().take(100).collect();
        panic!(
            "{args:?}: {:?} behind {:?}",
            &all[at..].chars().next(),
            near.chars().rev().collect::<String>()
        );
    }
    output
}

fn is_text(value: &Value) -> bool {
    value.is_string()
}

/// A run of every kind, as it would be written today, with what a baseline has besides.
fn every_kind() -> Vec<Value> {
    let Run { header, records, footer, .. } =
        read(&shipped("tests/data/v1/every-kind.jsonl")).unwrap();
    let key = || records[2].key.clone();
    let past = |day: u32| Past {
        started: format!("2026-01-0{day}T00:00:00Z"),
        driver: format!("{day}.0"),
        compute: Some(1.5e-3),
        memory: Some(2.5e-3),
        cases: vec![(key(), 1.25e-3 * f64::from(day))],
    };
    let history = (1..8).map(past).collect();
    let noise = Noise { runs: 7, floors: vec![(key(), 0.025)], history };
    let mut lines = vec![Line::Header(Box::new(header)), Line::Noise(noise)];
    lines.extend(records.into_iter().map(|record| Line::Record(Box::new(record))));
    lines.extend(footer.map(Line::Footer));
    lines.iter().map(|line| serde_json::to_value(line).unwrap()).collect()
}

/// Digits in a row, more than any number has that is printed in full, and words that are no numbers.
fn nonsense(text: &str) -> Option<&str> {
    const LONGEST: usize = 25;
    let digits = text.split(|c: char| !c.is_ascii_digit()).find(|digits| digits.len() > LONGEST);
    let mut words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    digits.or_else(|| words.find(|word| matches!(*word, "inf" | "NaN" | "Infinity")))
}
