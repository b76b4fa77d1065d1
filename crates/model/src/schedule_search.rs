//! Model 9, search: the parts that take least in the pipeline with the fitted costs.
//!
//! Beyond C13. Candidates are the six rules, equal parts, and shapes that grow by one ratio and
//! shrink by another; the best few are then improved part by part. The result is the best of all
//! that was tried, hence never worse than a rule or equal parts on the same problem.

use super::schedule::{Class, Plan, Problem};

/// Numbers of equal parts: all small ones, and those that the paper compares with.
fn equal_counts() -> impl Iterator<Item = u32> {
    (1..=16).chain([20, 24, 32, 48, 64, 10, 100, 1000])
}

/// Numbers of parts of the shapes; more rarely pay for their commands.
const COUNTS: [u32; 10] = [2, 3, 4, 5, 6, 8, 10, 13, 17, 24];
/// Ratios by which the shapes grow and shrink.
const RATIOS: [f64; 6] = [1.0, 1.3, 1.7, 2.5, 4.0, 8.0];
/// How many of the best candidates are improved.
const IMPROVED: usize = 2;
/// Plans of more parts are not improved: they have little to gain, and cost much to evaluate.
const MAX_IMPROVED_PARTS: usize = 24;
/// Factors by which parts are changed, the boldest first.
const CHANGES: [f64; 6] = [2.0, 1.5, 1.25, 1.1, 1.05, 1.02];
/// Improvement stops after evaluating plans of this many parts in total: planning must take less time
/// than it saves. Ten times as many gain less than one part in a thousand (`benches/models.rs`).
const MAX_EVALUATED_PARTS: usize = 8_000;

/// A plan and its seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The plan.
    pub plan: Plan,
    /// Its makespan in seconds.
    pub seconds: f64,
}

/// The fastest plan found for `problem`.
pub fn search(problem: &Problem) -> Found {
    let evaluated = |plan: Plan| Found { seconds: plan.makespan(problem), plan };
    let rules = Class::ALL.into_iter().filter_map(|class| class.plan(problem));
    let equal = equal_counts().map(Plan::equal);
    let mut found: Vec<Found> = rules.chain(equal).chain(shapes(problem)).map(evaluated).collect();
    found.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let improved = starts(&found).into_iter().map(|start| improve(start.clone(), problem));
    // The rules and equal parts stay in the comparison, whatever the improvement does.
    improved.fold(
        found[0].clone(),
        |best, other| if other.seconds < best.seconds { other } else { best },
    )
}

/// The best candidates of different numbers of parts, best first.
fn starts(found: &[Found]) -> Vec<&Found> {
    let mut starts: Vec<&Found> = Vec::new();
    for candidate in found {
        let parts = candidate.plan.sizes.len();
        let new = starts.iter().all(|start| start.plan.sizes.len() != parts);
        if new && parts <= MAX_IMPROVED_PARTS && starts.len() < IMPROVED {
            starts.push(candidate);
        }
    }
    starts
}

/// Shapes whose parts grow by one ratio up to where they shrink by another.
fn shapes(problem: &Problem) -> impl Iterator<Item = Plan> {
    let smallest = problem.smallest();
    let shape = move |(count, grow, shrink): (u32, f64, f64)| {
        let weight =
            |i: u32| f64::powi(grow, i as i32).min(f64::powi(shrink, (count - 1 - i) as i32));
        let weights: Vec<f64> = (0..count).map(weight).collect();
        let sum: f64 = weights.iter().sum();
        let sizes: Vec<f64> = weights.into_iter().map(|w| w / sum).collect();
        sizes.iter().all(|size| *size >= smallest).then(|| Plan::of(sizes))
    };
    COUNTS
        .into_iter()
        .flat_map(|count| RATIOS.into_iter().map(move |grow| (count, grow)))
        .flat_map(|(count, grow)| RATIOS.into_iter().map(move |shrink| (count, grow, shrink)))
        .filter_map(shape)
}

/// Changes one part at a time, the others in proportion, as long as that helps.
fn improve(start: Found, problem: &Problem) -> Found {
    let parts = start.plan.sizes.len();
    let mut left = MAX_EVALUATED_PARTS / parts;
    let mut best = start;
    for change in CHANGES {
        loop {
            let before = best.seconds;
            for part in 0..parts {
                for factor in [change, 1.0 / change] {
                    let other = changed(&best.plan, part, factor, problem);
                    if let Some(other) = other.filter(|other| other.seconds < best.seconds) {
                        best = other;
                    }
                }
            }
            left = left.saturating_sub(2 * parts);
            if left == 0 {
                return best;
            }
            if best.seconds > before * (1.0 - 1e-4) {
                break;
            }
        }
    }
    best
}

/// The plan with one part `factor` times as large; `None` where a part would be too small.
fn changed(plan: &Plan, part: usize, factor: f64, problem: &Problem) -> Option<Found> {
    let scale = 1.0 / (1.0 + plan.sizes[part] * (factor - 1.0));
    let mut sizes: Vec<f64> = plan.sizes.iter().map(|size| size * scale).collect();
    sizes[part] *= factor;
    let smallest = problem.smallest();
    let too_small = |(new, old): (&f64, &f64)| *new < smallest && new < old;
    if sizes.iter().zip(&plan.sizes).any(too_small) {
        return None;
    }
    let plan = Plan { sizes, ..*plan };
    Some(Found { seconds: plan.makespan(problem), plan })
}

#[cfg(test)]
mod tests {
    use super::super::pipeline::Engines;
    use super::super::streams::Stages;
    use super::super::transfer::Duplex;
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    /// Problems as devices have them: stages of 1 to 100 ms, commands of 2 to 30 µs, no, one or
    /// two copy engines, 256 to 4096 rows.
    fn random(rng: &mut Pcg64Mcg) -> Problem {
        let mut time = || 1e-3 * 100f64.powf(rng.random_range(0.0..1.0));
        let whole = Stages { upload: time(), kernel: time(), download: time() };
        let mut ratio = || rng.random_range(0.5..1.0);
        let duplex = Duplex { upload: ratio(), download: ratio() };
        let command = rng.random_range(2e-6..30e-6);
        let count = [0, 1, 1, 2, 2, 2, 2, 2][rng.random_range(0..8)];
        let smallest = 1.0 / f64::from(rng.random_range(256..4096));
        Problem { whole, engines: Engines { count, command, duplex }, smallest }
    }

    #[test]
    fn never_worse_than_any_rule_or_equal_parts_and_near_the_bound_where_the_kernel_is_longest() {
        let mut rng = Pcg64Mcg::seed_from_u64(9);
        let mut kernel_bound = Vec::new();
        for _ in 0..500 {
            let problem = random(&mut rng);
            let found = search(&problem);
            let sum: f64 = found.plan.sizes.iter().sum();
            assert!((sum - 1.0).abs() < 1e-9);
            assert_eq!(found.seconds, found.plan.makespan(&problem));
            let rules = Class::ALL.into_iter().filter_map(|class| class.plan(&problem));
            for plan in rules.chain([1, 10, 100, 1000].map(Plan::equal)) {
                assert!(found.seconds <= plan.makespan(&problem), "{problem:?} {plan:?}");
            }
            let ratio = found.seconds / problem.lower_bound();
            assert!(ratio >= 1.0 - 1e-9, "{problem:?}");
            if Class::of(problem.whole).kernel_bound && problem.engines.count > 0 {
                kernel_bound.push(ratio);
            }
        }
        kernel_bound.sort_by(f64::total_cmp);
        assert!(kernel_bound.len() > 50);
        let median = kernel_bound[kernel_bound.len() / 2];
        assert!(median <= 1.05, "{median}");
    }

    #[test]
    fn unequal_parts_beat_every_equal_cut() {
        let whole = Stages { upload: 4e-3, kernel: 10e-3, download: 4e-3 };
        let engines = Engines { command: 20e-6, ..Engines::ideal(2) };
        let problem = Problem { whole, engines, smallest: 1e-3 };
        let equal =
            (1..=100).map(|n| Plan::equal(n).makespan(&problem)).fold(f64::INFINITY, f64::min);
        let found = search(&problem);
        assert!(found.seconds < 0.99 * equal, "{} {equal}", found.seconds);
    }

    #[test]
    fn a_problem_that_cannot_be_cut_stays_whole() {
        let whole = Stages { upload: 1.0, kernel: 1.0, download: 1.0 };
        let problem = Problem {
            whole,
            engines: Engines { command: 5.0, ..Engines::ideal(2) },
            smallest: 1.0,
        };
        assert_eq!(search(&problem).plan, Plan::equal(1));
    }
}
