//! What a run leaves and says.

use crate::common::{Place, finish, no_orphan, outcomes, suite, text};
use crate::{args, flow};
use gpubench::record::Outcome;
use std::process::Stdio;

#[test]
fn a_run_leaves_a_whole_file_and_a_table() {
    let place = Place::new();
    let output = place.output(&args(&flow(), &["--rounds", "2"]));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let run = place.run();
    assert!(run.warnings.is_empty());
    assert_eq!(run.header.seed, 7);
    assert_eq!(run.header.devices.len(), 2);
    assert_eq!(run.footer.as_ref().map(|f| f.records), Some(run.records.len() as u64));
    assert_eq!(run.records.len(), 2 * 2 * 8, "devices, rounds, sizes");
    assert!(run.records.iter().all(|r| r.outcome.is_ok() && r.measured.is_some()));
    let stdout = text(&output.stdout);
    assert!(stdout.contains("n=4096") && stdout.contains("sim:"), "{stdout}");
    let stderr = text(&output.stderr);
    assert!(stderr.contains(".jsonl"), "the file is named: {stderr}");
}

#[test]
fn each_round_has_its_own_order() {
    let place = Place::new();
    place.output(&args(&flow(), &["--rounds", "2"]));
    let run = place.run();
    let order = |device, round| -> Vec<_> {
        let of = run.records.iter().filter(|r| r.device == device && r.round == round);
        of.map(|r| r.key.size.clone()).collect()
    };
    assert_ne!(order(0, 0), order(0, 1));
}

#[test]
fn verification_alone_measures_nothing() {
    let place = Place::new();
    let output = place.output(&args(&flow(), &["--verify", "--rounds", "1"]));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(place.run().records.iter().all(|r| r.outcome.is_ok() && r.measured.is_none()));
}

#[test]
fn what_the_budget_leaves_out_is_a_record() {
    let place = Place::new();
    let output = place.output(&args(&flow(), &["--budget", "0.001", "--rounds", "1"]));
    let run = place.run();
    assert_eq!(run.records.len(), 16);
    let skipped =
        |o: &Outcome| matches!(o, Outcome::Skipped(why) if why.to_string().contains("time budget"));
    // The first of each device may begin within the millisecond.
    assert!(run.records.iter().filter(|r| skipped(&r.outcome)).count() >= 14);
    assert!(text(&output.stdout).contains("time budget"));
}

#[test]
fn a_run_of_which_nothing_is_left_has_failed() {
    let place = Place::new();
    let suite = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/bad.in/huge-buffer.yaml");
    let output = place.output(&["run", suite, "--trust", "--backend", "sim", "--device", "K40"]);
    assert_eq!(output.status.code(), Some(4));
    assert!(text(&output.stderr).contains("nothing was run"), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("1.00 TiB"), "{}", text(&output.stdout));
    assert!(place.run().records[0].outcome.is_skipped());
}

#[test]
fn listing_and_dry_runs_write_nothing() {
    let place = Place::new();
    let list = place.output(&args(&flow(), &["--list", "--filter", "n>=4096"]));
    assert_eq!(text(&list.stdout).lines().count(), 5);
    let dry = place.output(&args(&flow(), &["--dry-run"]));
    let stdout = text(&dry.stdout);
    assert!(stdout.contains("16 cases") && stdout.contains("estimated time"), "{stdout}");
    assert!(place.results().is_empty());
}

#[test]
fn a_filter_that_matches_nothing_says_what_is_there() {
    let place = Place::new();
    let output = place.output(&args(&flow(), &["--filter", "copi"]));
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("copy"), "{}", text(&output.stderr));
    assert!(place.results().is_empty());
}

#[test]
fn without_a_device_it_leaves_with_three() {
    let place = Place::new();
    let mut command = place.gpubench(&["run", &flow(), "--backend", "opencl"]);
    command.env("OCL_ICD_VENDORS", place.folder.path());
    let output = finish(command.spawn().expect("the binary starts"));
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
}

#[test]
fn a_folder_that_cannot_be_written_is_said() {
    let place = Place::new();
    let file = place.folder.path().join("results");
    std::fs::write(&file, "in the way").expect("a file");
    let output = place.output(&args(&flow(), &[]));
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("results"), "{}", text(&output.stderr));
}

#[test]
fn a_closed_stdout_is_no_panic() {
    let place = Place::new();
    let mut command = place.gpubench(&args(&flow(), &["--rounds", "1"]));
    let mut child = command.stdout(Stdio::piped()).spawn().expect("the binary starts");
    drop(child.stdout.take());
    let pid = child.id();
    let output = finish(child);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(!text(&output.stderr).contains("panicked"));
    assert!(place.run().footer.is_some());
    no_orphan(pid);
}

#[test]
fn repeated_runs_have_a_file_each() {
    let place = Place::new();
    let output = place.output(&args(&flow(), &["--rounds", "1", "--repeat", "3"]));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(place.results().len(), 3);
}

/// On two drivers of this machine.
#[test]
#[cfg_attr(
    not(all(feature = "require-opencl", feature = "require-wgpu")),
    ignore = "needs an OpenCL driver and a wgpu driver"
)]

fn another_device_can_be_the_oracle() {
    let place = Place::new();
    let suite = suite("flow/cross_device_oracle.yaml");
    let output = place.output(&["run", &suite, "--rounds", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let run = place.run();
    assert!(run.header.devices.len() > 1, "{:?}", run.header.devices);
    for outcome in outcomes(&run, "verified_by_another_device") {
        assert_eq!(*outcome, Outcome::Ok);
    }
}

#[test]
#[cfg_attr(
    not(all(feature = "require-opencl", feature = "require-wgpu", feature = "require-vulkan")),
    ignore = "needs drivers of OpenCL, wgpu and Vulkan"
)]

fn a_small_run_on_real_devices() {
    for backend in ["opencl", "vulkan", "wgpu"] {
        let place = Place::new();
        let args =
            ["run", "micro", "--backend", backend, "--filter", "copy", "--filter", "n=65536"];
        let output = place.output(&[&args[..], &["--rounds", "1", "--budget", "30"]].concat());
        assert_eq!(output.status.code(), Some(0), "{backend}: {}", text(&output.stderr));
        let run = place.run();
        for outcome in outcomes(&run, "copy") {
            assert_eq!(*outcome, Outcome::Ok, "{backend}: {}", text(&output.stderr));
        }
    }
}

#[test]
fn it_says_what_it_will_do_and_what_it_took() {
    let place = Place::new();
    let output = place.output(&args(&flow(), &["--rounds", "2"]));
    let stderr = text(&output.stderr);
    let [begin, end] = ["16 cases in 2 rounds, 0 skipped; estimated time: ", "took "]
        .map(|said| stderr.find(said).unwrap_or_else(|| panic!("no `{said}` in {stderr}")));
    assert!(begin < end, "{stderr}");
    let footer = place.run().footer.expect("a footer");
    assert!(footer.estimated.is_some_and(|seconds| seconds > 0.0) && footer.wall > 0.0);
}

#[test]
fn devices_take_turns_and_each_has_a_budget_of_its_own() {
    let place = Place::new();
    let output = place.output(&args(&flow(), &["--budget", "20", "--rounds", "2"]));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("at most 20.0 s a device"));
    let run = place.run();
    assert!(run.records.iter().all(|record| record.outcome.is_ok()));
    let turns: Vec<_> = run.records.iter().map(|record| (record.round, record.device)).collect();
    assert!(turns.is_sorted(), "one device after the other: {turns:?}");
    let sizes: Vec<i64> = run.records[..8].iter().map(|record| record.key.size[0].1).collect();
    assert!(sizes.is_sorted(), "the smallest first: {sizes:?}");
}
