//! What travels, and what is written there.

use crate::common::{Place, text};
use crate::{link, nothing_is_left, output};
use gpubench::measure::checkpoint::data::Checkpoint;
use gpubench::record::Record;

#[test]
fn a_binary_is_sent_where_there_is_none() {
    let place = Place::new();
    let there = place.folder.path().join("there");
    std::fs::create_dir(&there).expect("a folder");
    let binary = env!("CARGO_BIN_EXE_gpubench");
    let command = format!("env -C {} PATH=/usr/bin:/bin", there.display());
    let devices = ["devices", "--sim", "k40c", "--on", &command];
    let missing = output(&place, &devices);
    assert!(text(&missing.stderr).contains("127"), "{}", text(&missing.stderr));
    let push = [&devices[..], &["--push", binary]].concat();
    let pushed = output(&place, &push);
    assert!(text(&pushed.stdout).contains("Tesla K40c"), "{}", text(&pushed.stderr));
    assert!(text(&pushed.stderr).contains("sending"));
    let again = output(&place, &push);
    assert_eq!(text(&again.stderr), "", "it is there already");
    assert_eq!(std::fs::read_dir(&there).expect("a folder").count(), 1);
    let other = place.folder.path().join("other");
    std::fs::write(&other, "#!/bin/sh\necho no gpubench >&2; exit 7\n").expect("writable");
    let other = other.display().to_string();
    let wrong = output(&place, &[&devices[..], &["--push", &other]].concat());
    let why = text(&wrong.stderr);
    assert!(why.contains("starting") && why.contains("no gpubench"), "{why}");
}

/// One byte more: the program would run.
#[test]
fn a_binary_that_does_not_arrive_as_it_was_is_rejected() {
    let place = Place::new();
    let more = "if [ \"$1\" = dd ]; then \"$@\" && printf x >>\"${3#of=}\"; else exec \"$@\"; fi\n";
    let command = link(&place, more);
    let binary = env!("CARGO_BIN_EXE_gpubench");
    let args = ["devices", "--sim", "k40c", "--on", &command, "--push", binary];
    let found = output(&place, &args);
    let why = text(&found.stderr);
    assert_eq!(found.status.code(), Some(2), "{why}");
    assert!(why.contains("what arrived has another hash"), "{why}");
    nothing_is_left(&place);
}

#[test]
fn states_are_saved_where_the_command_begins_or_where_it_is_told_to() {
    let place = Place::new();
    let folder = |name: &str| {
        let path = place.folder.path().canonicalize().expect("a folder").join(name);
        std::fs::create_dir(&path).expect("a folder");
        path.display().to_string()
    };
    let (begins, disk) = (folder("begins"), folder("disk"));
    let named = |command: String| {
        let args = ["run", "checkpoint", "--filter", "checkpoint_walsh", "--sim", "k40c"];
        let more = ["--rounds", "1", "--budget", "20", "--on", &command];
        let found = output(&place, &[&args[..], &more].concat());
        assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
        let run = place.run();
        std::fs::remove_file(place.result()).expect("a file");
        let folder = |r: &Record| r.detail.as_ref()?.read::<Checkpoint>()?.folder;
        run.records.iter().find_map(folder)
    };
    assert_eq!(named(format!("env -C {begins}")).as_ref(), Some(&begins));
    assert_eq!(named(format!("env -C {begins} GPUBENCH_DISK={disk}")).as_ref(), Some(&disk));
    for folder in [&begins, &disk] {
        assert_eq!(std::fs::read_dir(folder).expect("a folder").count(), 0, "{folder}");
    }
    nothing_is_left(&place);
}
