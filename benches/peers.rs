//! gpubench's ceilings beside those of `clpeak` (Debian package of that name) and, on a driver for
//! the CPU, beside what the host's processor reaches by itself: one machine, one sitting, as a
//! Markdown table.
//!
//! ```text
//! cargo bench --bench peers [-- DEVICE]      DEVICE as for `gpubench run --device`, default `opencl:0`
//! ```
//!
//! The order is host, clpeak, gpubench (the suite `ceilings` for 300 s, then copies of 512 MiB), clpeak, host.
//! The others count with the better of their two runs, gpubench with the best of what it calls ceilings of a
//! type, and with the largest size of what moves bytes. Run it on a machine that does nothing else.
//! `GPUBENCH=FILE` is the program that is measured, and `KEEP=FILE` keeps the run of `ceilings`.
//! `benches/ceilings_and_clpeak.sh` does so driver by driver.

mod host;

use gpubench::analyse::{CaseResult, DeviceCases, collect};
use gpubench::gpu::{DeviceKind, MemoryKind};
use gpubench::store;
use gpubench::workload::{CaseKey, Kind};
use host::Type;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

type Failure = Box<dyn Error>;

/// MiB of the host's arrays.
const MIB: usize = 256;

fn main() -> Result<(), Failure> {
    let device = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let device = device.unwrap_or_else(|| "opencl:0".into());
    let has_clpeak = device.starts_with("opencl");
    let peak = || has_clpeak.then(clpeak).flatten();
    let mut hosts = vec![Host::measure()];
    let mut peaks = vec![peak()];
    let [ours, transfers] = ceilings_and_transfers(&device)?;
    peaks.push(peak());
    hosts.push(Host::measure());

    let name = &ours.device.name;
    let host = (ours.device.kind == DeviceKind::Cpu).then(|| Host::better(&hosts));
    let peaks: Vec<Peak> = peaks.iter().flatten().filter_map(|text| Peak::of(text, name)).collect();
    println!("{name}, {}, `{device}`\n", ours.device.driver);
    println!("| | gpubench | clpeak | host alone | of clpeak's | of the host's |");
    println!("|---|---|---|---|---|---|");
    for row in rows(&ours, &transfers, &peaks, host.as_ref()) {
        println!("{row}");
    }
    println!();
    Ok(())
}

/// What the host reaches: multiply-adds by type, and 10⁹ bytes a second.
struct Host {
    arithmetic: [Option<f64>; TYPES.len()],
    triad: f64,
    read: f64,
    copy: f64,
}

/// The types of which the host's own arithmetic is written.
const TYPES: [Type; 4] = [Type::F32, Type::F64, Type::F16, Type::I8];

impl Host {
    fn measure() -> Self {
        let arithmetic = TYPES.map(host::multiply_adds);
        arithmetic.iter().flatten().for_each(|rates| eprintln!("host GOP/s {rates}"));
        let (triads, read, copy) = (host::triad(MIB), host::read(MIB), host::copy(MIB));
        triads.iter().for_each(|triad| eprintln!("host triad GB/s {triad}"));
        eprintln!("host read GB/s {read}\nhost copy GB/s {copy}");
        Self {
            arithmetic: arithmetic.map(|rates| rates.map(|rates| rates.median())),
            triad: triads.first().map_or(0.0, host::Rates::median),
            read: read.median(),
            copy: copy.median(),
        }
    }

    fn better(runs: &[Self]) -> Self {
        let best = |of: &dyn Fn(&Self) -> f64| runs.iter().map(of).fold(0.0, f64::max);
        let of_type = |i: usize| runs.iter().filter_map(|run| run.arithmetic[i]).reduce(f64::max);
        Self {
            arithmetic: std::array::from_fn(of_type),
            triad: best(&|run| run.triad),
            read: best(&|run| run.read),
            copy: best(&|run| run.copy),
        }
    }

    fn of(&self, r#type: Type) -> Option<f64> {
        TYPES.iter().position(|one| *one == r#type).and_then(|i| self.arithmetic[i])
    }
}

/// What clpeak prints; `None` (with a word on stderr) where it cannot be run.
fn clpeak() -> Option<String> {
    match Command::new("clpeak").output() {
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

/// Copies as large as clpeak's on a processor, where copies of 512 MiB are faster than those of 256.
const TRANSFERS_SUITE: &str = "
version: 1
name: transfers
budget: { total: 20, rounds: 1 }
workloads:
  transfer:
    sizes: { bytes: [536870912] }
    buffers:
      data: { type: u32, count: bytes/4, fill: random_bits, access: read }
    work: { flops: 0, bytes: bytes }
    verify: none
    measure: [upload, download]
    host_memory: [pageable, mapped]
";

/// What gpubench measures of `device` by a suite, and leaves in a file.
fn gpubench(device: &str, suite: &[&str], file: &Path) -> Result<DeviceCases, Failure> {
    let ours =
        std::env::var_os("GPUBENCH").unwrap_or_else(|| env!("CARGO_BIN_EXE_gpubench").into());
    let mut command = Command::new(ours);
    command.arg("run").args(suite).args(["--device", device, "--output"]).arg(file);
    // Failed cases are not hidden: their cell gives the result.
    command.stdout(Stdio::null()).status()?;
    let run = store::read(file)?;
    let devices = collect(&run.header, &run.records);
    match devices.len() {
        1 => devices.into_iter().next().ok_or_else(|| "no device".into()),
        n => Err(format!("{n} devices: name one").into()),
    }
}

/// The embedded suite `ceilings`, with more time than its own so that all may have their turn, and clpeak's transfers.
fn ceilings_and_transfers(device: &str) -> Result<[DeviceCases; 2], Failure> {
    let scratch = tempfile::tempdir()?;
    let file = |name: &str| scratch.path().join(name);
    let kept = std::env::var_os("KEEP").map(PathBuf::from);
    let ceilings = ["ceilings", "--budget", "300"];
    let ceilings = gpubench(device, &ceilings, &kept.unwrap_or_else(|| file("peers.jsonl")))?;
    let suite = file("transfers.yaml");
    std::fs::write(&suite, TRANSFERS_SUITE)?;
    let suite = suite.to_string_lossy();
    Ok([ceilings, gpubench(device, &[&suite], &file("transfers.jsonl"))?])
}

/// A row of the table, before it is text.
struct Row {
    what: &'static str,
    unit: &'static str,
    ours: Result<f64, &'static str>,
    clpeak: Option<f64>,
    host: Option<f64>,
    /// Whether less is better, so that a share is theirs of ours.
    is_time: bool,
}

impl std::fmt::Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { what, unit, .. } = self;
        let cell = |value: Option<f64>| value.map_or("–".into(), |x| format!("{x:.2} {unit}"));
        let ours = self.ours.map_or_else(str::to_owned, |ours| cell(Some(ours)));
        let share = |theirs: Option<f64>| {
            let share = |(a, b): (f64, f64)| if self.is_time { b / a } else { a / b };
            self.ours.ok().zip(theirs).map_or("–".into(), |both| format!("{:.2}", share(both)))
        };
        let shares = [share(self.clpeak), share(self.host)];
        let (clpeak, host) = (cell(self.clpeak), cell(self.host));
        write!(f, "| {what} | {ours} | {clpeak} | {host} | {} | {} |", shares[0], shares[1])
    }
}

/// Arithmetic: what it is called, the workloads whose best counts, clpeak's heading, and the host's type.
const ARITHMETIC: [(&str, &[&str], &str, Option<Type>); 8] = [
    ("f32", &["fma", "arithmetic/f32"], "Single-precision compute", Some(Type::F32)),
    ("f64", &["arithmetic/f64"], "Double-precision compute", Some(Type::F64)),
    ("f16", &["arithmetic/f16"], "Half-precision compute", Some(Type::F16)),
    ("i32", &["arithmetic/i32"], "Integer compute (GIOPS)", None),
    ("i32 beside clpeak's 24 bits", &["arithmetic/i32"], "Integer compute Fast", None),
    ("i16", &["arithmetic/i16"], "Integer short", None),
    ("i8", &["arithmetic/i8"], "Integer char", None),
    ("i8 dot product", &["arithmetic/dot_i8"], "-", Some(Type::I8)),
];

fn rows(
    ours: &DeviceCases,
    transfers: &DeviceCases,
    peaks: &[Peak],
    host: Option<&Host>,
) -> Vec<Row> {
    let max_of = |start: &str| peaks.iter().flat_map(|p| p.values(start)).reduce(f64::max);
    let min_of = |start| peaks.iter().flat_map(|p| p.values(start)).reduce(f64::min);
    let row =
        |what, unit, ours, clpeak, host| Row { what, unit, ours, clpeak, host, is_time: false };
    let arithmetic = ARITHMETIC.iter().map(|(what, workloads, heading, r#type)| {
        let rate = best(ours, workloads, |case, seconds| case.flops / seconds / 1e9);
        let host = host.zip(*r#type).and_then(|(host, r#type)| host.of(r#type));
        row(what, "GOP/s", rate, max_of(heading), host)
    });
    let mut rows: Vec<Row> = arithmetic.collect();
    let read = match ["read", "read_runs"].map(|workload| of(ours, workload, bytes)) {
        [Ok(one), Ok(other)] => Ok(one.max(other)),
        [one, other] => one.or(other),
    };
    let clpeak = max_of("Global memory bandwidth");
    rows.push(row("read", "GB/s", read, clpeak, host.map(|host| host.read)));
    rows.push(row("triad", "GB/s", of(ours, "triad", bytes), None, host.map(|host| host.triad)));
    let launch = of(ours, "launch", |_, seconds| seconds * 1e6);
    let latency = min_of("/Kernel launch latency");
    rows.push(Row { is_time: true, ..row("launch", "µs", launch, latency, None) });
    for (what, measure, kind, labels) in TRANSFERS {
        let wanted = |key: &CaseKey| key.measure == measure && key.host_memory == Some(kind);
        let clpeak = peaks.iter().filter_map(|peak| in_sequence(peak, labels)).reduce(f64::max);
        let ours = largest(transfers, wanted, bytes);
        rows.push(row(what, "GB/s", ours, clpeak, host.map(|host| host.copy)));
    }
    rows
}

/// Transfers and clpeak's labels for their steps. Ours by mapping are a map, a copy and an unmap. clpeak times the copy and one of
/// the others, each apart: the map before it reads, the unmap behind what it writes.
const TRANSFERS: [(&str, Kind, MemoryKind, &[&str]); 4] = [
    ("upload, pageable", Kind::new("upload"), MemoryKind::Pageable, &["enqueueWriteBuffer"]),
    ("download, pageable", Kind::new("download"), MemoryKind::Pageable, &["enqueueReadBuffer"]),
    (
        "upload, mapped",
        Kind::new("upload"),
        MemoryKind::Mapped,
        &["memcpy to mapped", "enqueueUnmap"],
    ),
    (
        "download, mapped",
        Kind::new("download"),
        MemoryKind::Mapped,
        &["enqueueMapBuffer", "memcpy from mapped"],
    ),
];

/// The rate of steps one behind the other, each of which moves all bytes, by clpeak's rate of each: the better of blocking
/// and not, where it prints both.
fn in_sequence(peak: &Peak, labels: &[&str]) -> Option<f64> {
    let rate =
        |label: &&str| peak.values(&format!("Transfer bandwidth (GBPS)/{label}")).reduce(f64::max);
    let rates: Option<Vec<f64>> = labels.iter().map(rate).collect();
    Some(1.0 / rates?.iter().map(|rate| 1.0 / rate).sum::<f64>())
}

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

/// The largest figure of any of `workloads` at any size that was measured.
fn best(
    ours: &DeviceCases,
    workloads: &[&str],
    figure: impl Fn(&CaseResult, f64) -> f64,
) -> Result<f64, &'static str> {
    let of = |key: &CaseKey| workloads.contains(&key.workload.as_str());
    let cases = || ours.cases.iter().filter(|(key, _)| of(key)).map(|(_, case)| case);
    let measured = cases().filter_map(|case| Some(figure(case, case.seconds()?)));
    let why = cases().map(|case| case.outcome.label()).next().unwrap_or("not in the run");
    measured.reduce(f64::max).ok_or(why)
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
    case.seconds().map(|seconds| figure(case, seconds)).ok_or(case.outcome.label())
}
