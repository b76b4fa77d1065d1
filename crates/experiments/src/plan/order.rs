//! The order in which a round runs its cases: shuffled, so that drift does not favour any.

use super::Case;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;

/// Shuffles `cases` for one round; equal seeds and rounds give equal orders.
pub fn shuffle<T>(cases: &mut [T], seed: u64, round: u32) {
    let mut rng = Pcg64Mcg::seed_from_u64(seed ^ (u64::from(round) << 48));
    cases.shuffle(&mut rng);
}

/// When a case's turn comes in the first round; the lowest comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Turn {
    /// How many smaller cases the same workload has.
    pub rank: usize,
    /// How many cases of the same rank and family come before it: ceilings, then smaller ones.
    pub in_family: usize,
}

/// The turns of `cases`. In the first round every family has a case before any has a second,
/// every workload its smallest size before any has a larger one: a time budget that ends early then
/// costs the large sizes, not whole workloads or families, and what a large size needs is known from a
/// smaller one. Of a family ceilings come first, since the others are held against them, then the smallest.
pub fn turns(cases: &[Case]) -> Vec<Turn> {
    let weights: Vec<f64> = cases.iter().map(weight).collect();
    let smaller_sibling =
        |i: usize, j: usize| weights[j] < weights[i] && cases[j].key.is_sibling_of(&cases[i].key);
    let all = || 0..cases.len();
    let ranks: Vec<usize> =
        all().map(|i| all().filter(|&j| smaller_sibling(i, j)).count()).collect();
    let is_no_ceiling = |i: usize| cases[i].ceiling.is_none();
    let order = |i: usize, j: usize| {
        let by_weight = weights[j].total_cmp(&weights[i]);
        is_no_ceiling(j).cmp(&is_no_ceiling(i)).then(by_weight).then(j.cmp(&i))
    };
    let before = |i: usize, j: usize| {
        ranks[j] == ranks[i] && cases[j].family == cases[i].family && order(i, j).is_lt()
    };
    let turn = |i| Turn { rank: ranks[i], in_family: all().filter(|&j| before(i, j)).count() };
    all().map(turn).collect()
}

/// Whether `case` cannot take longer than `other`: the same workload, no size larger, no more work.
pub fn is_no_larger(case: &Case, other: &Case) -> bool {
    case.key.is_no_larger_than(&other.key) && weight(case) <= weight(other)
}

/// Operations and bytes of the largest variant: more for a larger size.
fn weight(case: &Case) -> f64 {
    let stored = case.buffers.iter().map(|b| b.bytes().0 as f64).sum::<f64>();
    case.candidates.iter().map(|c| c.flops + c.bytes).fold(stored, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::case::sample::case;

    #[test]
    fn of_a_family_ceilings_come_first() {
        let ceiling = Some(gpubench_core::workload::Ceiling::Bandwidth);
        let bounding = Case { ceiling, ..case("memory", "copy", 900) };
        let turns = turns(&[case("memory", "read", 7), bounding]);
        assert!(turns[1] < turns[0]);
    }

    #[test]
    fn every_family_has_a_case_before_any_has_a_second() {
        let cases = [
            case("memory", "copy", 900),
            case("memory", "copy", 10),
            case("memory", "triad", 5),
            case("memory", "read", 7),
            case("compute", "fma", 1000),
            case("compute", "fma", 2000),
        ];
        let mut order: Vec<_> = turns(&cases).into_iter().zip(&cases).collect();
        order.sort_by_key(|(turn, _)| *turn);
        let families: Vec<&str> = order.iter().map(|(_, case)| case.family.as_str()).collect();
        assert_eq!(families[..3], ["memory", "compute", "memory"]);
        let names: Vec<String> = order.iter().map(|(_, case)| case.key.to_string()).collect();
        assert_eq!(names[0], "triad n=5");
        // Every workload before any second size.
        assert_eq!(names[..4].iter().filter(|name| name.contains("copy")).count(), 1);
        assert!(names[4..].iter().any(|name| name == "copy n=900"));
    }

    #[test]
    fn each_round_has_its_own_reproducible_order() {
        let order = |round| {
            let mut cases: Vec<u32> = (0..50).collect();
            shuffle(&mut cases, 7, round);
            cases
        };
        assert_eq!(order(0), order(0));
        assert_ne!(order(0), order(1));
        let mut sorted = order(2);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..50).collect::<Vec<_>>());
    }
}
