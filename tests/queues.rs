//! Concurrency, occupancy sweeps, schedules and layout transforms: ground truth recovered on simulated GPUs, and
//! whole runs.
#![expect(clippy::unwrap_used, reason = "a helper of tests panics as tests do")]

use gpubench::backend::Device;
use gpubench::backend::sim::{Grid, Job, Needs, Noise, Sim, SimDevice, Work, simulate};
use gpubench::gpu::Clock;
use gpubench::measure::concurrency::analysis::concurrency;
use gpubench::measure::concurrency::data::Concurrency;
use gpubench::measure::concurrency::plan::CoRunning;
use gpubench::measure::layout::analysis::{Agreement, BreakEven, layout_transform};
use gpubench::measure::layout::data::LayoutTransform;
use gpubench::measure::occupancy::analysis::{
    OccupancySearch, OccupancySweepSummary, Shape, occupancy_sweep,
};
use gpubench::measure::occupancy::data::OccupancySweep;
use gpubench::measure::overlap::analysis::overlap;
use gpubench::measure::overlap::data::Overlap;
use gpubench::measure::overlap::{Because, Verdict};
use gpubench::measure::plan;
use gpubench::measure::residency::residency;
use gpubench::measure::schedule::analysis::schedule;
use gpubench::measure::schedule::data::Schedule;
use gpubench::measure::{Policy, Session, measure};
use gpubench::plan::{Case, Limits, Planned};
use gpubench::record::{Detail, Outcome};
use gpubench::suite::Suite;
use gpubench::units::Bytes;
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

/// A suite of one synthetic kernel, measured as `measure` says.
fn synthetic(measure: &str) -> Suite {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.yaml");
    let text = format!(
        "version: 1
workloads:
  mine:
    kernel: {{ family: synthetic, entry: synthetic, group: [64], constants: {{ LOCAL: 32 }} }}
    sizes: {{ groups: [400] }}
    params: {{ n: groups*64, passes: 64, steps: 1, reads: 0, chase: 0, busy: 64, words: 1024, stride: 0, group: 64, local: 32, add: 7 }}
    buffers:
      data: {{ type: u32, count: words, fill: random_bits }}
      out: {{ type: u32, count: n }}
    grid: [groups*64]
    work: {{ flops: 32*n*passes }}
    verify: {{ reference: synthetic, relative: 0, absolute: 0 }}
{measure}
  other:
    kernel: {{ family: micro, entry: empty, group: [64] }}
    sizes: {{ n: [64, 8388608] }}
    params: {{}}
    buffers: {{ out: {{ type: u32, count: n }} }}
    grid: [n]
    verify: {{ reference: empty, relative: 0, absolute: 0 }}
"
    );
    std::fs::write(&path, text).unwrap();
    gpubench::measure::load(path.to_str().unwrap()).unwrap()
}

/// The K40 as it is simulated, and one with a single queue.
fn simulated(queues: Option<u32>) -> Box<dyn Device> {
    let shipped = Sim::default().descriptions().unwrap();
    let at = shipped.iter().position(|gpu| gpu.name == "Tesla K40c").unwrap();
    let mut gpu = shipped[at].clone();
    gpu.queues = queues.unwrap_or(gpu.queues);
    gpu.noise = Noise::default();
    Box::new(SimDevice::new(gpu, at, 1))
}

/// The first case of `suite` on `device`, or why it is rejected.
fn first(suite: &Suite, device: &dyn Device, memory: Option<Bytes>) -> Result<Case, String> {
    let limits = Limits { memory, seconds: 60.0, seed: 5, cores: 2, host_memory: None };
    match plan(suite, device.info(), &limits).remove(0) {
        Planned::Case(case) => Ok(*case),
        Planned::Skipped(skip) => Err(skip.reason.to_string()),
    }
}

/// What measuring it on a simulated K40 left behind.
fn measured(suite: &Suite, queues: Option<u32>) -> Detail {
    let device = simulated(queues);
    let case = first(suite, device.as_ref(), None).unwrap();
    let policy = Policy { min_samples: 3, max_samples: 5, ..Policy::default() };
    let measurement = measure(&mut Session::new(device), &case, &policy, &mut |_| {});
    assert_eq!(measurement.outcome, Some(Outcome::Ok), "{measurement:?}");
    measurement.detail.unwrap()
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

const PAIRS: &str = "    measure: { concurrency: { with: [other], copies: 32 } }";

#[test]
fn concurrent_kernels_on_a_simulated_gpu() {
    for (queues, expected) in [(None, 2), (Some(1), 1)] {
        let Some(raw) = measured(&synthetic(PAIRS), queues).read::<Concurrency>() else {
            panic!("no pairs");
        };
        assert_eq!(raw.queues, expected);
        let names: Vec<_> = raw.pairs.iter().map(|pair| pair.second.name.as_str()).collect();
        assert_eq!(names, ["mine groups=400", "other n=64", "other n=8388608"]);
        assert_eq!(raw.copies.iter().map(|(n, _)| *n).collect::<Vec<_>>(), [1, 2, 4, 8, 16, 32]);
        let summary = concurrency(&raw, None, None);
        // 400 groups fill 240 places: the second takes what the last wave leaves.
        let speedup = summary.pairs[0].speedup[0];
        match queues {
            None => assert!((1.1..1.5).contains(&speedup), "{speedup}"),
            Some(_) => assert!(speedup < 1.05, "one queue: speedup {speedup}"),
        }
    }
}

/// A group of 64 work-items with 256 registers each takes a quarter of a unit's 65536: 15 units hold 60, not 240.
#[test]
fn declared_registers_limit_what_a_simulated_unit_holds() {
    let with = |measure| {
        format!("    variants: {{ r: {{ kernel: {{ registers: 256 }}, measure: {measure} }} }}")
    };
    let raw = measured(&synthetic(&with("[occupancy]")), None).read::<OccupancySweep>().unwrap();
    let summary = occupancy_sweep(&raw).unwrap();
    assert!(matches!(summary.shape, Shape::Steps { at_once: 60, .. }), "{summary:?}");
    let raw = measured(&synthetic(&with("[concurrency]")), None).read::<Concurrency>().unwrap();
    assert_eq!((raw.kernel.registers, raw.pairs[0].second.registers), (Some(256), Some(256)));
    assert_eq!(simulated(None).info().registers, Some(65_536));
}

#[test]
fn what_cannot_run_concurrently_is_reported_with_its_place() {
    let suite = synthetic(PAIRS);
    let few_queues = first(&suite, simulated(Some(4)).as_ref(), None).unwrap_err();
    assert!(
        few_queues.contains("mine.yaml:3: 32 copies need a queue each, sim has 4"),
        "{few_queues}"
    );
    let device = simulated(None);
    let rejected = |memory| first(&suite, device.as_ref(), Some(Bytes(memory))).unwrap_err();
    assert!(rejected(100 << 10).contains("and 100 KiB of the"), "{}", rejected(100 << 10));
    assert!(
        rejected(180 << 10).contains("mine.yaml:3: two copies of it needs"),
        "{}",
        rejected(180 << 10)
    );
    assert!(rejected(1 << 20).contains("mine.yaml:3: 32 copies of it needs"));
    let case = first(&suite, device.as_ref(), Some(Bytes(33_600_000))).unwrap();
    let co_running: CoRunning = case.planned().unwrap();
    assert_eq!(co_running.cases.len(), 1);
    let [(name, reason)] = co_running.skipped.as_slice() else {
        panic!("{:?}", co_running.skipped)
    };
    assert_eq!(name, "other n=8388608");
    assert!(reason.contains("mine.yaml:3: it and `other n=8388608` at once needs"), "{reason}");
}

/// Sepia on 128 long rows.
const SEPIA: &str = "version: 1
workloads:
  mine:
    kernel: { family: filters, entry: sepia, group: [32, 8] }
    sizes: { n: [128] }
    params: { rows: n, cols: 8*n, first: 0, count: n }
    buffers:
      image: { type: f32x4, count: 8*n*n, fill: { uniform: [0, 1] }, split: rows }
      result: { type: f32x4, count: 8*n*n, split: rows }
    grid: [8*n, count]
    work: { flops: 120*n*n, bytes: 256*n*n }
    verify: { reference: sepia, relative: 1e-6, absolute: 1e-7 }
    measure: [schedule]
    divide: count
";

fn suite_of(text: &str) -> Suite {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.yaml");
    std::fs::write(&path, text).unwrap();
    gpubench::measure::load(path.to_str().unwrap()).unwrap()
}

#[test]
fn schedules_on_a_simulated_gpu_are_verified_and_the_search_is_near_the_best() {
    let Some(raw) = measured(&suite_of(SEPIA), None).read::<Schedule>() else {
        panic!("no schedules")
    };
    assert_eq!((raw.queues, raw.engines.count), (3, 2));
    let summary = schedule(&raw).unwrap();
    let found = |plan: &str| summary.plans.iter().find(|p| p.plan == plan).unwrap();
    assert_eq!(found("no partition").parts, 1);
    assert_eq!(found("100 equal parts").parts, 100);
    let (search, best) = (found("search"), &summary.plans[summary.best]);
    assert!(search.seconds < 1.05 * best.seconds, "{summary:#?}");
    assert!(search.seconds < 0.9 * found("no partition").seconds, "{summary:#?}");
    assert!(summary.plans.iter().all(|plan| plan.over_bound >= 0.99), "{summary:#?}");
    // 1000 parts of 128 rows there are not, and rules for other classes need not apply.
    assert!(
        raw.skipped.iter().any(|(plan, why)| plan == "1000 equal parts" && why.contains("128"))
    );
}

/// The workload `name` of a shipped suite at one size.
fn shipped(suite: &str, name: &str, n: i64) -> Suite {
    let mut suite = gpubench::measure::load(suite).unwrap();
    suite.workloads.retain(|workload| workload.name == name);
    suite.workloads[0].sizes = vec![vec![("n".to_owned(), n)]];
    suite
}

/// With sepia and the matrix product these are C13's four applications. Of so few options the commands cost more than
/// cutting them hides.
#[test]
fn the_linear_filter_is_cut_and_few_options_are_left_whole() {
    for (workload, n, gained) in
        [("schedule_linear", 512, 0.05), ("schedule_black_scholes", 262_144, -0.001)]
    {
        let detail = measured(&shipped("concurrency", workload, n), None);
        let summary = schedule(&detail.read::<Schedule>().unwrap()).unwrap();
        let found = |plan: &str| summary.plans.iter().find(|p| p.plan == plan).unwrap().seconds;
        assert!(
            found("search") < (1.0 - gained) * found("no partition"),
            "{workload}: {summary:#?}"
        );
    }
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

#[test]
fn on_one_queue_schedules_run_in_order() {
    let Some(raw) = measured(&suite_of(SEPIA), Some(1)).read::<Schedule>() else {
        panic!("no schedules")
    };
    assert_eq!(raw.queues, 1);
    let summary = schedule(&raw).unwrap();
    let serial = summary.stages.serial();
    assert!(summary.plans.iter().all(|plan| plan.seconds > 0.97 * serial), "{summary:#?}");
}

#[test]
fn overlap_is_worth_it_with_copy_engines_and_never_on_one_queue() {
    let suite = suite_of(&SEPIA.replace("schedule", "overlap"));
    let summary = |queues| {
        let raw = measured(&suite, queues).read::<Overlap>().expect("an overlap");
        assert!(raw.turns.as_ref().is_some_and(|turns| turns.skipped.is_empty()));
        let turns = raw.upload.walls.len();
        assert!(raw.timed().all(|timed| timed.walls.len() == turns), "each once in every turn");
        overlap(&raw).expect("a summary")
    };
    let two_engines = summary(None);
    assert_eq!(two_engines.verdict, Verdict::Yes, "{two_engines:#?}");
    let best = &two_engines.runs[two_engines.best];
    assert!(
        best.saving.hidden.is_some_and(|hidden| hidden.interval.is_some_and(|[low, _]| low > 0.0))
    );
    let one_queue = summary(Some(1));
    assert_eq!(one_queue.verdict, Verdict::No(Because::OneQueue));
    assert!(one_queue.runs.iter().all(|run| run.queues == 1 && run.saving.hidden.is_none()));
}

#[test]
fn a_workload_that_cannot_be_cut_is_rejected_with_its_place() {
    let suite = suite_of(
        "version: 1
workloads:
  mine:
    kernel: { family: micro, entry: triad, group: [64], constants: { V: f32, ITEMS: 1 } }
    sizes: { n: [64] }
    params: { n: n, s: { f32: 0.5 } }
    buffers:
      b: { type: f32, count: n, fill: random_bits, split: rows }
      c: { type: f32, count: n, fill: random_bits, split: rows }
      out: { type: f32, count: n, split: rows }
    grid: [n]
    verify: { reference: triad, relative: 0, absolute: 0 }
    measure: [schedule]
    divide: n
",
    );
    let reason = first(&suite, simulated(None).as_ref(), None).unwrap_err();
    assert!(reason.contains("mine.yaml:3 cannot be cut into chunks"), "{reason}");
}

#[test]
fn a_halo_ends_the_cutting_where_chunks_get_smaller_and_is_rejected_where_none_is_larger() {
    let with_halo = |halo: &str| {
        let split = "split: { rows: { halo: HALO } }".replace("HALO", halo);
        suite_of(&SEPIA.replacen("split: rows", &split, 1).replace("schedule", "overlap"))
    };
    let Some(raw) = measured(&with_halo("3"), None).read::<Overlap>() else { panic!("no overlap") };
    let max_chunks = raw.runs.iter().map(|run| run.chunks).max();
    assert_eq!(max_chunks, Some(32), "64 chunks of 128 rows have 2 each");
    assert!(raw.runs.iter().any(|run| (run.chunks, run.queues) == (4, 1)));
    let reason = first(&with_halo("65"), simulated(None).as_ref(), None).unwrap_err();
    assert!(reason.contains("mine.yaml:3 cannot be cut") && reason.contains("65 rows"), "{reason}");
}
