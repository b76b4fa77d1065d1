//! gpubench's ceilings beside those of `clpeak` (Debian package of that name) and, on an OpenCL
//! implementation for the CPU, beside what the host's processor reaches by itself: one machine,
//! one sitting, as a Markdown table.
//!
//! ```text
//! cargo bench --bench peers [-- DEVICE]      DEVICE as for `gpubench run --device`
//! ```
//!
//! The order is host, clpeak, gpubench (three rounds, five minutes at most), clpeak, host. The others count with the
//! better of their two runs, gpubench with the mean of its rounds' medians. Run it on a machine
//! that does nothing else.

mod host;

use gpubench::analyse::{CaseResult, DeviceCases, collect};
use gpubench::gpu::{DeviceKind, MemoryKind};
use gpubench::store;
use gpubench::workload::{CaseKey, Kind};
use std::error::Error;
use std::process::{Command, Stdio};

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    let device = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let mut hosts = vec![Host::measure()];
    let mut peaks = vec![clpeak()];
    let ours = gpubench(device.as_deref())?;
    peaks.push(clpeak());
    hosts.push(Host::measure());

    let name = &ours.device.name;
    let host = (ours.device.kind == DeviceKind::Cpu).then(|| Host::better(&hosts));
    let peaks: Vec<Peak> = peaks.iter().flatten().filter_map(|text| Peak::of(text, name)).collect();
    println!("{name}, {}, through OpenCL\n", ours.device.driver);
    println!("| | gpubench | clpeak | host alone | ratio | wanted |");
    println!("|---|---|---|---|---|---|");
    for row in rows(&ours, &peaks, host.as_ref()) {
        println!("{row}");
    }
    Ok(())
}

/// What the host reaches.
struct Host {
    fma: f64,
    triad: f64,
}

impl Host {
    fn measure() -> Self {
        let (fma, triads) = (host::fma(), host::triad(256));
        eprintln!("host, {} threads: fma GFLOP/s {fma}", host::threads());
        triads.iter().for_each(|triad| eprintln!("triad 256 MiB GB/s {triad}"));
        Self { fma: fma.median(), triad: triads.first().map_or(0.0, host::Rates::median) }
    }

    fn better(runs: &[Self]) -> Self {
        let best = |of: fn(&Self) -> f64| runs.iter().map(of).fold(0.0, f64::max);
        Self { fma: best(|run| run.fma), triad: best(|run| run.triad) }
    }
}

/// What clpeak prints; `None` (with a word on stderr) where it cannot be run.
fn clpeak() -> Option<String> {
    let tests = ["--compute-sp", "--global-bandwidth", "--transfer-bandwidth", "--kernel-latency"];
    match Command::new("clpeak").args(tests).output() {
        Ok(output) => Some(String::from_utf8_lossy(&output.stdout).into_owned()),
        Err(error) => {
            eprintln!("clpeak: {error}; its column stays empty");
            None
        }
    }
}

/// One device's section of clpeak's output.
struct Peak {
    lines: Vec<(String, f64)>,
}

impl Peak {
    /// The section of the device called `name`.
    fn of(text: &str, name: &str) -> Option<Self> {
        let mut lines = vec![];
        let mut heading = String::new();
        let after = text.split("Device: ").find(|section| section.starts_with(name))?;
        for line in after.lines().skip(1).map(str::trim) {
            let Some((label, value)) = line.rsplit_once(':') else {
                heading = line.to_owned();
                continue;
            };
            let value = value.split_whitespace().next().and_then(|value| value.parse().ok());
            lines.extend(value.map(|value| (format!("{heading}/{}", label.trim()), value)));
        }
        Some(Self { lines })
    }

    /// Values of the lines that begin so: heading, a slash, label.
    fn values<'a>(&'a self, start: &'a str) -> impl Iterator<Item = f64> + 'a {
        self.lines.iter().filter(move |(label, _)| label.starts_with(start)).map(|line| line.1)
    }
}

/// Runs the embedded suite `micro`, three rounds, and reads what it left behind.
fn gpubench(device: Option<&str>) -> Result<DeviceCases, Failure> {
    let scratch = tempfile::tempdir()?;
    let file = scratch.path().join("peers.jsonl");
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpubench"));
    let limits = ["--rounds", "3", "--budget", "300"];
    command.args(["run", "micro", "--backend", "opencl"]).args(limits).arg("--output").arg(&file);
    if let Some(device) = device {
        command.args(["--device", device]);
    }
    // Failed cases are not hidden: their cell gives the result.
    command.stdout(Stdio::null()).status()?;
    let run = store::read(&file)?;
    let devices = collect(&run.header, &run.records);
    match devices.len() {
        1 => devices.into_iter().next().ok_or_else(|| "no device".into()),
        n => Err(format!("{n} OpenCL devices: name one").into()),
    }
}

/// A row of the table, before it is text.
struct Row {
    what: &'static str,
    unit: &'static str,
    ours: Result<f64, &'static str>,
    clpeak: Option<f64>,
    host: Option<f64>,
    wanted: Wanted,
}

/// What gpubench's figure is held against.
enum Wanted {
    /// At least this share of the host's.
    OfHost(f64),
    /// At least this share of clpeak's.
    OfClpeak(f64),
    /// At most this share of clpeak's.
    AtMost(f64),
}

impl std::fmt::Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { what, unit, .. } = self;
        let cell = |value: Option<f64>| value.map_or("–".into(), |x| format!("{x:.2} {unit}"));
        let ours = self.ours.map_or_else(str::to_owned, |ours| cell(Some(ours)));
        let (other, wanted) = match self.wanted {
            Wanted::OfHost(share) => (self.host, format!("≥ {share:.2} × host")),
            Wanted::OfClpeak(share) => (self.clpeak, format!("≥ {share:.2} × clpeak")),
            Wanted::AtMost(share) => (self.clpeak, format!("≤ {share:.2} × clpeak")),
        };
        let ratio =
            self.ours.ok().zip(other).map_or("–".into(), |(a, b)| format!("{:.2}", a / b));
        let (clpeak, host) = (cell(self.clpeak), cell(self.host));
        write!(f, "| {what} | {ours} | {clpeak} | {host} | {ratio} | {wanted} |")
    }
}

fn rows(ours: &DeviceCases, peaks: &[Peak], host: Option<&Host>) -> Vec<Row> {
    let max_of = |start: &str| peaks.iter().flat_map(|p| p.values(start)).reduce(f64::max);
    let min_of = |start| peaks.iter().flat_map(|p| p.values(start)).reduce(f64::min);
    let row =
        |what, unit, ours, clpeak, wanted| Row { what, unit, ours, clpeak, host: None, wanted };
    let fma = best(ours, "fma", |case, seconds| case.flops / seconds / 1e9);
    let compute = max_of("Single-precision compute (GFLOPS)/");
    let read = max_of("Global memory bandwidth (GBPS)/");
    let launch = of(ours, "launch", |_, seconds| seconds * 1e6);
    let latency = min_of("/Kernel launch latency");
    let of_host = |rate: fn(&Host) -> f64, row: Row| Row { host: host.map(rate), ..row };
    let fma = row("fma", "GFLOP/s", fma, compute, Wanted::OfHost(0.90));
    let triad = row("triad", "GB/s", of(ours, "triad", bytes), None, Wanted::OfHost(0.95));
    let mut rows = vec![
        of_host(|host| host.fma, fma),
        of_host(|host| host.triad, triad),
        row("read", "GB/s", of(ours, "read", bytes), read, Wanted::OfClpeak(0.95)),
        row("launch", "µs", launch, latency, Wanted::AtMost(1.0)),
    ];
    for (what, measure, kind, label) in TRANSFERS {
        let wanted = |key: &CaseKey| key.measure == measure && key.host_memory == Some(kind);
        let clpeak = max_of(&format!("Transfer bandwidth (GBPS)/{label}"));
        let ours = largest(ours, wanted, bytes);
        rows.push(row(what, "GB/s", ours, clpeak, Wanted::OfClpeak(0.95)));
    }
    rows
}

/// Transfers and clpeak's labels for them.
const TRANSFERS: [(&str, Kind, MemoryKind, &str); 4] = [
    ("upload, pageable", Kind::new("upload"), MemoryKind::Pageable, "enqueueWriteBuffer"),
    ("download, pageable", Kind::new("download"), MemoryKind::Pageable, "enqueueReadBuffer"),
    ("upload, mapped", Kind::new("upload"), MemoryKind::Mapped, "memcpy to mapped"),
    ("download, mapped", Kind::new("download"), MemoryKind::Mapped, "memcpy from mapped"),
];

fn bytes(case: &CaseResult, seconds: f64) -> f64 {
    case.bytes / seconds / 1e9
}

/// The figure of `workload` at its largest size.
fn of(
    ours: &DeviceCases,
    workload: &str,
    figure: impl Fn(&CaseResult, f64) -> f64,
) -> Result<f64, &'static str> {
    largest(ours, |key| key.workload == workload, figure)
}

/// The largest figure of `workload` at any size that was measured.
fn best(
    ours: &DeviceCases,
    workload: &str,
    figure: impl Fn(&CaseResult, f64) -> f64,
) -> Result<f64, &'static str> {
    let cases = ours.cases.iter().filter(|(key, _)| key.workload == workload);
    let measured = cases.filter_map(|(_, case)| Some(figure(case, case.overall?.value)));
    measured.reduce(f64::max).ok_or("not measured")
}

/// The figure of the largest of the cases that `wanted` picks, or the result of that case.
fn largest(
    ours: &DeviceCases,
    wanted: impl Fn(&CaseKey) -> bool,
    figure: impl Fn(&CaseResult, f64) -> f64,
) -> Result<f64, &'static str> {
    let cases = ours.cases.iter().filter(|(key, _)| wanted(key));
    let largest = cases.max_by_key(|(key, _)| key.size.first().map(|&(_, value)| value));
    let (_, case) = largest.ok_or("not in the run")?;
    case.overall.map(|overall| figure(case, overall.value)).ok_or(case.outcome.label())
}
