//! When one of several times is the best beyond what their intervals leave open.

/// The place of the time that is below all others beyond doubt: its interval lies below theirs, and is
/// narrower to either side than the lead over the next. `None` where there is none, or nothing to compare.
pub fn clear_best(times: &[(f64, [f64; 2])]) -> Option<usize> {
    let mut order: Vec<usize> = (0..times.len()).collect();
    order.sort_by(|&a, &b| times[a].0.total_cmp(&times[b].0));
    let (&first, others) = order.split_first()?;
    let (best, [low, high]) = times[first];
    let next = times[*others.first()?].0;
    let is_behind = others.iter().all(|&other| high < times[other].1[0]);
    // What is behind leaves no room above: only below may the interval be wider than the lead.
    (is_behind && best - low < next - best).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::clear_best;

    #[test]
    fn the_best_is_below_all_intervals() {
        let second = (2.0, [1.5, 2.5]);
        assert_eq!(clear_best(&[second, (1.0, [0.9, 1.1]), (3.0, [2.0, 9.0])]), Some(1));
        assert_eq!(clear_best(&[second, (1.0, [0.9, 1.5])]), None, "intervals touch");
        assert_eq!(clear_best(&[(1.0, [0.9, 1.1])]), None, "nothing to compare with");
        assert_eq!(clear_best(&[]), None);
    }

    #[test]
    fn no_best_has_an_interval_wider_than_its_lead() {
        let next = (1.1, [1.06, 1.2]);
        assert_eq!(clear_best(&[(1.0, [0.95, 1.05]), next]), Some(0));
        assert_eq!(clear_best(&[(1.0, [0.3, 1.05]), next]), None, "±70 % against a lead of 10 %");
        let even = [(4.0, [2.0, 4.5]), (6.0, [5.0, 7.0])];
        assert_eq!(clear_best(&even), None, "as wide as the lead");
        for (low, high) in (1..40).flat_map(|a| (1..40).map(move |b| (a, b))) {
            let (low, high) = (1.0 - f64::from(low) / 41.0, 1.0 + f64::from(high) / 41.0);
            if clear_best(&[(1.0, [low, high]), (1.4, [1.35, 1.5])]) == Some(0) {
                assert!(1.0 - low < 0.4 && high - 1.0 < 0.4, "{low} {high}");
            }
        }
    }

    #[test]
    fn no_nonsense_is_a_best() {
        for odd in [0.0, f64::NAN, f64::INFINITY] {
            assert_eq!(clear_best(&[(odd, [odd, odd]), (odd, [odd, odd])]), None);
        }
    }
}
