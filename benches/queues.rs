//! Whether a CPU implementation of OpenCL overlaps as it does on a quiet machine:
//! `cargo bench --bench queues`.
//!
//! It reads the number of cores, says what it expects, and repeats each check while the machine is
//! busy with other things; where it stays busy, it says that instead of a verdict. A quiet
//! machine with other figures is a failure (exit code 1). docs/results/2026-11-21-queues-pocl.md has what was measured.

use gpubench::backend::{self, Device};
use gpubench::error::{Error, Result};
use gpubench::gpu::{
    BufferId, DeviceInfo, DeviceKind, MemoryKind, Op, Queue, Recording, Slice, StepId,
};
use gpubench::measure::concurrency::analysis::concurrency;
use gpubench::measure::concurrency::data::Concurrency;
use gpubench::measure::concurrency::plan::CoRunning;
use gpubench::measure::occupancy::analysis::occupancy_sweep;
use gpubench::measure::plan;
use gpubench::measure::residency::residency;
use gpubench::measure::{Policy, Session, measure};
use gpubench::plan::{Case, Limits, Planned, launches};
use gpubench::record::Detail;
use gpubench::units::Bytes;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

/// Share of all cores that others may use on a machine that counts as quiet.
const QUIET: f64 = 0.05;
/// Tries of a check until it is given up as wrong, or the machine as busy.
const TRIES: u32 = 6;

fn main() -> ExitCode {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let Some(info) = cpu_device() else {
        println!("skipped: no CPU implementation of OpenCL here");
        return ExitCode::SUCCESS;
    };
    if std::env::args().any(|argument| argument == HIDDEN) {
        return print_hidden(&info);
    }
    println!("{} on {cores} cores", info.name);
    if cores < 2 {
        println!("skipped: with one core nothing runs concurrently");
        return ExitCode::SUCCESS;
    }
    let mut right = true;
    let mut check = |what: &str, expected: &str, good: &dyn Fn(f64) -> bool, run: Measure| {
        right &= repeated(what, expected, good, || run(&info));
    };
    check(
        "one-group kernel concurrent with a copy, two queues: hidden",
        ">= 0.90",
        &|x| x >= 0.9,
        &|i| hidden(i, 2),
    );
    check("the same on one queue: hidden", "<= 0.10", &|x| x <= 0.1, &|i| hidden(i, 1));
    if info.driver.contains("Portable Computing Language") {
        check("two queues, one driver thread: hidden", "<= 0.10", &|x| x <= 0.1, &one_thread);
    }
    check("two one-group kernels: speedup", ">= 1.80", &|x| x >= 1.8, &|i| {
        concurrency_speedup(i, "pair_one_group", 64)
    });
    // More groups than cores allow no speedup, whatever the intervals say.
    if cores <= 16 {
        check("two 64-group kernels: speedup", "<= 1.15", &|x| x <= 1.15, &|i| {
            concurrency_speedup(i, "pair_many_groups", 4096)
        });
    }
    let expected = format!("= {cores}");
    check("occupancy sweeps: units", &expected, &|x| x == cores as f64, &units);
    check("four chunks, one queue over three queues", ">  1.00", &|x| x > 1.0, &pipeline);
    if right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

type Measure<'a> = &'a dyn Fn(&DeviceInfo) -> Result<f64>;

/// Repeats a check until it is right on a quiet machine; whether it may stand.
fn repeated(
    what: &str,
    expected: &str,
    good: &dyn Fn(f64) -> bool,
    run: impl Fn() -> Result<f64>,
) -> bool {
    let (mut quiet_tries, mut last) = (0, f64::NAN);
    for _ in 0..TRIES {
        let before = Usage::now();
        match run() {
            Ok(value) => last = value,
            Err(error) => {
                println!("{what:<52}{error}");
                return false;
            }
        }
        let quiet = before.others().is_none_or(|share| share <= QUIET);
        quiet_tries += u32::from(quiet);
        if quiet && good(last) {
            println!("{what:<52}{last:>6.2}  expected {expected}  ok");
            return true;
        }
        std::thread::sleep(Duration::from_secs(1));
    }
    // One quiet moment may be chance; half of the tries are not.
    let busy = quiet_tries < TRIES / 2;
    let verdict = if busy { "machine busy" } else { "WRONG" };
    println!("{what:<52}{last:>6.2}  expected {expected}  {verdict}");
    busy
}

/// What all processes and this one have used of the cores so far, in the kernel's ticks.
struct Usage {
    idle: f64,
    all: f64,
    own: f64,
}

impl Usage {
    /// Zeros where the system does not report it.
    fn now() -> Self {
        let (idle, all) = Self::machine().unwrap_or_default();
        Self { idle, all, own: Self::own().unwrap_or_default() }
    }

    fn machine() -> Option<(f64, f64)> {
        let text = std::fs::read_to_string("/proc/stat").ok()?;
        let line = text.lines().next()?;
        let ticks: Vec<f64> =
            line.split_whitespace().skip(1).take(8).filter_map(|n| n.parse().ok()).collect();
        Some((ticks.get(3)? + ticks.get(4)?, ticks.iter().sum()))
    }

    fn own() -> Option<f64> {
        let text = std::fs::read_to_string("/proc/self/stat").ok()?;
        // Behind the name, which may hold spaces: user and system time of this process are fields
        // 14 and 15, those of the children that it waited for 16 and 17.
        let fields = text.rsplit(')').next()?.split_whitespace().skip(11).take(4);
        fields.map(|ticks| ticks.parse::<f64>().ok()).sum()
    }

    /// The share of all cores that others used since; `None` where the system does not report it.
    fn others(&self) -> Option<f64> {
        let now = Self::now();
        let all = now.all - self.all;
        (all > 0.0).then(|| (all - (now.idle - self.idle) - (now.own - self.own)) / all)
    }
}

fn cpu_device() -> Option<DeviceInfo> {
    let devices = backend::by_name("opencl")?.devices().ok()?;
    devices.into_iter().find(|device| device.kind == DeviceKind::Cpu)
}

fn open(info: &DeviceInfo) -> Result<Box<dyn Device>> {
    let none = || Error::Usage("there is no OpenCL here".into());
    backend::by_name("opencl").ok_or_else(none)?.open(info.index)
}

/// Cases of the shipped suite whose name begins so, of this size where one is given.
fn cases(info: &DeviceInfo, name: &str, size: Option<i64>, of: &str) -> Result<Vec<Case>> {
    let suite = gpubench::measure::load("concurrency")?;
    let limits = Limits { memory: None, seconds: 1e3, seed: 1, cores: 2, host_memory: None };
    let planned = plan(&suite, info, &limits).into_iter();
    let case = |planned| match planned {
        Planned::Case(case) => Some(*case),
        Planned::Skipped(_) => None,
    };
    let wanted = |case: &Case| {
        let sized = size.is_none_or(|n| case.key.size.iter().any(|(_, value)| *value == n));
        case.key.workload.starts_with(name) && sized && format!("{:?}", case.key.measure) == of
    };
    Ok(planned.filter_map(case).filter(wanted).collect())
}

fn details(info: &DeviceInfo, cases: Vec<Case>) -> Result<Vec<Detail>> {
    let policy = Policy { min_samples: 9, max_samples: 15, seconds: 20.0, ..Policy::default() };
    let mut session = Session::new(open(info)?);
    let each = |case: &Case| {
        let measurement = measure(&mut session, case, &policy, &mut |_| {});
        let why = || Error::Usage(format!("{}: {:?}", case.key, measurement.outcome));
        measurement.detail.clone().ok_or_else(why)
    };
    cases.iter().map(each).collect()
}

/// The speedup over serial of two copies of a kernel.
fn concurrency_speedup(info: &DeviceInfo, workload: &str, n: i64) -> Result<f64> {
    let mut cases = cases(info, workload, Some(n), "Concurrency")?;
    for case in &mut cases {
        let co_running = CoRunning { cases: vec![], copies: 1, skipped: vec![] };
        case.plan = serde_json::to_value(co_running).map_err(|e| Error::Usage(e.to_string()))?;
    }
    let speedups = details(info, cases)?.into_iter().filter_map(|detail| {
        let raw = detail.read::<Concurrency>()?;
        Some(concurrency(&raw, None, None).pairs.first()?.speedup[0])
    });
    Ok(speedups.fold(f64::NAN, f64::max))
}

/// Units inferred from two occupancy sweeps.
fn units(info: &DeviceInfo) -> Result<f64> {
    let mut sweeps = cases(info, "occupancy/", None, "Occupancy")?;
    sweeps.truncate(2);
    let summaries =
        details(info, sweeps)?.into_iter().filter_map(|detail| occupancy_sweep(&detail.read()?));
    Ok(residency(summaries.filter_map(|summary| summary.groups_at_once()), None)
        .map_or(f64::NAN, |residency| f64::from(residency.units)))
}

/// A one-group kernel, built, with its buffers, and two host buffers with their host mirrors.
struct Rig {
    device: Box<dyn Device>,
    case: Case,
}

/// Bytes of a copy that takes about as long as the kernel.
const COPIED: Bytes = Bytes(16 << 20);

fn whole(buffer: u32) -> Slice {
    Slice { buffer: BufferId(buffer), offset: Bytes(0), len: COPIED }
}

impl Rig {
    /// Buffers 100 to 102 are the host's, 200 to 202 the device's.
    fn new(info: &DeviceInfo) -> Result<Self> {
        let mut device = open(info)?;
        let missing = || Error::Usage("the suite lacks pair_one_group".into());
        let case = cases(info, "pair_one_group", None, "Concurrency")?.pop().ok_or_else(missing)?;
        let candidate = case.candidates.first().ok_or_else(missing)?;
        device.build(case.kernel(), &candidate.kernel)?;
        for (i, buffer) in case.buffers.iter().enumerate() {
            let bytes = Bytes(buffer.bytes().0 + 2 * gpubench::plan::GUARD.0);
            device.alloc(case.buffer(i), bytes, MemoryKind::Device)?;
            device.write(case.buffer(i), &vec![0x5a; bytes.as_usize()])?;
        }
        for buffer in 0..3 {
            for (first, kind) in [(100, MemoryKind::Pinned), (200, MemoryKind::Device)] {
                device.alloc(BufferId(first + buffer), COPIED, kind)?;
                device.write(BufferId(first + buffer), &vec![0x5a; COPIED.as_usize()])?;
            }
        }
        Ok(Self { device, case })
    }

    fn kernel(&self) -> Op {
        let candidate = &self.case.candidates[0];
        launches(&self.case, candidate, self.case.kernel(), 1).steps.remove(0).op
    }

    /// Seconds of the fastest of some runs.
    fn fastest(&mut self, recording: &Recording) -> Result<f64> {
        let begun = Instant::now();
        let mut fastest = f64::INFINITY;
        self.device.run(recording)?;
        while begun.elapsed() < Duration::from_millis(300) {
            fastest = fastest.min(self.device.run(recording)?.wall);
        }
        Ok(fastest)
    }
}

/// The share of the shorter of kernel and copy that running both on `queues` queues hides.
fn hidden(info: &DeviceInfo, queues: u32) -> Result<f64> {
    let mut rig = Rig::new(info)?;
    let (kernel, copy) = (rig.kernel(), Op::Upload { from: whole(100), to: whole(200) });
    let of = |ops: &[&Op]| {
        let mut recording = Recording::default();
        for (op, queue) in ops.iter().zip(0..) {
            recording.push(Queue(queue % queues), vec![], (*op).clone());
        }
        recording
    };
    let alone = [rig.fastest(&of(&[&kernel]))?, rig.fastest(&of(&[&copy]))?];
    let both = rig.fastest(&of(&[&kernel, &copy]))?;
    Ok((alone[0] + alone[1] - both) / alone[0].min(alone[1]))
}

/// Prints what two queues hide and nothing else.
const HIDDEN: &str = "hidden";

fn print_hidden(info: &DeviceInfo) -> ExitCode {
    match hidden(info, 2) {
        Ok(share) => println!("{share}"),
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// What two queues hide where PoCL has a single thread: it reads that when it is loaded, so another
/// process asks.
fn one_thread(_: &DeviceInfo) -> Result<f64> {
    let child = std::env::current_exe().and_then(|this| {
        Command::new(this).arg(HIDDEN).env("POCL_MAX_PTHREAD_COUNT", "1").output()
    });
    let output = child.map_err(|error| Error::Usage(error.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    text.trim().parse().map_err(|_| {
        let (text, complaint) = (text.trim(), complaint.trim());
        Error::Usage(format!("`{text}` is no share; {}: {complaint}", output.status))
    })
}

/// Time of four chunks (write, kernel, read) on one queue over that on three.
fn pipeline(info: &DeviceInfo) -> Result<f64> {
    let mut rig = Rig::new(info)?;
    let kernel = rig.kernel();
    let chunks = |queues: u32| {
        let mut recording = Recording::default();
        let waits = |step: StepId| if queues > 1 { vec![step] } else { vec![] };
        for _ in 0..4 {
            let upload = Op::Upload { from: whole(100), to: whole(200) };
            let uploaded = recording.push(Queue(0), vec![], upload);
            let computed = recording.push(Queue(1 % queues), waits(uploaded), kernel.clone());
            let download = Op::Download { from: whole(201), to: whole(101) };
            recording.push(Queue(2 % queues), waits(computed), download);
        }
        recording
    };
    Ok(rig.fastest(&chunks(1))? / rig.fastest(&chunks(3))?)
}
