//! Devices of other machines: a run behind a command is a run, whatever becomes of the command. `env` is the way
//! to this machine, small scripts are links that stall, drop, garble and are killed.
#![cfg(target_os = "linux")]

#[path = "../common/mod.rs"]
mod common;
mod files;
mod links;
mod machines;
mod ssh;

use common::{Place, finish, outcomes, suite, text, until};
use gpubench::hash::sha256_hex;
use gpubench::record::{Outcome, Record};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// `gpubench` in a place, with itself in the `PATH`.
fn gpubench(place: &Place, args: &[&str]) -> Command {
    let mut command = place.gpubench(args);
    let folder = Path::new(env!("CARGO_BIN_EXE_gpubench")).parent().expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", folder.display()));
    command
}

fn output(place: &Place, args: &[&str]) -> Output {
    finish(gpubench(place, args).spawn().expect("the binary starts"))
}

/// The processes of this program that live in a place, run by the processor or by qemu.
fn living(place: &Place) -> Vec<u32> {
    let folder = place.folder.path().canonicalize().expect("a folder");
    let binary = Path::new(env!("CARGO_BIN_EXE_gpubench")).canonicalize().expect("a file");
    let is_ours = |exe: &Path| {
        exe == binary || exe.file_name().is_some_and(|n| n.to_string_lossy().starts_with("qemu-"))
    };
    let entries = std::fs::read_dir("/proc").expect("processes").flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_string_lossy().parse().ok());
    let link = |pid: &u32, what: &str| std::fs::read_link(format!("/proc/{pid}/{what}")).ok();
    pids.filter(|pid| {
        link(pid, "cwd").as_ref() == Some(&folder)
            && link(pid, "exe").is_some_and(|exe| is_ours(&exe))
    })
    .collect()
}

/// No process and no file of a run is left.
fn nothing_is_left(place: &Place) {
    until("the end of all processes", || living(place).is_empty());
    let left = || -> Vec<PathBuf> {
        let files = std::fs::read_dir(place.folder.path().join("tmp")).expect("a folder").flatten();
        let is_scratch = |path: &PathBuf| path.to_string_lossy().contains("gpubench-scratch");
        files.map(|file| file.path()).filter(is_scratch).collect()
    };
    assert!(left().is_empty(), "{:?}", left());
}

const SIM: [&str; 6] = ["--sim", "k40c", "--seed", "7", "--rounds", "2"];

/// A link in a file: `script` runs the words behind it.
fn link(place: &Place, script: &str) -> String {
    let file = place.folder.path().join("link.sh");
    std::fs::write(&file, script).expect("writable");
    format!("sh {}", file.display())
}

/// What the records measured and how it ended.
fn results(records: &[Record]) -> Vec<(String, Outcome, Option<Vec<f64>>)> {
    let one = |r: &Record| {
        let samples = r.measured.as_ref().map(|measured| measured.samples.clone());
        (format!("{} {}", r.key, r.round), r.outcome.clone(), samples)
    };
    records.iter().map(one).collect()
}

fn lines(file: &Path) -> usize {
    std::fs::read_to_string(file).map_or(0, |text| text.lines().count())
}

#[test]
fn a_run_behind_a_command_is_the_run_that_it_is_here() {
    let program = suite("program/program.yaml");
    let run = |more: &[&str]| {
        let place = Place::new();
        let found = output(&place, &[&["run", &program], more, &SIM].concat());
        assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
        nothing_is_left(&place);
        (place.run(), text(&found.stdout))
    };
    let ((here, _), (there, report)) = (run(&[]), run(&["--on", "env"]));
    assert!(here.records.len() > 10);
    assert_eq!(results(&here.records), results(&there.records));
    assert!(report.contains("sim:8@env") && report.contains("in env (simulated)"), "{report}");
    let header = &there.header;
    assert_eq!(header.devices[0].remote.as_deref(), Some("env"));
    assert_eq!((header.remotes.len(), &header.remotes[0].host), (1, &header.host));
    assert!(here.header.remotes.is_empty() && here.header.devices[0].remote.is_none());
}

/// Each run asks the other machine for its devices: they stay this command's.
#[test]
fn a_run_that_is_repeated_does_not_wait_for_itself() {
    let place = Place::new();
    let program = suite("program/program.yaml");
    let args = ["run", &program, "--filter", "copy", "--on", "env", "--repeat", "2"];
    let found = output(&place, &[&args[..], &SIM[..4]].concat());
    assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    assert!(!text(&found.stderr).contains("waiting for"), "{}", text(&found.stderr));
    assert_eq!(place.results().len(), 2);
    nothing_is_left(&place);
    let browser = output(&place, &["devices", "--on", "env", "--device", "browser"]);
    assert_eq!(browser.status.code(), Some(2), "{}", text(&browser.stderr));
}

/// What a command is rejected with.
fn rejection(command: &str) -> String {
    let place = Place::new();
    let found = output(&place, &["devices", "--on", command, "--sim"]);
    assert_eq!(found.status.code(), Some(2), "{}", text(&found.stdout));
    assert!(living(&place).is_empty());
    text(&found.stderr).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_command_that_leads_to_no_gpubench_says_what_to_do() {
    let greeting = r#"0 {"gpubench":"9.9.9 (abc)","host":{"name":"b","cpu":"c","cores":1,"memory":1,"os":"o","kernel":"k"}}"#;
    let line = format!("gpubench-remote\u{1}{} {greeting}", &sha256_hex(greeting)[..16]);
    let place = Place::new();
    std::fs::write(place.folder.path().join("greeting"), line + "\n").expect("writable");
    let other = format!("sh -c 'cat {}/greeting' sh", place.folder.path().display());
    for (command, words) in [
        (other.as_str(), &["gpubench 9.9.9 (abc) is there", "--push FILE"][..]),
        ("sh -c 'echo nobody home >&2; exit 127'", &["status 127: nobody home", "PATH"]),
        ("true", &["exited with status 0"]),
        ("/no/such/program", &["/no/such/program", "No such file"]),
        ("sh -c 'echo login: ; exit 255'", &["status 255: login:"]),
        ("'", &["a quote that does not end"]),
    ] {
        let why = rejection(command);
        assert!(words.iter().all(|word| why.contains(word)), "{command}: {why}");
    }
}

#[test]
fn what_nobody_trusts_is_not_sent() {
    let place = Place::new();
    let suite = suite("faults/faults.yaml");
    let args = ["run", &suite, "--on", "env", "--backend", "faulty"];
    let untrusted = output(&place, &args);
    assert_eq!(untrusted.status.code(), Some(2));
    assert!(text(&untrusted.stderr).contains("--trust"), "{}", text(&untrusted.stderr));
    assert!(place.results().is_empty());
}

/// What the run says of the kernels that it sends: those of gpubench need nobody's trust, and the other side is to find
/// out by itself that they are gpubench's.
#[test]
fn the_other_side_is_told_of_trust_where_a_suite_wants_it() {
    let told = |suite: &str, more: &[&str]| {
        let place = Place::new();
        let command = link(&place, "tee asked | setsid -w \"$@\"\n");
        let args = ["run", suite, "--on", &command, "--rounds", "1"];
        let found = output(&place, &[&args[..], more].concat());
        assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
        let asked = std::fs::read_to_string(place.folder.path().join("asked")).expect("a file");
        nothing_is_left(&place);
        ["true", "false"].map(|is| asked.contains(&format!("\"trusted\":{is}")))
    };
    let shipped = ["--sim", "k40c", "--filter", "copy"];
    assert_eq!(told(&suite("program/program.yaml"), &shipped), [false, true]);
    let users = ["--backend", "faulty", "--trust", "--filter", "chatters"];
    assert_eq!(told(&suite("faults/faults.yaml"), &users), [true, false]);
}

/// A crash is told from a lost link, and has the last words of the worker there.
#[test]
fn a_crash_there_is_a_crash() {
    let place = Place::new();
    let suite = suite("faults/faults.yaml");
    let args = ["run", &suite, "--on", "env", "--backend", "faulty", "--trust", "--timeout", "2"];
    let found = output(&place, &[&args[..], &["--filter", "crashes_in_launch"]].concat());
    assert_eq!(found.status.code(), Some(4), "{}", text(&found.stderr));
    let run = place.run();
    for outcome in outcomes(&run, "crashes_in_launch") {
        let Outcome::Crash { how, .. } = outcome else { panic!("{outcome:?}") };
        assert!(how.contains("SIGSEGV") && how.ends_with("twice"), "{how}");
    }
    assert!(outcomes(&run, "works").iter().all(|outcome| outcome.is_ok()));
    nothing_is_left(&place);
}

/// The relay has the deadline of a case, too: a launch that hangs there costs that case.
#[test]
fn a_hang_there_is_a_timeout() {
    let place = Place::new();
    let suite = suite("faults/faults.yaml");
    let args = ["run", &suite, "--on", "env", "--backend", "faulty", "--trust", "--timeout", "2"];
    let found = output(&place, &[&args[..], &["--filter", "hangs_in_launch"]].concat());
    assert_eq!(found.status.code(), Some(4), "{}", text(&found.stderr));
    let run = place.run();
    for outcome in outcomes(&run, "hangs_in_launch") {
        let is_timeout = matches!(outcome, Outcome::Timeout(why) if why.contains("first launch"));
        assert!(is_timeout, "{outcome:?}");
    }
    nothing_is_left(&place);
}
