//! How far cases move within a run although nothing was changed: a clock that steps once leaves the rounds
//! on either side of the step in agreement, so that rounds which agree do not show that the next run would.
//!
//! What a case's own rounds cannot show, other cases do: of those that were as calm as it in one run, how
//! many moved in the other? Cases that scatter at all times are no witnesses against calm ones.

use super::significance::SINGLE;
use gpubench_stats::rare_count;

/// The rounds of a case in one run.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// Standard deviation of its rounds.
    scatter: f64,
    /// Distance of the means of its first and its second half.
    shift: f64,
    /// The factor by which the variance of a round is that of the distance.
    factor: f64,
}

/// The rounds of all cases compared, in both runs; none where the runs share what moves them.
#[derive(Default)]
pub(crate) struct LevelShifts(Vec<[Run; 2]>);

impl Run {
    /// Of the logarithms of a run's rounds, in their order: two or more.
    fn of(logs: &[f64]) -> Self {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let center = mean(logs);
        let squares = logs.iter().map(|log| (log - center).powi(2)).sum::<f64>();
        let (first, second) = logs.split_at(logs.len() / 2);
        let factor = 1.0 / first.len() as f64 + 1.0 / second.len() as f64;
        Self {
            scatter: (squares / (logs.len() as f64 - 1.0)).sqrt(),
            shift: (mean(second) - mean(first)).abs(),
            factor,
        }
    }
}

impl LevelShifts {
    /// Of the logarithms of all cases' rounds, old and new.
    pub fn of(cases: &[[Vec<f64>; 2]]) -> Self {
        Self(cases.iter().map(|runs| runs.each_ref().map(|logs| Run::of(logs))).collect())
    }

    /// How far cases as calm as this one move within a run more often than unchanged ones may be called
    /// changed, by a number of them that chance alone hardly brings about. A move counts where noise
    /// hardly makes it: above `needed`, if it were that of a single value.
    pub fn reached(&self, case: usize, needed: f64) -> f64 {
        let Some([old, new]) = self.0.get(case) else { return 0.0 };
        let calm = old.scatter.max(new.scatter);
        let others = self.0.iter().enumerate().filter(|(other, _)| *other != case);
        let pairs = others.flat_map(|(_, [old, new])| [(old, new), (new, old)]);
        let as_calm: Vec<&Run> =
            pairs.filter(|(one, _)| one.scatter <= calm).map(|(_, other)| other).collect();
        let moved = as_calm.iter().filter(|run| run.shift > needed * run.factor.sqrt());
        let mut shifts: Vec<f64> = moved.map(|run| run.shift).collect();
        shifts.sort_by(|a, b| b.total_cmp(a));
        shifts.get(rare_count(as_calm.len(), SINGLE) - 1).copied().unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Forty calm cases, of which `stepping` move by 10 % within the new run.
    fn cases(stepping: usize) -> Vec<[Vec<f64>; 2]> {
        let noise = |i: usize| 1e-3 * (i % 7) as f64;
        let of = |i: usize| {
            let step = if i < stepping { 0.1 } else { 0.0 };
            [vec![0.0, noise(i)], vec![0.0, step + noise(i + 3)]]
        };
        (0..40).map(of).collect()
    }

    #[test]
    fn a_step_that_others_make_within_a_run_is_one_that_a_case_may_make_between_them() {
        let reached = |stepping, needed| LevelShifts::of(&cases(stepping)).reached(39, needed);
        assert!((reached(8, 0.02) - 0.1).abs() < 0.01, "{}", reached(8, 0.02));
        assert_eq!(reached(2, 0.02), 0.0, "two of eighty may be chance");
        assert_eq!(reached(8, 0.08), 0.0, "so much may be noise");
    }

    #[test]
    fn cases_that_scatter_in_both_runs_say_nothing_of_calm_ones() {
        let mut restless = cases(0);
        for case in &mut restless[..8] {
            *case = [vec![0.0, 0.1], vec![0.1, 0.0]];
        }
        let found = LevelShifts::of(&restless);
        assert_eq!(found.reached(39, 0.02), 0.0);
        assert!(found.reached(0, 0.02) > 0.05);
    }

    #[test]
    fn moves_that_chance_hardly_makes_are_enough() {
        // The case asked about does not count itself: two runs of 39 others.
        let rare = rare_count(78, SINGLE);
        let reached = |stepping| LevelShifts::of(&cases(stepping)).reached(39, 0.02);
        assert_eq!(reached(rare - 1), 0.0);
        assert!(reached(rare) > 0.09);
    }

    #[test]
    fn a_run_has_two_halves() {
        // About 4: squares of 40 over four degrees of freedom. Halves of 1.5, of two, and of 17/3, of three.
        let Run { scatter, shift, factor } = Run::of(&[1.0, 2.0, 3.0, 5.0, 9.0]);
        assert!((scatter - 10f64.sqrt()).abs() < 1e-12, "{scatter}");
        assert!((shift - (17.0 / 3.0 - 1.5)).abs() < 1e-12, "{shift}");
        assert!((factor - (0.5 + 1.0 / 3.0)).abs() < 1e-12, "{factor}");
    }
}
