//! `gpubench doctor`: explain why a device is missing, and what to install.

use super::found::describe;
use super::show::{print, wrapped};
use crate::worker;
use gpubench_core::error::Result;
use gpubench_core::text::{counted, printable};
use gpubench_device as backend;
use gpubench_device::doctor::{Finding, State, System, load_here};
use gpubench_report::progress::Stderr;
use gpubench_report::render::json::json;
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// The longest that a library may take to load.
const LOADING: Duration = Duration::from_secs(20);

/// Arguments of `gpubench doctor`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Load a library in this process, to see whether it can be
    #[arg(long, hide = true, value_name = "LIBRARY", allow_hyphen_values = true)]
    load: Option<PathBuf>,
}

/// What the doctor found, and how many devices can be used.
#[derive(Serialize)]
struct Report {
    devices: usize,
    findings: Vec<Finding>,
}

/// Runs the command: exit code 3 where no device can be used.
pub fn run(args: Args) -> Result<ExitCode> {
    if let Some(library) = args.load {
        return Ok(load(&library));
    }
    let report = examine();
    print(&if args.json { json(&report) } else { text(&report) })?;
    Ok(ExitCode::from(if report.devices > 0 { 0 } else { 3 }))
}

/// Reports on stderr why there is no device: stdout is for data.
pub fn explain() {
    // There is nobody left to report to when this fails.
    let _ = write!(Stderr, "\n{}", text(&examine()));
}

fn examine() -> Report {
    let system = System {
        root: PathBuf::from("/"),
        env: &|name| std::env::var(name).ok(),
        load: &load_apart,
        access: &may_use,
    };
    let mut findings = system.examine();
    let mut devices = 0;
    for backend in backend::all() {
        let (count, finding) = listed(backend.name());
        devices += count;
        findings.push(finding);
    }
    Report { devices, findings }
}

/// What a backend lists, or the result of it.
fn listed(name: &str) -> (usize, Finding) {
    const AREA: &str = "devices";
    match worker::devices(name) {
        Ok(found) if found.is_empty() => {
            let todo = "see the other findings; without a problem there, the drivers know no device of this machine";
            (0, Finding::warning(AREA, format!("{name} finds no device"), todo))
        }
        Ok(found) => {
            let names: Vec<_> = found.iter().map(|device| printable(&device.name, 60)).collect();
            (found.len(), Finding::ok(AREA, format!("{name} finds {}", names.join(", "))))
        }
        Err(outcome) => {
            let text = printable(&describe(outcome), 600);
            let todo = "update or remove the driver that fails";
            (0, Finding::problem(AREA, format!("{name}: {text}"), todo))
        }
    }
}

/// The child's part of [`load_apart`].
fn load(library: &Path) -> ExitCode {
    match load_here(library) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Loads a library in a process of its own: a broken driver takes only that with it.
fn load_apart(library: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("starting a process to load it: {error}");
    let program = std::env::current_exe().map_err(failed)?;
    let mut child = Command::new(program)
        .args(["doctor", "--load"])
        .arg(library)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)?;
    let begun = Instant::now();
    while child.try_wait().map_err(failed)?.is_none() {
        if begun.elapsed() > LOADING {
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("loading it takes longer than {} s", LOADING.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = child.wait_with_output().map_err(failed)?;
    match output.status.code() {
        Some(0) => Ok(()),
        Some(1) => Err(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        _ => Err(format!("loading it crashes ({})", output.status)),
    }
}

#[cfg(unix)]
fn may_use(path: &Path) -> bool {
    use rustix::fs::{Access, access};
    access(path, Access::READ_OK | Access::WRITE_OK).is_ok()
}

#[cfg(not(unix))]
fn may_use(_path: &Path) -> bool {
    true
}

/// The report for people, at most 80 columns but for long words.
fn text(report: &Report) -> String {
    let mut out = String::new();
    let mut area = "";
    for finding in &report.findings {
        if finding.area != area {
            area = finding.area;
            let blank = if out.is_empty() { "" } else { "\n" };
            out += &format!("{blank}{area}\n");
        }
        let mark = match finding.state {
            State::Ok => "✓",
            State::Warning => "!",
            State::Problem => "✗",
        };
        out += &wrapped(&finding.found, [&format!("  {mark} "), "    "], false);
        if let Some(todo) = &finding.todo {
            out += &wrapped(todo, ["    → ", "      "], false);
        }
    }
    let count = |state| report.findings.iter().filter(|finding| finding.state == state).count();
    let (problems, warnings) = (count(State::Problem), count(State::Warning));
    out + &format!(
        "\n{} usable, {}, {}\n",
        counted(report.devices, "device"),
        counted(problems, "problem"),
        counted(warnings, "warning")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_wraps_and_counts() {
        let report = Report {
            devices: 1,
            findings: vec![
                Finding::ok("OpenCL", "fine"),
                Finding::problem("OpenCL", "word ".repeat(40), "do this"),
                Finding::warning("Vulkan", "hm", "that"),
            ],
        };
        let text = text(&report);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.starts_with("OpenCL\n  ✓ fine\n  ✗ word"), "{text}");
        assert!(text.contains("\n\nVulkan\n  ! hm\n    → that\n"), "{text}");
        assert!(text.ends_with("\n1 device usable, 1 problem, 1 warning\n"), "{text}");
    }
}
