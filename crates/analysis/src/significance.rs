//! What the rounds of two runs say of the difference of each of their cases.

use super::level_shifts::LevelShifts;
use gpubench_stats::{Difference, Moderated, Scatter, adaptive_threshold, t_quantile, upper_limit};

/// The p-value above which no case is called changed, however few are compared: a little less than the
/// one false alarm in a hundred that is allowed, since variances are estimated.
pub const SINGLE: f64 = 0.009;
/// The share of the cases called changed that may be unchanged.
pub const RATE: f64 = 0.05;
/// For a case compared alone, the largest deviation between rounds, in the logarithm, that the margin
/// guards against: with five rounds a side it still lets a slowdown of 5 % be found 85 times of 100
/// where rounds scatter by 2 % (docs/results/2026-11-20-verdicts.md has the table).
pub const SCATTER: f64 = 0.0185;
/// The normal distribution's 97.5 % quantile.
const NORMAL: f64 = 1.96;

/// How much a case's difference may be noise.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Significance {
    /// Of a case that is compared alone: by its own rounds.
    Alone(Difference),
    /// Of one among others: by the scatter of all.
    Moderated {
        /// The difference.
        difference: Difference,
        /// Half the 95 % interval of a single round.
        half: f64,
        /// The distance of a single round that noise hardly brings about.
        needed: f64,
        /// The difference that other cases reach within a run, however many rounds there are.
        reached: f64,
        /// Whether the difference is one that noise hardly brings about.
        significant: bool,
    },
}

/// Of all cases compared; `planned` ones are not corrected for the number of the others.
pub(crate) fn significances(
    differences: &[Difference],
    planned: &[bool],
    shifts: &LevelShifts,
) -> Vec<Significance> {
    if let [difference] = differences {
        return vec![Significance::Alone(*difference)];
    }
    let scatters: Vec<Scatter> = differences.iter().map(Difference::value_scatter).collect();
    let moderated = Moderated::of(&scatters);
    let distance = |d: &Difference| d.difference.abs() / d.factor().sqrt();
    let p_values: Vec<f64> =
        differences.iter().enumerate().map(|(i, d)| moderated.p_value(i, distance(d))).collect();
    let corrected = threshold(&p_values, planned);
    let one = |(i, difference): (usize, &Difference)| {
        let limit = if planned[i] { SINGLE } else { corrected.min(SINGLE) };
        let single = moderated.half_width(i, 1.0 - SINGLE);
        let reached = shifts.reached(i, single);
        Significance::Moderated {
            difference: *difference,
            half: moderated.half_width(i, 0.95),
            needed: moderated.half_width(i, 1.0 - limit),
            reached,
            significant: p_values[i] <= limit && difference.difference.abs() > reached,
        }
    };
    differences.iter().enumerate().map(one).collect()
}

/// The p-value up to which a case that is not planned stands among all such: the one of the verdicts, and
/// the one that more rounds must bring a case to.
fn threshold(p_values: &[f64], planned: &[bool]) -> f64 {
    let others = p_values.iter().zip(planned).filter(|(_, planned)| !**planned);
    let of_others: Vec<f64> = others.map(|(p, _)| *p).collect();
    adaptive_threshold(&of_others, RATE)
}

impl Significance {
    /// The difference.
    pub fn difference(&self) -> &Difference {
        match self {
            Self::Alone(difference) | Self::Moderated { difference, .. } => difference,
        }
    }

    /// Its 95 % interval.
    pub fn interval(&self) -> [f64; 2] {
        match self {
            Self::Alone(difference) => difference.interval(0.95),
            Self::Moderated { difference, half, .. } => {
                let half = half * difference.factor().sqrt();
                [difference.difference - half, difference.difference + half]
            }
        }
    }

    /// Whether the case has changed by more than `delta`, in the logarithm, where something else may explain
    /// from the first of `doubt` (at most 0) to the second (at least 0) of its difference.
    pub fn is_changed(&self, delta: f64, doubt: [f64; 2]) -> bool {
        let difference = self.difference().difference;
        let left = if difference > 0.0 { doubt[1] } else { -doubt[0] };
        let distance = difference.abs() - left;
        match self {
            Self::Alone(difference) => {
                let [low, high] = self.interval();
                (low > left || high < -left)
                    && distance > delta + margin(difference, difference.rounds)
            }
            Self::Moderated { difference, needed, reached, significant, .. } => {
                let limit = (needed * difference.factor().sqrt()).max(*reached);
                let is_beyond = left == 0.0 || distance > limit;
                *significant && is_beyond && distance > delta
            }
        }
    }

    /// Rounds on either side after which, if rounds scatter as they do now and the difference and its `doubt` stay,
    /// the case would be called changed or the same.
    pub fn rounds_to_settle(&self, delta: f64, doubt: [f64; 2]) -> Option<u32> {
        let difference = self.difference().difference;
        let [low, high] = [difference - doubt[1], difference - doubt[0]];
        let nearest = if difference > 0.0 { low } else { -high };
        let farthest = high.max(-low);
        let settles = |rounds: u32| {
            let (half, needed) = self.after(f64::from(rounds), delta);
            needed < nearest || half < delta - farthest
        };
        // More rounds only narrow the interval, so the fewest that settle it are found by halving.
        let (mut too_few, mut enough) = (1, 1000);
        if !settles(enough) {
            return None;
        }
        while enough - too_few > 1 {
            let middle = (too_few + enough) / 2;
            if settles(middle) { enough = middle } else { too_few = middle }
        }
        Some(enough)
    }

    /// Half the 95 % interval, and the distance that would be called changed, after so many rounds on
    /// either side.
    fn after(&self, rounds: f64, delta: f64) -> (f64, f64) {
        let factor = (2.0 / rounds).sqrt();
        match self {
            Self::Alone(difference) => {
                let freedom = difference.freedom_of([rounds; 2]);
                let half = difference.scatter * factor * t_quantile(freedom, 0.975);
                (half, half.max(delta + margin(difference, [rounds; 2])))
            }
            Self::Moderated { half, needed, reached, .. } => {
                (half * factor, (needed * factor).max(*reached).max(delta))
            }
        }
    }
}

/// How far beyond the tolerance the difference of a case that is compared alone must be, with so many
/// rounds on either side: a handful of rounds may agree with each other by luck, and Student's t alone
/// lets through one unchanged case of twenty. It takes the largest scatter that the rounds seen allow,
/// up to [`SCATTER`]; beyond that the interval must do.
fn margin(difference: &Difference, rounds: [f64; 2]) -> f64 {
    let scatter = difference.scatter * upper_limit(difference.freedom_of(rounds));
    NORMAL * scatter.min(SCATTER) * (1.0 / rounds[0] + 1.0 / rounds[1]).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(by: f64, noise: f64) -> Difference {
        let before = [-noise, 0.0, noise];
        Difference::between(&before, &before.map(|x| x + by)).expect("three rounds a side")
    }

    /// Where no case moves within a run.
    fn significances(differences: &[Difference], planned: &[bool]) -> Vec<Significance> {
        let still = vec![[vec![0.0; 3], vec![0.0; 3]]; differences.len()];
        super::significances(differences, planned, &LevelShifts::of(&still))
    }

    /// One case that differs by 3 %, among calm ones that do not.
    fn among_calm(planned: bool) -> Vec<Significance> {
        let mut all = vec![difference(0.03, 0.01)];
        all.extend((0..40).map(|i| difference(2e-3 * f64::from(i % 5 - 2), 0.01)));
        let mut plan = vec![false; all.len()];
        plan[0] = planned;
        significances(&all, &plan)
    }

    #[test]
    fn a_planned_comparison_is_not_corrected_for_the_others() {
        assert!(among_calm(true)[0].is_changed(0.01, [0.0; 2]));
        let needed = |planned| match among_calm(planned)[0] {
            Significance::Moderated { needed, .. } => needed,
            Significance::Alone(_) => panic!("there are others"),
        };
        assert!(needed(true) < 0.9 * needed(false));
        assert!(!among_calm(true)[1..].iter().any(|other| other.is_changed(0.01, [0.0; 2])));
    }

    /// Few cases have a p-value above a half, so that few seem unchanged, and the rate is four times as high:
    /// for the verdicts, and for what would bring one about.
    #[test]
    fn what_is_called_changed_is_what_would_settle_it() {
        // In standard errors of the difference.
        let distances = (0..40).map(|i| match i {
            0 => 2.9,
            1..5 => 0.2,
            _ => 0.8 + 0.01 * f64::from(i),
        });
        let error = 0.01 * (2f64 / 3.0).sqrt();
        let all: Vec<Difference> = distances.map(|z| difference(z * error, 0.01)).collect();
        let found = significances(&all, &[false; 40]);
        assert_eq!(found.iter().filter(|found| found.is_changed(0.001, [0.0; 2])).count(), 1);
        for (i, found) in found.iter().enumerate() {
            let (_, needed) = found.after(3.0, 0.001);
            let reached = found.difference().difference > needed;
            assert_eq!(reached, found.is_changed(0.001, [0.0; 2]), "{i}: {found:?}");
        }
    }

    #[test]
    fn more_rounds_settle_what_few_leave_open() {
        let of = |by| significances(&[difference(by, 0.02), difference(0.0, 0.02)], &[false; 2])[0];
        let (open, small) = (of(0.03), of(0.001));
        assert!(!open.is_changed(0.01, [0.0; 2]));
        let rounds = open.rounds_to_settle(0.01, [0.0; 2]).expect("some number settles it");
        let (_, needed) = open.after(f64::from(rounds), 0.01);
        let (_, before) = open.after(f64::from(rounds - 1), 0.01);
        assert!(needed < 0.03 && before >= 0.03, "{rounds} {needed} {before}");
        assert!(small.rounds_to_settle(0.01, [0.0; 2]).is_some_and(|rounds| rounds > 3));
        assert_eq!(of(0.01).rounds_to_settle(0.01, [0.0; 2]), None);
    }

    #[test]
    fn a_case_alone_has_its_own_rounds_and_the_margin() {
        let alone = significances(&[difference(0.05, 0.001)], &[false]);
        let [low, high] = alone[0].interval();
        let half = (high - low) / 2.0;
        // 0.001 · √(2/3) · t(0.975, 4) = 0.002267.
        assert!((half - 0.002_267).abs() < 1e-5, "{half}");
        assert!(alone[0].is_changed(0.01, [0.0; 2]));
    }

    /// Three rounds a side: a mean of both has two thirds of a round's variance, 0.8165 of its deviation.
    #[test]
    fn one_among_others_is_compared_by_the_scatter_of_all() {
        let of = |by, significant| Significance::Moderated {
            difference: difference(by, 0.01),
            half: 0.02,
            needed: 0.03,
            reached: 0.0,
            significant,
        };
        for (by, significant, doubt, delta, changed) in [
            (0.03, true, [0.0, 0.0], 0.01, true),
            (0.03, false, [0.0, 0.0], 0.01, false),
            (0.03, true, [0.0, 0.0], 0.031, false),
            (0.03, true, [-0.02, 0.0], 0.01, true),
            (0.03, true, [0.0, 0.004], 0.01, true),
            // 0.022 is left, of 0.0245.
            (0.03, true, [0.0, 0.008], 0.01, false),
            (-0.03, true, [-0.008, 0.0], 0.01, false),
            (-0.03, true, [0.0, 0.02], 0.01, true),
        ] {
            let found = of(by, significant).is_changed(delta, doubt);
            assert_eq!(found, changed, "{by} {significant} {doubt:?} {delta}");
        }
        let near = |x: f64, y: f64| assert!((x - y).abs() < 1e-5, "{x} is not {y}");
        let [low, high] = of(0.03, true).interval();
        near(low, 0.03 - 0.01633);
        near(high, 0.03 + 0.01633);
        // Eight rounds a side halve it.
        for (delta, needed) in [(0.001, 0.015), (0.02, 0.02)] {
            let after = of(0.03, true).after(8.0, delta);
            near(after.0, 0.01);
            near(after.1, needed);
        }
        // 0.03 · √(2/n) is below 0.0299 from n = 3, and 0.02 · √(2/n) below 0.0101 from n = 8.
        assert_eq!(of(0.0299, true).rounds_to_settle(0.01, [0.0; 2]), Some(3));
        assert_eq!(of(0.03, true).rounds_to_settle(0.0401, [0.0; 2]), Some(8));
        // 0.02 is left: 0.03 · √(2/n) is below it from n = 5. And 0.01, which is the tolerance, never is beyond it.
        assert_eq!(of(0.03, true).rounds_to_settle(0.01, [-0.02, 0.01]), Some(5));
        assert_eq!(of(0.03, true).rounds_to_settle(0.01, [0.0, 0.02]), None);
    }

    #[test]
    fn what_something_else_may_explain_is_taken_off() {
        for (by, doubt, changed) in [
            (0.05, [-0.02, 0.0], true),
            (0.05, [0.0, 0.045], false),
            (-0.05, [0.0, 0.02], true),
            (-0.05, [-0.045, 0.0], false),
            (-0.05, [-0.02, 0.045], true),
        ] {
            let alone = Significance::Alone(difference(by, 0.001));
            assert_eq!(alone.is_changed(0.01, doubt), changed, "{by} {doubt:?}");
        }
    }

    #[test]
    fn what_rounds_would_bring_about_follows_from_their_number() {
        let alone = significances(&[difference(0.05, 0.01)], &[false])[0];
        // Three rounds a side: t(4) = 2.776 of a scatter of 0.01, times the root of two thirds.
        let (half, needed) = alone.after(3.0, 0.01);
        assert!((half - 0.01 * (2f64 / 3.0).sqrt() * 2.776).abs() < 1e-4, "{half}");
        // Of so few rounds the largest scatter is allowed: 1.96 · 1.85 % · √(2/3).
        let scatter = SCATTER.min(0.01 * upper_limit(4.0));
        assert!((needed - 0.01 - NORMAL * scatter * (2f64 / 3.0).sqrt()).abs() < 1e-9, "{needed}");
    }

    /// Ten percent within a run is what the others move by; no number of rounds makes it less.
    #[test]
    fn what_others_move_by_within_a_run_is_needed() {
        let all = vec![difference(0.03, 0.01); 41];
        let moving = vec![[vec![0.0; 3], vec![0.0, 0.1, 0.1]]; 41];
        let found = super::significances(&all, &[false; 41], &LevelShifts::of(&moving));
        let Significance::Moderated { reached, significant, .. } = found[0] else { panic!() };
        assert!((reached - 0.1).abs() < 1e-9, "{reached}");
        assert!(!significant);
        assert_eq!(found[0].rounds_to_settle(0.01, [0.0; 2]), None);
    }

    /// Rounds that scatter by 5 %: 2.776 of them over √(3/2) are 0.1133, and the margin is 0.0296.
    #[test]
    fn an_interval_must_lie_beyond_what_is_explained_on_its_side() {
        let of = |by: f64| Significance::Alone(difference(by, 0.05));
        assert!(
            !of(-0.1).is_changed(0.01, [-0.02, 0.0]),
            "-0.213 to 0.013, of which -0.02 is explained"
        );
        assert!(of(-0.14).is_changed(0.01, [-0.02, 0.0]), "-0.253 to -0.027");
        assert!(!of(0.1).is_changed(0.01, [0.0, 0.02]) && of(0.14).is_changed(0.01, [0.0, 0.02]));
    }
}
