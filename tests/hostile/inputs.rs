//! Suites, descriptions, profiles and tables.

use crate::common::{Place, text};
use crate::{
    EVIL, every_kind, is_harmless, is_text, leaves, nonsense, printed, shipped, spoiled, taint,
    write,
};
use gpubench::report::render::json;
use gpubench::yaml::{Node, Value as Yaml};
use serde_json::Value;

/// The same as YAML, whose parser takes no control character that is not escaped.
fn write_yaml(place: &Place, name: &str, value: &Value) -> String {
    let path = place.folder.path().join(name);
    std::fs::write(&path, json::line(value)).unwrap();
    path.display().to_string()
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
