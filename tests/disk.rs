//! A disk that is full or cannot be written costs the run, but nothing that was written before.
#![cfg(target_os = "linux")]

mod common;

use common::{Place, finish, no_orphan, suite, text};
use gpubench::store::read;
use std::process::{Command, Output};

/// Runs the suite `flow` where `before` has been done, in the folder that holds `results`, and copies what is
/// there afterwards to `kept`. `shell` is a shell that may do so.
fn run_on(place: &Place, shell: &[&str], before: &str) -> Output {
    for folder in ["results", "kept"] {
        std::fs::create_dir_all(place.folder.path().join(folder)).expect("a folder");
    }
    let script = format!(
        "{before} || exit 77; touch begun; \"$@\"; code=$?; cp results/* kept/ 2>/dev/null; exit $code"
    );
    let mut command = Command::new(shell[0]);
    command.args(&shell[1..]).args(["-c", &script, "sh"]);
    command.arg(env!("CARGO_BIN_EXE_gpubench"));
    command.args(["run", &suite("flow/flow.yaml"), "--sim", "Tesla C1060", "Tesla K40c"]);
    command.args(["--seed", "7", "--rounds", "2"]);
    place.surround(&mut command);
    let child = command.spawn().expect("a shell");
    let pid = child.id();
    let output = finish(child);
    no_orphan(pid);
    let begun = place.folder.path().join("begun").exists();
    assert!(begun, "`{before}` failed: {}", text(&output.stderr));
    output
}

/// A shell that may mount.
const NAMESPACE: [&str; 5] = ["unshare", "--user", "--map-root-user", "--mount", "sh"];

/// What the full disk holds is whole lines, and the run goes on elsewhere.
fn goes_on(place: &Place, output: &Output, why: &str) {
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains(why) && !stderr.contains("panicked"), "{stderr}");
    assert!(output.stdout.is_empty(), "no half table: {}", text(&output.stdout));
    let kept = std::fs::read_dir(place.folder.path().join("kept")).expect("a folder");
    let files: Vec<_> = kept.flatten().map(|entry| entry.path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    let before = read(&files[0]).expect("a result file");
    assert!(before.warnings.is_empty() && before.footer.is_none(), "{:?}", before.warnings);
    assert!((1..32).contains(&before.records.len()), "{}", before.records.len());
    let file = files[0].display().to_string();
    let resume = ["run", &suite("flow/flow.yaml"), "--resume", &file];
    let resumed = place.output(&resume);
    assert_eq!(resumed.status.code(), Some(0), "{}", text(&resumed.stderr));
    let after = read(&files[0]).expect("a result file");
    assert!(after.warnings.is_empty() && after.footer.is_some());
    assert_eq!(after.records.len(), 32, "nothing lost, nothing twice");
    assert_eq!(after.records[..before.records.len()], before.records);
}

#[test]
#[cfg_attr(not(feature = "require-mount"), ignore = "needs mounts in a namespace")]
fn a_full_disk_keeps_whole_lines_and_the_run_can_go_on() {
    let place = Place::new();
    let mount = "mount -t tmpfs -o size=32k none results";
    let output = run_on(&place, &NAMESPACE, mount);
    goes_on(&place, &output, "No space left");
}

/// The same without a mount: the system refuses a file that grows beyond a size.
#[test]
fn a_file_that_may_not_grow_keeps_whole_lines_and_the_run_can_go_on() {
    let place = Place::new();
    // Blocks of 512 bytes. A signal comes with the refusal, and ends who does not catch it.
    let output = run_on(&place, &["sh"], "ulimit -f 40");
    goes_on(&place, &output, "File too large");
}

#[test]
#[cfg_attr(not(feature = "require-mount"), ignore = "needs mounts in a namespace")]
fn a_folder_that_may_not_be_written_is_said_before_anything_runs() {
    let place = Place::new();
    let output = run_on(&place, &NAMESPACE, "mount -t tmpfs -o ro none results");
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("results") && stderr.contains("Read-only"), "{stderr}");
    assert!(output.stdout.is_empty());
}
