//! The difference of two means: of two samples whose variances need not be equal (Welch 1947), or of pairs.

use super::Scatter;
use statrs::distribution::{ChiSquared, ContinuousCDF, Normal, StudentsT};

/// From so many degrees of freedom on, Student's t is a normal variable as far as anybody can see (its quantiles differ by
/// less than 3e-5), and its inverse by continued fractions becomes wrong and then endless.
const NORMAL_FROM: f64 = 1e5;

/// The difference of two samples' means (second minus first).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Second mean minus first.
    pub difference: f64,
    /// Standard error of the difference.
    pub error: f64,
    /// Degrees of freedom (Welch–Satterthwaite).
    pub freedom: f64,
    /// Standard deviation of one value, over both samples.
    pub scatter: f64,
    /// Number of values in each sample.
    pub rounds: [f64; 2],
    /// Whether each value has its counterpart in the other sample.
    pub paired: bool,
}

impl Difference {
    /// Of two samples; `None` where either has fewer than two values.
    pub fn between(first: &[f64], second: &[f64]) -> Option<Self> {
        let (mean1, part1) = mean_and_squared_error(first)?;
        let (mean2, part2) = mean_and_squared_error(second)?;
        let (n1, n2) = (first.len() as f64, second.len() as f64);
        let both = part1 + part2;
        let freedom = if both > 0.0 {
            satterthwaite([(part1, n1 - 1.0), (part2, n2 - 1.0)])
        } else {
            n1 + n2 - 2.0
        };
        let squares = part1 * n1 * (n1 - 1.0) + part2 * n2 * (n2 - 1.0);
        Some(Self {
            difference: mean2 - mean1,
            error: both.sqrt(),
            freedom,
            scatter: (squares / (n1 + n2 - 2.0)).sqrt(),
            rounds: [n1, n2],
            paired: false,
        })
    }

    /// Of pairs, each a value of both samples: what both have in common is no noise. `None` where there are fewer
    /// than two.
    pub fn paired(pairs: &[[f64; 2]]) -> Option<Self> {
        let apart: Vec<f64> = pairs.iter().map(|[first, second]| second - first).collect();
        let (mean, squared) = mean_and_squared_error(&apart)?;
        let n = apart.len() as f64;
        Some(Self {
            difference: mean,
            error: squared.sqrt(),
            freedom: n - 1.0,
            // A difference has the noise of two values.
            scatter: (squared * n / 2.0).sqrt(),
            rounds: [n, n],
            paired: true,
        })
    }

    /// Degrees of freedom of the scatter with this number of values in each sample.
    pub fn freedom_of(&self, rounds: [f64; 2]) -> f64 {
        if self.paired { rounds[0] - 1.0 } else { rounds[0] + rounds[1] - 2.0 }
    }

    /// Of the mean of independent differences, its 95 % interval; `None` where there are none.
    pub fn mean(all: &[Self]) -> Option<(f64, [f64; 2])> {
        let n = all.len() as f64;
        let mean = all.iter().map(|d| d.difference).sum::<f64>() / n;
        let squared = |d: &Self| d.error * d.error;
        let error = all.iter().map(squared).sum::<f64>().sqrt() / n;
        let freedom = satterthwaite(all.iter().map(|d| (squared(d), d.freedom)));
        let half = if error > 0.0 { error * t_quantile(freedom, 0.975) } else { 0.0 };
        (n > 0.0).then_some((mean, [mean - half, mean + half]))
    }

    /// The factor by which the variance of a value, if both samples have it, is the difference's.
    pub fn factor(&self) -> f64 {
        1.0 / self.rounds[0] + 1.0 / self.rounds[1]
    }

    /// The variance of one value as the error shows it: right on average even where the samples' variances
    /// differ, with the degrees of freedom that it has where they do not (Satterthwaite's).
    pub fn value_scatter(&self) -> Scatter {
        let factor = self.factor();
        let variance = self.error * self.error / factor;
        if self.paired {
            return Scatter { variance, freedom: self.freedom };
        }
        let parts = self.rounds.map(|n| 1.0 / (n * n * (n - 1.0)));
        let freedom = factor * factor / (parts[0] + parts[1]);
        Scatter { variance, freedom }
    }

    /// The interval that holds the true difference with the given confidence.
    pub fn interval(&self, confidence: f64) -> [f64; 2] {
        let half = self.error * t_quantile(self.freedom, 0.5 + confidence / 2.0);
        [self.difference - half, self.difference + half]
    }

    /// Two-sided probability of a difference at least as large if the true one were zero.
    pub fn p_value(&self) -> f64 {
        if self.error == 0.0 {
            return if self.difference == 0.0 { 1.0 } else { 0.0 };
        }
        let distance = (self.difference / self.error).abs();
        match StudentsT::new(0.0, 1.0, self.freedom) {
            Ok(t) if t.freedom() < NORMAL_FROM => 2.0 * t.sf(distance),
            Ok(_) => 2.0 * Normal::standard().sf(distance),
            Err(_) => 1.0,
        }
    }
}

/// Degrees of freedom of a sum of variances, each estimated with its own (Satterthwaite).
fn satterthwaite(parts: impl IntoIterator<Item = (f64, f64)>) -> f64 {
    let (mut sum, mut squares) = (0.0, 0.0);
    for (variance, freedom) in parts {
        sum += variance;
        squares += variance * variance / freedom;
    }
    sum * sum / squares
}

/// The `q` quantile of Student's t; infinite where the degrees of freedom are none.
pub fn t_quantile(freedom: f64, q: f64) -> f64 {
    match StudentsT::new(0.0, 1.0, freedom) {
        Ok(t) if t.freedom() < NORMAL_FROM => t.inverse_cdf(q),
        Ok(_) => Normal::standard().inverse_cdf(q),
        Err(_) => f64::INFINITY,
    }
}

/// How many times a standard deviation, estimated with so many degrees of freedom, the true one
/// may be: it is larger once in a hundred times.
pub fn upper_limit(freedom: f64) -> f64 {
    if freedom >= NORMAL_FROM {
        return 1.0 - Normal::standard().inverse_cdf(0.01) / (2.0 * freedom).sqrt();
    }
    ChiSquared::new(freedom).map_or(f64::INFINITY, |chi| (freedom / chi.inverse_cdf(0.01)).sqrt())
}

/// The mean, and the square of its standard error.
pub(super) fn mean_and_squared_error(values: &[f64]) -> Option<(f64, f64)> {
    if values.len() < 2 {
        return None;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    Some((mean, variance / n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endless_freedom_is_no_endless_search() {
        for freedom in [1e4, 99_999.0, 1e5, 1e7, 1e8, 1e300, f64::INFINITY] {
            let t = t_quantile(freedom, 0.975);
            assert!((t - 1.96).abs() < 4e-4, "{freedom}: {t}");
            let limit = upper_limit(freedom);
            assert!((limit - 1.0 - 1.645 / freedom.sqrt()).abs() < 5e-4, "{freedom}: {limit}");
            let far =
                Difference { freedom, ..Difference::between(&[0.0, 1.0], &[8.0, 9.0]).unwrap() };
            assert!(far.p_value() < 1e-10, "{freedom}: {}", far.p_value());
        }
        assert_eq!((t_quantile(f64::NAN, 0.975), upper_limit(0.0)), (f64::INFINITY, f64::INFINITY));
    }

    #[test]
    fn welchs_own_degrees_of_freedom() {
        // A textbook pair: unequal variances and sizes.
        let a = [
            27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7,
            21.4,
        ];
        let b = [
            27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 30.0,
            23.9,
        ];
        let d = Difference::between(&a, &b).unwrap();
        assert!((d.p_value() - 0.0073).abs() < 0.002, "{}", d.p_value());
        assert!((d.freedom - 27.88).abs() < 0.2, "{}", d.freedom);
    }

    #[test]
    fn a_hand_computed_difference() {
        // Means 2 and 6; variances 2 and 80/3, of the means 1 and 20/3 with 1 and 3 degrees of freedom:
        // (23/3)² / (1 + (20/3)² / 3) = 3.7166. Of a value (2 + 80) / 4.
        let d = Difference::between(&[1.0, 3.0], &[0.0, 4.0, 8.0, 12.0]).unwrap();
        assert_eq!((d.difference, d.rounds), (4.0, [2.0, 4.0]));
        assert!((d.error - (23.0 / 3.0f64).sqrt()).abs() < 1e-12);
        assert!((d.freedom - 3.7166).abs() < 1e-3 && (d.scatter - 20.5f64.sqrt()).abs() < 1e-12);
        let other = Difference::between(&[0.0, 4.0, 8.0, 12.0], &[1.0, 3.0]).unwrap();
        assert!((other.scatter - d.scatter).abs() < 1e-12);
        let constant = Difference::between(&[1.0, 1.0], &[2.0, 2.0, 2.0]).unwrap();
        assert_eq!((constant.error, constant.freedom), (0.0, 3.0));
    }

    /// Rounds that drift by 40 % differ by 2 in each pair: −1, 0 and 1 around it, of variance 1.
    #[test]
    fn what_pairs_have_in_common_is_no_noise() {
        let pairs = [[10.0, 11.0], [14.0, 16.0], [12.0, 15.0]];
        let d = Difference::paired(&pairs).unwrap();
        assert_eq!((d.difference, d.freedom, d.rounds), (2.0, 2.0, [3.0, 3.0]));
        assert!((d.error - (1.0 / 3.0f64).sqrt()).abs() < 1e-12);
        assert!((d.scatter - 0.5f64.sqrt()).abs() < 1e-12);
        let scatter = d.value_scatter();
        assert!((scatter.variance - 0.5).abs() < 1e-12 && scatter.freedom == 2.0, "{scatter:?}");
        assert_eq!((d.freedom_of([5.0; 2]), Difference::paired(&pairs[..1])), (4.0, None));
        let apart = Difference::between(&[10.0, 14.0, 12.0], &[11.0, 16.0, 15.0]).unwrap();
        assert!(apart.error > 3.0 * d.error && apart.freedom_of([5.0; 2]) == 8.0, "{apart:?}");
    }

    #[test]
    fn few_values_may_agree_by_luck() {
        // The 1 % quantile of chi-squared with 8 degrees of freedom is 1.6465.
        assert!(
            (upper_limit(8.0) - (8.0_f64 / 1.6465).sqrt()).abs() < 1e-3,
            "{}",
            upper_limit(8.0)
        );
        assert!(upper_limit(4.0) > upper_limit(8.0) && upper_limit(0.0).is_infinite());
        let d = Difference::between(&[1.0, 3.0], &[5.0, 7.0]).unwrap();
        assert!((d.scatter - 2f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn equal_constants_do_not_differ() {
        let d = Difference::between(&[1.0, 1.0], &[1.0, 1.0]).unwrap();
        assert_eq!((d.p_value(), d.interval(0.95)), (1.0, [0.0, 0.0]));
        assert!(Difference::between(&[1.0], &[1.0, 2.0]).is_none());
    }

    #[test]
    fn the_mean_of_differences_has_the_degrees_of_freedom_of_all() {
        let d = Difference::between(&[1.0, 3.0, 2.0], &[5.0, 7.0, 6.0]).unwrap();
        assert_eq!(Difference::mean(&[d]), Some((4.0, d.interval(0.95))), "one is as it is alone");
        // Errors of √(2/3) with 4 degrees each: together 8, t(0.975, 8) = 2.30600, and half of √(4/3).
        let (mean, [low, high]) = Difference::mean(&[d, d]).unwrap();
        assert!((mean - 4.0).abs() < 1e-12 && (high - 4.0 - (4.0 - low)).abs() < 1e-12);
        assert!((high - 4.0 - 2.306 * (4f64 / 3.0).sqrt() / 2.0).abs() < 1e-4, "{high}");
        let equal = Difference::between(&[1.0, 1.0], &[1.0, 1.0]).unwrap();
        assert_eq!(Difference::mean(&[equal; 2]), Some((0.0, [0.0, 0.0])));
        assert_eq!(Difference::mean(&[]), None);
    }

    #[test]
    fn the_variance_of_one_value_has_all_degrees_of_freedom_where_rounds_are_equally_many() {
        let d = Difference::between(&[1.0, 3.0, 2.0], &[5.0, 7.0, 6.0]).unwrap();
        let scatter = d.value_scatter();
        assert!((scatter.variance - 1.0).abs() < 1e-12 && (scatter.freedom - 4.0).abs() < 1e-12);
        // (1/9 + 1/3)² / (1/(81·8) + 1/(9·2)) = 0.19753 / 0.05710.
        let nine = [1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0];
        let scatter = Difference::between(&nine, &[5.0, 7.0, 6.0]).unwrap().value_scatter();
        assert!((scatter.freedom - 3.459).abs() < 1e-3, "{scatter:?}");
    }
}
