//! Concurrency, staircases and schedules: ground truth recovered on simulated GPUs, and whole runs.
#![expect(clippy::unwrap_used, reason = "a helper of tests panics as tests do")]

use gpubench::analyse::{Climb, StaircaseSummary, residency, staircase};
use gpubench::backend::sim::{Grid, Job, Needs, Sim, Work, simulate};
use gpubench::gpu::Clock;
use gpubench::record::Staircase;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeMap;

/// Climbs a staircase whose launches take `time`.
fn climb(most: u32, mut time: impl FnMut(u32) -> f64) -> StaircaseSummary {
    let mut climb = Climb::new(most);
    let mut points: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    while let Some(groups) = climb.next() {
        let samples: Vec<f64> = (0..3).map(|_| time(groups)).collect();
        climb.note(groups, samples.iter().copied().fold(f64::INFINITY, f64::min));
        points.entry(groups).or_default().extend(samples);
    }
    let points = points.into_iter().collect();
    let clock = Clock::Simulated;
    staircase(&Staircase { clock, group_size: 64, local_bytes: 0, points }).unwrap()
}

/// Groups of the sizes and with the local memory of `suites/concurrency.yaml`.
const GROUPS: [(u64, u64); 8] =
    [(64, 4), (192, 4), (256, 4), (640, 4), (1024, 4), (64, 10240), (64, 15360), (64, 30720)];

/// 200 invented GPUs with 1 % noise: units exact in 95 %, and the groups of every unit too.
#[test]
fn units_and_residency_of_simulated_gpus_are_recovered() {
    let shipped = Sim::default().descriptions().unwrap();
    let mut rng = Pcg64Mcg::seed_from_u64(11);
    let (mut units_right, mut widths, mut widths_right) = (0, 0, 0);
    for _ in 0..200 {
        let mut gpu = shipped[rng.random_range(0..shipped.len())].clone();
        gpu.units = rng.random_range(1..=144);
        gpu.unit.groups = [8, 16, 24, 32][rng.random_range(0..4)];
        gpu.unit.threads = [1024, 1536, 2048, 2560][rng.random_range(0..4)];
        gpu.unit.group_threads = 1024;
        gpu.unit.local = 1024 * [48, 64, 96, 128, 164, 228][rng.random_range(0..6)];
        gpu.unit.group_local = gpu.unit.local.min(49152);
        gpu.unit.max_groups = [1 << 30; 3];
        let mut summaries = vec![];
        for (size, local) in GROUPS {
            let needs = Needs::new(&gpu, size, 0, local);
            let active = |have: u32, need: u64| u64::from(have) / need.max(1);
            let fits = active(gpu.unit.threads, needs.threads)
                .min(active(gpu.unit.local, needs.local))
                .min(gpu.unit.groups.into());
            // Latency alone: hardly any arithmetic, and loads far below the bandwidth.
            let grid = Grid { seconds: 1e-3, ..Grid::priced(&gpu, 1, needs, 1.0, 0.0) };
            let time = |groups: u32| {
                let noise = (0.01 * normal(&mut rng)).exp();
                let work = Work::Kernel(Grid { groups: groups.into(), ..grid });
                let job = Job { lane: 0, after: vec![], work, noise, launch_noise: 1.0 };
                let times = simulate(&gpu, &[job]);
                times[0].ended - times[0].started
            };
            let summary = climb(16384, time);
            widths += 1;
            let right = summary.at_once() == u32::try_from(fits * u64::from(gpu.units)).ok();
            widths_right += u32::from(right);
            summaries.push(summary);
        }
        units_right += u32::from(residency(&summaries).is_some_and(|told| told.units == gpu.units));
    }
    assert!(widths_right * 100 >= 95 * widths, "{widths_right} of {widths}");
    assert!(units_right >= 190, "{units_right} of 200");
}

fn normal(rng: &mut Pcg64Mcg) -> f64 {
    let (u, v): (f64, f64) = (rng.random_range(1e-12..1.0), rng.random_range(0.0..1.0));
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}
