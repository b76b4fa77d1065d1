//! What interrupts a run, and how it goes on.

use crate::common::{Place, finish, kill, no_orphan, suite, text, until, workers};
use crate::{args, flow};
use gpubench::store::read;
use std::collections::BTreeSet;
use std::io::Read;
use std::process::{Child, Output};

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

/// Interrupts a run by `signal` once its first record is there, after `before`, and resumes it: no case is lost. Returns
/// what the interrupted one wrote.
fn interrupted(signal: &str, before: impl FnOnce(&mut Child)) -> Output {
    let place = Place::new();
    let flow = flow();
    let mut child = place.gpubench(&args(&flow, &["--rounds", "4"])).spawn().expect("starts");
    let pid = child.id();
    until("a first record", || {
        place.results().iter().any(|file| read(file).is_ok_and(|run| !run.records.is_empty()))
    });
    before(&mut child);
    kill(pid, signal);
    let ended = finish(child);
    no_orphan(pid);
    assert_eq!(ended.status.code(), Some(130), "{}", text(&ended.stderr));
    let run = place.run();
    assert!(run.warnings.is_empty() && run.footer.is_none());
    let file = place.result().display().to_string();
    let output = place.output(&["run", &flow, "--resume", &file]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    complete(&place, 64);
    ended
}

#[test]
fn the_first_interruption_finishes_the_line_and_the_run_can_go_on() {
    let output = interrupted("INT", |_| {});
    assert!(text(&output.stdout).is_empty(), "no half tables");
    assert!(text(&output.stderr).contains("--resume"), "{}", text(&output.stderr));
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
    interrupted("HUP", |child| drop((child.stdout.take(), child.stderr.take())));
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
