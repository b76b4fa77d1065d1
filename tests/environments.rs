//! Odd environments: what the shell, the user or another run leaves behind is an error that says what it is.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "helpers of tests panic as tests do")]

mod common;

use common::{Place, finish, kill, suite, text, until};
use gpubench_core::testing;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

/// A short run on a simulated GPU.
fn flow<'a>(suite: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["run", suite, "--sim", "k40c", "--rounds", "1", "--verify", "--quiet"], more].concat()
}

/// Runs a command of the shell in which `$0` is `gpubench`.
fn shell(place: &Place, script: &str) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_gpubench")]);
    place.surround(&mut command);
    finish(command.spawn().unwrap())
}

#[test]
fn help_that_cannot_be_printed_is_no_success() {
    let place = Place::new();
    for what in ["--help", "run --help", "--version", "schema suite", "devices --sim"] {
        let output = shell(&place, &format!("exec \"$0\" {what} >/dev/full"));
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{what}: {stderr}");
        assert!(stderr.contains("stdout") && stderr.contains("No space left"), "{what}: {stderr}");
    }
    // Nobody reads any more when it prints: a reader that has seen enough is no error.
    for what in ["--help", "schema suite"] {
        let script = format!("(sleep 0.1; \"$0\" {what}; echo \"left with $?\" >&2) | true");
        let stderr = text(&shell(&place, &script).stderr);
        assert_eq!(stderr, "left with 0\n", "{what}");
    }
}

/// A mask that forbids its own user everything hinders a run, but leaves nothing behind.
#[test]
fn a_mask_of_777_leaves_no_folder_behind() {
    let place = Place::new();
    let open =
        |path: &Path| std::fs::set_permissions(path, PermissionsExt::from_mode(0o777)).unwrap();
    for folder in ["", "tmp", "faults"] {
        open(&place.folder.path().join(folder));
    }
    let program = place.folder.path().join("gpubench");
    testing::install(Path::new(env!("CARGO_BIN_EXE_gpubench")), &program);
    let flow_suite = place.folder.path().join("flow.yaml");
    std::fs::copy(suite("flow/flow.yaml"), &flow_suite).unwrap();
    open(&flow_suite);
    let mut command = Command::new("sh");
    command.args(["-c", "umask 777; exec \"$0\" \"$@\""]).arg(&program);
    command.args(flow("flow.yaml", &["--no-lock"]));
    place.surround(&mut command);
    // Nothing is forbidden to root.
    if rustix::process::geteuid().is_root() {
        command.uid(65_534).gid(65_534);
    }
    let output = finish(command.spawn().unwrap());
    let stderr = text(&output.stderr);
    assert!(output.status.code().is_some() && !stderr.contains("panicked"), "{stderr}");
    let left: Vec<_> =
        std::fs::read_dir(place.folder.path().join("tmp")).unwrap().flatten().collect();
    assert!(left.is_empty(), "{left:?}: {stderr}");
}

#[test]
fn an_interruption_while_another_run_measures_speaks_of_no_case() {
    let place = Place::new();
    let suite = suite("flow/flow.yaml");
    assert_eq!(place.output(&flow(&suite, &[])).status.code(), Some(0));
    let tmp = || std::fs::read_dir(place.folder.path().join("tmp")).unwrap().flatten();
    let locks: Vec<_> = tmp().map(|file| std::fs::File::open(file.path()).unwrap()).collect();
    assert!(!locks.is_empty());
    locks.iter().for_each(|lock| lock.lock().unwrap());
    let heard = place.folder.path().join("heard");
    let mut command = place.gpubench(&flow(&suite, &[]));
    let mut child = command.stderr(std::fs::File::create(&heard).unwrap()).spawn().unwrap();
    let said = || std::fs::read_to_string(&heard).unwrap();
    until("a run that waits", || said().contains("waiting for"));
    kill(child.id(), "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130), "{}", said());
    assert!(said().contains("nothing has begun") && !said().contains("case in hand"), "{}", said());
}

/// Two temporary folders, one device.
#[test]
fn runs_with_other_temporary_folders_meet_at_one_lock() {
    let (one, other) = (Place::new(), Place::new());
    let faults = suite("faults/faults.yaml");
    let hangs = ["run", &faults, "--trust", "--backend", "faulty", "--filter", "hangs_in_launch"];
    let run = |place: &Place, more: &[&str]| {
        let mut command = place.gpubench(&[&hangs[..], more].concat());
        command.env_remove("GPUBENCH_LOCKS");
        command.spawn().unwrap()
    };
    let first = run(&one, &[]);
    until("a run that measures", || !one.results().is_empty());
    let second = finish(run(&other, &["--no-wait"]));
    kill(first.id(), "INT");
    kill(first.id(), "INT");
    let first = finish(first);
    assert_eq!(second.status.code(), Some(2), "{}", text(&second.stderr));
    assert!(text(&second.stderr).contains("is being measured by"), "{}", text(&second.stderr));
    assert!(!text(&first.stderr).contains("GPUBENCH_LOCKS"), "{}", text(&first.stderr));
}

/// Nobody has to make the folder first; what cannot be one is an error that names it.
#[test]
fn the_folder_of_locks_is_made_where_it_is_missing() {
    let place = Place::new();
    let locks = place.folder.path().join("some/locks");
    let run = |folder: &std::path::Path| {
        let mut command = place.gpubench(&flow(&suite("flow/flow.yaml"), &[]));
        finish(command.env("GPUBENCH_LOCKS", folder).spawn().unwrap())
    };
    assert_eq!(run(&locks).status.code(), Some(0));
    assert!(locks.read_dir().unwrap().count() > 0);
    let file = place.folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let failed = run(&file);
    assert_eq!(failed.status.code(), Some(2), "{}", text(&failed.stderr));
    assert!(text(&failed.stderr).contains(&file.display().to_string()), "{}", text(&failed.stderr));
}

#[test]
fn a_run_goes_on_with_no_other_device_than_its_own() {
    let place = Place::new();
    let suite = suite("flow/flow.yaml");
    assert_eq!(place.output(&flow(&suite, &[])).status.code(), Some(0));
    let file = place.result();
    let whole = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    std::fs::write(&file, lines[..2].join("\n") + "\n").unwrap();
    let file = file.display().to_string();
    let resume =
        |sim: &[&str]| place.output(&[&["run", &suite, "--resume", &file, "--sim"], sim].concat());
    for (sim, why) in [
        (&["c1060"][..], "does not measure Tesla C1060"),
        (&["k40c", "c1060"], "does not measure Tesla C1060"),
        (&["nonesuch"], "no device matches"),
    ] {
        let output = resume(sim);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{sim:?}: {stderr}");
        assert!(stderr.contains(why), "{sim:?}: {stderr}");
    }
    assert_eq!(resume(&["k40c"]).status.code(), Some(0));
}

#[test]
fn a_list_for_a_device_that_is_not_there_is_refused() {
    let place = Place::new();
    let suite = suite("flow/flow.yaml");
    let list = ["run", &suite, "--list"];
    assert_eq!(place.output(&list).status.code(), Some(0));
    for wrong in [["--device", "sim:nonesuch"], ["--sim", "nonesuch"], ["--backend", "cuda"]] {
        let output = place.output(&[&list[..], &wrong].concat());
        assert_eq!(output.status.code(), Some(2), "{wrong:?}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty());
    }
}

/// A folder of runs, one of which is of a suite of the user's own.
#[test]
fn a_run_of_another_suite_is_skipped_with_a_line() {
    let place = Place::new();
    let own = suite("flow/flow.yaml");
    let args = ["--sim", "k40c", "--rounds", "1", "--quiet"];
    let micro = ["run", "micro", "--filter", "copy"];
    for run in [&["run", own.as_str()][..], &micro] {
        let output = place.output(&[run, &args].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    }
    for command in [&["fit", "results"][..], &["predict", "micro", "--from", "results"]] {
        let output = place.output(command);
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        assert!(stderr.contains("skipped: ") && stderr.contains("`flow`"), "{command:?}: {stderr}");
        // What is left is fitted to, or too little for it.
        assert!((stdout + &stderr).contains("Tesla K40c"), "{command:?}: {stderr}");
    }
}

/// Containers bound how many threads and how much memory there are.
#[test]
fn a_system_without_a_thread_left_is_an_error_and_no_panic() {
    let place = Place::new();
    let suite = suite("flow/flow.yaml");
    let run = format!("run {suite} --sim k40c --rounds 1 --verify --quiet");
    for limit in (20_000..=200_000).step_by(10_000) {
        for command in ["devices", &run] {
            let output = shell(&place, &format!("ulimit -v {limit}; exec \"$0\" {command}"));
            let stderr = text(&output.stderr);
            assert!(!stderr.contains("panicked"), "{limit} KiB, {command}: {stderr}");
        }
    }
}

#[test]
fn a_dumb_terminal_gets_no_colours() {
    let place = Place::new();
    let run = suite("v1/every-kind.jsonl");
    let coloured = |term: &str| {
        let report =
            format!("unset NO_COLOR; TERM={term} exec script -qec \"$0 report {run}\" /dev/null");
        let output = shell(&place, &report);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout).contains('\u{1b}')
    };
    assert!(coloured("xterm") && !coloured("dumb"));
}
