//! Result files of version 1 are read as what they mean: baselines that were shipped once, and a run of every kind that the
//! last gpubench of version 1 made on two simulated devices (`every-kind.jsonl`; of each sample list the first
//! five values, steps of more than sixty left away).
#![expect(clippy::unwrap_used, reason = "helpers of tests panic as tests do")]

mod common;

use common::{Place, text};
use gpubench::measure::characterise::data::Characterised;
use gpubench::measure::concurrency::data::Concurrency;
use gpubench::measure::overlap::data::Overlap;
use gpubench::measure::schedule::data::Schedule;
use gpubench::record::{Line, VERSION};
use gpubench::store::{Run, read};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;

const EVERY_KIND: &str = "tests/data/v1/every-kind.jsonl";

fn path(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(file)
}

/// Every file of version 1 that lies here.
fn files() -> Vec<PathBuf> {
    let folder = std::fs::read_dir(path("tests/data/v1")).unwrap();
    let mut files: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    files.push(path("tests/data/selection/simulated.jsonl"));
    files
}

fn lines(file: &PathBuf) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The lines of a run as they would be written today.
fn today(run: &Run) -> Vec<Value> {
    let mut lines = vec![Line::Header(Box::new(run.header.clone()))];
    lines.extend(run.noise.clone().map(Line::Noise));
    lines.extend(run.records.iter().map(|record| Line::Record(Box::new(record.clone()))));
    lines.extend(run.footer.clone().map(Line::Footer));
    lines.iter().map(|line| serde_json::to_value(line).unwrap()).collect()
}

/// All numbers of a value in ascending order, but zeros, which may be there for what was missing.
fn numbers(value: &Value) -> Vec<f64> {
    fn collect(value: &Value, all: &mut Vec<f64>) {
        match value {
            Value::Number(number) => all.push(number.as_f64().unwrap()),
            Value::Array(items) => items.iter().for_each(|item| collect(item, all)),
            Value::Object(keys) => keys.values().for_each(|item| collect(item, all)),
            _ => {}
        }
    }
    let mut all = vec![];
    collect(value, &mut all);
    all.retain(|number| *number != 0.0);
    all.sort_by(f64::total_cmp);
    all
}

#[test]
fn every_line_is_read_and_no_number_is_lost() {
    for file in files() {
        let (old, run) = (lines(&file), read(&file).unwrap());
        assert_eq!(old[0]["header"]["version"], 1, "{}", file.display());
        assert_eq!(run.warnings, [], "{}", file.display());
        assert_eq!(run.header.version, VERSION);
        let new = today(&run);
        assert_eq!(old.len(), new.len(), "{}", file.display());
        for (mut old, mut new) in old.into_iter().zip(new) {
            // These two are meant to differ.
            for line in [&mut old, &mut new] {
                line.pointer_mut("/header/version").map(Value::take);
                for amount in ["flops", "bytes"] {
                    line.pointer_mut(&format!("/record/measured/{amount}")).map(Value::take);
                }
            }
            assert_eq!(numbers(&old), numbers(&new), "{}: {old}", file.display());
        }
    }
}

/// Where each kind of detail had what, and where it is now. A place that only some records have is not in all.
const PLACES: &[(&str, &[(&str, &str)])] = &[
    ("transfer", &[("lanes", "queues"), ("points", "points")]),
    (
        "overlap",
        &[
            ("send/walls", "upload/walls"),
            ("kernel/walls", "kernel/walls"),
            ("receive/walls", "download/walls"),
            ("send/steps/0/lane", "upload/steps/0/queue"),
            ("receive/steps/0/ended", "download/steps/0/ended"),
            ("runs/2/lanes", "runs/2/queues"),
            ("runs/2/timed/walls", "runs/2/timed/walls"),
            ("runs/2/timed/steps/3/lane", "runs/2/timed/steps/3/queue"),
        ],
    ),
    (
        "schedule",
        &[
            ("lanes", "queues"),
            ("send/walls", "upload/walls"),
            ("receive/walls", "download/walls"),
            ("engines/together", "engines/bidirectional"),
            ("engines/count", "engines/count"),
            ("runs/3/send_all_first", "runs/3/upload_all_first"),
            ("runs/3/receive_all_last", "runs/3/download_all_last"),
            ("runs/3/foreseen", "runs/3/predicted"),
            ("runs/3/timed/walls", "runs/3/timed/walls"),
            ("left_out/0/1", "skipped/0/1"),
        ],
    ),
    (
        "concurrency",
        &[
            ("lanes", "queues"),
            ("pairs/0/first_alone/walls", "pairs/0/first_isolated/walls"),
            ("pairs/0/second_alone/walls", "pairs/0/second_isolated/walls"),
            ("pairs/0/together/walls", "pairs/0/concurrent_a_first/walls"),
            ("pairs/0/reversed/walls", "pairs/0/concurrent_b_first/walls"),
            ("pairs/0/together/steps/1/lane", "pairs/0/concurrent_a_first/steps/1/queue"),
        ],
    ),
    (
        "rearrange",
        &[
            ("strided", "strided"),
            ("rearranging", "transform"),
            ("contiguous", "contiguous"),
            ("uses/1/strided", "uses/1/strided"),
            ("uses/1/rearranged", "uses/1/transformed"),
        ],
    ),
    (
        "halo",
        &[
            ("parts/walls", "parts/walls"),
            ("parts/steps/1/lane", "parts/steps/1/queue"),
            ("packed/walls", "packed/walls"),
        ],
    ),
    (
        "checkpoint",
        &[
            ("alone", "alone"),
            ("left_out", "skipped"),
            ("runs/0/lanes", "runs/0/queues"),
            ("runs/0/saving", "runs/0/saving"),
            ("runs/0/receiving", "runs/0/downloading"),
        ],
    ),
    ("staircase", &[("group_size", "group_size"), ("points", "points")]),
    (
        "characterised",
        &[("forms/0/points", "variants/0/points"), ("forms/1/group_size", "variants/1/group_size")],
    ),
    (
        "transfer_states",
        &[
            ("states", "states"),
            ("plans/0/foreseen", "plans/0/predicted"),
            ("plans/0/planned", "plans/0/planned"),
        ],
    ),
    (
        "split",
        &[
            ("alone", "isolated"),
            ("against", "fastest_device_seconds"),
            ("works/0/left", "jobs/0/fell_back"),
            ("works/0/seconds", "jobs/0/seconds"),
            ("works/0/blocks", "jobs/0/blocks"),
            ("blocks", "blocks"),
        ],
    ),
];

/// The name that a kind of detail has now.
fn kind_today(kind: &str) -> &str {
    match kind {
        "staircase" => "occupancy",
        "rearrange" => "layout",
        "characterised" => "characterise",
        "transfer_states" => "transfer-states",
        same => same,
    }
}

#[test]
fn a_detail_of_every_kind_means_what_it_meant() {
    let file = path(EVERY_KIND);
    let (old, new) = (lines(&file), today(&read(&file).unwrap()));
    let mut seen = BTreeSet::new();
    for (old, new) in old.iter().zip(&new) {
        let Some(detail) = old.pointer("/record/detail").filter(|detail| !detail.is_null()) else {
            continue;
        };
        let (kind, was) = detail.as_object().unwrap().iter().next().unwrap();
        let is = &new["record"]["detail"][kind_today(kind)];
        let (_, places) = PLACES.iter().find(|(known, _)| known == kind).unwrap();
        for (from, to) in *places {
            let old = was.pointer(&format!("/{from}")).unwrap_or(&Value::Null).clone();
            let mut new = is.pointer(&format!("/{to}")).unwrap_or(&Value::Null).clone();
            // Only this one has words that are new inside a list that is compared whole.
            if (kind.as_str(), *from) == ("transfer", "points") {
                new = serde_json::from_str(
                    &new.to_string().replace("upload", "send").replace("download", "receive"),
                )
                .unwrap();
            }
            assert!(!old.is_null(), "{kind} has no {from}: {was}");
            assert_eq!(old, new, "{kind}: {from}");
        }
        seen.insert(kind.clone());
    }
    let all: BTreeSet<String> = PLACES.iter().map(|(kind, _)| (*kind).to_owned()).collect();
    assert_eq!(seen, all);
}

#[test]
fn names_within_details_are_those_of_today() {
    let run = read(&path(EVERY_KIND)).unwrap();
    let details = || run.records.iter().filter_map(|record| record.detail.as_ref());
    let mut plans = BTreeSet::new();
    for detail in details() {
        if let Some(overlap) = detail.read::<Overlap>() {
            let names = |timed: &gpubench::record::Timed| {
                timed.steps.iter().map(|step| step.name.clone()).collect::<Vec<_>>()
            };
            assert_eq!(names(&overlap.upload), ["upload 0"]);
            assert_eq!(names(&overlap.download), ["download 0"]);
        } else if let Some(schedule) = detail.read::<Schedule>() {
            plans.extend(schedule.runs.iter().map(|run| run.plan.clone()));
            plans.extend(schedule.skipped.iter().map(|(plan, _)| plan.clone()));
        } else if let Some(concurrency) = detail.read::<Concurrency>() {
            let Some(second) = concurrency.pairs.get(1) else { continue };
            assert!(second.second.name.starts_with("occupancy/64 "), "{}", second.second.name);
            let step = &second.concurrent_a_first.steps[1].name;
            assert!(step.starts_with("occupancy/64 "), "{step}");
        } else if let Some(all) = detail.read::<Characterised>() {
            assert!(all.variants[0].number("MAX_REPEAT") == Some(12.0), "{:?}", all.variants);
        }
    }
    let of_transfers =
        ["upload heavy", "download heavy"].map(|load| format!("rule kernel bound, {load}"));
    assert!(of_transfers.iter().all(|plan| plans.contains(plan)), "{plans:?}");
    assert!(!plans.iter().any(|plan| plan.contains("send") || plan.contains("receive")));
}

#[test]
fn kinds_without_a_rate_have_no_amounts_of_work() {
    let run = read(&path(EVERY_KIND)).unwrap();
    let mut kinds = BTreeSet::new();
    for record in &run.records {
        let Some(measured) = &record.measured else { continue };
        kinds.insert(record.key.measure);
        let amounts = (measured.flops, measured.bytes);
        match record.key.measure.name() {
            "launch" | "concurrency" | "occupancy" | "characterise" => {
                assert_eq!(amounts, (0.0, 0.0), "{}", record.key);
            }
            "upload" | "download" | "transfer" => {
                assert!(amounts.0 == 0.0 && amounts.1 > 0.0, "{}: {amounts:?}", record.key);
            }
            _ => {}
        }
    }
    assert!(kinds.len() >= 10, "{kinds:?}");
}

#[test]
fn commands_take_it_as_any_run() {
    let (place, file) = (Place::new(), path(EVERY_KIND).display().to_string());
    let output = |arguments: &[&str]| {
        let output = place.output(arguments);
        let stderr = text(&output.stderr);
        assert!(output.status.success() && stderr.is_empty(), "{arguments:?}: {stderr}");
        text(&output.stdout)
    };
    for format in ["text", "html", "md", "csv", "json"] {
        let report = output(&["report", &file, "--format", format]);
        assert!(report.contains("occupancy/64") && !report.contains("staircase"), "{format}");
    }
    assert!(output(&["export", &file]).contains("occupancy/64"));
    let trace = output(&["trace", &file, "--case", "overlap_linear", "--device", "sim:10"]);
    assert!(trace.contains("upload 1") && trace.contains("download 1"), "{trace}");
    assert!(!trace.contains("send"), "{trace}");
}

/// A suite of version 1 is not today's suite to the byte, which `fit` asks for: the run is said to be of today's.
#[test]
fn kernels_of_version_1_are_fitted() {
    let place = Place::new();
    let today = gpubench::measure::load("selection").unwrap().hash;
    let old = std::fs::read_to_string(path("tests/data/selection/simulated.jsonl")).unwrap();
    let was = read(&path("tests/data/selection/simulated.jsonl")).unwrap().header.suite_hash;
    std::fs::write(place.folder.path().join("run.jsonl"), old.replace(&was, &today)).unwrap();
    let output = place.output(&["fit", "run.jsonl", "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let fits: Value = serde_json::from_str(&text(&output.stdout)).unwrap();
    let fits = fits.as_array().unwrap();
    assert_eq!(fits.len(), 6);
    assert!(fits.iter().all(|fit| fit["launches"] == 12), "{fits:?}");
}
