//! Several machines in one run.

use crate::common::{Place, finish, kill, outcomes, suite, text, until};
use crate::{SIM, gpubench, lines, nothing_is_left, output, results};
use gpubench::record::{Outcome, Record};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

pub fn write_hosts(place: &Place, hosts: &str) {
    let config = place.folder.path().join("config/gpubench");
    std::fs::create_dir_all(&config).expect("a folder");
    std::fs::write(config.join("hosts.yaml"), hosts).expect("writable");
}

const BOTH: [&str; 4] = ["--on", "left", "--on", "right"];

/// Two machines in the hosts file, both of them this one.
fn two_machines(place: &Place, variables: &str) -> [&'static str; 4] {
    std::fs::create_dir(place.folder.path().join("other")).expect("a folder");
    let binary = env!("CARGO_BIN_EXE_gpubench");
    let hosts = format!(
        "left: {{ command: 'env {variables}' }}\n\
         right: {{ command: 'env GPUBENCH_LOCKS=other {variables}', binary: {binary} }}\n"
    );
    write_hosts(place, &hosts);
    BOTH
}

/// The same, each behind a script of its own, of which `LEFT` and `RIGHT` are the words.
fn two_links(place: &Place, [left, right]: [&str; 2]) {
    two_machines(place, "");
    for (name, script) in [("left", left), ("right", right)] {
        std::fs::write(place.folder.path().join(name), script).expect("writable");
    }
    let folder = place.folder.path().display();
    let hosts = format!(
        "left: {{ command: 'sh {folder}/left' }}\n\
         right: {{ command: 'env GPUBENCH_LOCKS=other sh {folder}/right' }}\n"
    );
    write_hosts(place, &hosts);
}

/// Has a link wait at the first stage of a case until the other is there too.
fn meets(own: &str, other: &str) -> String {
    format!(
        "setsid -w \"$@\" | while IFS= read -r line; do\n\
         case $line in *'\"stage\":'*) touch {own}; while [ ! -e {other} ]; do sleep 0.05; done;; esac\n\
         printf '%s\\n' \"$line\"; done\n"
    )
}

/// Each machine goes on only when the other is in the middle of a case.
#[test]
fn machines_are_measured_at_the_same_time() {
    let place = Place::new();
    two_links(&place, [&meets("here", "there"), &meets("there", "here")]);
    let suite = suite("program/program.yaml");
    let args = ["run", &suite, "--timeout", "20"];
    let found = output(&place, &[&args[..], &SIM, &BOTH].concat());
    assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    let run = place.run();
    let of = |device: usize| -> Vec<Record> {
        run.records.iter().filter(|r| r.device == device).cloned().collect()
    };
    let [left, right] = [of(0), of(1)];
    assert!(left.len() > 10 && run.records.iter().all(|record| record.flags.is_empty()));
    assert_eq!(results(&left), results(&right), "as each does by itself");
    nothing_is_left(&place);
}

#[test]
fn two_names_of_one_machine_are_an_error() {
    let place = Place::new();
    let binary = env!("CARGO_BIN_EXE_gpubench");
    write_hosts(&place, &format!("again: {{ command: 'env A=1', binary: {binary} }}\n"));
    let args = ["run", "quick", "--sim", "k40c", "--on", "env", "--on", "again"];
    let found = output(&place, &args);
    assert_eq!(found.status.code(), Some(2));
    let said = text(&found.stderr);
    assert!(said.contains("`env` and `again` are one machine"), "{said}");
    assert!(place.results().is_empty());
}

#[test]
fn a_machine_that_is_lost_does_not_hold_up_the_other() {
    let place = Place::new();
    let dies = "setsid -w \"$@\" | while IFS= read -r line; do\n\
                case $line in *'\"stage\":'*) exit 1;; esac; printf '%s\\n' \"$line\"; done\n";
    two_links(&place, [dies, "exec \"$@\"\n"]);
    let suite = suite("program/program.yaml");
    let args = ["run", &suite, "--filter", "copy", "--rounds", "4", "--sim", "dual-c2075"];
    // However busy this machine is, no device's time is used up before it is in quarantine.
    let found = output(&place, &[&args[..], &["--budget", "600"], &BOTH].concat());
    assert_eq!(found.status.code(), Some(4), "{}", text(&found.stderr));
    let run = place.run();
    let of = |device: usize| -> Vec<&Outcome> {
        run.records.iter().filter(|r| r.device == device).map(|r| &r.outcome).collect()
    };
    let lost = |device| -> Vec<&str> {
        let of = of(device).into_iter();
        of.filter_map(|outcome| match outcome {
            Outcome::LinkLost(why) => Some(why.as_str()),
            _ => None,
        })
        .collect()
    };
    let lost = [lost(0), lost(1)];
    assert_eq!(lost.each_ref().map(Vec::len), [3, 3], "then they are in quarantine");
    let given_up = |why: &&&str| why.contains("is not tried again");
    // Two tries of each of three cases, whichever device they were of.
    assert_eq!(lost.iter().flatten().filter(given_up).count(), 3, "{lost:?}");
    assert!([2, 3].into_iter().flat_map(of).all(|outcome| outcome.is_ok()));
    nothing_is_left(&place);
}

#[test]
fn an_interruption_ends_all_machines_and_they_go_on() {
    let place = Place::new();
    let machines = two_machines(&place, "");
    let suite = suite("program/program.yaml");
    let args = ["run", &suite, "--sim", "k40c", "--seed", "7", "--rounds", "15"];
    let run = gpubench(&place, &[&args[..], &machines].concat()).spawn().expect("it starts");
    let is_running = || place.results().first().is_some_and(|file| lines(file) > 6);
    until("some records", is_running);
    kill(run.id(), "INT");
    let ended = finish(run);
    assert_eq!(ended.status.code(), Some(130), "{}", text(&ended.stderr));
    let file = place.result().display().to_string();
    let resumed = output(
        &place,
        &[&["run", &suite, "--resume", &file, "--sim", "k40c"][..], &machines].concat(),
    );
    assert_eq!(resumed.status.code(), Some(0), "{}", text(&resumed.stderr));
    let records = place.run().records;
    let mut keys: Vec<_> =
        records.iter().map(|r| format!("{} {} {}", r.device, r.key, r.round)).collect();
    let all = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!((keys.len(), all % 2), (all, 0), "each once");
    nothing_is_left(&place);
}

/// Two desks may name the same two machines in any order, under any names.
#[test]
fn nothing_is_held_while_something_else_is_waited_for() {
    let place = Place::new();
    two_machines(&place, "");
    let suite = suite("program/program.yaml");
    let run = |on: &[&str]| {
        let args = ["run", &suite, "--filter", "copy", "--sim", "k40c", "--rounds", "1"];
        gpubench(&place, &[&args[..], on].concat()).spawn().expect("it starts")
    };
    // A run that ends makes the lock's file; then this test is the other run.
    assert_eq!(finish(run(&["--on", "right"])).status.code(), Some(0));
    let files = std::fs::read_dir(place.folder.path().join("other")).expect("a folder").flatten();
    let lock = files.map(|entry| entry.path()).next().expect("a lock");
    let lock = std::fs::File::options().read(true).write(true).open(lock).expect("a file");
    lock.lock().expect("nobody has it");
    let mut both = run(&BOTH);
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(finish(run(&["--on", "left"])).status.code(), Some(0), "nobody holds it");
    assert!(both.try_wait().expect("a child").is_none(), "it waits");
    let leaves = finish(run(&["--on", "right", "--no-wait"]));
    assert_eq!(leaves.status.code(), Some(2), "{}", text(&leaves.stderr));
    drop(lock);
    let other_way = run(&["--on", "right", "--on", "left"]);
    for run in [both, other_way] {
        let ended = finish(run);
        assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    }
    assert_eq!(place.results().len(), 4);
    nothing_is_left(&place);
}

#[test]
fn several_machines_make_one_run() {
    let place = Place::new();
    let machines = two_machines(&place, "");
    let suite = suite("program/program.yaml");
    let args = ["run", &suite, "--filter", "copy", "--sim", "k40c"];
    let found = output(&place, &[&args[..], &machines[..]].concat());
    assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    let run = place.run();
    let names: Vec<_> = run.header.devices.iter().map(|d| d.remote.as_deref()).collect();
    assert_eq!(names, [Some("left"), Some("right")]);
    assert_eq!(outcomes(&run, "copy"), [&Outcome::Ok; 2]);
    let listed = |device: &str| {
        let args = ["devices", "--json", "--sim", "k40c", "--device", device];
        let found = output(&place, &[&args[..], &machines[..]].concat());
        let found: Value = serde_json::from_slice(&found.stdout).expect("JSON");
        let list = found.as_array().expect("a list").iter();
        list.map(|d| d["selector"].as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
    };
    let both = ["sim:8@left", "sim:8@right"].map(str::to_owned);
    assert_eq!(listed("sim:8").as_deref(), Some(&both[..]));
    assert_eq!(listed("sim:9@right").map(|all| all.len()), Some(3), "and those that --sim names");
    nothing_is_left(&place);
}

#[test]
#[cfg_attr(not(feature = "require-opencl"), ignore = "needs an OpenCL driver")]
fn machines_check_each_others_results() {
    let place = Place::new();
    // Here is none to ask: each fetches what the other computes, and is sent it.
    let vendors = std::env::var("OCL_ICD_VENDORS").unwrap_or("/etc/OpenCL/vendors".into());
    let machines = two_machines(&place, &format!("OCL_ICD_VENDORS={vendors}"));
    // Arrays of one and of two parts of a file, and of one that ends with a part.
    let suite = std::fs::read_to_string(suite("flow/cross_device_oracle.yaml")).expect("a suite");
    let suite = suite.replace("n: [256, 65536]", "n: [256, 300000, 524288]");
    std::fs::write(place.folder.path().join("oracle.yaml"), suite).expect("writable");
    let args = ["run", "oracle.yaml", "--rounds", "1", "--backend", "opencl"];
    let mut run = gpubench(&place, &[&args[..], &machines[..]].concat());
    let found = finish(run.env("OCL_ICD_VENDORS", "/none").spawn().expect("it starts"));
    let results = place.results().first().and_then(|file| std::fs::read_to_string(file).ok());
    assert_eq!(found.status.code(), Some(0), "{}{results:?}", text(&found.stderr));
    let run = place.run();
    let outcomes = outcomes(&run, "verified_by_another_device");
    assert!(outcomes.len() >= 6 && outcomes.iter().all(|outcome| outcome.is_ok()), "{outcomes:?}");
    nothing_is_left(&place);
}

/// The relay is another processor's program, and starts workers that are.
#[test]
#[cfg_attr(not(feature = "require-qemu"), ignore = "needs a gpubench for arm64: ./x test-arm64")]
fn a_machine_of_another_architecture_answers_through_qemu() {
    let target = Path::new(env!("CARGO_BIN_EXE_gpubench")).ancestors().nth(2).expect("a folder");
    let binary = target.join("aarch64-unknown-linux-gnu/release/gpubench");
    assert!(binary.exists(), "{} is missing", binary.display());
    let place = Place::new();
    // The libraries of the cross compiler are enough; the workers find them by this variable too.
    let command = "env QEMU_LD_PREFIX=/usr/aarch64-linux-gnu qemu-aarch64-static";
    let hosts = format!("arm: {{ command: {command}, binary: {} }}\n", binary.display());
    write_hosts(&place, &hosts);
    let suite = suite("program/program.yaml");
    let run = |more: &[&str]| {
        let found = output(&place, &[&["run", &suite, "--filter", "copy"], more, &SIM].concat());
        assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
        let run =
            gpubench::store::read(&place.results().pop().expect("a result")).expect("a result");
        std::fs::remove_dir_all(place.folder.path().join("results")).expect("a folder");
        run
    };
    let (here, there) = (run(&[]), run(&["--on", "arm"]));
    assert!(!here.records.is_empty());
    assert_eq!(results(&here.records), results(&there.records));
    assert_eq!(there.header.remotes[0].name, "arm");
    nothing_is_left(&place);
}
