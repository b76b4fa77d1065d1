//! A thousand runs of two thousand records, ranked: how long, and how much memory.
//!
//! `cargo bench --bench rank` writes them into a temporary folder (about 2 GB) and ranks them with
//! `gpubench rank`, as a user would. `GPUBENCH_BENCH_RUNS` sets another number of runs.

#[path = "../tests/common/invented.rs"]
mod invented;

use gpubench::record::{Line, Record};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Every run: one device, four rounds of 500 cases.
const ROUNDS: u32 = 4;
const CASES: i64 = 500;
/// Different devices; runs of one are pooled.
const DEVICES: usize = 250;
const SAMPLES: usize = 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runs = match std::env::var("GPUBENCH_BENCH_RUNS") {
        Ok(text) => text.parse()?,
        Err(_) => 1000,
    };
    let folder = tempfile::tempdir()?;
    let bytes = (0..runs).map(|run| write(folder.path(), run)).sum::<Result<u64, _>>()?;
    let records = runs as u64 * u64::from(ROUNDS) * CASES as u64;
    println!("{runs} runs, {records} records, {:.2} GB", bytes as f64 / 1e9);

    let begun = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_gpubench"))
        .arg("rank")
        .arg(folder.path())
        .args(["--format", "csv"])
        .stdout(Stdio::piped())
        .spawn()?;
    let pid = child.id();
    let monitor = std::thread::spawn(move || max_memory(pid));
    let mut out = child.stdout.take().ok_or("no stdout")?;
    let lines = std::io::copy(&mut out, &mut std::io::sink())?;
    let status = child.wait()?;
    let seconds = begun.elapsed().as_secs_f64();
    let memory = monitor.join().unwrap_or(None);
    let memory = memory.map_or("unknown".into(), |kib| format!("{:.0} MiB", kib as f64 / 1024.0));
    println!("ranked in {seconds:.2} s, {memory} at most ({lines} bytes of ranking, {status})");
    Ok(())
}

/// Writes a run; how many bytes it has.
fn write(folder: &Path, run: usize) -> Result<u64, std::io::Error> {
    let path = folder.join(format!("run{run:04}.jsonl"));
    let mut file = BufWriter::new(File::create(&path)?);
    let device = invented::device(&format!("Card {}", run % DEVICES));
    let mut line = |line: &Line| -> Result<(), std::io::Error> {
        serde_json::to_writer(&mut file, line)?;
        file.write_all(b"\n")
    };
    line(&Line::Header(Box::new(invented::header(vec![device], ROUNDS))))?;
    for round in 0..ROUNDS {
        for case in 0..CASES {
            line(&Line::Record(Box::new(record(run, round, case))))?;
        }
    }
    file.flush()?;
    Ok(std::fs::metadata(&path)?.len())
}

/// A record as a run on a device leaves it: samples to the nanosecond, with a kernel's report.
fn record(run: usize, round: u32, case: i64) -> Record {
    use gpubench::gpu::{BoundsChecks, BuildReport};
    use gpubench::record::Built;
    let mut state = (run as u64 + 1) * 0x9e37_79b9 + u64::from(round) * 0x85eb_ca6b + case as u64;
    let mut random = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1_u64 << 31) as f64
    };
    let speed = 1.0 + (run % DEVICES) as f64 / DEVICES as f64;
    let base = 1e-4 * (1 + case) as f64 / speed * (1.0 + 0.02 * random());
    let samples = (0..SAMPLES).map(|_| base * (1.0 + 0.01 * random())).collect();
    let workload = format!("workload{:02}", case % 25);
    let mut record =
        invented::record(invented::key(&workload, 64 * (case / 25 + 1)), 0, round, samples);
    record.tags = vec!["kernel".into(), "invented".into()];
    record.family = ["compute", "memory"][(case % 2) as usize].into();
    record.kernel = Some(Built {
        hash: format!("{case:064x}"),
        group: [64, 1, 1],
        groups: [1024, 1, 1],
        bounds_checks: BoundsChecks::Off,
        variant: String::new(),
        tried: vec![],
        untried: 0,
        untimed: Default::default(),
        report: BuildReport {
            seconds: 0.05,
            first: Some(true),
            local_bytes: Some(1024),
            subgroup: Some(32),
            options: "-cl-mad-enable -cl-no-signed-zeros -D GROUP_X=64".into(),
            ..BuildReport::default()
        },
    });
    record
}

/// The most memory, in KiB, that a process ever held, sampled until it is gone.
fn max_memory(pid: u32) -> Option<u64> {
    let mut max_kib = None;
    while let Ok(status) = std::fs::read_to_string(format!("/proc/{pid}/status")) {
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let Some(line) = line else { break };
        max_kib = line.trim().trim_end_matches("kB").trim().parse().ok().max(max_kib);
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    max_kib
}
