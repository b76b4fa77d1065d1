//! Model 12, simulation: nodes that fail at random, and what each failure costs with and without
//! checkpoints.
//!
//! Ours: L14 simulates the time to failure (§3.4); what exactly, we do not know. Each node draws
//! its own time from 5.4 and the first failure counts, so that nothing of the closed forms is used. Only when the
//! computation ends takes a shortcut: from its second failure on it draws the first of all nodes at once.

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
    /// Seconds until the computation ends, its checkpoints, failures and recoveries included; not a number where the runs
    /// need more than a million failures for it. Ours: behind a failure all nodes are new, and none fails during a
    /// recovery.
    pub completion: Mean,
}

/// Failures of all runs behind which it is not known when they end: a second's work or two.
const MAX_FAILURES: u32 = 1_000_000;

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
        completion: completions(failures, computation, &times, &mut rng, MAX_FAILURES),
        survival: mean(times.iter().map(|&t| if in_time(t) { 0.0 } else { 1.0 })),
        recomputed: mean(times.iter().copied().filter(|&t| in_time(t))),
        waste: mean(times.iter().map(|&t| waste(failures, computation, t))),
    }
}

/// What a failure after so many seconds wastes: the checkpoints until then, the time since the last,
/// and a recovery.
fn waste(failures: AgedFailures, computation: Computation, failure: f64) -> f64 {
    let taken = last(|m| placement(failures, computation, m) <= failure);
    let since = failure - placement(failures, computation, taken);
    f64::from(taken) * computation.cost + since + computation.recovery
}

/// Seconds until each of the runs ends that fail first after `times`, in the mean; not a number where that takes more
/// failures than this.
fn completions(
    failures: AgedFailures,
    computation: Computation,
    times: &[f64],
    rng: &mut Pcg64Mcg,
    max_failures: u32,
) -> Mean {
    let nodes = f64::from(computation.nodes);
    let mut left = max_failures;
    // Of all nodes at once: the first of them to fail is all that counts (5.4).
    let mut later = || {
        left = left.checked_sub(1)?;
        Some(failures.renewed().seconds_at(nodes, -(1.0 - rng.random::<f64>()).ln()))
    };
    let ends = times.iter().map(|&first| completion(failures, computation, first, &mut later));
    mean(ends.collect::<Option<Vec<f64>>>().unwrap_or_default().into_iter())
}

/// Seconds until a computation ends whose nodes fail first after `failure` seconds and, once they are new, after what
/// `later` draws each time. Each start places its checkpoints anew, in seconds of computing; a failure loses what was
/// computed since the last that was written. `None` once `later` draws no more.
fn completion(
    mut failures: AgedFailures,
    computation: Computation,
    mut failure: f64,
    later: &mut impl FnMut() -> Option<f64>,
) -> Option<f64> {
    let Computation { cost, recovery, .. } = computation;
    let (mut left, mut elapsed) = (computation.seconds, 0.0);
    loop {
        let checkpoints = last(|m| placement(failures, computation, m) < left);
        let to_the_end = left + f64::from(checkpoints) * cost;
        if failure >= to_the_end {
            return Some(elapsed + to_the_end);
        }
        let written = |m| placement(failures, computation, m) + f64::from(m) * cost <= failure;
        left -= placement(failures, computation, last(written));
        elapsed += failure + recovery;
        (failures, failure) = (failures.renewed(), later()?);
    }
}

/// When the `m`-th checkpoint is taken; the start for 0.
fn placement(failures: AgedFailures, computation: Computation, m: u32) -> f64 {
    let Computation { nodes, cost, phi, .. } = computation;
    match m {
        0 => 0.0,
        _ => failures.placement(f64::from(nodes), cost, phi, m),
    }
}

/// The last checkpoint for which this holds, as it does for all before it; 0 where it holds for none. By halving.
fn last(holds: impl Fn(u32) -> bool) -> u32 {
    let (mut taken, mut beyond) = (0, 1);
    while holds(beyond) && beyond < u32::MAX / 2 {
        (taken, beyond) = (beyond, 2 * beyond);
    }
    while beyond - taken > 1 {
        let between = u32::midpoint(taken, beyond);
        (taken, beyond) = if holds(between) { (between, beyond) } else { (taken, between) };
    }
    taken
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

    /// Without checkpoints a computation begins anew until it lasts: failures before that are geometric, each takes the
    /// mean time of 5.25 and a recovery.
    #[test]
    fn without_checkpoints_a_computation_ends_when_it_lasts_as_long_as_it_takes() {
        let failures = Failures::new(1e-6, 1.5).unwrap();
        for seconds in [100.0, 300.0, 500.0] {
            // The first checkpoint would come after the end.
            let never = Computation { seconds, cost: 1e9, ..COMPUTATION };
            let simulated = simulate(failures.aged(0.0), never, 20_000, 3);
            let survival = failures.survival(64.0, seconds);
            let again = failures.expected_recomputation(64.0, seconds) + never.recovery;
            let new = seconds + (1.0 - survival) / survival * again;
            within(simulated.completion, new, 0.0);
            // Old nodes are so until they fail.
            let old = failures.aged(2000.0);
            let (survival, again) =
                (old.survival(64.0, seconds), old.expected_recomputation(64.0, seconds));
            let wanted = survival * seconds + (1.0 - survival) * (again + never.recovery + new);
            within(simulate(old, never, 20_000, 4).completion, wanted, 0.0);
        }
    }

    #[test]
    fn what_takes_too_many_failures_has_no_end() {
        let failures = Failures::new(1e-6, 1.5).unwrap().aged(0.0);
        let never = Computation { seconds: 500.0, cost: 1e9, ..COMPUTATION };
        let mut rng = Pcg64Mcg::seed_from_u64(5);
        let mut ends = |max| completions(failures, never, &[50.0; 100], &mut rng, max).mean;
        assert!(ends(99).is_nan(), "each run fails once more, or more often");
        assert!(ends(1000).is_finite());
    }

    #[test]
    fn a_computation_goes_on_from_its_last_checkpoint() {
        let failures = Failures::new(1e-6, 1.5).unwrap().aged(0.0);
        let computation = Computation { seconds: 40.0, ..COMPUTATION };
        let at = |m| failures.placement(64.0, 0.05, 0.5, m);
        assert!(at(2) < 40.0 && at(3) > 40.0);
        let ends = |first, later: f64| {
            completion(failures, computation, first, &mut || Some(later)).unwrap()
        };
        let near = |x: f64, y: f64| assert!((x - y).abs() < 1e-9, "{x} {y}");
        near(ends(1e9, 1e9), 40.0 + 2.0 * 0.05);
        // Right behind the second, of which the last 10 ms were not written: the first is what is left.
        let failure = at(2) + 2.0 * 0.05 - 0.01;
        let left = 40.0 - at(1);
        near(ends(failure, 1e9), failure + 1.0 + left + 0.05);
        let mut draws = 5;
        let mut some = || {
            draws -= 1;
            (draws > 0).then_some(1.0)
        };
        assert_eq!(
            completion(failures, computation, 1.0, &mut some),
            None,
            "never at a checkpoint"
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
