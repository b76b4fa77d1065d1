//! The real binary in a folder of its own, for tests of whole runs.
#![allow(dead_code, reason = "each test binary uses its part")]

pub mod invented;

use gpubench::record::{Outcome, Record};
use gpubench::store::{Run, read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Longer than anything here takes; a test that hangs must fail, not block.
pub const LONG: Duration = Duration::from_secs(120);

/// A working folder with its own locks and results.
pub struct Place {
    pub folder: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir(folder.path().join("tmp")).expect("a folder");
        std::fs::create_dir(folder.path().join("faults")).expect("a folder");
        Self { folder }
    }

    /// `gpubench` with `args`, in this folder.
    pub fn gpubench(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpubench"));
        command.args(args);
        self.surround(&mut command);
        command
    }

    /// Has a command run in this folder, with what is its own.
    pub fn surround(&self, command: &mut Command) {
        command.current_dir(self.folder.path());
        command.env("TMPDIR", self.folder.path().join("tmp"));
        command.env("GPUBENCH_LOCKS", self.folder.path().join("tmp"));
        command.env("GPUBENCH_FAULTS", self.folder.path().join("faults"));
        command.env("XDG_CONFIG_HOME", self.folder.path().join("config"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    }

    /// Runs to the end.
    pub fn output(&self, args: &[&str]) -> Output {
        let child = self.gpubench(args).spawn().expect("the binary starts");
        finish(child)
    }

    /// The only result file here.
    pub fn result(&self) -> PathBuf {
        let files = self.results();
        assert_eq!(files.len(), 1, "one result file, not {files:?}");
        files[0].clone()
    }

    /// All result files here.
    pub fn results(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.folder.path().join("results"));
        let mut files: Vec<_> =
            entries.into_iter().flatten().map(|entry| entry.expect("readable").path()).collect();
        files.sort();
        files
    }

    /// The only result here, read.
    pub fn run(&self) -> Run {
        read(&self.result()).expect("a result file")
    }
}

/// Waits for the end of a child, however it ends, but not for ever.
pub fn finish(mut child: Child) -> Output {
    let pid = child.id();
    let watchdog = std::thread::spawn(move || {
        let start = Instant::now();
        while start.elapsed() < LONG {
            if !Path::new(&format!("/proc/{pid}")).exists() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        kill(pid, "KILL");
    });
    let start = Instant::now();
    let stdin = child.stdin.take();
    let output = child.wait_with_output().expect("it ends");
    drop(stdin);
    assert!(start.elapsed() < LONG, "it hung: {}", text(&output.stderr));
    drop(watchdog);
    output
}

/// A suite among the tests' data.
pub fn suite(path: &str) -> String {
    format!("{}/tests/data/{path}", env!("CARGO_MANIFEST_DIR"))
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The outcomes of a workload, over devices and rounds.
pub fn outcomes<'a>(run: &'a Run, workload: &str) -> Vec<&'a Outcome> {
    records(run, workload).iter().map(|record| &record.outcome).collect()
}

pub fn records<'a>(run: &'a Run, workload: &str) -> Vec<&'a Record> {
    let found: Vec<_> = run.records.iter().filter(|r| r.key.workload == workload).collect();
    assert!(!found.is_empty(), "no record of {workload}");
    found
}

/// Sends a signal by name.
pub fn kill(pid: u32, signal: &str) {
    let _ = Command::new("kill").args([&format!("-{signal}"), &pid.to_string()]).output();
}

/// The workers that a process started and that still live.
pub fn workers(parent: u32) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let Ok(line) = std::fs::read(entry.path().join("cmdline")) else { continue };
        let args: Vec<&[u8]> = line.split(|&byte| byte == 0).collect();
        let parent = parent.to_string();
        if args.windows(2).any(|pair| pair == [b"--parent", parent.as_bytes()]) {
            found.push(pid);
        }
    }
    found
}

/// Waits until something holds.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < LONG, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until no worker of `parent` is left.
pub fn no_orphan(parent: u32) {
    until("the workers' end", || workers(parent).is_empty());
}

/// An experiment without options, as a suite asks for it.
pub fn requested(kind: gpubench::workload::Kind) -> gpubench::suite::Requested {
    let experiment = gpubench::measure::registry::experiment(kind).expect("a kind of this build");
    gpubench::suite::Requested { experiment: experiment.kind, options: std::sync::Arc::new(()) }
}

/// The exit code of `gpubench` in a place, and what it writes to standard output and to standard error.
pub fn output(place: &Place, args: &[&str]) -> (Option<i32>, String, String) {
    let output = place.output(args);
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}
