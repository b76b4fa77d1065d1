//! How long the models take to plan: `cargo bench --bench models`.
//!
//! Prints the median and the longest of many calls. Nothing is asserted: times depend on the
//! machine. docs/results/2026-11-22-models.md has what was measured.

use gpubench::backend::sim::{Direction, Grid, Job, Needs, Rates, Sim, Transfer, Work, simulate};
use gpubench::model::pipeline::Engines;
use gpubench::model::pipeline_fit::{Run, fit};
use gpubench::model::schedule::Problem;
use gpubench::model::schedule_rules::plan;
use gpubench::model::schedule_search::search;
use gpubench::model::streams::Stages;
use gpubench::model::transfer::Duplex;
use gpubench::model::transfer_states::{Both, State, min_time};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::hint::black_box;
use std::time::Instant;

fn main() {
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    let problems: Vec<Problem> = (0..200).map(|_| problem(&mut rng)).collect();
    time("schedule: the rule of its class", &problems, |p| plan(p).sizes.len());
    time("schedule: search", &problems, |p| search(p).plan.sizes.len());
    let jobs = [jobs(10_000)];
    let gpu = &Sim::default().descriptions().unwrap_or_default()[0];
    time("simulated GPU: 10,000 steps of a pipeline", &jobs, |jobs| simulate(gpu, jobs).len());
    let states: Vec<Vec<State>> = (0..50).map(|_| states(&mut rng, 4)).collect();
    let amounts = [Both { upload: 2.0, download: 1.0 }; 4];
    time("transfer states: 256 states of 4 devices", &states, |s| {
        min_time(s, &amounts).map_or(0, |seconds| seconds.len())
    });
    let runs: Vec<Vec<Run>> = problems.iter().take(10).map(|p| runs(&p.engines, p.whole)).collect();
    time("pipeline: fit to 14 runs", &runs, |r| fit(r).map_or(0, |f| f.best.count as usize));
}

fn time<T>(name: &str, inputs: &[T], call: impl Fn(&T) -> usize) {
    let mut seconds: Vec<f64> = inputs
        .iter()
        .map(|input| {
            let once = || {
                let start = Instant::now();
                black_box(call(black_box(input)));
                start.elapsed().as_secs_f64()
            };
            // The shortest of three, so that another process's turn does not count.
            once().min(once()).min(once())
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    let (median, longest) = (seconds[seconds.len() / 2], seconds[seconds.len() - 1]);
    println!("{name}: median {:.3} ms, longest {:.3} ms", 1e3 * median, 1e3 * longest);
}

/// Stages of 1 to 100 ms, commands of 2 to 30 µs, two copy engines, 1000 rows.
fn problem(rng: &mut Pcg64Mcg) -> Problem {
    let mut time = || 1e-3 * 100f64.powf(rng.random_range(0.0..1.0));
    let whole = Stages { upload: time(), kernel: time(), download: time() };
    let mut ratio = || rng.random_range(0.5..1.0);
    let duplex = Duplex { upload: ratio(), download: ratio() };
    let engines = Engines { count: 2, command: rng.random_range(2e-6..30e-6), duplex };
    Problem { whole, engines, smallest: 1e-3 }
}

/// A given number of steps on three queues: chunks of 64 KiB uploaded, computed by 1000 groups, downloaded.
fn jobs(steps: usize) -> Vec<Job> {
    let rates = Rates {
        latency: 10e-6,
        upload: 6e9,
        download: 6e9,
        upload_bidirectional: 4e9,
        download_bidirectional: 4e9,
    };
    let copy = |direction| Work::Transfer(Transfer { direction, bytes: 65536.0, rates });
    let needs = Needs { threads: 256, registers: 0, local: 0 };
    let grid = Grid { groups: 1000, needs, seconds: 1e-6, flops: 1e3, bytes: 1e3 };
    (0..steps)
        .map(|i| {
            let after = if i % 3 > 0 { vec![i - 1] } else { vec![] };
            let work =
                [copy(Direction::Upload), Work::Kernel(grid), copy(Direction::Download)][i % 3];
            Job { queue: (i % 3) as u32, after, work, noise: 1.0, launch_noise: 1.0 }
        })
        .collect()
}

/// Every state of a given number of devices, with random rates.
fn states(rng: &mut Pcg64Mcg, devices: u32) -> Vec<State> {
    let mut rates = |action: u32| {
        let mut rate = |moves: bool| if moves { rng.random_range(1.0..6.0) } else { 0.0 };
        Both { upload: rate(action & 1 > 0), download: rate(action & 2 > 0) }
    };
    (0..4u32.pow(devices))
        .map(|code| State {
            name: code.to_string(),
            rates: (0..devices).map(|device| rates(code / 4u32.pow(device) % 4)).collect(),
        })
        .collect()
}

fn runs(engines: &Engines, whole: Stages) -> Vec<Run> {
    let mirrored = Stages { upload: whole.download, download: whole.upload, ..whole };
    [whole, mirrored]
        .into_iter()
        .flat_map(|whole| [1, 2, 4, 8, 16, 32, 64].map(|chunks| (whole, chunks)))
        .map(|(whole, chunks)| {
            let seconds = engines.makespan(&whole.equal_chunks(chunks));
            Run { whole, chunks, seconds }
        })
        .collect()
}
