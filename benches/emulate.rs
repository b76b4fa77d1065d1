//! How fast kernels are emulated: `cargo bench --bench emulate`.
//!
//! Prints the time of one work-group of the tiled matrix product and of whole grids, and, where an
//! OpenCL device called Oclgrind is found, its time and counts for the OpenCL kernel of the same
//! launch:
//!
//! ```sh
//! OPENCL_DYLIB_PATH=/usr/lib/oclgrind/liboclgrind-rt.so OCLGRIND_INST_COUNTS=1 \
//!     cargo bench --bench emulate
//! ```
//!
//! Nothing is asserted: times depend on the machine. docs/results/2026-11-20-emulator.md has what was measured.

use gpubench::backend::{self, Device};
use gpubench::emulate::{Emulator, Groups, Instrumentation, Launch, Rules, Seen};
use gpubench::error::{Error, Result};
use gpubench::gpu::{BufferId, DeviceInfo, KernelId, MemoryKind};
use gpubench::measure::initial;
use gpubench::measure::load;
use gpubench::measure::plan;
use gpubench::plan::{
    Candidate, Case, Limits, Planned, emulated_device, emulated_launch, launches,
};
use gpubench::units::{Bytes, seconds};
use std::time::Instant;

const RUNS: usize = 20;

fn main() -> Result<()> {
    let instrumentations = [
        ("nothing but the result", Instrumentation::default()),
        ("races", Instrumentation { counts: None, races: true, ..Instrumentation::default() }),
        (
            "counts",
            Instrumentation {
                counts: Some(Rules::default()),
                races: false,
                ..Instrumentation::default()
            },
        ),
        (
            "counts and races",
            Instrumentation {
                counts: Some(Rules::default()),
                races: true,
                ..Instrumentation::default()
            },
        ),
    ];
    let tiled = TiledMatmul::new(1024)?;
    let instructions = tiled.instructions(Groups::One([32, 32, 0]))?;
    println!("one 16x16 group of the tiled matrix product, n=1024: {instructions} instructions");
    for (what, instrumentation) in instrumentations {
        let group = tiled.fastest(Groups::One([32, 32, 0]), instrumentation, RUNS)?;
        let rate = instructions as f64 / group;
        println!("  {what}: {}, {:.1} million instructions/s", seconds(group), rate / 1e6);
    }
    for n in [64, 128] {
        against_oclgrind(n)?;
    }
    let group = tiled.fastest(Groups::One([32, 32, 0]), instrumentations[3].1, RUNS)?;
    let grid = tiled.fastest(Groups::All, instrumentations[3].1, 1)?;
    println!(
        "the whole grid of n=1024, counts and races: {}, {:.0} times a group",
        seconds(grid),
        grid / group
    );
    Ok(())
}

/// The tiled matrix product at one size.
struct TiledMatmul {
    emulator: Emulator,
    launch: Launch,
}

impl TiledMatmul {
    fn new(n: i64) -> Result<Self> {
        let case = case(n, &emulated_device())?;
        let candidate = &case.candidates[0];
        Ok(Self {
            emulator: Emulator::new(&candidate.kernel)?,
            launch: emulated_launch(candidate, &initial(&case)),
        })
    }

    fn run(&self, groups: Groups, instrumentation: Instrumentation) -> Result<(Seen, f64)> {
        let mut launch = self.launch.clone();
        let begun = Instant::now();
        let seen = self.emulator.run(&mut launch, groups, instrumentation)?;
        Ok((seen, begun.elapsed().as_secs_f64()))
    }

    fn fastest(
        &self,
        groups: Groups,
        instrumentation: Instrumentation,
        runs: usize,
    ) -> Result<f64> {
        let mut best = f64::INFINITY;
        for _ in 0..runs {
            best = best.min(self.run(groups, instrumentation)?.1);
        }
        Ok(best)
    }

    /// Instructions by work-items.
    fn instructions(&self, groups: Groups) -> Result<u64> {
        let instrumentation = Instrumentation {
            counts: Some(Rules::default()),
            races: false,
            ..Instrumentation::default()
        };
        let counts = self.run(groups, instrumentation)?.0.counts;
        Ok(counts.map_or(0, |counts| counts.instructions.values().map(|i| i.items).sum()))
    }
}

fn case(n: i64, device: &DeviceInfo) -> Result<Case> {
    let mut suite = load("all")?;
    suite.workloads.retain(|workload| workload.name == "matmul_tiled/16x16");
    suite.workloads[0].sizes = vec![vec![("n".into(), n)]];
    let limits = Limits { memory: None, seconds: 1e9, seed: 1, cores: 1, host_memory: None };
    match plan(&suite, device, &limits).into_iter().next() {
        Some(Planned::Case(case)) => Ok(*case),
        Some(Planned::Skipped(skip)) => Err(Error::Unsupported(skip.reason.to_string())),
        None => Err(Error::Usage("the suite lacks matmul_tiled/16x16".into())),
    }
}

/// The same launch on both, whole.
fn against_oclgrind(n: i64) -> Result<()> {
    let ours = TiledMatmul::new(n)?;
    // Oclgrind counts and looks at bounds; races only where requested.
    let instrumentation = Instrumentation {
        counts: Some(Rules::default()),
        races: false,
        ..Instrumentation::default()
    };
    let instructions = ours.instructions(Groups::All)?;
    let emulated = ours.fastest(Groups::All, instrumentation, 5)?;
    println!(
        "whole grid, n={n}: emulator, counts: {}, {instructions} instructions, {:.2} ns each",
        seconds(emulated),
        1e9 * emulated / instructions as f64
    );
    if let Some(counts) = ours.run(Groups::All, instrumentation)?.0.counts {
        for (class, count) in &counts.instructions {
            println!("  {}: {}", class.name(), count.items);
        }
    }
    let Some(backend) = backend::by_name("opencl") else { return Ok(()) };
    let found = backend.devices()?;
    let Some(info) = found.iter().find(|d| d.name.to_lowercase().contains("oclgrind")) else {
        println!("  no OpenCL device called Oclgrind here");
        return Ok(());
    };
    let case = case(n, info)?;
    let mut device = backend.open(info.index)?;
    let theirs = one_launch(device.as_mut(), &case, &case.candidates[0])?;
    println!("  Oclgrind: {}, {:.1} times as long", seconds(theirs), theirs / emulated);
    Ok(())
}

/// Seconds of one launch, as the host sees it.
fn one_launch(device: &mut dyn Device, case: &Case, candidate: &Candidate) -> Result<f64> {
    device.build(KernelId(0), &candidate.kernel)?;
    for (i, data) in initial(case).iter().enumerate() {
        let id = BufferId(i as u32);
        let guard = vec![0; gpubench::plan::GUARD.as_usize()];
        let bytes = [&guard[..], data.as_bytes(), &guard[..]].concat();
        device.alloc(id, Bytes(bytes.len() as u64), MemoryKind::Device)?;
        device.write(id, &bytes)?;
    }
    let recording = launches(case, candidate, KernelId(0), 1);
    let begun = Instant::now();
    device.run(&recording)?;
    Ok(begun.elapsed().as_secs_f64())
}
