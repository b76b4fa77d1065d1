//! Model 12, simulation: nodes that fail at random, and what each failure costs with and without
//! checkpoints.
//!
//! Ours: L14 simulates the time to failure (§3.4); what exactly, we do not know. Each node draws
//! its own time from 5.4 and the first failure counts, so that nothing of the closed forms is used.

use super::aged_failures::AgedFailures;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// A computation whose failures are simulated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Computation {
    /// Nodes.
    pub nodes: u32,
    /// Seconds without a failure.
    pub seconds: f64,
    /// Seconds of a checkpoint.
    pub cost: f64,
    /// Share of the time since a checkpoint that a failure is planned to lose, φ.
    pub phi: f64,
    /// Seconds of a recovery.
    pub recovery: f64,
}

/// A mean over runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The mean; not a number without any run.
    pub mean: f64,
    /// Half the width of its 95 % interval.
    pub margin: f64,
}

/// What the runs gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Simulated {
    /// The share of runs in which no node failed in time (5.4).
    pub survival: Mean,
    /// Seconds computed until the failure, over the runs that failed (5.25).
    pub recomputed: Mean,
    /// Seconds wasted until a failure with checkpoints at their best places, in a computation
    /// without an end (5.31).
    pub waste: Mean,
}

/// Simulates `runs` of `computation`.
pub fn simulate(
    failures: AgedFailures,
    computation: Computation,
    runs: u32,
    seed: u64,
) -> Simulated {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let mut first_failure = || {
        let draw = |_| failures.seconds_at(1.0, -(1.0 - rng.random::<f64>()).ln());
        (0..computation.nodes).map(draw).fold(f64::INFINITY, f64::min)
    };
    let times: Vec<f64> = (0..runs).map(|_| first_failure()).collect();
    let in_time = |t: f64| t < computation.seconds;
    Simulated {
        survival: mean(times.iter().map(|&t| if in_time(t) { 0.0 } else { 1.0 })),
        recomputed: mean(times.iter().copied().filter(|&t| in_time(t))),
        waste: mean(times.iter().map(|&t| waste(failures, computation, t))),
    }
}

/// What a failure after so many seconds wastes: the checkpoints until then, the time since the last,
/// and a recovery.
fn waste(failures: AgedFailures, computation: Computation, failure: f64) -> f64 {
    let Computation { nodes, cost, phi, recovery, .. } = computation;
    let at = |m: u32| match m {
        0 => 0.0,
        _ => failures.placement(f64::from(nodes), cost, phi, m),
    };
    // Placements grow, so the last one before the failure is found by halving.
    let (mut taken, mut beyond) = (0, 1);
    while at(beyond) <= failure && beyond < u32::MAX / 2 {
        (taken, beyond) = (beyond, 2 * beyond);
    }
    while beyond - taken > 1 {
        let between = u32::midpoint(taken, beyond);
        (taken, beyond) = if at(between) <= failure { (between, beyond) } else { (taken, between) };
    }
    f64::from(taken) * cost + (failure - at(taken)) + recovery
}

fn mean(values: impl Iterator<Item = f64>) -> Mean {
    /// Of the normal distribution: 95 % lie within so many standard deviations.
    const NORMAL: f64 = 1.959_964;
    let values: Vec<f64> = values.collect();
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    Mean { mean, margin: NORMAL * (squares / (count - 1.0) / count).sqrt() }
}

#[cfg(test)]
mod tests {
    use super::super::checkpoint::Failures;
    use super::*;

    const COMPUTATION: Computation =
        Computation { nodes: 64, seconds: 300.0, cost: 0.05, phi: 0.5, recovery: 1.0 };

    /// Three margins, so that a right formula fails in one of 250 million seeds, and this seed is fixed.
    fn within(simulated: Mean, formula: f64, beyond: f64) {
        let Mean { mean, margin } = simulated;
        assert!(
            (mean - formula).abs() <= 3.0 * margin + beyond,
            "{mean} ± {margin}, not {formula}"
        );
    }

    #[test]
    fn the_formulas_are_what_nodes_that_fail_give() {
        for age in [0.0, 2000.0] {
            let failures = Failures::new(1e-6, 1.5).unwrap().aged(age);
            let simulated = simulate(failures, COMPUTATION, 20_000, 7);
            within(simulated.survival, failures.survival(64.0, 300.0), 0.0);
            within(simulated.recomputed, failures.expected_recomputation(64.0, 300.0), 0.0);
            // The formula's checkpoints are a frequency: it counts half of one more.
            let waste = failures.expected_waste(64.0, 0.05, 0.5, 1.0);
            within(simulated.waste, waste, 0.05);
            assert!(simulated.waste.margin < 0.1 * waste, "{simulated:?}");
        }
    }

    #[test]
    fn waste_is_checkpoints_and_what_follows_the_last() {
        let failures = Failures::new(1e-6, 1.5).unwrap().aged(0.0);
        let third = failures.placement(64.0, 0.05, 0.5, 3);
        let near = |x: f64, y: f64| assert!((x - y).abs() < 1e-9, "{x} {y}");
        near(waste(failures, COMPUTATION, 1.0), 1.0 + 1.0);
        near(waste(failures, COMPUTATION, third + 0.5), 3.0 * 0.05 + 0.5 + 1.0);
        near(
            waste(failures, COMPUTATION, third - 1e-3),
            2.0 * 0.05 + third - 1e-3 - failures.placement(64.0, 0.05, 0.5, 2) + 1.0,
        );
    }

    #[test]
    fn the_same_seed_gives_the_same_runs() {
        let failures = Failures::new(1e-6, 1.5).unwrap().aged(0.0);
        let run = |seed| simulate(failures, COMPUTATION, 100, seed);
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
    }

    #[test]
    fn a_mean_of_four_has_the_textbooks_margin() {
        // Squares 2 · (1.5² + 0.5²) = 5, a variance of 5/3, an error of √(5/12) = 0.645497.
        let Mean { mean, margin } = mean([1.0, 2.0, 3.0, 4.0].into_iter());
        assert!(mean == 2.5 && (margin - 1.959964 * 0.645497).abs() < 1e-5, "{mean} ± {margin}");
    }
}
