//! Variances of many cases, each estimated from a few values, shrunk to what all of them show.
//!
//! The model is Smyth's (2004, §3): the cases' variances σ² are drawn from a prior with
//! `d₀·s₀²/σ² ~ χ²(d₀)`, and a case's own estimate s² with d degrees of freedom has
//! `d·s²/σ² ~ χ²(d)`. For given d₀ and s₀² the moderated variance `(d₀s₀² + ds²)/(d₀ + d)` has
//! `d₀ + d` degrees of freedom. Two things differ. First, d₀ and s₀² are not estimated and then
//! taken for known: what follows from each is averaged by how likely it makes the variances seen,
//! since a handful of cases determines neither. Second, a share of the cases may scatter several
//! times as much as the rest (the outliers of Phipson et al. 2016), likewise averaged over shares
//! and factors. A single case learns nothing from others: its interval is Student's t.
//!
//! Each case's σ² is a list of probabilities on a lattice of its logarithm, so a distance between
//! means has a p-value, and a mean an interval, from a mixture of normal distributions.

use super::variance_prior::{Noise, floored, lattice, posteriors};
use super::welch::mean_and_squared_error;
use statrs::function::erf::erfc;

/// A variance, estimated with so many degrees of freedom; with none it says nothing of its case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scatter {
    /// The estimate.
    pub variance: f64,
    /// Degrees of freedom.
    pub freedom: f64,
}

impl Scatter {
    /// Of some values.
    pub fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let none = Self { variance: 0.0, freedom: 0.0 };
        let of = |(_, squared_error)| Self { variance: squared_error * n, freedom: n - 1.0 };
        mean_and_squared_error(values).map_or(none, of)
    }
}

/// What many cases' variances say of each.
#[derive(Clone, Debug)]
pub struct Moderated {
    /// Standard deviations on the lattice.
    deviations: Vec<f64>,
    /// For each case how probable each of them is.
    posteriors: Vec<Vec<f64>>,
}

impl Moderated {
    /// Of the variances of all cases.
    pub fn of(cases: &[Scatter]) -> Self {
        let estimates = floored(cases);
        let lattice = lattice(&estimates);
        let likelihoods = estimates.iter().map(|case| likelihood(case, &lattice)).collect();
        let noise = Noise { probability: 1.0, likelihoods };
        let posteriors = posteriors(&[noise], &lattice).pop().unwrap_or_default();
        let deviations = lattice.iter().map(|log| (log / 2.0).exp()).collect();
        Self { deviations, posteriors }
    }

    /// Two-sided probability of a distance at least as large as this, if the true one were zero;
    /// the distance is that of a single value of the case.
    pub fn p_value(&self, case: usize, distance: f64) -> f64 {
        let distance = distance.abs() / std::f64::consts::SQRT_2;
        self.nodes(case).map(|(deviation, p)| p * erfc(distance / deviation)).sum()
    }

    /// The distance that a single value of the case exceeds with one less this probability.
    pub fn half_width(&self, case: usize, confidence: f64) -> f64 {
        let largest = self.deviations.last().copied().unwrap_or_default();
        let (mut low, mut high) = (0.0, 40.0 * largest);
        while high - low > 1e-6 * high {
            let middle = (low + high) / 2.0;
            if self.p_value(case, middle) > 1.0 - confidence {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }

    fn nodes(&self, case: usize) -> impl Iterator<Item = (f64, f64)> {
        let posterior = self.posteriors[case].iter().copied();
        self.deviations.iter().copied().zip(posterior).filter(|(_, p)| *p > 1e-12)
    }
}

/// How probable the estimate is for each true variance, relative to the most probable.
fn likelihood(case: &Scatter, lattice: &[f64]) -> Vec<f64> {
    let density = |log: &f64| {
        let ratio = case.variance.ln() - log;
        (case.freedom / 2.0 * (ratio - ratio.exp() + 1.0)).exp()
    };
    lattice.iter().map(density).collect()
}

#[cfg(test)]
mod tests {
    use super::super::variance_prior::{normalised, prior};
    use super::*;
    use statrs::distribution::{ContinuousCDF, StudentsT};

    fn scatter(variance: f64, freedom: f64) -> Scatter {
        Scatter { variance, freedom }
    }

    fn student(freedom: f64, distance: f64) -> f64 {
        2.0 * StudentsT::new(0.0, 1.0, freedom).unwrap().sf(distance)
    }

    #[test]
    fn for_a_given_prior_it_is_smyths_moderated_t() {
        // d₀ = 4, s₀² = 0.09, d = 2, s² = 0.25: (4·0.09 + 2·0.25)/6 = 0.14333 with 6 degrees of freedom.
        let lattice: Vec<f64> = (0..400).map(|i| -12.0 + 0.05 * f64::from(i)).collect();
        let at = lattice.iter().position(|log| *log >= 0.09f64.ln()).unwrap();
        let center = lattice[at].exp();
        let prior = &prior(4.0, &lattice)[at];
        let likelihood = likelihood(&scatter(0.25, 2.0), &lattice);
        let both = prior.iter().zip(&likelihood).map(|(p, l)| p * l).collect();
        let deviations = lattice.iter().map(|log| (log / 2.0).exp()).collect();
        let found = Moderated { deviations, posteriors: vec![normalised(both)] };
        let moderated: f64 = (4.0 * center + 2.0 * 0.25) / 6.0;
        for t in [0.5, 1.0, 2.447, 3.707, 6.0] {
            let (p, wanted) = (found.p_value(0, t * moderated.sqrt()), student(6.0, t));
            assert!((p / wanted - 1.0).abs() < 1e-3, "{t}: {p} not {wanted}");
        }
    }

    #[test]
    fn a_single_case_has_student_s_t() {
        // But for the lattice's ends, which make it a little wider.
        for freedom in [2.0, 4.0, 8.0] {
            let found = Moderated::of(&[scatter(1e-4, freedom)]);
            for t in [1.0, 2.0, 4.0] {
                let (p, wanted) = (found.p_value(0, t * 1e-2), student(freedom, t));
                assert!((0.99..1.1).contains(&(p / wanted)), "{freedom} {t}: {p} not {wanted}");
            }
            let half = found.half_width(0, 0.95) / 1e-2;
            let wanted = crate::t_quantile(freedom, 0.975);
            assert!((half / wanted - 1.0).abs() < 0.05, "{freedom}: {half} not {wanted}");
        }
    }

    #[test]
    fn many_alike_have_the_normal_distribution_of_their_common_variance() {
        // Estimates at the expected quantiles of χ²(4)/4 with a variance of 1.
        use statrs::distribution::ChiSquared;
        let chi = ChiSquared::new(4.0).unwrap();
        let quantile = |i: i32| chi.inverse_cdf((f64::from(i) + 0.5) / 200.0) / 4.0;
        let cases: Vec<Scatter> = (0..200).map(|i| scatter(quantile(i), 4.0)).collect();
        let found = Moderated::of(&cases);
        for case in [0, 100, 199] {
            let half = found.half_width(case, 0.95);
            assert!((half - 1.96).abs() < 0.15, "{case}: {half}");
        }
    }

    #[test]
    fn cases_that_scatter_more_are_distinguished_from_the_rest() {
        let of = |i: i32| scatter(if i % 5 == 0 { 25.0 } else { 1.0 }, 4.0);
        let cases: Vec<Scatter> = (0..50).map(of).collect();
        let found = Moderated::of(&cases);
        let (restless, calm) = (found.half_width(0, 0.95), found.half_width(1, 0.95));
        assert!((8.0..14.0).contains(&restless), "{restless}");
        assert!((1.8..2.6).contains(&calm), "{calm}");
    }

    #[test]
    fn a_case_without_an_estimate_has_that_of_the_others() {
        let mut cases = vec![scatter(1.0, 2.0); 30];
        cases.push(scatter(0.0, 0.0));
        let found = Moderated::of(&cases);
        let half = found.half_width(30, 0.95);
        assert!((1.8..3.0).contains(&half), "{half}");
    }

    #[test]
    fn equal_values_and_no_estimates_are_no_special_case() {
        let found = Moderated::of(&[scatter(0.0, 2.0), scatter(0.0, 2.0)]);
        assert!(found.half_width(0, 0.95) < 1e-6);
        assert!(found.p_value(0, 0.01) < 1e-12 && found.p_value(0, 0.0) > 0.999);
        let found = Moderated::of(&[scatter(0.0, 0.0)]);
        assert!(found.half_width(0, 0.95) < 1e-6);
        assert!(Moderated::of(&[]).posteriors.is_empty());
    }

    #[test]
    fn an_independent_computation_gives_the_same() {
        // By numpy, hypothesis by hypothesis, from this page's description.
        let cases = [(1.0, 2.0), (1.3, 2.0), (0.2, 2.0), (0.9, 4.0), (40.0, 4.0), (0.0, 0.0)];
        let wanted = [2.409450, 2.523358, 2.229524, 2.196530, 14.422647, 7.117241];
        let found = Moderated::of(&cases.map(|(variance, freedom)| scatter(variance, freedom)));
        for (case, wanted) in wanted.iter().enumerate() {
            let half = found.half_width(case, 0.95);
            assert!((half / wanted - 1.0).abs() < 1e-5, "{case}: {half} not {wanted}");
        }
    }

    proptest::proptest! {
        #[test]
        fn the_unit_does_not_matter(
            logs in proptest::collection::vec(-3.0..3.0f64, 1..12),
            unit in -6.0..6.0f64,
        ) {
            let of = |factor: f64| {
                let cases: Vec<Scatter> = logs.iter().map(|log| scatter(factor * log.exp(), 2.0)).collect();
                Moderated::of(&cases)
            };
            let (one, other) = (of(1.0), of((2.0 * unit).exp()));
            for case in 0..logs.len() {
                let (one, other) = (one.half_width(case, 0.95), other.half_width(case, 0.95) / unit.exp());
                proptest::prop_assert!((one / other - 1.0).abs() < 1e-5, "{one} {other}");
            }
        }
    }
}
