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

/// Of each case, how many smaller ones the same workload has. In the first round those of rank 0
/// come first, then those of rank 1, and so on: a time budget that ends early then costs the large
/// sizes, not whole workloads, and what a large size needs is known from a smaller one.
pub fn ranks(cases: &[Case]) -> Vec<usize> {
    let smaller = |case: &Case, other: &Case| {
        other.key.is_sibling_of(&case.key) && weight(other) < weight(case)
    };
    cases.iter().map(|case| cases.iter().filter(|other| smaller(case, other)).count()).collect()
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
    use super::shuffle;

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
