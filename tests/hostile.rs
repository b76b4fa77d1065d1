//! Files that were made to harm: no text in any of their fields commands the terminal that it is shown on, and
//! no number in them is shown as nonsense, whatever the command and the format.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "helpers of tests panic as tests do")]

mod common;

use common::{Place, text};
use gpubench::measure::registry::{experiment, recorded};
use gpubench::record::{Detail, Line, Noise, Past, VERSION};
use gpubench::report::render::json;
use gpubench::store::{Run, read};
use gpubench::yaml::{Node, Value as Yaml};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Instant;

/// What would colour, name or clear a terminal, or turn its text around.
const EVIL: &str = "\u{1b}[31mX\u{1b}]0;X\u{7}\u{9b}2J\u{202e}\r\u{7f}";

/// Every format of reports.
const REPORTS: [&str; 6] = ["text", "html", "md", "csv", "figures", "json"];
/// Every format of comparisons and rankings.
const TABLES: [&str; 4] = ["text", "md", "csv", "json"];

fn shipped(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
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

/// Whether a line is one that is used.
fn is_used(line: &Value) -> bool {
    match Line::parse(&serde_json::to_vec(line).unwrap(), VERSION) {
        Ok(Line::Header(header)) => header.validation_error().is_none(),
        Ok(Line::Record(record)) => {
            let read = |detail: &Detail| experiment(detail.kind()).unwrap().flaw(detail).is_none();
            record.validation_error().is_none() && record.detail.as_ref().is_none_or(read)
        }
        Ok(Line::Noise(noise)) => noise.validation_error().is_none(),
        Ok(_) => true,
        Err(_) => false,
    }
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

/// The same as YAML, whose parser takes no control character that is not escaped.
fn write_yaml(place: &Place, name: &str, value: &Value) -> String {
    let path = place.folder.path().join(name);
    std::fs::write(&path, json::line(value)).unwrap();
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

/// Every command that reads a run, in every format.
fn readers(file: &str) -> Vec<Vec<String>> {
    let own = |args: &[&str]| args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>();
    let all = ["--include-simulated", "--include-cpu"];
    let mut commands = vec![];
    for format in REPORTS {
        let report = ["report", "--baseline", file, "--format", format, file];
        commands.push(own(&[&report[..], &all].concat()));
    }
    for format in TABLES {
        commands.push(own(&[&["rank", "--format", format, file][..], &all].concat()));
        commands.push(own(&["compare", "--format", format, file, file]));
    }
    let others = [
        &["export", file][..],
        &["export", "--format", "bencher", file],
        &["fit", file],
        &["fit", "--json", file],
        &["profile", file],
        &["predict", "all", "--from", file],
        &["predict", "quick", "--profile", file],
        &["predict", "quick", "--json", "--profile", file],
        &["model", "concurrency", file],
        &["trace", file],
        &["trace", file, "--case", "nothing like it"],
        &["baseline", "save", file],
        &["baseline", "show", file],
        &["baseline", "history", "--all", file],
        &["baseline", "list"],
        &["run", "quick", "--resume", file],
        &["run", "all", "--resume", file, "--sim", "k40c"],
    ];
    commands.extend(others.into_iter().map(own));
    commands
}

fn is_text(value: &Value) -> bool {
    value.is_string()
}

#[test]
fn no_text_of_a_result_file_commands_a_terminal() {
    let place = Place::new();
    let lines = every_kind();
    let each = |line: &Value| spoiled(line, is_text, &taint, &is_used);
    let (whole, rejected): (Vec<_>, Vec<_>) = lines.iter().map(each).unzip();
    let tainted: usize =
        whole.iter().map(|line| line.to_string().matches("\\u001b[31m").count()).sum();
    assert!(tainted > 500, "{tainted} texts");
    let file = write(&place, "whole.jsonl", &whole);
    for args in readers(&file) {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        is_harmless(&place, &args);
    }
    let run = read(Path::new(&file)).unwrap();
    assert_eq!(run.records.len(), lines.len() - 3, "{:?}", run.warnings);
    assert_eq!(run.noise.as_ref().unwrap().history.len(), 7, "{:?}", run.warnings);
    let drawn = run.records.iter().find(|record| !recorded(record).is_empty()).unwrap();
    let trace = is_harmless(&place, &["trace", &file, "--case", &drawn.key.to_string()]);
    assert_eq!(trace.status.code(), Some(0), "{}", text(&trace.stderr));
    is_harmless(&place, &["export", "--format", "parquet", "--output", "rows.parquet", &file]);
    let rows = std::fs::read(place.folder.path().join("rows.parquet")).unwrap();
    assert!(!rows.windows(2).any(|two| two == b"\x1b["), "Parquet holds them");
    // What is not used is shown in a message.
    let flawed: Vec<Value> = rejected[1..].iter().flatten().cloned().collect();
    assert!(flawed.len() > 100, "{} lines", flawed.len());
    for part in flawed.chunks(900) {
        let file = write(&place, "flawed.jsonl", &[&lines[..3], part].concat());
        is_harmless(&place, &["report", &file]);
        is_harmless(&place, &["trace", &file]);
        is_harmless(&place, &["rank", &file]);
    }
    for header in &rejected[0] {
        let file =
            write(&place, "header.jsonl", &[std::slice::from_ref(header), &lines[1..]].concat());
        let output = is_harmless(&place, &["report", &file]);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    }
}

/// Names that end in the beginning of an escape sequence: nothing of what stands behind them goes.
#[test]
fn no_text_takes_what_stands_behind_it_away() {
    let place = Place::new();
    let named = |behind: &str| {
        let mut lines = every_kind();
        for line in &mut lines {
            if let Some(Value::String(name)) = line.pointer_mut("/record/key/workload") {
                name.push_str(behind);
            }
        }
        write(&place, "run.jsonl", &lines)
    };
    for format in ["text", "html", "md", "csv", "figures"] {
        let shown = |file: String| {
            let report = ["report", "--include-simulated", "--format", format, &file];
            let output = is_harmless(&place, &report);
            assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
            text(&output.stdout)
        };
        // Marks of another length would break lines elsewhere.
        let plain = shown(named("~~"));
        for begun in ["\u{1b}~~", "\u{1b}\u{1b}~~"] {
            assert_eq!(shown(named(begun)), plain, "{format} {begun:?}");
        }
        let open = shown(named("\u{1b}[1"));
        assert_eq!(open, shown(named("[1")), "{format}");
    }
}

/// A YAML file as JSON, which is YAML too.
fn yaml(file: &str) -> Value {
    fn json(node: Node) -> Value {
        match node.value {
            Yaml::Null => Value::Null,
            Yaml::Bool(value) => value.into(),
            Yaml::Int(value) => value.into(),
            Yaml::Float(value) => value.into(),
            Yaml::Text(text) => text.into(),
            Yaml::List(items) => items.into_iter().map(json).collect(),
            Yaml::Map(items) => {
                items.into_iter().map(|(key, item)| (key.name, json(item))).collect()
            }
        }
    }
    json(Node::parse(file, &std::fs::read_to_string(shipped(file)).unwrap()).unwrap())
}

/// The value with each text and each key spoiled by itself.
fn one_by_one(value: &Value) -> Vec<Value> {
    let mut all = vec![];
    for at in leaves(value, is_text) {
        let mut next = value.clone();
        taint(next.pointer_mut(&at).unwrap());
        all.push(next);
    }
    // The names under which anything stands.
    let text = value.to_string();
    let mut keys: Vec<&str> = text.split('"').skip(1).step_by(2).collect();
    keys.sort_unstable();
    keys.dedup();
    for key in keys {
        let tainted = Value::from(format!("{key}{EVIL}"));
        let next = text.replace(&format!("\"{key}\":"), &format!("{tainted}:"));
        all.extend(serde_json::from_str(&next));
    }
    all
}

#[test]
fn no_text_of_a_suite_or_a_description_commands_a_terminal() {
    let place = Place::new();
    let suites = one_by_one(&yaml("tests/data/flow/flow.yaml"));
    assert!(suites.len() > 30, "{}", suites.len());
    for suite in suites {
        let file = write_yaml(&place, "suite.yaml", &suite);
        is_harmless(&place, &["check", &file]);
        is_harmless(&place, &["run", &file, "--list"]);
    }
    let plain = yaml("tests/data/flow/flow.yaml");
    let check = |suite: &Value| place.output(&["check", &write_yaml(&place, "suite.yaml", suite)]);
    let whole = check(&plain);
    assert!(whole.status.success(), "{}", text(&whole.stderr));
    let suite = spoiled(&plain, is_text, &taint, &|next| check(next).status.success());
    let file = write_yaml(&place, "suite.yaml", &suite.0);
    assert!(suite.0.to_string().contains("\\u001b"));
    is_harmless(&place, &["run", &file, "--sim", "k40c", "--dry-run"]);
    is_harmless(&place, &["run", &file, "--sim", "k40c", "--verify"]);
    let gpus = one_by_one(&yaml("crates/device/src/sim/devices/tesla-k40c.yaml"));
    assert!(gpus.len() > 20, "{}", gpus.len());
    for gpu in gpus {
        let file = write_yaml(&place, "gpu.yaml", &gpu);
        is_harmless(&place, &["devices", "--sim", &file]);
        is_harmless(&place, &["devices", "--json", "--sim", &file]);
    }
}

/// The profile of a simulated GPU.
fn profile(place: &Place) -> Value {
    let run = place.output(&[
        "run",
        "characterise",
        "--filter",
        "n=64",
        "--sim",
        "k40c",
        "--rounds",
        "1",
        "--output",
        "run.jsonl",
    ]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    let profile = place.output(&["profile", "--json", "run.jsonl"]);
    let profile: Value = serde_json::from_slice(&profile.stdout).unwrap();
    let file = write(place, "profile.json", std::slice::from_ref(&profile));
    let read = place.output(&["predict", "filters", "--profile", &file]);
    assert!(text(&read.stderr).contains("profile of Tesla K40c"), "{}", text(&read.stderr));
    profile
}

#[test]
fn no_text_of_a_profile_or_a_table_commands_a_terminal() {
    let place = Place::new();
    for one in one_by_one(&profile(&place)) {
        let file = write(&place, "profile.json", &[one]);
        is_harmless(&place, &["predict", "filters", "--profile", &file]);
    }
    for (model, table) in [
        ("concurrency", "concurrency_pairs_k40.csv"),
        ("streams", "stream_times_8800gt.csv"),
        ("contention", "concurrency_pairs_rodinia.csv"),
        ("transfer-states", "transfer_states_dual_c2075.csv"),
        ("transfer-states", "transfer_states_quad_m2090.csv"),
    ] {
        let rows = std::fs::read_to_string(shipped("tests/data/papers").join(table)).unwrap();
        for at in 0..rows.lines().next().unwrap().split(',').count() {
            for row in 0..2 {
                let mut cells: Vec<Vec<String>> =
                    rows.lines().map(|row| row.split(',').map(str::to_owned).collect()).collect();
                cells[row][at] += EVIL;
                let rows: Vec<String> = cells.iter().map(|row| row.join(",")).collect();
                std::fs::write(place.folder.path().join("table.csv"), rows.join("\n")).unwrap();
                is_harmless(&place, &["model", model, "table.csv"]);
            }
        }
    }
}

/// Digits in a row, more than any number has that is printed in full, and words that are no numbers.
fn nonsense(text: &str) -> Option<&str> {
    const LONGEST: usize = 25;
    let digits = text.split(|c: char| !c.is_ascii_digit()).find(|digits| digits.len() > LONGEST);
    let mut words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    digits.or_else(|| words.find(|word| matches!(*word, "inf" | "NaN" | "Infinity")))
}

#[test]
fn no_number_of_a_result_file_is_shown_as_nonsense() {
    let place = Place::new();
    let lines = every_kind();
    for number in [0.0, 5e-324, 1e-99, 1e24, 1e99, 1e308] {
        let spoil = |leaf: &mut Value| *leaf = serde_json::json!(number);
        let each = |line: &Value| spoiled(line, Value::is_f64, &spoil, &is_used);
        let (whole, rejected): (Vec<_>, Vec<_>) = lines.iter().map(each).unzip();
        let file = write(&place, "whole.jsonl", &whole);
        for args in readers(&file) {
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let (_, all) = printed(&place, &args);
            assert_eq!(nonsense(&all), None, "{number:e} {args:?}\n{all}");
        }
        let flawed: Vec<Value> = rejected[1..].iter().flatten().take(900).cloned().collect();
        let file = write(&place, "flawed.jsonl", &[&lines[..3], &flawed].concat());
        let (_, all) = printed(&place, &["report", &file]);
        assert_eq!(nonsense(&all), None, "{number:e}\n{all}");
    }
}

/// A report makes no list of so many chunks, and does not go through so many groups.
#[test]
fn no_count_of_a_result_file_takes_time_or_memory() {
    let place = Place::new();
    for name in ["/chunks", "/groups"] {
        let (mut spoiled, mut counts) = (every_kind(), 0);
        for line in &mut spoiled {
            for at in leaves(line, Value::is_u64) {
                if at.starts_with("/record/detail") && at.ends_with(name) {
                    *line.pointer_mut(&at).unwrap() = u32::MAX.into();
                    counts += 1;
                }
            }
        }
        assert!(counts > 1, "{name}");
        let file = write(&place, "counts.jsonl", &spoiled);
        let begun = Instant::now();
        printed(&place, &["report", "--format", "csv", &file]);
        assert!(begun.elapsed().as_secs() < 60, "{name}");
    }
}

/// `value` with each number by itself replaced by `number`.
fn each_number(value: &Value, number: f64) -> Vec<Value> {
    let with = |at: &String| {
        let mut next = value.clone();
        *next.pointer_mut(at).unwrap() = serde_json::json!(number);
        next
    };
    leaves(value, Value::is_number).iter().map(with).collect()
}

#[test]
fn no_number_that_a_file_gives_is_echoed_at_length() {
    let place = Place::new();
    let echoes = |args: &[&str]| {
        let (_, all) = printed(&place, args);
        assert_eq!(nonsense(&all), None, "{args:?}\n{all}");
    };
    let suites = ["tests/data/program/program.yaml", "suites/sustain.yaml"].map(yaml);
    let gpu = yaml("crates/device/src/sim/devices/tesla-k40c.yaml");
    let profile = profile(&place);
    for number in [1e308, -1e308, 1e-290] {
        for suite in suites.iter().flat_map(|suite| each_number(suite, number)) {
            let file = write_yaml(&place, "suite.yaml", &suite);
            echoes(&["check", &file]);
            echoes(&["run", &file, "--sim", "k40c", "--dry-run"]);
        }
        for gpu in each_number(&gpu, number) {
            echoes(&["devices", "--sim", &write_yaml(&place, "gpu.yaml", &gpu)]);
        }
        for one in each_number(&profile, number) {
            echoes(&["predict", "filters", "--profile", &write(&place, "profile.json", &[one])]);
        }
        let mut lines = every_kind();
        lines[0]["header"]["budget"] = serde_json::json!(number);
        echoes(&["report", &write(&place, "header.jsonl", &lines)]);
        for row in [format!("1,ok,{number:e}"), format!("{number:e},ok,1")] {
            let space = format!("a,outcome,median_ms\n{row}\n");
            std::fs::write(place.folder.path().join("space.csv"), space).unwrap();
            echoes(&["tune", "--replay", "space.csv"]);
        }
    }
    echoes(&["compare", "a", "b", "--tolerance", "1e-300"]);
}
