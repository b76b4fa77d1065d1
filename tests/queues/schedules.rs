//! Kernels at once, schedules and overlap.

use crate::{first, measured, shipped, simulated, suite_of, synthetic};
use gpubench::measure::concurrency::analysis::concurrency;
use gpubench::measure::concurrency::data::Concurrency;
use gpubench::measure::concurrency::plan::CoRunning;
use gpubench::measure::occupancy::analysis::{Shape, occupancy_sweep};
use gpubench::measure::occupancy::data::OccupancySweep;
use gpubench::measure::overlap::analysis::overlap;
use gpubench::measure::overlap::data::Overlap;
use gpubench::measure::overlap::{Because, Verdict};
use gpubench::measure::schedule::analysis::schedule;
use gpubench::measure::schedule::data::Schedule;
use gpubench::units::Bytes;

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
