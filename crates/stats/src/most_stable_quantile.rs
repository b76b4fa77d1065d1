//! Which quantile of samples is a property of what was measured rather than of the moment.

use super::quantile;

/// Quantiles to choose among; the first of equals is taken.
const QUANTILES: [f64; 5] = [0.5, 0.25, 0.1, 0.05, 0.75];
/// Samples of a series below which its halves show nothing.
const MIN_SAMPLES: usize = 10;

/// The quantile that comes out most alike from the first and the second half of each of `series`, whose samples
/// are in the order in which they were taken: the highest mean of the smaller over the larger. The median where
/// nothing shows it.
///
/// A device that something slows now and then is summarised by a low quantile, one that is fast now and
/// then by a high one. That holds for a whole device: one series alone would choose by chance.
pub fn most_stable_quantile<'a>(series: impl IntoIterator<Item = &'a [f64]>) -> f64 {
    let (mut sums, mut count) = ([0.0; QUANTILES.len()], 0);
    for samples in series.into_iter().filter(|samples| samples.len() >= MIN_SAMPLES) {
        let halves = samples.split_at(samples.len() / 2);
        let halves = [halves.0, halves.1].map(sorted);
        let alike = QUANTILES.map(|q| alike(halves.each_ref().map(|half| quantile(half, q))));
        if alike.iter().all(|alike| alike.is_finite()) {
            sums.iter_mut().zip(alike).for_each(|(sum, alike)| *sum += alike);
            count += 1;
        }
    }
    // What rounding makes of equals is no difference.
    let tolerance = 1e-9 * f64::from(count);
    let mut best = 0;
    for (i, sum) in sums.iter().enumerate() {
        if *sum > sums[best] + tolerance {
            best = i;
        }
    }
    QUANTILES[best]
}

fn sorted(samples: &[f64]) -> Vec<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

fn alike([one, other]: [f64; 2]) -> f64 {
    one.min(other) / one.max(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twice ten samples: of each ten the given number take so long, the others take 1.
    fn series(halves: [(usize, f64); 2]) -> Vec<f64> {
        let half = |(count, other): (usize, f64)| {
            (0..MIN_SAMPLES).map(move |i| if i < count { other } else { 1.0 })
        };
        halves.into_iter().flat_map(half).collect()
    }

    #[test]
    fn what_is_slowed_now_and_then_is_summarised_by_a_low_quantile() {
        let (one, other) = (series([(3, 2.0), (7, 3.0)]), series([(7, 2.0), (3, 3.0)]));
        assert_eq!(most_stable_quantile([one.as_slice(), &other]), 0.1);
    }

    #[test]
    fn what_is_fast_now_and_then_is_summarised_by_a_high_quantile() {
        let (one, other) = (series([(3, 0.5), (7, 0.4)]), series([(7, 0.5), (3, 0.4)]));
        assert_eq!(most_stable_quantile([one.as_slice(), &other]), 0.75);
    }

    #[test]
    fn what_rounding_makes_of_equals_is_no_difference() {
        let one: Vec<f64> = (0..10).map(|i| 1.0 + 0.1 * f64::from(i * i)).collect();
        let slowed = |factor: f64| [one.clone(), one.iter().map(|x| factor * x).collect()].concat();
        for factor in [1.1, 1.2, 1.3, 1.4, 1.7] {
            assert_eq!(most_stable_quantile([slowed(factor).as_slice()]), 0.5, "{factor}");
        }
    }

    #[test]
    fn without_evidence_it_is_the_median() {
        assert_eq!(most_stable_quantile([]), 0.5);
        assert_eq!(most_stable_quantile([[1.0; 20].as_slice()]), 0.5);
        assert_eq!(most_stable_quantile([[0.0; 20].as_slice(), &[f64::NAN; 20]]), 0.5);
        let changing = series([(3, 2.0), (7, 3.0)]);
        assert_eq!(most_stable_quantile([&changing[6..6 + MIN_SAMPLES - 1]]), 0.5, "too short");
    }
}
