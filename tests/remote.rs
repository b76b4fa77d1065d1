//! Devices of other machines: a run behind a command is a run, whatever becomes of the command. `env` is the way
//! to this machine, small scripts are links that stall, drop, garble and are killed.
#![cfg(target_os = "linux")]

mod common;

use common::{Place, finish, kill, outcomes, suite, text, until};
use gpubench::hash::sha256_hex;
use gpubench::record::{Flag, Outcome, Record};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

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

/// Two machines in the hosts file, both of them this one.
fn two_machines(place: &Place, variables: &str) -> [&'static str; 4] {
    std::fs::create_dir(place.folder.path().join("other")).expect("a folder");
    let config = place.folder.path().join("config/gpubench");
    std::fs::create_dir_all(&config).expect("a folder");
    let binary = env!("CARGO_BIN_EXE_gpubench");
    let hosts = format!(
        "left: {{ command: 'env {variables}' }}\n\
         right: {{ command: 'env GPUBENCH_LOCKS=other {variables}', binary: {binary} }}\n"
    );
    std::fs::write(config.join("hosts.yaml"), hosts).expect("writable");
    ["--on", "left", "--on", "right"]
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
    assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
    let run = place.run();
    let outcomes = outcomes(&run, "verified_by_another_device");
    assert!(outcomes.len() >= 6 && outcomes.iter().all(|outcome| outcome.is_ok()), "{outcomes:?}");
    nothing_is_left(&place);
}

/// Behind this script, the first link does something with the line of this number; later links are good.
fn flaky(place: &Place, line: u32, then: &str) -> String {
    let script = format!(
        "if [ -e tried ]; then exec \"$@\"; fi\n\
         touch tried\n\
         setsid -w \"$@\" | {{ n=0; while IFS= read -r line; do\n\
         n=$((n+1)); if [ $n -eq {line} ]; then {then}; fi; printf '%s\\n' \"$line\"; done; }}\n"
    );
    link(place, &script)
}

#[test]
fn a_link_that_is_lost_once_is_tried_again_and_the_record_says_so() {
    for (then, words) in [
        ("exit", "link lost: "),
        ("kill -9 0", "killed by SIGKILL"),
        ("line=\"$(printf %s \"$line\" | tr 24 35)\"", "garbled"),
        ("line=", "did not arrive"),
    ] {
        let place = Place::new();
        let command = flaky(&place, 6, then);
        let suite = suite("program/program.yaml");
        let args = ["run", &suite, "--filter", "copy", "--on", &command];
        let found = output(&place, &[&args[..], &SIM].concat());
        assert_eq!(found.status.code(), Some(0), "{then}: {}", text(&found.stderr));
        let run = place.run();
        let flags: Vec<_> = run.records.iter().flat_map(|record| &record.flags).collect();
        let flake = flags.iter().find_map(|flag| match flag {
            Flag::Flake(how) => Some(how),
            _ => None,
        });
        assert!(flake.is_some_and(|how| how.contains(words)), "{then}: {flags:?}");
        assert_eq!(run.records.len(), 2, "{then}");
        nothing_is_left(&place);
    }
}

#[test]
fn a_link_that_stalls_is_an_outcome_of_its_case() {
    let place = Place::new();
    let script = "setsid -w \"$@\" | { n=0; while IFS= read -r line; do\n\
                  n=$((n+1)); if [ $n -gt 5 ]; then sleep 1000; fi; printf '%s\\n' \"$line\"; done; }\n";
    let command = link(&place, script);
    let suite = suite("program/program.yaml");
    let args = ["run", &suite, "--filter", "copy", "--on", &command, "--timeout", "1"];
    let found = output(&place, &[&args[..], &["--sim", "k40c", "--rounds", "1"]].concat());
    assert_eq!(found.status.code(), Some(4), "{}", text(&found.stderr));
    let run = place.run();
    let Outcome::LinkLost(why) = outcomes(&run, "copy")[0] else { panic!("{:?}", run.records) };
    assert!(why.contains("no answer within"), "{why}");
    assert!(why.ends_with("twice") || why.contains(", then "), "{why}");
    assert!(run.footer.is_some());
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
    let config = place.folder.path().join("config/gpubench");
    std::fs::create_dir_all(&config).expect("a folder");
    // The libraries of the cross compiler are enough; the workers find them by this variable too.
    let command = "env QEMU_LD_PREFIX=/usr/aarch64-linux-gnu qemu-aarch64-static";
    let hosts = format!("arm: {{ command: {command}, binary: {} }}\n", binary.display());
    std::fs::write(config.join("hosts.yaml"), hosts).expect("writable");
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

#[test]
fn a_run_that_is_killed_leaves_nothing_in_the_other_machine_and_goes_on() {
    let place = Place::new();
    // Behind it the relay is in a session of its own, as behind ssh.
    let command = link(&place, "cat | setsid -w \"$@\" | cat\n");
    let suite = suite("program/program.yaml");
    let args = ["run", &suite, "--on", &command];
    let mut run = gpubench(&place, &[&args[..], &SIM].concat()).spawn().expect("it starts");
    let is_running = || place.results().first().is_some_and(|file| lines(file) > 3);
    until("some records", is_running);
    kill(run.id(), "KILL");
    let _ = run.wait();
    nothing_is_left_but_the_runs_own(&place);
    let file = place.result().display().to_string();
    let alone = output(&place, &["run", &suite, "--resume", &file, "--sim", "k40c"]);
    assert!(text(&alone.stderr).contains("--on"), "{}", text(&alone.stderr));
    let on = ["--sim", "k40c", "--on", &command];
    let resumed = output(&place, &[&["run", &suite, "--resume", &file], &on[..]].concat());
    assert_eq!(resumed.status.code(), Some(0), "{}", text(&resumed.stderr));
    assert!(place.run().footer.is_some());
    nothing_is_left(&place);
}

fn lines(file: &Path) -> usize {
    std::fs::read_to_string(file).map_or(0, |text| text.lines().count())
}

/// What a killed run left here, the next takes away.
fn nothing_is_left_but_the_runs_own(place: &Place) {
    until("the end of all processes", || living(place).is_empty());
}

/// `GPUBENCH_LINK_KILLS=100` is the whole of it, and `GPUBENCH_LINK='ssh board "$@"'` does it to another link.
#[test]
fn killed_links_cost_no_record_and_leave_no_process() {
    let wanted = std::env::var("GPUBENCH_LINK_KILLS").ok().and_then(|n| n.parse().ok());
    let wanted: u32 = wanted.unwrap_or(4);
    let suite = suite("program/program.yaml");
    let place = Place::new();
    let way = std::env::var("GPUBENCH_LINK").unwrap_or("cat | setsid -w \"$@\" | cat".into());
    let command = link(&place, &format!("echo $$ > pid\n{way}\n"));
    let args = ["run", &suite, "--quiet", "--on", &command, "--sim", "k40c", "--seed", "7"];
    let args = [&args[..], &["--rounds", "20"]].concat();
    let keys = |file: &Path| -> Vec<String> {
        let run = gpubench::store::read(file).expect("a result");
        assert!(run.warnings.is_empty() && run.footer.is_some(), "{:?}", run.warnings);
        let mut keys: Vec<_> =
            run.records.iter().map(|r| format!("{} {}", r.key, r.round)).collect();
        keys.sort();
        keys
    };
    let undisturbed = output(&place, &[&["run", &suite, "--quiet"], &args[5..]].concat());
    assert_eq!(undisturbed.status.code(), Some(0), "{}", text(&undisturbed.stderr));
    let all = keys(&place.result());
    std::fs::remove_file(place.result()).expect("a file");
    let (mut kills, mut runs, mut lost, mut flakes) = (0, 0, 0, 0);
    while kills < wanted {
        let mut run = gpubench(&place, &args).spawn().expect("it starts");
        let pid = place.folder.path().join("pid");
        // Moments between a tenth of a second and two, in no order.
        while kills < wanted && run.try_wait().expect("a child").is_none() {
            std::thread::sleep(Duration::from_millis(100 + u64::from(kills * 677 % 1900)));
            let known = std::fs::read_to_string(&pid).ok().filter(|_| place.results().len() > runs);
            let Some(leader) = known else { continue };
            let _ = std::fs::remove_file(&pid);
            let group = format!("-{}", leader.trim());
            let _ = Command::new("kill").args(["-KILL", "--", &group]).output();
            kills += 1;
        }
        finish(run);
        runs += 1;
        let file = place.results().pop().expect("a result");
        assert_eq!(keys(&file), all, "each once");
        let read = gpubench::store::read(&file).expect("a result");
        lost += read.records.iter().filter(|r| matches!(r.outcome, Outcome::LinkLost(_))).count();
        let is_flake = |flag: &Flag| matches!(flag, Flag::Flake(_));
        flakes += read.records.iter().filter(|r| r.flags.iter().any(is_flake)).count();
    }
    nothing_is_left(&place);
    println!("{kills} kills in {runs} runs: {flakes} cases measured at the second try, {lost} not");
    assert!(flakes > 0);
}
