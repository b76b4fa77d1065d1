//! A run that was cut short goes on as it was begun: with what the user set, and with what it had learnt.
#![cfg(target_os = "linux")]

mod common;

use common::{Place, records, suite, text};
use gpubench::record::Outcome;
use std::path::Path;

/// Cuts the only result file here down to its header and those lines that contain `kept`.
fn cut(place: &Place, kept: &str) -> String {
    let file = place.result();
    let whole = std::fs::read_to_string(&file).expect("readable");
    let mut lines = whole.lines();
    let header = lines.next().expect("a header");
    let records = lines.filter(|line| line.contains("\"record\"") && line.contains(kept));
    let short: String = [header].into_iter().chain(records).flat_map(|line| [line, "\n"]).collect();
    std::fs::write(&file, short).expect("writable");
    file.display().to_string()
}

fn succeeds(place: &Place, args: &[&str], code: i32) {
    let output = place.output(args);
    assert_eq!(output.status.code(), Some(code), "{}", text(&output.stderr));
}

#[test]
fn the_budget_that_was_set_still_holds() {
    let place = Place::new();
    let flow = suite("flow/flow.yaml");
    let sim = ["--device", "sim:Tesla K40c", "--budget", "0.001", "--rounds", "1"];
    place.output(&[&["run", flow.as_str()][..], &sim].concat());
    let file = cut(&place, "nothing");
    assert!(place.run().records.is_empty());
    place.output(&["run", &flow, "--resume", &file]);
    let run = place.run();
    assert_eq!(run.records.len(), 8);
    let is_over =
        |o: &Outcome| matches!(o, Outcome::Skipped(why) if why.to_string().contains("time budget"));
    // The first may begin within the millisecond.
    assert!(run.records.iter().filter(|r| is_over(&r.outcome)).count() >= 7);
}

/// A GPU on which a copy of 256 KiB takes two thirds of a second. The sixteenth of a copy of 2,048 floats, which
/// is tried before the whole, takes 1.4 ms there and that of 4,096 takes 2.8: noise does not decide which of them
/// is more than 2 ms, and so too long.
fn slow_gpu(folder: &Path) {
    let shipped =
        concat!(env!("CARGO_MANIFEST_DIR"), "/crates/device/src/sim/devices/tesla-c1060.yaml");
    let shipped = std::fs::read_to_string(shipped).expect("a description");
    let slow = shipped.replace("Tesla C1060", "Slow C1060").replace("102.0e9", "0.72e6");
    std::fs::write(folder.join("slow.yaml"), slow).expect("writable");
}

#[test]
fn a_case_that_was_too_long_stays_skipped() {
    let place = Place::new();
    slow_gpu(place.folder.path());
    let flow = suite("flow/flow.yaml");
    let sim = ["--sim", "slow.yaml", "--device", "sim:Slow", "--rounds", "2"];
    succeeds(&place, &[&["run", flow.as_str()][..], &sim].concat(), 0);
    let whole = place.run();
    let file = cut(&place, "\"round\":0");
    assert_eq!(place.run().records.len(), 8, "those of the first round");
    succeeds(&place, &["run", &flow, "--sim", "slow.yaml", "--resume", &file], 0);
    let resumed = place.run();
    let mut skipped = 0;
    for record in records(&resumed, "copy") {
        let same = whole.records.iter().find(|r| r.key == record.key && r.round == record.round);
        let same = same.expect("it is in the whole run");
        assert_eq!(record.outcome, same.outcome, "{}", record.key);
        if record.round == 1 && record.outcome.is_skipped() {
            skipped += 1;
            assert_eq!(record.wall.total(), 0.0, "{} was tried again", record.key);
        }
    }
    assert!((1..8).contains(&skipped), "{skipped}");
}
