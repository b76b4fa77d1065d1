//! Which of many hypotheses to reject.

/// Benjamini and Hochberg (1995): which of the hypotheses with these p-values may be rejected
/// so that at most the share `rate` of the rejected ones is rejected wrongly.
pub fn benjamini_hochberg(p_values: &[f64], rate: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let m = p_values.len() as f64;
    let last = order
        .iter()
        .enumerate()
        .rev()
        .find(|&(rank, &i)| p_values[i] <= rate * (rank + 1) as f64 / m)
        .map_or(0, |(rank, _)| rank + 1);
    let mut rejected = vec![false; p_values.len()];
    for &i in &order[..last] {
        rejected[i] = true;
    }
    rejected
}

/// The p-value up to which a hypothesis is rejected, with a rate divided by the share of true ones as
/// Storey (2002) estimates it: one more than those with a p-value above a half, over half their
/// number, but at most 1.
///
/// With `k` rejected it is the one that a further hypothesis would need, `rate · (k + 1) / m`. None
/// that is not rejected is as small, or it would have been: so it alone says which are.
pub fn adaptive_threshold(p_values: &[f64], rate: f64) -> f64 {
    let rate = rate / true_share(p_values);
    let rejected = benjamini_hochberg(p_values, rate).iter().filter(|found| **found).count();
    rate * (rejected + 1) as f64 / p_values.len().max(1) as f64
}

/// The smallest number that is reached once in twenty times at most, where `n` independent events
/// have this probability each.
pub fn rare_count(n: usize, probability: f64) -> usize {
    let odds = probability / (1.0 - probability);
    let mut exactly = (1.0 - probability).powi(i32::try_from(n).unwrap_or(i32::MAX));
    let (mut below, mut count) = (0.0, 0);
    while below + exactly < 0.95 && count < n {
        below += exactly;
        exactly *= odds * (n - count) as f64 / (count + 1) as f64;
        count += 1;
    }
    count + 1
}

/// Storey's estimate with λ = 1/2 and the 1 that keeps it from being too small (Storey, Taylor and
/// Siegmund 2004, theorem 3).
fn true_share(p_values: &[f64]) -> f64 {
    let above = p_values.iter().filter(|p| **p > 0.5).count();
    let share = (1 + above) as f64 / (0.5 * p_values.len() as f64);
    share.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn benjamini_and_hochbergs_own_example() {
        // Their table 1 (15 p-values): the four smallest are rejected at 0.05.
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.0,
        ];
        let rejected = benjamini_hochberg(&p, 0.05);
        assert_eq!(rejected.iter().filter(|&&r| r).count(), 4);
        assert!(rejected[..4].iter().all(|&r| r));
    }

    #[test]
    fn where_most_are_false_the_rate_is_higher() {
        // Ten p-values, one above a half: (1 + 1) / 5 of them are thought true.
        let p = [0.01, 0.02, 0.03, 0.04, 0.05, 0.055, 0.06, 0.065, 0.07, 0.6];
        assert!((true_share(&p) - 0.4).abs() < 1e-12);
        let found = |limit: f64| p.iter().filter(|p| **p <= limit).count();
        assert_eq!(benjamini_hochberg(&p, 0.05).iter().filter(|&&r| r).count(), 0);
        // At 0.05 / 0.4 nine are rejected: a tenth would need 0.125 · 10 / 10.
        let threshold = adaptive_threshold(&p, 0.05);
        assert!((threshold - 0.125).abs() < 1e-12, "{threshold}");
        assert_eq!(found(threshold), 9);
        assert_eq!(true_share(&[0.9, 0.8]), 1.0);
        assert!((true_share(&[0.1, 0.2, 0.3, 0.5]) - 0.5).abs() < 1e-12, "a half is not above it");
        assert_eq!(adaptive_threshold(&[], 0.05), 0.05);
    }

    #[test]
    fn a_rare_count_is_the_binomial_distributions() {
        // Of 100 with 0.009 none 0.4049, one 0.3677, two 0.1653, three 0.0490: up to two 0.9379, up to
        // three 0.9869.
        assert_eq!(rare_count(100, 0.009), 4);
        // Of 10 with 0.3 up to four 0.8497, up to five 0.9527.
        assert_eq!(rare_count(10, 0.3), 6);
        assert_eq!(rare_count(1, 0.009), 1);
        assert_eq!(rare_count(0, 0.009), 1);
    }

    proptest::proptest! {
        #[test]
        fn the_threshold_rejects_what_the_step_up_rule_does(
            p in proptest::collection::vec(0.0..1.0f64, 1..30),
            small in proptest::collection::vec(0.0..0.02f64, 0..10),
        ) {
            let p = [p, small].concat();
            let threshold = adaptive_threshold(&p, 0.05);
            let by_threshold: Vec<bool> = p.iter().map(|p| *p <= threshold).collect();
            proptest::prop_assert_eq!(by_threshold, benjamini_hochberg(&p, 0.05 / true_share(&p)));
        }
    }
}
