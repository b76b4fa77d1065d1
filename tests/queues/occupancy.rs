//! Occupancy sweeps and layout transforms.

use crate::{first, measured, shipped, simulated, synthetic};
use gpubench::backend::sim::{Grid, Job, Needs, Sim, Work, simulate};
use gpubench::gpu::Clock;
use gpubench::measure::layout::analysis::{Agreement, BreakEven, layout_transform};
use gpubench::measure::layout::data::LayoutTransform;
use gpubench::measure::occupancy::analysis::{
    OccupancySearch, OccupancySweepSummary, Shape, occupancy_sweep,
};
use gpubench::measure::occupancy::data::OccupancySweep;
use gpubench::measure::residency::residency;
use gpubench::measure::{Policy, Session, measure};
use gpubench::record::Outcome;
use gpubench::suite::Suite;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeMap;

/// Sweeps the number of groups where launches take `time`.
fn sweep(max_groups: u32, mut time: impl FnMut(u32) -> f64) -> OccupancySweepSummary {
    let mut search = OccupancySearch::new(max_groups);
    let mut points: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    while let Some(groups) = search.next() {
        let samples: Vec<f64> = (0..3).map(|_| time(groups)).collect();
        search.note(groups, samples.iter().copied().fold(f64::INFINITY, f64::min));
        points.entry(groups).or_default().extend(samples);
    }
    let points = points.into_iter().collect();
    let clock = Clock::Simulated;
    occupancy_sweep(&OccupancySweep { clock, group_size: 64, local_bytes: 0, points }).unwrap()
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
                let job = Job { queue: 0, after: vec![], work, noise, launch_noise: 1.0 };
                let times = simulate(&gpu, &[job]);
                times[0].ended - times[0].started
            };
            let summary = sweep(16384, time);
            widths += 1;
            let right = summary.at_once() == u32::try_from(fits * u64::from(gpu.units)).ok();
            widths_right += u32::from(right);
            summaries.push(summary);
        }
        let seen = summaries.iter().filter_map(OccupancySweepSummary::groups_at_once);
        units_right +=
            u32::from(residency(seen, None).is_some_and(|residency| residency.units == gpu.units));
    }
    assert!(widths_right * 100 >= 95 * widths, "{widths_right} of {widths}");
    assert!(units_right >= 190, "{units_right} of 200");
}

fn normal(rng: &mut Pcg64Mcg) -> f64 {
    let (u, v): (f64, f64) = (rng.random_range(1e-12..1.0), rng.random_range(0.0..1.0));
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// A gather in strides of eight that is said to move whole transactions, and what makes it
/// contiguous, which finds the numbers from `offset` on.
fn strided(offset: &str) -> Suite {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.yaml");
    let text = format!(
        "version: 1
defaults: {{ sizes: {{ n: [262144], stride: [8] }}, grid: [n] }}
workloads:
  strided:
    kernel: &gather {{ family: gather, entry: gather, group: [256] }}
    params: {{ n: n, d: stride, f: 3 }}
    buffers: &gathered
      a: {{ type: f32, count: n, fill: random_bits }}
      b: {{ type: f32, count: n*stride, fill: random_bits }}
      out: {{ type: f32, count: n }}
    work: {{ bytes: 4*n*(2 + stride) }}
    measure: {{ layout: {{ buffer: b, strides: [stride], by: moved, then: contiguous }} }}
    verify: {{ reference: gather, relative: 0, absolute: 0 }}
  moved:
    kernel: {{ family: transpose, entry: transpose_naive, group: [32, 8] }}
    params: {{ rows: n, cols: stride }}
    buffers: {{ a: {{ type: f32, count: n*stride, fill: random_bits }}, out: {{ type: f32, count: n*stride }} }}
    grid: [stride, n]
    work: {{ bytes: 8*n*stride }}
    verify: {{ reference: transpose, relative: 0, absolute: 0 }}
  contiguous:
    kernel: *gather
    params: {{ n: n, d: 1, f: {offset} }}
    buffers: *gathered
    work: {{ bytes: 12*n }}
    verify: {{ reference: gather, relative: 0, absolute: 0 }}
"
    );
    std::fs::write(&path, text).unwrap();
    gpubench::measure::load(path.to_str().unwrap()).unwrap()
}

/// The simulated transpose takes 117 µs, to save 26 of 42 each time.
#[test]
fn a_layout_transform_pays_after_as_many_uses_as_predicted() {
    let Some(raw) = measured(&strided("3*n"), None).read::<LayoutTransform>() else {
        panic!("no layout was transformed");
    };
    let summary = layout_transform(&raw).unwrap();
    let counts = [summary.predicted.uses, summary.measured.unwrap().uses].map(BreakEven::count);
    assert_eq!(counts, [Some(5), Some(5)], "{summary:?}");
    assert_eq!(summary.agreement(), Some(Agreement::WithinOne));
    assert!((0.55..0.75).contains(&summary.saved_fraction), "{summary:?}");
    let counts: Vec<u32> = summary.uses.iter().map(|uses| uses.count).collect();
    assert_eq!(counts, [2, 4, 6], "around 4.5, once");
}

#[test]
fn a_transformed_buffer_read_at_the_wrong_place_is_reported() {
    let device = simulated(None);
    let case = first(&strided("2*n"), device.as_ref(), None).unwrap();
    let measurement = measure(&mut Session::new(device), &case, &Policy::default(), &mut |_| {});
    let Some(Outcome::Unverified(mismatch)) = measurement.outcome else {
        panic!("{measurement:?}")
    };
    assert_eq!(mismatch.when, "launch on the transformed buffer");
}

#[test]
fn an_occupancy_sweep_of_a_simulated_gpu_is_verified() {
    let Some(raw) = measured(&synthetic("    measure: [occupancy]"), None).read::<OccupancySweep>()
    else {
        panic!("no occupancy sweep");
    };
    // Groups of 64 with arithmetic alone share a unit's rate: 16 of them still run unslowed.
    let summary = occupancy_sweep(&raw).unwrap();
    assert!(matches!(summary.shape, Shape::Steps { at_once: 240, .. }), "{summary:?}");
    assert_eq!((summary.group_size, summary.local_bytes), (64, 128));
}

/// The protocol of C13's Table 3.5 where the truth is known: a unit of the simulated K40 holds 16 groups and 64 warps, so
/// that groups of one and two warps leave it a quarter and a half full, and larger ones fill it.
#[test]
fn groups_of_one_and_two_warps_leave_a_unit_empty_and_larger_ones_fill_it() {
    let seconds = ["32", "64", "128", "256", "512"].map(|group| {
        let device = simulated(None);
        let suite = shipped("group-sizes", &format!("groups_black_scholes/{group}"), 262_144);
        let case = first(&suite, device.as_ref(), None).unwrap();
        let policy = Policy { min_samples: 3, max_samples: 5, ..Policy::default() };
        let measurement = measure(&mut Session::new(device), &case, &policy, &mut |_| {});
        assert_eq!(measurement.outcome, Some(Outcome::Ok), "{measurement:?}");
        let samples = measurement.measured.unwrap().samples;
        samples.iter().sum::<f64>() / samples.len() as f64
    });
    let [one, two, four, eight, sixteen] = seconds;
    assert!((1.8..2.05).contains(&(one / two)), "{seconds:?}");
    assert!((1.8..2.05).contains(&(two / four)), "{seconds:?}");
    assert!(
        (four / eight - 1.0).abs() < 0.05 && (eight / sixteen - 1.0).abs() < 0.05,
        "{seconds:?}"
    );
}
