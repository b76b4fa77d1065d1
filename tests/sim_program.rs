//! The whole program without a driver: every command on simulated GPUs, as a user sees it.
//! Simulated times follow from the seed, so only wall times are left out of the snapshots.
#![cfg(target_os = "linux")]

mod common;

use common::{Place, suite, text};
use gpubench::gpu::Clock;
use serde_json::Value;
use std::process::Output;

const DEVICES: [&str; 5] = ["--sim", "gtx 260", "k40c", "--seed", "7"];

/// `gpubench run program.yaml` on two simulated devices, the suite in the working folder.
fn program(place: &Place, more: &[&str]) -> Output {
    let copy = place.folder.path().join("program.yaml");
    std::fs::copy(suite("program/program.yaml"), copy).expect("a copy");
    place.output(&[&["run", "program.yaml"], more, &DEVICES].concat())
}

/// What it printed, where it says that all is well.
#[track_caller]
fn printed(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// Without the lines with wall time, or the day and the machine.
fn without_time(text: &str) -> String {
    let kept = |line: &&str| {
        let varying = ["Time: ", "  Suite "].iter().any(|start| line.starts_with(start));
        !varying && !line.contains("estimated time")
    };
    text.lines().filter(kept).map(|line| format!("{line}\n")).collect()
}

#[test]
fn the_shipped_devices_are_listed() {
    let place = Place::new();
    let listed = printed(&place.output(&["devices", "--sim"]));
    insta::assert_snapshot!("devices", listed);
}

#[test]
fn a_suite_is_listed_and_planned() {
    let place = Place::new();
    insta::assert_snapshot!("list", printed(&program(&place, &["--list"])));
    let dry = printed(&program(&place, &["--dry-run"]));
    assert!(dry.contains("14 cases in 1 round, 2 skipped"), "{dry}");
    insta::assert_snapshot!("dry_run", without_time(&dry));
    assert!(place.results().is_empty());
}

#[test]
fn a_run_reports_tables_overlap_and_transfers_and_says_that_it_is_simulated() {
    let place = Place::new();
    let report = printed(&program(&place, &[]));
    insta::assert_snapshot!("report", without_time(&report));
    let run = place.run();
    assert!(run.records.iter().all(|record| record.simulated));
    let clocks = run.records.iter().filter_map(|record| record.measured.as_ref());
    assert!(clocks.into_iter().all(|measured| measured.clock == Clock::Simulated));

    let file = place.result().display().to_string();
    let trace = printed(&place.output(&["trace", &file, "--case", "chunks"]));
    let trace: Value = serde_json::from_str(&trace).expect("JSON");
    assert_eq!(trace["otherData"]["simulated"], true);
    let events = trace["traceEvents"].as_array().expect("a list of events");
    let tracks = |process: &str| {
        let of =
            events.iter().find(|e| e["name"] == "process_name" && e["args"]["name"] == process);
        let process = &of.expect("a recording of that name")["pid"];
        let threads = events.iter().filter(|e| e["name"] == "thread_name" && e["pid"] == *process);
        threads.map(|e| e["args"]["name"].as_str().unwrap_or_default()).collect::<Vec<_>>()
    };
    let four = tracks("sim:8 Tesla K40c: 4 chunks on 3 queues (simulated)");
    assert_eq!(four, ["queue 0: upload", "queue 1: kernel", "queue 2: download"]);
    let kernel = ["trace", &file, "--case", "matmul/wide n=64", "--device", "k40c"];
    let kernel: Value = serde_json::from_str(&printed(&place.output(&kernel))).expect("JSON");
    let kernel = kernel["traceEvents"].as_array().expect("a list of events");
    let launches: Vec<_> = kernel.iter().filter(|event| event["ph"] == "X").collect();
    assert!((1..=8).contains(&launches.len()), "{kernel:?}");
    assert_eq!(launches[0]["name"], "tiled 0");
    let none = place.output(&["trace", &file, "--case", "launch n=64"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(text(&none.stderr).contains("chunks rows=16"), "{}", text(&none.stderr));
    let written = place.output(&["trace", &file, "--case", "chunks", "-o", "trace.json"]);
    assert_eq!(written.status.code(), Some(0), "{}", text(&written.stderr));
    let written = std::fs::read_to_string(place.folder.path().join("trace.json"));
    assert_eq!(serde_json::from_str::<Value>(&written.expect("a file")).expect("JSON"), trace);
}

#[test]
fn rounds_scatter_apart_and_a_seed_gives_the_same_run() {
    let samples = || {
        let place = Place::new();
        printed(&program(&place, &["--rounds", "2", "--filter", "copy"]));
        let records = place.run().records;
        let samples = records.into_iter().filter_map(|record| record.measured);
        samples.map(|measured| measured.samples).collect::<Vec<_>>()
    };
    let first = samples();
    assert_eq!(first.len(), 4, "two devices, two rounds");
    assert!(first[0] != first[2] && first[1] != first[3], "{first:?}");
    assert_eq!(first, samples());
}

/// The second round of each device loses something: what an older gpubench did not time in turn, and a number of
/// chunks that there was no time for.
#[test]
fn rounds_of_an_overlap_are_compared_between_them_and_what_does_not_count_is_said() {
    let place = Place::new();
    let more = ["--rounds", "2", "--filter", "chunks", "--budget", "60"];
    let both = printed(&program(&place, &more));
    assert_eq!(both.matches("timed in turn: 18 turns in 2 rounds\n").count(), 2, "{both}");
    let records = std::fs::read_to_string(place.result()).expect("readable");
    let edited: Vec<String> = records.lines().map(without_some_of_round_1).collect();
    std::fs::write(place.folder.path().join("edited.jsonl"), edited.join("\n") + "\n")
        .expect("writable");
    let report = printed(&place.output(&["report", "edited.jsonl"]));
    for wanted in [
        "timed in turn: 9 turns in one round: its intervals say nothing of what another would measure\n",
        "rounds that do not count: 1 timed stages and runs one behind the other\n",
        "timed in turn: 18 turns in 2 rounds; no time in every round for 4 chunks\n",
    ] {
        assert_eq!(report.matches(wanted).count(), 1, "{wanted}: {report}");
    }
}

fn without_some_of_round_1(line: &str) -> String {
    let mut line: Value = serde_json::from_str(line).expect("JSON");
    if let Some(record) = line.get_mut("record").filter(|record| record["round"] == 1) {
        let is_first_device = record["device"] == 0;
        let overlap = &mut record["detail"]["overlap"];
        if is_first_device {
            overlap.as_object_mut().expect("an object").remove("turns");
        } else {
            overlap["runs"].as_array_mut().expect("runs").retain(|run| run["chunks"] != 4);
            overlap["turns"]["skipped"] = serde_json::json!([4]);
        }
    }
    line.to_string()
}

#[test]
fn a_description_of_ones_own_runs_in_a_process_of_its_own() {
    let place = Place::new();
    let shipped = include_str!("../crates/device/src/sim/devices/tesla-c2075.yaml");
    let mine = shipped.replace("Tesla C2075", "Mine").replace("units: 14", "units: 1 ");
    std::fs::write(place.folder.path().join("my.yaml"), mine).expect("writable");
    let suite = suite("program/program.yaml");
    let run = ["run", &suite, "--filter", "copy", "--seed", "7", "--sim", "my.yaml", "c2075"];
    let report = printed(&place.output(&run));
    assert!(report.contains("Mine         simulated: nothing was measured"), "{report}");
    let run = place.run();
    assert_eq!(run.header.devices.len(), 2);
    let seconds = |device: usize| {
        let of = run.records.iter().find(|record| record.device == device);
        of.and_then(|record| record.measured.as_ref()).map_or(0.0, |m| m.samples[0])
    };
    let [one, fourteen] = ["Mine", "Tesla C2075"].map(|name| {
        seconds(run.header.devices.iter().position(|d| d.name == name).unwrap_or(usize::MAX))
    });
    assert!(one > 2.0 * fourteen, "{one} s on one unit, {fourteen} s on fourteen");
}
