//! The ranking's intervals against simulated runs whose truth is known. Print the table of
//! docs/results/2026-11-20-verdicts.md with `cargo test --test coverage -- --nocapture`.

use gpubench::analyse::rank::{Options, rank};
use gpubench::analyse::{ResultMatrix, result_matrix};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

mod common;
use common::invented::{device, header, key, record};

const TIMES: u32 = 1500;
/// Noise of samples, and between rounds.
const WITHIN: f64 = 0.01;
const BETWEEN: f64 = 0.02;

/// What a population of cases is like, and how many of them are run how often.
#[derive(Clone, Copy)]
struct World {
    cases: usize,
    rounds: u32,
    /// Deviation, from case to case, of the logarithm of the devices' ratio.
    scatter: f64,
}

#[test]
fn intervals_of_the_geometric_mean_hold_the_truth_95_times_of_100() {
    println!("cases | rounds | scatter between cases | held");
    for cases in [1, 3, 5, 10, 30, 100] {
        for rounds in [1, 3] {
            // Below five cases the intervals are of these very cases: their scatter is no error.
            let scatters: &[f64] = if cases < 5 { &[0.0] } else { &[0.0, 0.05, 0.5] };
            for &scatter in scatters {
                let held = held(World { cases, rounds, scatter });
                println!("{cases:>5} | {rounds:>6} | {scatter:>21} | {:>5.1} %", held * 100.0);
                assert!((0.93..=0.97).contains(&held), "{held}");
            }
        }
    }
}

/// How often the interval of the second device's speed holds the truth, 0.7.
fn held(world: World) -> f64 {
    let mut rng = Pcg64Mcg::seed_from_u64(29);
    let inside = (0..TIMES).filter(|&i| {
        let matrix = simulate(&mut rng, world);
        let options = Options {
            reference: Some("first".into()),
            seed: u64::from(i),
            replicates: 500,
            ..Options::default()
        };
        let ranking = rank(&matrix, &options).expect("there are two devices");
        let row = ranking.families[0].rows.iter().find(|row| row.device == 1);
        let [low, high] = row.expect("both are ranked").interval;
        (low..=high).contains(&0.7)
    });
    inside.count() as f64 / f64::from(TIMES)
}

fn simulate(rng: &mut Pcg64Mcg, world: World) -> ResultMatrix {
    let header = header(vec![device("first"), device("second")], world.rounds);
    // A single round shows nothing of the noise between rounds: there is none then.
    let between = if world.rounds == 1 { 0.0 } else { BETWEEN };
    let mut records = vec![];
    for case in 0..world.cases {
        let seconds = (3.0 * normal(rng)).exp();
        let truth = [seconds, seconds / 0.7 * (world.scatter * normal(rng)).exp()];
        for round in 0..world.rounds {
            for (device, truth) in truth.into_iter().enumerate() {
                let median = truth * (between * normal(rng)).exp();
                let samples = (0..15).map(|_| median * (WITHIN * normal(rng)).exp()).collect();
                records.push(record(key("case", case as i64), device, round, samples));
            }
        }
    }
    result_matrix([(&header, &records[..])])
}

/// Box and Muller's normal deviate.
fn normal(rng: &mut Pcg64Mcg) -> f64 {
    let (u, v): (f64, f64) = (1.0 - rng.random::<f64>(), rng.random());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}
