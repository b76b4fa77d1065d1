//! JSON holds every figure that the text or the page of a report shows: each number that people
//! read is one of the export's, in some unit, or part of a name.
#![expect(clippy::unwrap_used, reason = "helpers of tests panic as tests do")]

use gpubench_document::{Figure, Quantity, Unit};
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Command;

const FILES: [&str; 3] = [
    "tests/data/v1/every-kind.jsonl",
    "baselines/authenticamd-pthread-skylake-avx512-amd-epyc-opencl--portable-computing-language-3-1-debian--amd-epyc-2-cores.jsonl",
    "baselines/mesa-llvmpipe-llvm-15-0-6-256-bits-vulkan--llvmpipe-mesa-22-3-6-llvm-15-0-6--amd-epyc-2-cores.jsonl",
];

fn report(format: &str, files: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpubench"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(["report", "--format", format]);
    let output = command.args(["--include-simulated", "--include-cpu"]).args(files).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// What may be shown.
#[derive(Default)]
struct Known {
    numbers: BTreeSet<String>,
    names: String,
}

impl Known {
    fn of(json: &Value) -> Self {
        let mut known = Self::default();
        known.collect(json, "");
        let cases = json["cases"].as_array().unwrap().len();
        // Numbers of cases, devices and groups of them are counted by whoever shows them.
        known.numbers.extend((0..=cases).map(|n| n.to_string()));
        known
    }

    fn collect(&mut self, value: &Value, key: &str) {
        match value {
            Value::Number(number) => self.number(number.as_f64().unwrap(), None),
            // A sentence's figures stand beside it in full.
            Value::String(text) if key != "text" => self.names += &format!(" {text}"),
            Value::Array(items) => items.iter().for_each(|item| self.collect(item, key)),
            Value::Object(items) => {
                items.iter().for_each(|(key, item)| self.collect(item, key));
                let interval =
                    items.get("interval").map(|interval| [0, 1].map(|i| interval[i].as_f64()));
                if let Some([Some(low), Some(high)]) = interval {
                    let values = items.values().filter_map(Value::as_f64);
                    values.for_each(|value| self.number(value, Some([low, high])));
                }
                let is_plain = !items.contains_key("figures");
                if let Some(text) = items.get("text").and_then(Value::as_str).filter(|_| is_plain) {
                    self.names += &format!(" {text}");
                }
            }
            _ => {}
        }
    }

    fn number(&mut self, value: f64, interval: Option<[f64; 2]>) {
        let Some(mut quantity) = Quantity::new(value) else { return };
        if let Some(interval) = interval {
            quantity = quantity.with_interval(interval);
        }
        for unit in Unit::ALL {
            self.numbers.extend(numbers(&Figure { quantity, unit }.text()));
        }
    }

    fn unknown(&self, shown: &str) -> Vec<String> {
        let names: BTreeSet<String> = numbers(&self.names).collect();
        let is_known = |number: &String| self.numbers.contains(number) || names.contains(number);
        let lines = shown.lines().filter(|line| !numbers(line).all(|number| is_known(&number)));
        let strange = |line: &str| numbers(line).find(|number| !is_known(number)).unwrap();
        lines.map(|line| format!("{} in: {line}", strange(line))).collect()
    }
}

/// The numbers of a text.
fn numbers(text: &str) -> impl Iterator<Item = String> + '_ {
    let words = text.split(|c: char| !(c.is_ascii_digit() || c == '.'));
    words.map(|word| word.trim_matches('.').to_owned()).filter(|word| !word.is_empty())
}

/// The text of a page, an element a line, without its head and the ticks of axes.
fn shown_text(page: &str) -> String {
    let body = page.split("<body>").nth(1).unwrap();
    let shown = body.split('<').filter(|tag| !tag.starts_with("text class=\"tick"));
    shown.filter_map(|tag| Some(tag.split_once('>')?.1.to_owned() + "\n")).collect()
}

#[test]
fn no_format_shows_a_figure_that_json_lacks() {
    for file in FILES {
        let json: Value = serde_json::from_str(&report("json", &[file])).unwrap();
        let known = Known::of(&json);
        for (format, shown) in [
            ("html", shown_text(&report("html", &[file]))),
            ("text", report("text", &[file])),
            ("md", report("md", &[file])),
        ] {
            let unknown = known.unknown(&shown);
            assert!(shown.len() > 1000, "{file}: the report as {format} is empty");
            assert!(unknown.is_empty(), "{file} as {format}: {unknown:#?}");
        }
    }
}

#[test]
fn a_figure_from_nowhere_is_found() {
    let json = serde_json::json!({ "cases": [], "seconds": 1.25e-3, "name": "n=512" });
    let known = Known::of(&json);
    assert_eq!(known.unknown("n=512 took 1.25 ms\n0 failed"), Vec::<String>::new());
    assert_eq!(known.unknown("took 1.26 ms"), ["1.26 in: took 1.26 ms"]);
}
