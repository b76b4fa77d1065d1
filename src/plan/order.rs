//! The order in which a round runs its cases: shuffled, so that drift does not favour any.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;

/// Shuffles `cases` for one round; equal seeds and rounds give equal orders.
pub fn shuffle<T>(cases: &mut [T], seed: u64, round: u32) {
    let mut rng = Pcg64Mcg::seed_from_u64(seed ^ (u64::from(round) << 48));
    cases.shuffle(&mut rng);
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
