//! A suite from a stranger: kernels that gpubench does not ship run only where the user says so,
//! and whatever a file holds or is, reading it costs little.
#![cfg(target_os = "linux")]

mod common;

use common::{Place, finish, suite, text};
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A suite with kernels beside it, `mine.yaml` in a folder of its own.
fn untrusted_suite() -> Place {
    let place = Place::new();
    let tutorial = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/tutorial");
    for entry in std::fs::read_dir(tutorial).expect("the tutorial's files").flatten() {
        let copy = place.folder.path().join(entry.file_name());
        std::fs::copy(entry.path(), copy).expect("a copy");
    }
    place
}

/// Runs the stranger's suite on a simulated device.
fn run(place: &Place, more: &[&str]) -> Output {
    let args = ["run", "mine.yaml", "--sim", "k40c", "--filter", "blend", "--rounds", "1"];
    place.output(&[&args[..], more].concat())
}

fn rejected(output: &Output) {
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    let stderr = text(&output.stderr);
    for part in ["mine.yaml:6:", "blend.cl, blend.wgsl", "--trust"] {
        assert!(stderr.contains(part), "{part} is not in\n{stderr}");
    }
}

fn append(place: &Place, file: &str, line: &str) {
    let path = place.folder.path().join(file);
    let text = std::fs::read_to_string(&path).expect("readable");
    std::fs::write(&path, text + line).expect("writable");
}

#[test]
fn untrusted_kernels_are_not_run_unasked() {
    let place = untrusted_suite();
    rejected(&run(&place, &[]));
    rejected(&run(&place, &["--verify"]));
    assert!(place.results().is_empty());
    // To look at it needs no trust.
    for args in [
        &["check", "mine.yaml"][..],
        &["run", "mine.yaml", "--list"],
        &["run", "mine.yaml", "--sim", "k40c", "--dry-run"],
    ] {
        let output = place.output(args);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output.stderr));
    }
}

#[test]
fn trust_is_remembered_until_a_file_changes() {
    let place = untrusted_suite();
    let first = run(&place, &["--trust"]);
    assert_eq!(first.status.code(), Some(0), "{}", text(&first.stderr));
    assert!(text(&first.stderr).contains("config/gpubench/trusted"), "{}", text(&first.stderr));
    assert_eq!(run(&place, &[]).status.code(), Some(0));
    let trusted = run(&place, &["--trust"]);
    assert!(!text(&trusted.stderr).contains("trusted"), "said once: {}", text(&trusted.stderr));
    for file in ["mine.yaml", "blend.wgsl"] {
        append(&place, file, if file == "mine.yaml" { "# new\n" } else { "// new\n" });
        rejected(&run(&place, &[]));
        assert_eq!(run(&place, &["--trust"]).status.code(), Some(0));
    }
}

#[test]
fn trust_that_cannot_be_noted_holds_for_the_run() {
    let place = untrusted_suite();
    std::fs::write(place.folder.path().join("config"), "in the way").expect("a file");
    let output = run(&place, &["--trust"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("trusted for this run"), "{}", text(&output.stderr));
    rejected(&run(&place, &[]));
}

#[test]
fn an_untrusted_run_is_not_resumed_unasked() {
    let place = untrusted_suite();
    assert_eq!(run(&place, &["--trust"]).status.code(), Some(0));
    let file = place.result();
    let whole = std::fs::read_to_string(&file).expect("readable");
    let lines: Vec<&str> = whole.lines().collect();
    std::fs::write(&file, lines[..2].join("\n") + "\n").expect("writable");
    std::fs::remove_dir_all(place.folder.path().join("config")).expect("forgotten");
    let file = file.display().to_string();
    let resume = ["run", "mine.yaml", "--sim", "k40c", "--resume", &file];
    rejected(&place.output(&resume));
    let output = place.output(&[&resume[..], &["--trust"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn data_alone_needs_no_trust() {
    let place = Place::new();
    let suite = suite("flow/flow.yaml");
    let output = place.output(&["run", &suite, "--sim", "k40c", "--rounds", "1", "--verify"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

/// Refused with trust too, and shown at its place in the kernel.
#[test]
fn a_kernel_that_has_the_compiler_read_other_files_is_rejected() {
    for (line, words) in [
        ("#include \"/etc/passwd\"\n", "outside the suite's folder"),
        ("#inc\\\nlude <x>\n", "other files"),
        ("#embed \"/etc/passwd\"\n", "other files"),
    ] {
        let place = untrusted_suite();
        append(&place, "blend.cl", line);
        let output = run(&place, &["--trust"]);
        assert_eq!(output.status.code(), Some(2));
        let stderr = text(&output.stderr);
        assert!(stderr.contains("blend.cl:11:1") && stderr.contains(words), "{stderr}");
        assert!(place.results().is_empty());
    }
}

#[test]
fn paths_out_of_the_folder_and_options_of_the_compiler_are_rejected() {
    for (part, by, words) in [
        ("opencl: blend.cl", "opencl: /etc/passwd", "outside the suite's folder"),
        ("opencl: blend.cl", "opencl: ../../etc/passwd", "outside the suite's folder"),
        ("entry: blend,", "entry: blend, options: [-I/],", "`-I/`"),
        ("entry: blend,", "entry: blend, constants: { 'A -I/': 1 },", "cannot name a constant"),
        ("entry: blend,", "entry: blend, constants: { A: '1 -I/' },", "1 -I/"),
        ("entry: blend,", "entry: 'blend -I/',", "no name of a function"),
    ] {
        let place = untrusted_suite();
        let path = place.folder.path().join("mine.yaml");
        let text = std::fs::read_to_string(&path).expect("readable");
        assert!(text.contains(part));
        std::fs::write(&path, text.replace(part, by)).expect("writable");
        let output = run(&place, &["--trust"]);
        let stderr = common::text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{by}: {stderr}");
        assert!(stderr.contains("mine.yaml:7:") && stderr.contains(words), "{by}: {stderr}");
    }
}

/// `gpubench` with at most 110 MiB of memory (addresses, even, those of this program for tests among them) and a second of processor time;
/// more of either ends it by a signal.
fn limited(place: &Place, args: &[&str]) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v 112640 && ulimit -t 1 && exec \"$@\"", "sh"]);
    command.arg(env!("CARGO_BIN_EXE_gpubench")).args(args).current_dir(place.folder.path());
    // Threads that allocate at once reserve 64 MiB of addresses each, which they do not use.
    command.env("MALLOC_ARENA_MAX", "1");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    finish(command.spawn().expect("sh starts"))
}

/// Files that are none, that never end, that are huge or that grow, given to every command that
/// reads a file of that kind.
#[test]
fn a_hostile_file_is_reported_within_a_second_and_110_mib() {
    let place = Place::new();
    let here = |name: &str| place.folder.path().join(name);
    let made = Command::new("mkfifo").arg(here("pipe.yaml")).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo");
    std::os::unix::fs::symlink("/dev/zero", here("zero.yaml")).expect("a link");
    let huge = std::fs::File::create(here("huge.yaml")).expect("a file");
    huge.set_len(1 << 30).expect("a sparse file");
    let levels: String =
        (1..12).map(|i| format!("a{i}: &a{i} [{}]\n", format!("*a{},", i - 1).repeat(9))).collect();
    let deep = "[".repeat(400_000);
    std::fs::write(here("bomb.yaml"), format!("a0: &a0 [x]\n{levels}")).expect("a file");
    std::fs::write(here("deep.yaml"), &deep).expect("a file");
    let json = format!("{{\"header\":{{\"version\":1,\"suite\":{deep}");
    std::fs::write(here("deep.jsonl"), json + "\n").expect("a file");
    std::fs::write(here("lines.jsonl"), "\n".repeat(1 << 22)).expect("a file");
    std::os::unix::fs::symlink("/etc/passwd", here("link.yaml")).expect("a link");
    for (name, target) in
        [("linked", "link.yaml"), ("absolute", "/etc/passwd"), ("piped", "pipe.yaml")]
    {
        let suite = format!("version: 1\ninclude: [{target}]\n");
        std::fs::write(here(&format!("{name}.yaml")), suite).expect("a file");
    }
    let suites = ["pipe", "zero", "huge", "bomb", "deep", "linked", "absolute", "piped"];
    let suites = suites.map(|name| format!("{name}.yaml"));
    let results = ["pipe.yaml", "zero.yaml", "huge.yaml", "deep.jsonl", "lines.jsonl"];
    let commands = suites.iter().map(|file| vec!["check", file]);
    let descriptions = suites[..5].iter().map(|file| vec!["devices", "--sim", file]);
    let readers = results.iter().flat_map(|file| {
        [
            vec!["report", file],
            vec!["rank", file],
            vec!["export", file],
            vec!["compare", file, file],
            vec!["trace", file, "--case", "x"],
            vec!["model", "concurrency", file],
        ]
    });
    for args in commands.chain(descriptions).chain(readers) {
        let output = limited(&place, &args);
        let stderr = text(&output.stderr);
        let file = args.iter().find(|arg| arg.contains('.')).expect("a file");
        assert_eq!(output.status.code(), Some(2), "{args:?}: {:?} {stderr}", output.status);
        assert!(stderr.contains(file) && stderr.len() < 10_000, "{args:?}: {stderr}");
        assert!(!stderr.contains("root:"), "{args:?}: {stderr}");
    }
}

/// Names that a stranger chose name no file but one in the folder of results.
#[test]
fn names_as_paths_make_safe_and_different_files() {
    let place = Place::new();
    let flow = std::fs::read_to_string(suite("flow/flow.yaml")).expect("readable");
    let long = "x".repeat(5000);
    let names =
        ["../../escaped", "/etc/passwd", "NUL", "CON.txt", "a\\b:c*?", "\u{1b}[31mred", ".", &long];
    for name in names {
        let quoted = serde_json::to_string(name).expect("a text");
        let suite = flow.replacen("name: flow", &format!("name: {quoted}"), 1);
        assert_ne!(suite, flow);
        let path = place.folder.path().join("named.yaml");
        std::fs::write(&path, suite).expect("a file");
        let args = ["run", "named.yaml", "--sim", "k40c", "--rounds", "1", "--verify"];
        let output = place.output(&[&args[..], &["--filter", "n=4096"]].concat());
        let printed = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{name}: {printed}");
        assert!(!printed.contains('\u{1b}') && printed.len() < 10_000, "{name}: {printed}");
    }
    assert_eq!(place.results().len(), names.len(), "{:?}", place.results());
    for file in place.results() {
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        let safe = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        assert!(name.chars().all(safe) && name.len() < 200, "{name}");
    }
    assert!(!place.folder.path().join("escaped.jsonl").exists());
}
