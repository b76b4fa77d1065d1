//! The difference of two means whose variances need not be equal (Welch 1947).

use statrs::distribution::{ChiSquared, ContinuousCDF, StudentsT};

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
}

impl Difference {
    /// Of two samples; `None` where either has fewer than two values.
    pub fn between(first: &[f64], second: &[f64]) -> Option<Self> {
        let (mean1, part1) = mean_and_squared_error(first)?;
        let (mean2, part2) = mean_and_squared_error(second)?;
        let (n1, n2) = (first.len() as f64, second.len() as f64);
        let both = part1 + part2;
        let freedom = if both > 0.0 {
            both * both / (part1 * part1 / (n1 - 1.0) + part2 * part2 / (n2 - 1.0))
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
        })
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
        match StudentsT::new(0.0, 1.0, self.freedom) {
            Ok(t) => 2.0 * t.sf((self.difference / self.error).abs()),
            Err(_) => 1.0,
        }
    }
}

/// The `q` quantile of Student's t; infinite where the degrees of freedom are none.
pub fn t_quantile(freedom: f64, q: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |t| t.inverse_cdf(q))
}

/// How many times a standard deviation, estimated with so many degrees of freedom, the true one
/// may be: it is larger once in a hundred times.
pub fn upper_limit(freedom: f64) -> f64 {
    ChiSquared::new(freedom).map_or(f64::INFINITY, |chi| (freedom / chi.inverse_cdf(0.01)).sqrt())
}

/// The mean, and the square of its standard error.
fn mean_and_squared_error(values: &[f64]) -> Option<(f64, f64)> {
    if values.len() < 2 {
        return None;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    Some((mean, variance / n))
}

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
