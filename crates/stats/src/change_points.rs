//! Where the mean of a series changes: PELT, the exact segmentation with the least squares plus a penalty a
//! segment, in about linear time [Killick 2012].

/// Values of a segment, at least: a single outlier is no change.
pub const MIN_SEGMENT: usize = 2;
/// The share of the steps that the scatter is learnt from: the smallest.
const CALM_STEPS: f64 = 0.8;
/// The variance of normal values of unit variance whose largest fifth, by size, is taken away.
const TRIMMED: f64 = 0.4378;

/// Standard deviation of one value about a mean that changes seldom: by the smallest steps from one value to
/// the next, among which a change is not.
pub fn step_scatter(values: &[f64]) -> Option<f64> {
    let mut steps: Vec<f64> = values.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).collect();
    steps.sort_by(f64::total_cmp);
    steps.truncate((CALM_STEPS * steps.len() as f64).ceil() as usize);
    let mean = steps.iter().sum::<f64>() / steps.len() as f64;
    (!steps.is_empty()).then(|| (mean / TRIMMED / 2.0).sqrt())
}

/// Where the segments behind the first one begin, in order. `penalty` is what a further segment must take off
/// the sum of squares.
pub fn change_points(values: &[f64], penalty: f64) -> Vec<usize> {
    let squares = Squares::of(values);
    let n = values.len();
    // best[t]: the least cost of the first t values, and where its last segment begins.
    let mut best = vec![(f64::INFINITY, 0); n + 1];
    best[0] = (-penalty, 0);
    let mut starts = vec![0];
    let mut doomed: Vec<usize> = vec![];
    for end in MIN_SEGMENT..=n {
        let cost = |start: usize| (best[start].0 + squares.about_mean(start, end), start);
        let costs: Vec<(f64, usize)> = starts.iter().map(|&start| cost(start)).collect();
        let cheapest = costs.iter().copied().min_by(|a, b| a.0.total_cmp(&b.0));
        best[end] = cheapest.map_or((f64::INFINITY, 0), |(cost, start)| (cost + penalty, start));
        // A start that is worse by more than a segment's penalty stays worse than beginning here, which the
        // next values but one may: until then it is kept.
        let doomed_now = costs.iter().filter(|(cost, _)| *cost > best[end].0);
        let doomed_now: Vec<usize> = doomed_now.map(|(_, start)| *start).collect();
        starts.retain(|start| !doomed.contains(start));
        doomed = doomed_now;
        starts.push(end + 1 - MIN_SEGMENT);
    }
    let mut found = vec![];
    let mut end = n;
    while end >= MIN_SEGMENT && best[end].1 > 0 {
        end = best[end].1;
        found.push(end);
    }
    found.reverse();
    found
}

/// Sums of squares of segments, each in constant time.
struct Squares(Vec<(f64, f64)>);

impl Squares {
    fn of(values: &[f64]) -> Self {
        // About the first value, so that large values lose no digits.
        let center = values.first().copied().unwrap_or(0.0);
        let mut sums = vec![(0.0, 0.0)];
        for value in values {
            let (x, last) = (value - center, sums[sums.len() - 1]);
            sums.push((last.0 + x, last.1 + x * x));
        }
        Self(sums)
    }

    fn about_mean(&self, start: usize, end: usize) -> f64 {
        let (from, to) = (self.0[start], self.0[end]);
        let sum = to.0 - from.0;
        (to.1 - from.1 - sum * sum / (end - start) as f64).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    fn noise(rng: &mut Pcg64Mcg) -> f64 {
        (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
    }

    /// Every segmentation, by brute force.
    fn exhaustive(values: &[f64], penalty: f64) -> f64 {
        let squares = Squares::of(values);
        let n = values.len();
        let mut best = vec![f64::INFINITY; n + 1];
        best[0] = -penalty;
        for end in 1..=n {
            for start in 0..end {
                if end - start >= MIN_SEGMENT {
                    best[end] =
                        best[end].min(best[start] + squares.about_mean(start, end) + penalty);
                }
            }
        }
        best[n]
    }

    #[test]
    fn a_step_is_found_where_it_is() {
        let values = [1.0, 1.1, 0.9, 1.0, 1.0, 2.0, 2.1, 1.9, 2.0];
        assert_eq!(change_points(&values, 0.3), [5]);
        assert!(change_points(&values[..5], 0.3).is_empty());
        assert!(change_points(&[1.0], 0.3).is_empty() && change_points(&[], 0.3).is_empty());
        let outlier = [1.0, 1.0, 1.0, 9.0, 1.0, 1.0, 1.0];
        assert!(change_points(&outlier, 40.0).is_empty());
    }

    #[test]
    fn pruning_loses_nothing() {
        let mut rng = Pcg64Mcg::seed_from_u64(7);
        for _ in 0..200 {
            let n = rng.random_range(4..40);
            let step = rng.random_range(0..n);
            let values: Vec<f64> =
                (0..n).map(|i| noise(&mut rng) + if i < step { 0.0 } else { 3.0 }).collect();
            let penalty = 4.0;
            let found = change_points(&values, penalty);
            let squares = Squares::of(&values);
            let ends: Vec<usize> = found.iter().copied().chain([n]).collect();
            let starts = std::iter::once(0).chain(found.iter().copied());
            let cost: f64 = starts.zip(&ends).map(|(a, &b)| squares.about_mean(a, b)).sum();
            let cost = cost + penalty * found.len() as f64;
            assert!((cost - exhaustive(&values, penalty)).abs() < 1e-9, "{values:?}");
        }
    }

    #[test]
    fn large_values_lose_no_digits() {
        // Of 4 and 8 about their mean of 6.
        assert_eq!(Squares::of(&[1.0, 2.0, 4.0, 8.0]).about_mean(2, 4), 8.0);
        let values = [2.0, 2.1, 1.9, 2.0, 3.0, 3.1, 2.9].map(|x| x + 1e9);
        assert_eq!(change_points(&values, 0.3), [4]);
    }

    #[test]
    fn the_scatter_is_that_of_the_smaller_steps() {
        // Of 1, 4, 9, 16 and 100 without the largest 7.5: over 2 · 0.4378.
        let found = step_scatter(&[0.0, 1.0, 3.0, 6.0, 10.0, 20.0]).unwrap();
        assert!((found - 2.9267).abs() < 1e-4, "{found}");
        assert_eq!(step_scatter(&[1.0]), None);
    }

    #[test]
    fn the_scatter_is_that_of_steps_and_not_of_changes() {
        let mut rng = Pcg64Mcg::seed_from_u64(3);
        let values: Vec<f64> =
            (0..400).map(|i| noise(&mut rng) + if i < 200 { 0.0 } else { 50.0 }).collect();
        let scatter = step_scatter(&values).unwrap();
        assert!((0.85..1.15).contains(&scatter), "{scatter}");
    }
}
