//! The schema accepts what the loader accepts, and refuses what is misspelt.

use super::data;
use serde_json::{Map, Value, json};
use std::path::Path;

/// What is wrong with `value`, by the part of draft-07 that the schema uses; a keyword that is
/// not known here is a failure of this test.
fn wrong(root: &Value, schema: &Value, value: &Value, path: &str) -> Vec<String> {
    let Value::Object(rules) = schema else {
        return if *schema == json!(true) { vec![] } else { vec![format!("{path}: rejected")] };
    };
    let mut found = vec![];
    for (keyword, rule) in rules {
        let ok = match keyword.as_str() {
            "$schema" | "title" | "description" | "definitions" | "format" => true,
            "$ref" => {
                let target = root.pointer(&rule.as_str().unwrap()[1..]).unwrap();
                found.extend(wrong(root, target, value, path));
                true
            }
            "type" => match rule {
                Value::Array(types) => types.iter().any(|name| has_type(value, name)),
                name => has_type(value, name),
            },
            "const" => value == rule,
            "enum" => rule.as_array().unwrap().contains(value),
            "minimum" => value.as_f64().is_none_or(|x| x >= rule.as_f64().unwrap()),
            "pattern" => {
                value.as_str().is_none_or(|text| matches_pattern(text, rule.as_str().unwrap()))
            }
            "minItems" => len(value).is_none_or(|n| n >= rule.as_u64().unwrap()),
            "maxItems" => len(value).is_none_or(|n| n <= rule.as_u64().unwrap()),
            "minProperties" => keys(value).is_none_or(|n| n >= rule.as_u64().unwrap()),
            "maxProperties" => keys(value).is_none_or(|n| n <= rule.as_u64().unwrap()),
            "required" => value.as_object().is_none_or(|map| {
                rule.as_array().unwrap().iter().all(|key| map.contains_key(key.as_str().unwrap()))
            }),
            "allOf" => {
                for part in rule.as_array().unwrap() {
                    found.extend(wrong(root, part, value, path));
                }
                true
            }
            "anyOf" => choices(root, rule, value, path) >= 1,
            "oneOf" => choices(root, rule, value, path) == 1,
            "items" => {
                for (i, item) in value.as_array().into_iter().flatten().enumerate() {
                    found.extend(wrong(root, rule, item, &format!("{path}/{i}")));
                }
                true
            }
            "properties" => {
                for (key, rule) in rule.as_object().unwrap() {
                    if let Some(inner) = value.get(key) {
                        found.extend(wrong(root, rule, inner, &format!("{path}/{key}")));
                    }
                }
                true
            }
            "patternProperties" => {
                for (pattern, rule) in rule.as_object().unwrap() {
                    let matching = entries(value).filter(|(key, _)| matches_pattern(key, pattern));
                    for (key, inner) in matching {
                        found.extend(wrong(root, rule, inner, &format!("{path}/{key}")));
                    }
                }
                true
            }
            "additionalProperties" => {
                let known = |of: &str| rules.get(of).and_then(Value::as_object);
                let (names, patterns) = (known("properties"), known("patternProperties"));
                for (key, inner) in entries(value) {
                    let mut patterns = patterns.into_iter().flat_map(Map::keys);
                    if names.is_none_or(|names| !names.contains_key(key))
                        && !patterns.any(|pattern| matches_pattern(key, pattern))
                    {
                        found.extend(wrong(root, rule, inner, &format!("{path}/{key}")));
                    }
                }
                true
            }
            other => panic!("this test does not know `{other}`"),
        };
        if !ok {
            found.push(format!("{path}: {keyword} {rule} refuses {value}"));
        }
    }
    found
}

fn choices(root: &Value, rule: &Value, value: &Value, path: &str) -> usize {
    let fits = |choice: &&Value| wrong(root, choice, value, path).is_empty();
    rule.as_array().unwrap().iter().filter(fits).count()
}

fn has_type(value: &Value, name: &Value) -> bool {
    match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        other => panic!("this test does not know the type `{other}`"),
    }
}

fn len(value: &Value) -> Option<u64> {
    value.as_array().map(|items| items.len() as u64)
}

fn entries(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn keys(value: &Value) -> Option<u64> {
    value.as_object().map(|map| map.len() as u64)
}

fn is_element(text: &str) -> bool {
    gpubench::gpu::Element::try_from(text.to_owned()).is_ok()
}

/// The patterns that the schema has, without an engine for all of them.
fn matches_pattern(text: &str, pattern: &str) -> bool {
    match pattern {
        "^([iu](8|16|32|64)|f16|f32|f64)(x2|x3|x4|x8|x16)?$" => {
            gpubench::gpu::ValueType::try_from(text.to_owned()).is_ok()
        }
        "^(f16|bf16|f32|f64|[iu](8|16|32|64))(x2|x4|x8|x16)?$" => is_element(text),
        "^matrix_[0-9]+x[0-9]+x[0-9]+(_(f16|bf16|f32|f64|[iu](8|16|32|64))){2}$" => {
            gpubench::gpu::MatrixProduct::try_from(text.to_owned()).is_ok()
        }
        "^[0-9]+ *(B|KiB|MiB|GiB|kB|MB|GB)?$" => {
            let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
            let units = ["", "B", "KiB", "MiB", "GiB", "kB", "MB", "GB"];
            unit.len() < text.len() && units.contains(&unit.trim_start_matches(' '))
        }
        other => panic!("this test does not know the pattern {other}"),
    }
}

fn schema() -> Value {
    let references: Vec<_> = gpubench::reference::names().collect();
    let kinds = gpubench::measure::registry::experiment_kinds();
    serde_json::to_value(gpubench::suite::schema(&kinds, &references)).unwrap()
}

fn rejected(text: &str) -> Vec<String> {
    let schema = schema();
    let value: Value = gpubench::yaml::parse("", text).unwrap();
    wrong(&schema, &schema, &value, "")
}

#[test]
fn it_accepts_every_suite_that_loads() {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("suites");
    let mut paths: Vec<_> =
        std::fs::read_dir(shipped).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.push(data().join("full.yaml"));
    paths.push(data().join("more/included.yaml"));
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(rejected(&text), Vec::<String>::new(), "{}", path.display());
    }
}

#[test]
fn it_knows_every_key_and_no_other() {
    let full = std::fs::read_to_string(data().join("full.yaml")).unwrap();
    for (part, by) in [
        ("workloads:", "worklaods:"),
        ("kernel:", "kernal:"),
        ("total: 60", "totl: 60"),
        ("type: f32", "typ: f32"),
        ("type: f32", "type: f31"),
        ("access: read", "access: rd"),
        ("flops: n", "flop: n"),
        ("against: device", "against: devices"),
        ("measure: [kernel", "measure: [kernels"),
        ("64 MiB", "64 MiBs"),
        ("{ f32: \"-1/2\" }", "{ f64: 1 }"),
        ("group: [64]", "group: [0]"),
        ("group: [64]", "group: []"),
        ("version: 1", "version:"),
        ("count: n, ", ""),
    ] {
        assert!(full.contains(part), "{part}");
        assert!(!rejected(&full.replacen(part, by, 1)).is_empty(), "{by} passes");
    }
}

#[test]
fn it_knows_the_types_of_arguments() {
    let full = std::fs::read_to_string(data().join("full.yaml")).unwrap();
    let of = |r#type: &str| {
        let args = format!("group: [64], args: [in, {{ {type}: n }}], constants: {{ VALUES: 1 }}");
        let part = "group: [[32], [64, 2]], constants: { VALUES: 1 }";
        assert!(full.contains(part));
        rejected(&full.replacen(part, &args, 1))
    };
    for known in ["f16", "f16x4", "f64x3", "i8", "u64x16", "local"] {
        assert_eq!(of(known), Vec::<String>::new(), "{known}");
    }
    for unknown in ["bf16", "f32x5", "i24", "locals"] {
        assert!(!of(unknown).is_empty(), "{unknown}");
    }
}

#[test]
fn every_key_is_explained() {
    fn undescribed(schema: &Value, path: &str, found: &mut Vec<String>) {
        for (key, field) in
            schema.get("properties").and_then(Value::as_object).into_iter().flatten()
        {
            let reference = field.get("$ref").is_some();
            if field.get("description").is_none() && !reference {
                found.push(format!("{path}/{key}"));
            }
        }
        for (key, inner) in
            schema.get("definitions").and_then(Value::as_object).into_iter().flatten()
        {
            undescribed(inner, key, found);
        }
    }
    let schema = schema();
    let mut found = vec![];
    undescribed(&schema, "", &mut found);
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn it_lists_the_references() {
    let text =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("suites/matmul.yaml"))
            .unwrap();
    assert!(text.contains("reference: matmul"));
    assert_eq!(rejected(&text), Vec::<String>::new());
    assert!(!rejected(&text.replacen("reference: matmul", "reference: matmull", 1)).is_empty());
}
