//! The comparison's rule against simulated pairs of runs whose truth is known. Print the table
//! of docs/results/2026-11-20-verdicts.md with `cargo test --test verdicts -- --nocapture`.

use gpubench::analyse::{CaseResult, DeviceCases, Options, Verdict, compare};
use gpubench::gpu::{DeviceInfo, DeviceKind, Language};
use gpubench::record::Outcome;
use gpubench::stats::median;
use gpubench::units::Bytes;
use gpubench::workload::{CaseKey, Kind};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Samples a round, each with 1 % noise.
const SAMPLES: usize = 15;
const WITHIN: f64 = 0.01;

/// Pairs of runs of a single case, and of fifty cases.
const PAIRS: u32 = 10_000;
const PAIRS_OF_50: u32 = 200;

#[test]
fn no_change_raises_few_alarms_and_a_change_is_found() {
    println!(
        "between | rounds | 1 case: alarms | 5 % found | same | 50 cases: alarms | 5 of 50 found"
    );
    for between in [0.0, 0.005, 0.01, 0.02] {
        for rounds in [3, 5] {
            let mut rng = Pcg64Mcg::seed_from_u64(11);
            let alarms = share(PAIRS, || wrong(&mut rng, 1, between, rounds));
            let single = share(PAIRS, || found(&mut rng, 1, 1, between, rounds));
            let same = share(PAIRS, || same(&mut rng, between, rounds));
            let fifty = share(PAIRS_OF_50, || wrong(&mut rng, 50, between, rounds));
            let of_five = share(PAIRS_OF_50, || found(&mut rng, 50, 5, between, rounds));
            println!(
                "{:>5.1} % | {rounds:>6} | {:>12.2} % | {:>7.1} % | {:>5.1} % | {:>14.2} % | {:>12.1} %",
                between * 100.0,
                alarms * 100.0,
                single * 100.0,
                same * 100.0,
                fifty * 100.0,
                of_five * 100.0
            );
            let allowed = if rounds == 5 { 0.01 } else { 0.05 };
            assert!(alarms <= allowed, "false alarms of a single case {alarms} at {between}");
            assert!(fifty <= allowed, "false alarms {fifty} at {between}");
            if rounds == 5 {
                let wanted = if between > 0.01 { 0.85 } else { 0.95 };
                assert!(single >= wanted, "found {single} at {between}");
            }
        }
    }
}

/// Whether a single unchanged case is called the same.
fn same(rng: &mut Pcg64Mcg, between: f64, rounds: usize) -> f64 {
    let (old, new) = (run(rng, 1, 0, between, rounds), run(rng, 1, 0, between, rounds));
    let comparison = compare(&old, &new, &Options::default());
    f64::from(u8::from(comparison.rows[0].verdict == Verdict::Same))
}

fn share(times: u32, mut once: impl FnMut() -> f64) -> f64 {
    (0..times).map(|_| once()).sum::<f64>() / f64::from(times)
}

/// Share of unchanged cases that are called changed.
fn wrong(rng: &mut Pcg64Mcg, cases: usize, between: f64, rounds: usize) -> f64 {
    let comparison = compare(
        &run(rng, cases, 0, between, rounds),
        &run(rng, cases, 0, between, rounds),
        &Options::default(),
    );
    let changed = comparison
        .rows
        .iter()
        .filter(|row| matches!(row.verdict, Verdict::Faster | Verdict::Slower))
        .count();
    changed as f64 / cases as f64
}

/// Share of the `slowed` first cases that are called slower.
fn found(rng: &mut Pcg64Mcg, cases: usize, slowed: usize, between: f64, rounds: usize) -> f64 {
    let comparison = compare(
        &run(rng, cases, 0, between, rounds),
        &run(rng, cases, slowed, between, rounds),
        &Options::default(),
    );
    let slower = comparison.rows[..slowed].iter().filter(|r| r.verdict == Verdict::Slower).count();
    slower as f64 / slowed as f64
}

/// A simulated run in which the first `slowed` cases take 5 % longer.
fn run(
    rng: &mut Pcg64Mcg,
    cases: usize,
    slowed: usize,
    between: f64,
    rounds: usize,
) -> DeviceCases {
    let cases = (0..cases).map(|i| {
        let truth = if i < slowed { 1.05 } else { 1.0 };
        let mut samples: Vec<Vec<f64>> = (0..rounds)
            .map(|_| {
                let round = truth * (between * normal(rng)).exp();
                (0..SAMPLES).map(|_| round * (WITHIN * normal(rng)).exp()).collect::<Vec<f64>>()
            })
            .collect();
        (key(i), result(&mut samples))
    });
    DeviceCases { device: device(), cases: cases.collect() }
}

fn result(samples: &mut [Vec<f64>]) -> CaseResult {
    samples.iter_mut().for_each(|round| round.sort_by(f64::total_cmp));
    CaseResult {
        outcome: Outcome::Ok,
        medians: samples.iter().map(|round| median(round)).collect(),
        overall: None,
        flops: 1.0,
        bytes: 1.0,
        kernel_hash: None,
        bounds_checks: None,
        flags: vec![],
        grade: None,
    }
}

fn key(i: usize) -> CaseKey {
    CaseKey {
        workload: format!("case{i:02}"),
        size: vec![],
        measure: Kind::KERNEL,
        host_memory: None,
    }
}

/// Box and Muller's normal deviate.
fn normal(rng: &mut Pcg64Mcg) -> f64 {
    let (u, v): (f64, f64) = (1.0 - rng.random::<f64>(), rng.random());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

fn device() -> DeviceInfo {
    DeviceInfo {
        backend: "sim".into(),
        index: 0,
        name: "invented".into(),
        vendor: "nobody".into(),
        kind: DeviceKind::Simulated,
        driver: String::new(),
        api: String::new(),
        language: Language::Wgsl,
        memory: None,
        cache: None,
        max_buffer: Bytes(0),
        max_binding: Bytes(0),
        max_storage_buffers: 0,
        compute_units: None,
        clock_hz: None,
        max_group_size: 0,
        max_group_dims: [0; 3],
        max_groups: [0; 3],
        local_memory: Bytes(0),
        queues: 1,
        timestamp_resolution: None,
        subgroup: None,
        offset_alignment: Bytes(1),
        host_memory: vec![],
        pci: None,
        uuid: None,
        features: vec![],
    }
}
