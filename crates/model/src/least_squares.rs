//! Least squares for the models that are fitted: parameters with error bars from residuals.
//!
//! Levenberg–Marquardt (MINPACK's, by the crate of that name) over parameters that are mapped to
//! the whole real line, so that they stay within their domains, from several starts.

use gpubench_core::error::{Error, Result};
use gpubench_stats::t_quantile;
use levenberg_marquardt::{LeastSquaresProblem, LevenbergMarquardt};
use nalgebra::{DMatrix, DVector, Dyn, Owned};

/// Where a parameter may lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Domain {
    /// Above zero.
    Positive,
    /// Between two bounds.
    Between(f64, f64),
}

impl Domain {
    fn to_line(self, value: f64) -> f64 {
        match self {
            Self::Positive => value.max(f64::MIN_POSITIVE).ln(),
            // Off the very ends, where the derivative is zero.
            Self::Between(low, high) => {
                (2.0 * (value - low) / (high - low) - 1.0).clamp(-0.999, 0.999).asin()
            }
        }
    }

    fn of_line(self, u: f64) -> f64 {
        match self {
            Self::Positive => u.exp(),
            Self::Between(low, high) => low + (high - low) * (u.sin() + 1.0) / 2.0,
        }
    }
}

/// A fitted parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Its value.
    pub value: f64,
    /// Its standard error; infinite where the measurements do not determine it.
    pub error: f64,
    /// Half the width of its 95 % interval: the standard error by Student's t, since few
    /// measurements know their own scatter badly.
    pub margin: f64,
}

impl Estimate {
    /// With the standard error of a fit that has this many more measurements than parameters.
    pub fn new(value: f64, error: f64, freedom: usize) -> Self {
        let margin =
            if freedom > 0 { error * t_quantile(freedom as f64, 0.975) } else { f64::INFINITY };
        Self { value, error, margin }
    }

    /// The 95 % interval.
    pub fn interval(&self) -> [f64; 2] {
        [self.value - self.margin, self.value + self.margin]
    }
}

/// The outcome of a fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// The parameters.
    pub values: Vec<Estimate>,
    /// Sum of the squared residuals.
    pub squares: f64,
}

/// What is to be fitted: residuals (usually logarithms of predicted over measured) as a function
/// of the parameters, and where those may lie.
pub struct Problem<'a> {
    /// The residuals at given parameters.
    pub residuals: &'a dyn Fn(&[f64]) -> Vec<f64>,
    /// One domain a parameter.
    pub domains: &'a [Domain],
}

impl Problem<'_> {
    /// The best solution from any of `starts`.
    ///
    /// # Errors
    /// [`Error::Unsupported`] when there are not more residuals than parameters, or none of the
    /// starts leads to finite residuals.
    pub fn solve(&self, starts: &[Vec<f64>]) -> Result<Solution> {
        self.enough(starts.first().map_or(0, |start| (self.residuals)(start).len()))?;
        let best = starts
            .iter()
            .filter_map(|start| {
                self.descend(start, LevenbergMarquardt::new().with_patience(30), false)
            })
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .ok_or_else(|| Error::Unsupported("the measurements fit no parameters".into()))?;
        Ok(self.solution(&best.0, best.1))
    }

    /// The parameters that a descent from `start` ends at, which stops where a step gains less than
    /// this share of what is left: for many starts, or for one that solved nearly the same problem.
    ///
    /// # Errors
    /// As [`Self::solve`].
    pub fn refine(&self, start: &[f64], gain: f64) -> Result<Vec<f64>> {
        self.enough((self.residuals)(start).len())?;
        let search = LevenbergMarquardt::new().with_patience(30).with_ftol(gain).with_xtol(gain);
        let end = self.descend(start, search, true);
        Ok(end.ok_or_else(|| Error::Unsupported("the measurements fit no parameters".into()))?.0)
    }

    fn enough(&self, given: usize) -> Result<()> {
        let wanted = self.domains.len() + 1;
        if given >= wanted {
            return Ok(());
        }
        Err(Error::Unsupported(format!(
            "a fit of {} parameters needs at least {wanted} measurements, got {given}",
            self.domains.len()
        )))
    }

    /// Parameters and sum of squares that a descent from `start` ends at.
    fn descend(
        &self,
        start: &[f64],
        search: LevenbergMarquardt<f64>,
        rough: bool,
    ) -> Option<(Vec<f64>, f64)> {
        let mapped = self.domains.iter().zip(start).map(|(domain, &x)| domain.to_line(x));
        let at = DVector::from_iterator(start.len(), mapped);
        let (end, _) = search.minimize(Descent::new(self, at, rough));
        let values = self.values(&end.at);
        let squares = (self.residuals)(&values).iter().map(|r| r * r).sum::<f64>();
        squares.is_finite().then_some((values, squares))
    }

    /// The parameters at a point of the real line.
    fn values(&self, at: &DVector<f64>) -> Vec<f64> {
        self.domains.iter().zip(at.iter()).map(|(domain, &u)| domain.of_line(u)).collect()
    }

    /// The solution at `values`, whose errors are those of the linear problem there.
    fn solution(&self, values: &[f64], squares: f64) -> Solution {
        let n = values.len();
        let slopes = self.slopes(values);
        let variance = squares / (slopes.nrows() - n) as f64;
        // Scaled by the values, so that rates and shares weigh alike.
        let scaled = DMatrix::from_fn(slopes.nrows(), n, |i, j| slopes[(i, j)] * values[j]);
        let normal = scaled.transpose() * &scaled;
        let identifiable = |j: usize| normal[(j, j)] > 1e-12;
        let inverse = normal.clone().try_inverse();
        let error = |j: usize| match &inverse {
            Some(inverse) if identifiable(j) && inverse[(j, j)] > 0.0 => {
                values[j] * (variance * inverse[(j, j)]).sqrt()
            }
            _ => f64::INFINITY,
        };
        let freedom = slopes.nrows() - n;
        let estimate = |j: usize| Estimate::new(values[j], error(j), freedom);
        Solution { values: (0..n).map(estimate).collect(), squares }
    }

    /// How many times each parameter's variance is what it would be if all others were known, as
    /// the first `measurements` residuals determine: those that hold parameters in place do not count.
    /// Infinite where none of them depends on it, or only together with others.
    pub fn inflation(&self, values: &[f64], measurements: usize) -> Vec<f64> {
        let slopes = self.slopes(values);
        // Of logarithms by logarithms.
        let column = |j: usize| slopes.column(j).rows(0, measurements) * values[j];
        let columns: Vec<DVector<f64>> = (0..values.len()).map(column).collect();
        let weighs = |j: &usize| columns[*j].norm() > WEIGHS;
        let identifiable: Vec<usize> = (0..values.len()).filter(weighs).collect();
        let mut inflation = vec![f64::INFINITY; values.len()];
        // The eigenvectors of their correlations say which are only known together.
        let units: Vec<DVector<f64>> =
            identifiable.iter().map(|&j| columns[j].normalize()).collect();
        let cosines = DMatrix::from_fn(identifiable.len(), identifiable.len(), |a, b| {
            units[a].dot(&units[b])
        });
        let eigen = cosines.symmetric_eigen();
        for (i, &j) in identifiable.iter().enumerate() {
            let vectors = eigen.eigenvectors.row(i);
            let shares = vectors.iter().zip(eigen.eigenvalues.iter());
            let each = shares.map(|(share, value)| match *value > SINGULAR {
                true => share * share / value,
                false if share.abs() > SINGULAR.sqrt() => f64::INFINITY,
                false => 0.0,
            });
            inflation[j] = each.sum();
        }
        inflation
    }

    /// Derivatives of the residuals by the parameters themselves.
    fn slopes(&self, values: &[f64]) -> DMatrix<f64> {
        let columns: Vec<DVector<f64>> = (0..values.len())
            .map(|j| {
                let h = 1e-5 * values[j].abs().max(f64::MIN_POSITIVE);
                let at = |x: f64| {
                    let mut moved = values.to_vec();
                    moved[j] = x;
                    DVector::from_vec((self.residuals)(&moved))
                };
                (at(values[j] + h) - at(values[j] - h)) / (2.0 * h)
            })
            .collect();
        DMatrix::from_columns(&columns)
    }
}

/// Where a descent may stop that need not find the very bottom: a step gains a hundred-thousandth.
pub const NEXT_TO_NOTHING: f64 = 1e-5;
/// A parameter that moves all measurements together by less than this part of its own change is
/// not determined by them.
const WEIGHS: f64 = 1e-3;
/// An eigenvalue of correlations that is zero but for rounding.
const SINGULAR: f64 = 1e-12;

/// Stands for a residual that is no number, so that a step too far is taken back.
const BEYOND: f64 = 1e3;

/// A descent: where it stands, on the real line.
struct Descent<'a> {
    problem: &'a Problem<'a>,
    at: DVector<f64>,
    /// The residuals there.
    here: DVector<f64>,
    /// Whether one-sided derivatives will do.
    rough: bool,
}

impl<'a> Descent<'a> {
    fn new(problem: &'a Problem<'a>, at: DVector<f64>, rough: bool) -> Self {
        let begin = Self { problem, at, here: DVector::zeros(0), rough };
        let here = begin.residuals_at(&begin.at);
        Self { here, ..begin }
    }

    fn residuals_at(&self, at: &DVector<f64>) -> DVector<f64> {
        let all = (self.problem.residuals)(&self.problem.values(at)).into_iter();
        DVector::from_vec(all.map(|r| if r.is_finite() { r } else { BEYOND }).collect())
    }
}

impl LeastSquaresProblem<f64, Dyn, Dyn> for Descent<'_> {
    type ResidualStorage = Owned<f64, Dyn>;
    type JacobianStorage = Owned<f64, Dyn, Dyn>;
    type ParameterStorage = Owned<f64, Dyn>;

    fn set_params(&mut self, at: &DVector<f64>) {
        self.at.copy_from(at);
        self.here = self.residuals_at(at);
    }

    fn params(&self) -> DVector<f64> {
        self.at.clone()
    }

    fn residuals(&self) -> Option<DVector<f64>> {
        Some(self.here.clone())
    }

    fn jacobian(&self) -> Option<DMatrix<f64>> {
        let columns: Vec<DVector<f64>> = (0..self.at.len())
            .map(|j| {
                let h = 1e-6 * self.at[j].abs().max(1.0);
                let (mut up, mut down) = (self.at.clone(), self.at.clone());
                up[j] += h;
                if self.rough {
                    return (self.residuals_at(&up) - &self.here) / h;
                }
                down[j] -= h;
                (self.residuals_at(&up) - self.residuals_at(&down)) / (2.0 * h)
            })
            .collect();
        Some(DMatrix::from_columns(&columns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// y = a·exp(−b·x), with b between 0 and 2.
    fn fit(noise: &[f64]) -> Solution {
        let measured: Vec<f64> = noise
            .iter()
            .enumerate()
            .map(|(i, e)| 5.0 * (-0.7 * i as f64).exp() * (1.0 + e))
            .collect();
        let residuals = |p: &[f64]| {
            let y = |i: usize| p[0] * (-p[1] * i as f64).exp();
            measured.iter().enumerate().map(|(i, m)| (y(i) / m).ln()).collect()
        };
        let domains = [Domain::Positive, Domain::Between(0.0, 2.0)];
        Problem { residuals: &residuals, domains: &domains }.solve(&[vec![1.0, 1.0]]).unwrap()
    }

    #[test]
    fn exact_data_give_the_parameters() {
        let exact = fit(&[0.0; 6]);
        assert!((exact.values[0].value - 5.0).abs() < 1e-6, "{exact:?}");
        assert!((exact.values[1].value - 0.7).abs() < 1e-6, "{exact:?}");
        assert!(exact.values[0].error < 1e-5);
    }

    #[test]
    fn noisy_data_give_errors_that_cover_them() {
        let noisy = fit(&[0.02, -0.01, 0.015, -0.02, 0.01, -0.015]);
        for (estimate, truth) in noisy.values.iter().zip([5.0, 0.7]) {
            assert!((estimate.value - truth).abs() < 3.0 * estimate.error, "{estimate:?}");
            assert!(estimate.error < 0.05 * truth, "{estimate:?}");
        }
    }

    #[test]
    fn a_straight_line_has_the_textbooks_errors() {
        // x̄ 1.5, ȳ 4, Sxx 5, Sxy 9.7: slope 1.94, intercept 1.09, squares 0.082 with 2 degrees of freedom. Errors
        // √(0.041 / 5) and √(0.041 (1/4 + 1.5² / 5)), and t(0.975, 2) = 4.30265 times as much.
        let measured = [1.1, 2.9, 5.2, 6.8];
        let residuals = |p: &[f64]| (0..4).map(|i| p[0] + p[1] * i as f64 - measured[i]).collect();
        let domains = [Domain::Positive, Domain::Between(0.0, 8.0)];
        let problem = Problem { residuals: &residuals, domains: &domains };
        let found = problem.solve(&[vec![1.0, 1.0]]).unwrap();
        let near = |x: f64, y: f64| assert!((x / y - 1.0).abs() < 1e-4, "{x} is not {y}");
        near(found.squares, 0.082);
        for (found, (value, error)) in found.values.iter().zip([(1.09, 0.169411), (1.94, 0.090554)])
        {
            near(found.value, value);
            near(found.error, error);
            near(found.margin, 4.30265 * error);
            near(found.interval()[0], value - found.margin);
        }
        // Of columns (1, 1, 1, 1) and (0, 1, 2, 3) the square of the cosine is 36 / 56.
        problem.inflation(&[1.09, 1.94], 4).iter().for_each(|times| near(*times, 2.8));
        for (start, value) in problem.refine(&[1.0, 1.0], 1e-9).unwrap().iter().zip([1.09, 1.94]) {
            near(*start, value);
        }
    }

    #[test]
    fn the_degrees_of_freedom_are_the_points_beyond_the_parameters() {
        // x̄ 2, ȳ 3, Sxx 10, Sxy 8: slope 0.8, intercept 1.4, squares 3.6 with 3 degrees of freedom: a slope's error of
        // √(1.2 / 10), and t(0.975, 3) = 3.182446 times as much.
        let measured = [1.0, 3.0, 2.0, 5.0, 4.0];
        let residuals = |p: &[f64]| (0..5).map(|i| p[0] + p[1] * i as f64 - measured[i]).collect();
        let domains = [Domain::Positive; 2];
        let problem = Problem { residuals: &residuals, domains: &domains };
        let slope = problem.solve(&[vec![1.0, 1.0]]).unwrap().values[1];
        let near = |x: f64, y: f64| assert!((x / y - 1.0).abs() < 1e-4, "{x} is not {y}");
        near(slope.error, 0.346_410);
        near(slope.interval()[0], 0.8 - 1.102_432);
        near(slope.interval()[1], 0.8 + 1.102_432);
    }

    #[test]
    fn a_domain_is_mapped_to_the_line_and_back() {
        let between = Domain::Between(2.0, 6.0);
        assert!((between.to_line(5.0) - std::f64::consts::FRAC_PI_6).abs() < 1e-12);
        for (domain, value) in [(between, 3.0), (between, 5.9), (Domain::Positive, 7.0)] {
            assert!((domain.of_line(domain.to_line(value)) - value).abs() < 1e-12);
        }
        assert_eq!(Estimate::new(1.0, 0.5, 0).margin, f64::INFINITY);
    }

    #[test]
    fn indistinguishable_parameters_are_inflated() {
        // Nearly the sum only: the second measurement weighs one of them by a millionth more.
        let residuals =
            |p: &[f64]| vec![p[0] + p[1] - 3.0, p[0] + 1.000_001 * p[1] - 3.0, p[0] + p[1] - 3.0];
        let domains = [Domain::Positive, Domain::Positive];
        let problem = Problem { residuals: &residuals, domains: &domains };
        let inflation = problem.inflation(&[1.5, 1.5], 3);
        assert!(inflation.iter().all(|times| *times > 1e6), "{inflation:?}");
        let apart = |p: &[f64]| vec![p[0] + p[1] - 3.0, p[0] - p[1]];
        let problem = Problem { residuals: &apart, domains: &domains };
        assert!(problem.inflation(&[1.5, 1.5], 2).iter().all(|times| (times - 1.0).abs() < 1e-6));
        // What holds the second in place is no measurement: the first alone determines only the sum.
        let held = problem.inflation(&[1.5, 1.5], 1);
        assert_eq!(held, [f64::INFINITY; 2]);
    }

    #[test]
    fn a_parameter_that_nothing_depends_on_has_an_infinite_error() {
        let residuals = |p: &[f64]| vec![p[0] - 2.0, 2.0 * p[0] - 4.0, p[0] - 2.0];
        let domains = [Domain::Positive, Domain::Positive];
        let problem = Problem { residuals: &residuals, domains: &domains };
        let solution = problem.solve(&[vec![1.0, 1.0]]).unwrap();
        assert!((solution.values[0].value - 2.0).abs() < 1e-6);
        assert_eq!(solution.values[1].error, f64::INFINITY);
        let inflation = problem.inflation(&[2.0, 1.0], 3);
        assert!((inflation[0] - 1.0).abs() < 1e-6 && inflation[1] == f64::INFINITY);
        let too_few = |_: &[f64]| vec![0.0, 0.0];
        let problem = Problem { residuals: &too_few, domains: &domains };
        assert!(problem.solve(&[vec![1.0, 1.0]]).is_err());
    }
}
