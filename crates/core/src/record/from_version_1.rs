//! Lines of version 1 of the format, made into today's before they are parsed.
//!
//! What changed is a table: where in a line, and what is called otherwise there. A line that says it
//! in today's words already stays as it is, since a run that was resumed may hold lines of either kind.

use serde_json::Value;

/// What is different at a place.
enum Change {
    /// A key of an object: its value stays.
    Key(&'static str, &'static str),
    /// A string that is exactly this.
    Word(&'static str, &'static str),
    /// The beginning of a string.
    Prefix(&'static str, &'static str),
    /// A part of a string.
    Part(&'static str, &'static str),
}

use Change::{Key, Part, Prefix, Word};

/// What is measured, in keys of cases.
const MEASURES: &[Change] = &[
    Word("send", "upload"),
    Word("receive", "download"),
    Word("staircase", "occupancy"),
    Word("rearrange", "layout"),
];
/// Workloads of the shipped suites, in keys of cases and in names of what ran concurrently.
const WORKLOADS: &[Change] = &[Prefix("staircase/", "occupancy/")];
/// Names of steps: a copy and its number.
const COPIES: &[Change] = &[Prefix("send ", "upload "), Prefix("receive ", "download ")];
/// Names of plans.
const PLANS: &[Change] =
    &[Part("send heavy", "upload heavy"), Part("receive heavy", "download heavy")];

/// What version 2 calls otherwise than version 1, by place: keys one below the other, where `*` is each item of a
/// list, a number is the item at that position, and `**` is any depth. In order: a place below a key that is
/// renamed goes by its new name.
const FROM_1: &[(&str, &[Change])] = &[
    ("header.suite", &[Word("rearrange", "layout")]),
    ("header.devices.*", &[Key("lanes", "queues")]),
    ("noise.floors.*.0.measure", MEASURES),
    ("noise.floors.*.0.workload", WORKLOADS),
    ("record.key.measure", MEASURES),
    ("record.key.workload", WORKLOADS),
    ("record.tags.*", &[Word("rearrange", "layout")]),
    ("record.kernel", &[Key("form", "variant"), Key("checks", "bounds_checks")]),
    (
        "record.flags.*",
        &[
            Word("wide", "not_converged"),
            Word("unsteady", "warm_up_not_steady"),
            Key("wrong_form", "wrong_variant"),
        ],
    ),
    ("record.monitor", &[Key("sentinel", "reference_kernel")]),
    ("record.wall", &[Key("sentinel", "reference_kernel")]),
    (
        "record.detail",
        &[
            Key("staircase", "occupancy"),
            Key("rearrange", "layout"),
            Key("characterised", "characterise"),
            Key("transfer_states", "transfer-states"),
        ],
    ),
    ("record.detail.**.steps.*", &[Key("lane", "queue")]),
    ("record.detail.transfer", &[Key("lanes", "queues")]),
    (
        "record.detail.transfer.points.*.direction",
        &[Word("send", "upload"), Word("receive", "download")],
    ),
    ("record.detail.overlap", &[Key("send", "upload"), Key("receive", "download")]),
    ("record.detail.overlap.runs.*", &[Key("lanes", "queues")]),
    ("record.detail.overlap.**.steps.*.name", COPIES),
    (
        "record.detail.schedule",
        &[
            Key("send", "upload"),
            Key("receive", "download"),
            Key("lanes", "queues"),
            Key("left_out", "skipped"),
        ],
    ),
    ("record.detail.schedule.engines", &[Key("together", "bidirectional")]),
    (
        "record.detail.schedule.runs.*",
        &[
            Key("send_all_first", "upload_all_first"),
            Key("receive_all_last", "download_all_last"),
            Key("foreseen", "predicted"),
        ],
    ),
    ("record.detail.schedule.runs.*.plan", PLANS),
    ("record.detail.schedule.skipped.*.0", PLANS),
    ("record.detail.schedule.**.steps.*.name", COPIES),
    ("record.detail.concurrency", &[Key("lanes", "queues"), Key("left_out", "skipped")]),
    (
        "record.detail.concurrency.pairs.*",
        &[
            Key("first_alone", "first_isolated"),
            Key("second_alone", "second_isolated"),
            Key("together", "concurrent_a_first"),
            Key("reversed", "concurrent_b_first"),
        ],
    ),
    ("record.detail.concurrency.kernel.name", WORKLOADS),
    ("record.detail.concurrency.pairs.*.second.name", WORKLOADS),
    ("record.detail.concurrency.skipped.*.0", WORKLOADS),
    ("record.detail.concurrency.**.steps.*.name", WORKLOADS),
    ("record.detail.layout", &[Key("rearranging", "transform")]),
    ("record.detail.layout.uses.*", &[Key("rearranged", "transformed")]),
    ("record.detail.checkpoint", &[Key("left_out", "skipped")]),
    ("record.detail.checkpoint.runs.*", &[Key("lanes", "queues"), Key("receiving", "downloading")]),
    ("record.detail.characterise", &[Key("forms", "variants")]),
    ("record.detail.characterise.variants.*.numbers.*.0", &[Word("MOST", "MAX_REPEAT")]),
    ("record.detail.transfer-states.plans.*", &[Key("foreseen", "predicted")]),
    (
        "record.detail.split",
        &[Key("alone", "isolated"), Key("works", "jobs"), Key("against", "fastest_device_seconds")],
    ),
    ("record.detail.split.jobs.*", &[Key("left", "fell_back")]),
];

/// Measures by the kinds of work of which version 1 wrote amounts that are no rate's: they were the suite's for a
/// kernel, and these are not its times.
const NO_RATE: &[(&str, &[&str])] = &[
    ("launch", &["flops", "bytes"]),
    ("concurrency", &["flops", "bytes"]),
    ("occupancy", &["flops", "bytes"]),
    ("characterise", &["flops", "bytes"]),
    ("upload", &["flops"]),
    ("download", &["flops"]),
    ("transfer", &["flops"]),
];

/// Makes a line of a result file of version 1 one of version 2; its header says so from then on.
pub(super) fn line(line: &mut Value) {
    for (place, changes) in FROM_1 {
        let place: Vec<&str> = place.split('.').collect();
        at(&place, line, &mut |value| changes.iter().for_each(|change| change.make(value)));
    }
    if let Some(version) = line.pointer_mut("/header/version") {
        *version = 2.into();
    }
    let measure = line.pointer("/record/key/measure").and_then(Value::as_str);
    let Some((_, amounts)) = NO_RATE.iter().find(|(known, _)| Some(*known) == measure) else {
        return;
    };
    if let Some(Value::Object(measured)) = line.pointer_mut("/record/measured") {
        for amount in *amounts {
            measured.insert((*amount).to_owned(), 0.0.into());
        }
    }
}

/// Does `change` to everything at a place below `value`.
fn at(place: &[&str], value: &mut Value, change: &mut dyn FnMut(&mut Value)) {
    let Some((next, below)) = place.split_first() else { return change(value) };
    match (*next, value) {
        ("*", Value::Array(items)) => items.iter_mut().for_each(|item| at(below, item, change)),
        ("**", value) => {
            at(below, value, change);
            match value {
                Value::Array(items) => items.iter_mut().for_each(|item| at(place, item, change)),
                Value::Object(keys) => keys.values_mut().for_each(|item| at(place, item, change)),
                _ => {}
            }
        }
        (key, Value::Object(keys)) => {
            if let Some(item) = keys.get_mut(key) {
                at(below, item, change);
            }
        }
        (position, Value::Array(items)) => {
            let item = position.parse::<usize>().ok().and_then(|position| items.get_mut(position));
            if let Some(item) = item {
                at(below, item, change);
            }
        }
        _ => {}
    }
}

impl Change {
    fn make(&self, value: &mut Value) {
        match (self, value) {
            (Key(from, to), Value::Object(keys)) if !keys.contains_key(*to) => {
                if let Some(value) = keys.remove(*from) {
                    keys.insert((*to).to_owned(), value);
                }
            }
            (Word(from, to), Value::String(text)) if text == from => *text = (*to).to_owned(),
            (Prefix(from, to), Value::String(text)) if text.starts_with(from) => {
                text.replace_range(..from.len(), to);
            }
            (Part(from, to), Value::String(text)) if text.contains(from) => {
                *text = text.replace(from, to);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Line;
    use crate::record::sample::{header, key, record};
    use serde_json::json;

    fn migrated(mut value: Value) -> Value {
        line(&mut value);
        let once = value.clone();
        line(&mut value);
        assert_eq!(value, once, "a second time changes nothing");
        value
    }

    #[test]
    fn what_every_record_may_hold_is_called_as_today() {
        let old = json!({ "record": {
            "key": { "workload": "staircase/64", "measure": "staircase", "size": [["n", 1]] },
            "tags": ["rearrange", "wide"],
            "kernel": { "form": "64 V=f32", "checks": "off" },
            "flags": ["wide", "unsteady", "cache", { "wrong_form": "64" }, { "drift": "wide" }],
            "monitor": { "began": 1.0, "sentinel": [2.0, 3.0] },
            "wall": { "measure": 4.0, "sentinel": 5.0 },
        }});
        let new = json!({ "record": {
            "key": { "workload": "occupancy/64", "measure": "occupancy", "size": [["n", 1]] },
            "tags": ["layout", "wide"],
            "kernel": { "variant": "64 V=f32", "bounds_checks": "off" },
            "flags": ["not_converged", "warm_up_not_steady", "cache", { "wrong_variant": "64" }, { "drift": "wide" }],
            "monitor": { "began": 1.0, "reference_kernel": [2.0, 3.0] },
            "wall": { "measure": 4.0, "reference_kernel": 5.0 },
        }});
        assert_eq!(migrated(old), new);
    }

    #[test]
    fn headers_and_noise_floors_name_devices_and_cases() {
        let old = json!({ "header": { "version": 1, "suite": "rearrange", "devices": [{ "lanes": 4 }, { "lanes": 1 }] }});
        let new = json!({ "header": { "version": 2, "suite": "layout", "devices": [{ "queues": 4 }, { "queues": 1 }] }});
        assert_eq!(migrated(old), new);
        let old = json!({ "noise": { "runs": 2, "floors": [[{ "workload": "transfer", "measure": "send" }, 0.5]] }});
        let new = json!({ "noise": { "runs": 2, "floors": [[{ "workload": "transfer", "measure": "upload" }, 0.5]] }});
        assert_eq!(migrated(old), new);
    }

    #[test]
    fn plans_steps_and_what_was_skipped_are_named_as_today() {
        let old = json!({ "record": { "detail": { "schedule": {
            "runs": [{ "plan": "rule kernel bound, send heavy", "timed": { "steps": [{ "name": "receive 3", "lane": 2 }] } }],
            "left_out": [["rule transfer bound, receive heavy", "send heavy"]],
        }}}});
        let new = json!({ "record": { "detail": { "schedule": {
            "runs": [{ "plan": "rule kernel bound, upload heavy", "timed": { "steps": [{ "name": "download 3", "queue": 2 }] } }],
            "skipped": [["rule transfer bound, download heavy", "send heavy"]],
        }}}});
        assert_eq!(migrated(old), new);
        let old = json!({ "record": { "detail": { "concurrency": { "left_out": [["staircase/64 n=1", "staircase/"]] }}}});
        let new = json!({ "record": { "detail": { "concurrency": { "skipped": [["occupancy/64 n=1", "staircase/"]] }}}});
        assert_eq!(migrated(old), new);
    }

    #[test]
    fn amounts_that_are_no_rates_are_dropped() {
        for (measure, flops, bytes) in [
            ("kernel", 3.0, 5.0),
            ("launch", 0.0, 0.0),
            ("staircase", 0.0, 0.0),
            ("characterise", 0.0, 0.0),
            ("concurrency", 0.0, 0.0),
            ("send", 0.0, 5.0),
            ("receive", 0.0, 5.0),
            ("transfer", 0.0, 5.0),
            ("overlap", 3.0, 5.0),
        ] {
            let old = json!({ "record": {
                "key": { "measure": measure }, "measured": { "flops": 3.0, "bytes": 5.0 },
            }});
            let new = migrated(old);
            let measured = json!({ "flops": flops, "bytes": bytes });
            assert_eq!(new["record"]["measured"], measured, "{measure}");
        }
        let none = migrated(json!({ "record": { "key": { "measure": "launch" } } }));
        assert!(none["record"].get("measured").is_none(), "nothing is made up");
    }

    #[test]
    fn lines_of_today_in_a_file_of_version_1_stay_as_they_are() {
        for today in [
            Line::Header(Box::new(header(vec![crate::record::sample::device("sim")]))),
            Line::Record(Box::new(record(key("a", 1), 1.0))),
        ] {
            let json = serde_json::to_vec(&today).unwrap();
            assert_eq!(Line::parse(&json, 1).unwrap(), today);
        }
    }

    #[test]
    fn a_place_that_holds_something_else_is_passed_over() {
        for odd in [
            json!(null),
            json!({ "record": 1 }),
            json!({ "record": { "flags": {}, "detail": [1], "kernel": "form", "key": { "measure": 7 } } }),
            json!({ "record": { "key": { "measure": "launch" }, "measured": 1 } }),
            json!({ "noise": { "floors": [[], 1, "x"] } }),
        ] {
            assert_eq!(migrated(odd.clone()), odd);
        }
    }

    #[test]
    fn what_is_said_in_both_words_stays_in_both() {
        let both = json!({ "record": { "kernel": { "form": "old", "variant": "new" } } });
        assert_eq!(migrated(both.clone()), both);
    }
}
