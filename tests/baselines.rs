//! Baselines by the real binary, over invented and simulated runs.
#![cfg(target_os = "linux")]

mod common;

use common::{Place, invented, output};
use gpubench::record::{Header, Outcome, Record};
use gpubench::store::{Writer, read};
use std::path::PathBuf;

/// A run of `rounds` rounds of four cases, each `factor` times a millisecond.
fn write(place: &Place, name: &str, device: &str, rounds: u32, factor: f64) -> PathBuf {
    // Files with one seed are of one run.
    let seed = name.bytes().fold(0u64, |seed, byte| seed.wrapping_mul(31) + u64::from(byte));
    let header = Header { seed, ..invented::header(vec![invented::device(device)], rounds) };
    let path = place.folder.path().join(name);
    let mut writer = Writer::create_at(&path, &header).expect("a new file");
    for round in 0..rounds {
        for case in 0..4 {
            let wobble = 1.0 + 1e-4 * f64::from((round * 7 + case as u32) % 5);
            let samples = vec![1e-3 * factor * wobble; 15];
            let record = invented::record(invented::key("copy", case), 0, round, samples);
            writer.append(&record).expect("written");
        }
    }
    writer.leave().expect("on disk")
}

/// Its rounds would count twice, and intervals shrink to what was never measured.
#[test]
fn a_run_and_the_baseline_that_was_made_of_it_count_once() {
    let place = Place::new();
    write(&place, "a.jsonl", "Card A", 2, 1.0);
    let save = ["baseline", "save", "--allow", "few-rounds", "a.jsonl"];
    assert_eq!(output(&place, &save).0, Some(0));
    let (code, _, stderr) =
        output(&place, &["baseline", "save", "--folder", "other", "a.jsonl", "baselines"]);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("fewer than 3 rounds"), "{stderr}");
    assert!(stderr.contains("holds the same run as a.jsonl"), "{stderr}");
    let rounds = |paths: &[&str]| {
        let (code, stdout, stderr) =
            output(&place, &[&["rank", "--format", "json"][..], paths].concat());
        assert_eq!(code, Some(0), "{stderr}");
        let ranking: serde_json::Value = serde_json::from_str(&stdout).expect("JSON");
        let rounds = &ranking["ranking"]["families"][0]["rows"][0]["rounds"];
        assert!(rounds.is_array(), "{stdout}");
        rounds.clone()
    };
    assert_eq!(rounds(&["a.jsonl", "baselines"]), rounds(&["a.jsonl"]));
    assert_eq!(rounds(&["baselines"]), rounds(&["a.jsonl"]), "a baseline alone counts");
    // A copy of some of its lines, in another order.
    let text = std::fs::read_to_string(place.folder.path().join("a.jsonl")).expect("a run");
    let mut lines: Vec<&str> = text.lines().collect();
    lines.pop();
    lines[1..].reverse();
    let copy = place.folder.path().join("copy.jsonl");
    std::fs::write(copy, lines.join("\n") + "\n").expect("written");
    assert_eq!(rounds(&["copy.jsonl", "a.jsonl"]), rounds(&["a.jsonl"]));
    // What a baseline remembers is no copy.
    write(&place, "b.jsonl", "Card A", 3, 1.1);
    let (_, stdout, stderr) =
        output(&place, &["baseline", "history", "--all", "b.jsonl", "baselines"]);
    assert!(!stderr.contains("same run") && stdout.contains("copy n=3"), "{stderr}{stdout}");
}

#[test]
fn a_run_teaches_a_baseline_once() {
    let place = Place::new();
    write(&place, "a.jsonl", "Card A", 3, 1.0);
    assert_eq!(output(&place, &["baseline", "save", "a.jsonl"]).0, Some(0));
    let update = |name: &str| {
        let (code, _, stderr) = output(&place, &["baseline", "update", name]);
        assert_eq!(code, Some(0), "{stderr}");
        stderr
    };
    let all = [update("a.jsonl"), update("a.jsonl")].concat();
    assert!(!all.contains("runs"), "{all}");
}

/// Some measures keep no samples; version 1 called others otherwise.
#[test]
fn a_copy_counts_once_whatever_was_measured_and_whoever_wrote_it() {
    let old = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/v1/every-kind.jsonl");
    let old = std::fs::read_to_string(old).expect("a run of version 1");
    let place = Place::new();
    let write = |name: &str, measures: &[&str]| {
        let named =
            |line: &str, measure: &&str| line.contains(&format!(r#""measure":"{measure}""#));
        let mut lines = old.lines();
        let header = lines.next().expect("a header");
        let some = lines.filter(|line| measures.iter().any(|measure| named(line, measure)));
        let text: Vec<&str> = [header].into_iter().chain(some).collect();
        assert!(text.len() > 1, "{name}");
        std::fs::write(place.folder.path().join(name), text.join("\n") + "\n").expect("written");
    };
    let said = |files: [&str; 2]| {
        let rank = ["rank", "--include-simulated", "--include-cpu"];
        output(&place, &[&rank[..], &files].concat()).2
    };
    write("details.jsonl", &["split", "transfer-states"]);
    write("part.jsonl", &["split"]);
    let stderr = said(["details.jsonl", "part.jsonl"]);
    assert!(stderr.contains("part.jsonl holds the same run as details.jsonl"), "{stderr}");
    write("renamed.jsonl", &["send", "receive", "staircase", "rearrange"]);
    let save = ["baseline", "save", "--allow", "few-rounds,unverified,drift", "renamed.jsonl"];
    assert_eq!(output(&place, &save).0, Some(0));
    let stderr = said(["renamed.jsonl", "baselines"]);
    assert!(stderr.contains("holds the same run as renamed.jsonl"), "{stderr}");
}

#[test]
fn a_baseline_is_saved_listed_shown_and_compared_with() {
    let place = Place::new();
    write(&place, "a.jsonl", "Card A", 5, 1.0);
    let (code, _, stderr) = output(&place, &["baseline", "save", "a.jsonl"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(
        place.folder.path().join("baselines/nobody-card-a-opencl--1-0--0-cores.jsonl").exists()
    );

    let (code, stdout, _) = output(&place, &["baseline", "list"]);
    assert!(code == Some(0) && stdout.contains("nobody-card-a-opencl"), "{stdout}");
    let (code, stdout, _) = output(&place, &["baseline", "show", "card-a"]);
    assert!(
        code == Some(0) && stdout.contains("copy n=3") && stdout.contains("1.00 ms"),
        "{stdout}"
    );

    write(&place, "same.jsonl", "Card A", 5, 1.0005);
    let (code, stdout, stderr) = output(&place, &["compare", "same.jsonl", "--fail-on", "slower"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains("= 4 the same"), "{stdout}");

    write(&place, "slow.jsonl", "Card A", 5, 1.2);
    let (code, stdout, _) = output(&place, &["compare", "slow.jsonl", "--fail-on", "slower:5%"]);
    assert_eq!(code, Some(1), "{stdout}");
    assert!(stdout.contains("▼ 4 slower"), "{stdout}");
}

#[test]
fn repeated_runs_teach_the_noise_floor() {
    let place = Place::new();
    for (name, factor) in [("r1.jsonl", 1.0), ("r2.jsonl", 1.08), ("r3.jsonl", 1.03)] {
        write(&place, name, "Card A", 3, factor);
    }
    write(&place, "new.jsonl", "Card A", 5, 1.08);
    assert_eq!(output(&place, &["baseline", "save", "r1.jsonl"]).0, Some(0));
    let (_, stdout, _) = output(&place, &["compare", "new.jsonl"]);
    assert!(stdout.contains("▼ 4 slower"), "one run knows nothing of the noise: {stdout}");

    let all = ["baseline", "save", "r1.jsonl", "r2.jsonl", "r3.jsonl"];
    let (code, _, stderr) = output(&place, &all);
    assert!(code == Some(2) && stderr.contains("--replace"), "{stderr}");
    let (code, _, stderr) = output(&place, &[&all[..], &["--replace"]].concat());
    assert!(code == Some(0) && stderr.contains("4 cases from 3 runs"), "{stderr}");
    let saved =
        read(&place.folder.path().join("baselines/nobody-card-a-opencl--1-0--0-cores.jsonl"))
            .unwrap();
    assert_eq!((saved.records.len(), saved.header.rounds), (3 * 3 * 4, 9));
    let (_, stdout, _) = output(&place, &["compare", "new.jsonl"]);
    assert!(stdout.contains("▼ 0 slower"), "three runs do: {stdout}");
    let (_, stdout, _) = output(&place, &["baseline", "show", "card-a"]);
    assert!(stdout.contains("8.0 %"), "{stdout}");
}

#[test]
fn what_says_too_little_is_rejected_unless_that_is_allowed_by_name() {
    let place = Place::new();
    let short = write(&place, "short.jsonl", "Card A", 2, 1.0);
    let save = |more: &[&str]| output(&place, &[&["baseline", "save"], more].concat());
    let (code, _, stderr) = save(&["short.jsonl"]);
    assert!(code == Some(2) && stderr.contains("fewer than 3 rounds of copy n=0 (2)"), "{stderr}");
    assert_eq!(save(&["short.jsonl", "--allow", "unverified"]).0, Some(2));
    assert_eq!(save(&["short.jsonl", "--allow", "few-rounds"]).0, Some(0));

    let (mut writer, _) = Writer::resume(&short).expect("a run without its end");
    let wrong = Record {
        outcome: Outcome::Unchecked,
        ..invented::record(invented::key("free", 1), 0, 0, vec![1.0; 15])
    };
    writer.append(&wrong).expect("written");
    writer.leave().expect("on disk");
    let (code, _, stderr) = save(&["short.jsonl", "--allow", "few-rounds", "--replace"]);
    assert!(code == Some(2) && stderr.contains("not verified: free n=1"), "{stderr}");
    let both = ["short.jsonl", "--allow", "few-rounds,unverified", "--replace"];
    assert_eq!(save(&both).0, Some(0));
}

#[test]
fn a_round_that_stands_in_the_file_three_times_is_one_round() {
    let place = Place::new();
    let path = write(&place, "one.jsonl", "Card A", 1, 1.0);
    let whole = std::fs::read_to_string(&path).expect("a result");
    let (_, records) = whole.split_once('\n').expect("a header");
    std::fs::write(&path, format!("{whole}{records}{records}")).expect("written");
    let (code, _, stderr) = output(&place, &["baseline", "save", "one.jsonl"]);
    assert!(code == Some(2) && stderr.contains("fewer than 3 rounds of copy n=0 (1)"), "{stderr}");
    let first = "one.jsonl:6: the same case, device and round as line 2; counted once";
    assert!(stderr.contains(first), "{stderr}");
    let (_, stdout, stderr) = output(&place, &["rank", "one.jsonl"]);
    assert!(stderr.contains("counted once"), "{stdout}{stderr}");
}

/// Headers that say fewer rounds than there are, or more than anybody can count.
#[test]
fn no_two_rounds_of_pooled_runs_get_one_number() {
    let place = Place::new();
    let claims = |name: &str, factor: f64, rounds: u32| {
        let path = write(&place, name, "Card A", 3, factor);
        let whole = std::fs::read_to_string(&path).expect("a result");
        let other = whole.replacen("\"rounds\":3", &format!("\"rounds\":{rounds}"), 1);
        assert_ne!(other, whole);
        std::fs::write(&path, other).expect("written");
    };
    claims("one.jsonl", 1.0, 1);
    claims("other.jsonl", 1.01, 900_000);
    write(&place, "third.jsonl", "Card A", 3, 1.02);
    let all = ["baseline", "save", "one.jsonl", "other.jsonl", "third.jsonl", "--allow", "drift"];
    let (code, _, stderr) = output(&place, &all);
    assert_eq!(code, Some(0), "{stderr}");
    let file = "baselines/nobody-card-a-opencl--1-0--0-cores.jsonl";
    let saved = read(&place.folder.path().join(file)).unwrap();
    assert_eq!((saved.records.len(), saved.warnings.len()), (3 * 3 * 4, 0), "{:?}", saved.warnings);
    claims("more.jsonl", 1.0, u32::MAX);
    let (code, _, stderr) = output(&place, &["report", "more.jsonl"]);
    assert!(code == Some(2) && stderr.contains("4294967295 rounds"), "{stderr}");
}

#[test]
fn a_baseline_of_another_device_is_rejected() {
    let place = Place::new();
    write(&place, "a.jsonl", "Card A", 3, 1.0);
    write(&place, "b.jsonl", "Card B", 3, 1.0);
    assert_eq!(output(&place, &["baseline", "save", "a.jsonl"]).0, Some(0));
    let file = "baselines/nobody-card-a-opencl--1-0--0-cores.jsonl";
    let (code, _, stderr) = output(&place, &["compare", "b.jsonl", "--baseline", file]);
    assert!(code == Some(7) && stderr.contains("the devices differ"), "{stderr}");
    let (code, _, stderr) = output(&place, &["compare", "b.jsonl"]);
    assert!(code == Some(7) && stderr.contains("no baseline of Card B"), "{stderr}");
    let args = ["compare", "b.jsonl", "--baseline", file, "--allow-mismatch"];
    let (code, stdout, _) = output(&place, &args);
    assert!(code == Some(0) && stdout.contains("another device before: Card A"), "{stdout}");
}

#[test]
fn a_simulated_run_can_be_repeated_saved_and_compared() {
    let place = Place::new();
    let flow = common::suite("flow/flow.yaml");
    let run =
        ["run", &flow, "--device", "sim:Tesla C1060", "--seed", "7", "--quiet", "--repeat", "2"];
    let (code, _, stderr) = output(&place, &run);
    assert!(code == Some(0) && stderr.contains("gpubench baseline save results/"), "{stderr}");
    let (code, _, stderr) = output(&place, &["baseline", "save", "results"]);
    assert!(code == Some(0) && stderr.contains("8 cases from 2 runs"), "{stderr}");
    let newest = place.results().pop().expect("two results").display().to_string();
    let (code, stdout, stderr) = output(&place, &["compare", &newest, "--fail-on", "slower"]);
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    assert!(stdout.contains("▼ 0 slower, ▲ 0 faster"), "{stdout}");
}
