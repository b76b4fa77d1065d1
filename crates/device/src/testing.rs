//! A device that fails on purpose, for tests: whatever can go wrong in a driver goes wrong here
//! at a word. It is there only where [`STATE`] is set.
//!
//! A simulated GPU underneath does the rest. A kernel's entry point names its fault.

use super::sim::Sim;
use super::{Backend, Device, timeline};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{
    BufferId, BuildReport, DeviceInfo, KernelId, KernelSource, MemoryKind, Op, Recording, Timeline,
};
use gpubench_core::units::Bytes;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Environment variable with a folder, where a fault that happens once notes that it has.
pub const STATE: &str = "GPUBENCH_FAULTS";

/// As many of the simulated GPUs: one to fail, one to go on.
const DEVICES: usize = 2;

/// The backend `faulty`: the simulated GPUs, with faults.
pub struct Faulty {
    sim: Sim,
    state: PathBuf,
}

impl Faulty {
    /// Where [`STATE`] is set.
    pub fn from_env() -> Option<Self> {
        let state = std::env::var_os(STATE)?.into();
        Some(Self { sim: Sim::default(), state })
    }
}

impl Backend for Faulty {
    fn name(&self) -> &'static str {
        "faulty"
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>> {
        Ok(self.sim.devices()?.into_iter().take(DEVICES).map(renamed).collect())
    }

    fn open(&self, index: usize) -> Result<Box<dyn Device>> {
        let sim = self.sim.open(index)?;
        let info = renamed(sim.info().clone());
        let state = self.state.clone();
        Ok(Box::new(FaultyDevice {
            sim,
            info,
            state,
            entries: BTreeMap::new(),
            drops: true,
            launches: 0,
            before_reset: 0,
            is_wrong: false,
            slow: 0,
            was_slow: false,
        }))
    }
}

fn renamed(info: DeviceInfo) -> DeviceInfo {
    DeviceInfo { backend: "faulty".into(), ..info }
}

struct FaultyDevice {
    sim: Box<dyn Device>,
    info: DeviceInfo,
    state: PathBuf,
    entries: BTreeMap<KernelId, String>,
    /// Whether dropping it ends.
    drops: bool,
    /// Recordings with kernels so far.
    launches: u32,
    /// Those before the last reset.
    before_reset: u32,
    /// Whether it reads what nobody wrote.
    is_wrong: bool,
    /// Resets until it is as fast as before.
    slow: u32,
    /// Whether it was slow before.
    was_slow: bool,
}

impl FaultyDevice {
    fn build_fault(&mut self, entry: &str) -> Result<()> {
        match entry {
            "hangs_in_build" => hang(),
            "aborts_in_build" => std::process::abort(),
            "does_not_build" => {
                return Err(Error::Build {
                    kernel: entry.into(),
                    log: "faults.cl:3:5: error: as asked".into(),
                });
            }
            "hangs_on_drop" => self.drops = false,
            "throttles" => self.slow = u32::MAX,
            // The case's own reset, and the one before the reference kernel; the next one cools it down.
            "throttles_once" if !self.was_slow => (self.slow, self.was_slow) = (3, true),
            _ => {}
        }
        Ok(())
    }

    fn variant_fault(&self, entry: &str) {
        let fault = match entry {
            "hangs_in_one_build" => hang as fn() -> !,
            "aborts_in_one_build" => std::process::abort,
            _ => return,
        };
        self.note(entry);
        fault()
    }

    /// How often it happened.
    fn note(&self, entry: &str) {
        let note = self.state.join(entry);
        let before = std::fs::read_to_string(&note).unwrap_or_default();
        let _ = std::fs::write(&note, before + "x");
    }

    fn launch_fault(&mut self, entry: &str) -> Result<()> {
        match entry {
            "hangs_in_launch" => hang(),
            "hangs_in_one_launch" => {
                self.note(entry);
                hang()
            }
            "crashes_in_launch" => crash(),
            "crashes_once" => {
                let note = self.state.join("crashed");
                if !note.exists() && std::fs::write(&note, "").is_ok() {
                    crash();
                }
            }
            "exits_in_launch" => std::process::exit(3),
            // Long after everything was verified, in the midst of measuring.
            "loses_the_device_later" if self.launches > 12 => {
                return Err(Error::DeviceLost("as asked".into()));
            }
            // Whatever is compared before its times are taken is right.
            "is_wrong_later" => self.is_wrong = self.launches > self.before_reset + 12,
            "loses_the_device" => return Err(Error::DeviceLost("as asked".into())),
            "runs_out_of_memory" => return Err(Error::OutOfMemory("as asked".into())),
            "chatters" => {
                println!("{{\"record\":\"forged\"}}\nno newline behind this: ");
                eprintln!("driver: \u{1b}[31mwarning\u{1b}[0m");
            }
            _ => {}
        }
        Ok(())
    }
}

impl Device for FaultyDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn build(&mut self, id: KernelId, source: &KernelSource) -> Result<BuildReport> {
        self.build_fault(&source.entry)?;
        // Of a search the group says which variant it is.
        if source.group == [128, 1, 1] {
            self.variant_fault(&source.entry);
        }
        // A launch knows its kernel's number alone.
        let is_healthy = source.entry == "hangs_in_one_launch" && source.group != [128, 1, 1];
        let entry = if is_healthy { "works" } else { &source.entry };
        self.entries.insert(id, entry.to_owned());
        self.sim.build(id, source)
    }

    fn alloc(&mut self, id: BufferId, bytes: Bytes, kind: MemoryKind) -> Result<()> {
        self.sim.alloc(id, bytes, kind)
    }

    fn write(&mut self, id: BufferId, data: &[u8]) -> Result<()> {
        self.sim.write(id, data)
    }

    fn read(&mut self, id: BufferId) -> Result<Vec<u8>> {
        let mut bytes = self.sim.read(id)?;
        let middle = bytes.len() / 2;
        if let Some(byte) = bytes.get_mut(middle).filter(|_| self.is_wrong) {
            *byte ^= 0xff;
        }
        Ok(bytes)
    }

    fn run(&mut self, recording: &Recording) -> Result<Timeline> {
        let mut launched: Vec<String> = Vec::new();
        for step in &recording.steps {
            if let Op::Dispatch { kernel, .. } = &step.op
                && let Some(entry) = self.entries.get(kernel)
                && !launched.contains(entry)
            {
                launched.push(entry.clone());
            }
        }
        self.launches += u32::from(!launched.is_empty());
        for entry in &launched {
            self.launch_fault(entry)?;
        }
        let times = self.sim.run(recording)?;
        let times = if self.slow > 0 { stretched(times) } else { times };
        Ok(match launched.iter().find_map(|entry| stamp_fault(entry)) {
            Some(spoil) => misread(times, spoil),
            None => times,
        })
    }

    fn reset(&mut self) {
        self.slow = if self.slow == u32::MAX { self.slow } else { self.slow.saturating_sub(1) };
        (self.before_reset, self.is_wrong) = (self.launches, false);
        self.entries.retain(|id, _| id.is_lasting());
        self.sim.reset();
    }
}

impl Drop for FaultyDevice {
    fn drop(&mut self) {
        if !self.drops {
            hang();
        }
    }
}

/// What a device with a lower clock takes.
fn stretched(mut timeline: Timeline) -> Timeline {
    const FACTOR: f64 = 1.25;
    for step in &mut timeline.steps {
        for time in [&mut step.queued, &mut step.submitted, &mut step.started, &mut step.ended] {
            *time *= FACTOR;
        }
    }
    timeline.wall *= FACTOR;
    timeline
}

/// What a driver makes of the timestamps of a step, in nanoseconds.
type Spoil = fn([u64; 4]) -> [u64; 4];

fn stamp_fault(entry: &str) -> Option<Spoil> {
    match entry {
        "stamps_are_zero" => Some(|_| [0; 4]),
        "stamps_run_backwards" => {
            Some(|[queued, submitted, started, ended]| [queued, submitted, ended + 1, started])
        }
        "stamps_are_huge" => Some(|[queued, submitted, started, ended]| {
            [queued, submitted, started, ended + (1 << 60)]
        }),
        _ => None,
    }
}

/// The times as they are read from a driver whose timestamps are spoilt.
fn misread(times: Timeline, spoil: Spoil) -> Timeline {
    let nanoseconds = |seconds: f64| 1 + (seconds * 1e9) as u64;
    let stamps = times.steps.iter().map(|step| {
        spoil([step.queued, step.submitted, step.started, step.ended].map(nanoseconds))
    });
    timeline::of(Ok(stamps.collect()), 1e-9, Some(times.resolution), times.wall)
}

fn hang() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(3600));
    }
}

fn crash() -> ! {
    eprintln!("about to crash, as asked");
    #[cfg(unix)]
    for _ in 0..2 {
        // The first may be taken by Rust's own handler, which looks for stack overflows.
        let me = rustix::process::getpid();
        let _ = rustix::process::kill_process(me, rustix::process::Signal::SEGV);
    }
    std::process::abort()
}
