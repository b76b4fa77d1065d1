//! Whole runs of the real binary: what they leave, and what interrupts them.
#![cfg(target_os = "linux")]

mod common;

use common::{Place, finish, kill, no_orphan, outcomes, suite, text, until, workers};
use gpubench::record::Outcome;
use gpubench::store::read;
use std::collections::BTreeSet;
use std::io::Read;
use std::process::Stdio;

/// A short run on the simulated GPUs: eight sizes on two devices.
const SIM: [&str; 6] = ["--device", "sim:Tesla C1060", "--device", "sim:Tesla K40c", "--seed", "7"];

fn flow() -> String {
    suite("flow/flow.yaml")
}

fn args<'a>(suite: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["run", suite], &SIM[..], more].concat()
}

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

/// Every case, device and round once, whatever was cut and gone on with.
fn complete(place: &Place, cases: usize) {
    let run = place.run();
    assert!(run.footer.is_some() && run.warnings.is_empty(), "{:?}", run.warnings);
    let different: BTreeSet<_> =
        run.records.iter().map(|r| (r.device, r.round, r.key.clone())).collect();
    assert_eq!(different.len(), run.records.len(), "no case twice");
    assert_eq!(run.records.len(), cases, "no case lost");
}

#[test]
fn killed_at_any_moment_it_loses_the_line_in_hand_only() {
    let kills = std::env::var("GPUBENCH_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(12);
    let mut random = 7_u64;
    for _ in 0..kills {
        let place = Place::new();
        let flow = flow();
        let child = place.gpubench(&args(&flow, &["--rounds", "2"])).spawn();
        let mut child = child.expect("the binary starts");
        let pid = child.id();
        until("a result file", || !place.results().is_empty());
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        std::thread::sleep(std::time::Duration::from_millis(random >> 33 & 0x1ff));
        kill(pid, "KILL");
        child.wait().expect("it ends");
        no_orphan(pid);
        let file = place.result();
        // Killed before the header was whole: nothing is lost, and nothing can go on.
        let Ok(before) = read(&file) else { continue };
        if before.footer.is_none() {
            let file = file.display().to_string();
            let output = place.output(&["run", &flow, "--resume", &file]);
            assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        }
        complete(&place, 32);
        let after = &place.run().records[..before.records.len()];
        assert_eq!(after, before.records, "nothing that was written is lost");
    }
}

#[test]
fn a_killed_worker_is_replaced() {
    let place = Place::new();
    let child = place.gpubench(&args(&flow(), &["--rounds", "2"])).spawn().expect("starts");
    let pid = child.id();
    until("a result file", || !place.results().is_empty());
    let mut killed = 0;
    for _ in 0..5 {
        // The run may be over before the fifth.
        let mut found = vec![];
        until("a worker or the end", || {
            found = workers(pid);
            !found.is_empty()
                || place.results().iter().any(|f| read(f).is_ok_and(|r| r.footer.is_some()))
        });
        found.iter().for_each(|&worker| kill(worker, "KILL"));
        killed += found.len();
        std::thread::sleep(std::time::Duration::from_millis(30));
    }
    finish(child);
    complete(&place, 32);
    // Each kill costs the case in hand at most, and that one is tried again.
    let ok = place.run().records.iter().filter(|record| record.outcome.is_ok()).count();
    assert!(killed > 0 && ok >= 32 - killed, "{killed} killed, {ok} right");
}

/// How many processes measure where each may hold so much memory: what one round of a device takes.
fn processes_that_measure(budget: &str) -> usize {
    let place = Place::new();
    let text = std::fs::read_to_string(flow()).expect("a suite");
    let suite = place.folder.path().join("small.yaml");
    std::fs::write(&suite, text.replace("budget: {", &format!("budget: {{ {budget}")))
        .expect("a file");
    let suite = suite.display().to_string();
    let mut child =
        place.gpubench(&["run", &suite, "--sim", "k40c", "--rounds", "1"]).spawn().expect("starts");
    let (pid, mut seen) = (child.id(), BTreeSet::new());
    while child.try_wait().expect("a child").is_none() {
        seen.extend(workers(pid));
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    finish(child);
    complete(&place, 8);
    assert!(place.run().records.iter().all(|record| record.outcome.is_ok()));
    seen.len()
}

#[test]
fn a_process_without_room_for_the_next_case_is_replaced() {
    let [kept, replaced] = ["", "process: 1 MiB, "].map(processes_that_measure);
    assert!(replaced >= kept + 4, "{replaced} processes, {kept} without a limit");
}

#[test]
fn the_first_interruption_finishes_the_line_and_the_run_can_go_on() {
    let place = Place::new();
    let flow = flow();
    let child = place.gpubench(&args(&flow, &["--rounds", "4"])).spawn().expect("starts");
    let pid = child.id();
    until("a first record", || {
        place.results().iter().any(|file| read(file).is_ok_and(|run| !run.records.is_empty()))
    });
    kill(pid, "INT");
    let output = finish(child);
    no_orphan(pid);
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert!(text(&output.stdout).is_empty(), "no half tables");
    assert!(text(&output.stderr).contains("--resume"), "{}", text(&output.stderr));
    let run = place.run();
    assert!(run.warnings.is_empty() && run.footer.is_none());
    let file = place.result().display().to_string();
    let output = place.output(&["run", &flow, "--resume", &file]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    complete(&place, 64);
}

#[test]
fn the_second_interruption_stops_at_once() {
    let place = Place::new();
    let faults = suite("faults/faults.yaml");
    let args = [
        "run",
        &faults,
        "--trust",
        "--backend",
        "faulty",
        "--filter",
        "hangs_in_launch",
        "--filter",
        "fault",
    ];
    let child = place.gpubench(&args).spawn().expect("starts");
    let pid = child.id();
    until("a case", || !place.results().is_empty() && !workers(pid).is_empty());
    // Without a --timeout the launch would hang for a minute.
    kill(pid, "INT");
    std::thread::sleep(std::time::Duration::from_millis(100));
    assert!(!workers(pid).is_empty(), "the first only asks");
    kill(pid, "INT");
    let output = finish(child);
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    no_orphan(pid);
    assert!(place.run().footer.is_none());
}

/// A terminal that closes asks as Ctrl-C does; there is nobody left to read.
#[test]
fn a_closed_terminal_finishes_the_line_and_the_run_can_go_on() {
    let place = Place::new();
    let flow = flow();
    let mut child = place.gpubench(&args(&flow, &["--rounds", "4"])).spawn().expect("starts");
    let pid = child.id();
    until("a first record", || {
        place.results().iter().any(|file| read(file).is_ok_and(|run| !run.records.is_empty()))
    });
    drop((child.stdout.take(), child.stderr.take()));
    kill(pid, "HUP");
    let status = finish(child).status;
    no_orphan(pid);
    assert_eq!(status.code(), Some(130), "{status:?}");
    let run = place.run();
    assert!(run.warnings.is_empty() && run.footer.is_none());
    let file = place.result().display().to_string();
    let output = place.output(&["run", &flow, "--resume", &file]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    complete(&place, 64);
}

#[test]
fn what_has_changed_is_not_resumed() {
    let place = Place::new();
    let copy = place.folder.path().join("copy.yaml");
    std::fs::copy(flow(), &copy).expect("a copy");
    let copy = copy.display().to_string();
    let child = place.gpubench(&args(&copy, &["--rounds", "50"])).spawn().expect("starts");
    let pid = child.id();
    until("a result file", || !place.results().is_empty());
    kill(pid, "INT");
    finish(child);
    let mut changed = std::fs::read_to_string(&copy).expect("readable");
    changed.push_str("# changed\n");
    std::fs::write(&copy, changed).expect("writable");
    let file = place.result().display().to_string();
    let output = place.output(&["run", &copy, "--resume", &file]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("has changed"), "{}", text(&output.stderr));
}

#[test]
fn a_second_run_waits_for_the_first_or_leaves() {
    let place = Place::new();
    let faults = suite("faults/faults.yaml");
    let busy = [
        "run",
        &faults,
        "--trust",
        "--backend",
        "faulty",
        "--filter",
        "hangs_in_launch",
        "--filter",
        "fault",
    ];
    let mut first = place.gpubench(&busy).spawn().expect("starts");
    until("a case", || !place.results().is_empty() && !workers(first.id()).is_empty());

    let works =
        ["run", &faults, "--backend", "faulty", "--filter", "chatters", "--output", "second"];
    let leaves = place.output(&[&works[..], &["--no-wait"]].concat());
    assert_eq!(leaves.status.code(), Some(2));
    let stderr = text(&leaves.stderr);
    assert!(stderr.contains(&format!("pid {}", first.id())), "{stderr}");

    let insists =
        [&works[..3], &["faulty", "--filter", "chatters", "--output", "third", "--no-lock"]];
    let insists = place.output(&insists.concat());
    assert_eq!(insists.status.code(), Some(0), "{}", text(&insists.stderr));

    let mut second = place.gpubench(&works).spawn().expect("starts");
    let mut stderr = second.stderr.take().expect("piped");
    let mut said = [0; 200];
    let read = stderr.read(&mut said).expect("it says that it waits");
    assert!(text(&said[..read]).contains("waiting"), "{}", text(&said[..read]));
    assert!(!place.folder.path().join("second").exists(), "it waits");

    kill(first.id(), "KILL");
    first.wait().expect("it ends");
    assert_eq!(finish(second).status.code(), Some(0));
    assert!(place.folder.path().join("second").exists());
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
