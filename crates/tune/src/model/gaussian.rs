//! A Gaussian process: Matérn 5/2 with a length a feature, its lengths fitted by their posterior.
//! Rasmussen and Williams, *Gaussian Processes for Machine Learning*, 2006, chapters 2 and 5.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

/// Steps of one fit.
const STEPS: usize = 25;

/// What the process assumes.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Variance of what the features cannot tell, of a total of 1: two variants of equal features differ.
    pub nugget: f64,
    /// The prior of a length, in deviations of its feature: log-normal around this …
    pub length: f64,
    /// … with this deviation of the log.
    pub spread: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { nugget: 1e-3, length: 3.0, spread: 0.7 }
    }
}

/// Lengths of a kernel.
#[derive(Clone, Debug)]
pub struct Lengths {
    logs: Vec<f64>,
    settings: Settings,
}

/// A process conditioned on observations.
#[derive(Debug)]
pub struct Posterior {
    scales: Vec<f64>,
    /// The observed points, scaled, one after the other.
    points: Vec<f64>,
    /// The lower factor, row by row.
    factor: Vec<f64>,
    weights: Vec<f64>,
    /// Of one prediction, kept between them.
    covariances: Vec<f64>,
}

/// Squares of the differences of each pair of points, feature by feature.
struct Pairs {
    count: usize,
    squares: Vec<Vec<f64>>,
}

impl Lengths {
    /// The prior's, for this many features.
    pub fn new(width: usize, settings: Settings) -> Self {
        Self { logs: vec![settings.length.ln(); width], settings }
    }

    /// Climbs from here to lengths that explain `values` at `points` better.
    pub fn fit(&mut self, points: &[&[f64]], values: &[f64]) {
        let pairs = Pairs::of(points);
        let values = DVector::from_column_slice(values);
        let (mut steps, mut last) = (vec![0.1; self.logs.len()], vec![0.0; self.logs.len()]);
        let mut best = (f64::INFINITY, self.logs.clone());
        for _ in 0..STEPS {
            let Some((loss, slopes)) = pairs.loss(&self.logs, &values, &self.settings) else {
                break;
            };
            if loss < best.0 {
                best = (loss, self.logs.clone());
            }
            // Rprop (Riedmiller and Braun 1993): the slope's sign decides, so that no line search is needed.
            for (at, slope) in slopes.into_iter().enumerate() {
                let turned = slope * last[at] < 0.0;
                steps[at] = f64::clamp(steps[at] * if turned { 0.5 } else { 1.3 }, 1e-3, 0.5);
                last[at] = if turned { 0.0 } else { slope };
                self.logs[at] -= last[at].signum() * steps[at] * f64::from(!turned);
            }
        }
        self.logs = best.1;
    }

    /// The process given `values` at `points`; `None` where rounding makes their covariance singular.
    pub fn condition(&self, points: &[&[f64]], values: &[f64]) -> Option<Posterior> {
        let scales: Vec<f64> = self.logs.iter().map(|log| (-log).exp()).collect();
        let scaled: Vec<f64> =
            points.iter().flat_map(|point| point.iter().zip(&scales).map(|(x, s)| x * s)).collect();
        let (count, width) = (points.len(), scales.len());
        let row = |i: usize| &scaled[i * width..(i + 1) * width];
        let covariance = DMatrix::from_fn(count, count, |i, j| {
            matern(squared_distance(row(i), row(j))).0
                + if i == j { self.settings.nugget } else { 0.0 }
        });
        let cholesky = Cholesky::new(covariance)?;
        let weights = cholesky.solve(&DVector::from_column_slice(values));
        let lower = cholesky.l();
        let factor = (0..count).flat_map(|i| (0..=i).map(move |j| (i, j)));
        Some(Posterior {
            points: scaled,
            factor: factor.map(|at| lower[at]).collect(),
            weights: weights.iter().copied().collect(),
            covariances: vec![0.0; count],
            scales,
        })
    }
}

impl Posterior {
    /// Mean and standard deviation at a point.
    pub fn predict(&mut self, point: &[f64]) -> (f64, f64) {
        let width = self.scales.len();
        let own: Vec<f64> = point.iter().zip(&self.scales).map(|(x, scale)| x * scale).collect();
        for (other, to) in self.points.chunks_exact(width).zip(&mut self.covariances) {
            *to = matern(squared_distance(&own, other)).0;
        }
        let mean = dot(&self.covariances, &self.weights);
        let (mut variance, mut start) = (1.0, 0);
        for i in 0..self.covariances.len() {
            let row = &self.factor[start..start + i];
            let solved =
                (self.covariances[i] - dot(row, &self.covariances[..i])) / self.factor[start + i];
            self.covariances[i] = solved;
            variance -= solved * solved;
            start += i + 1;
        }
        (mean, variance.max(1e-9).sqrt())
    }
}

impl Pairs {
    fn of(points: &[&[f64]]) -> Self {
        let width = points.first().map_or(0, |point| point.len());
        let square = |at: usize| {
            let pairs = points
                .iter()
                .enumerate()
                .flat_map(|(i, a)| points[..i].iter().map(move |b| (a[at] - b[at]).powi(2)));
            pairs.collect()
        };
        Self { count: points.len(), squares: (0..width).map(square).collect() }
    }

    /// Minus the log posterior of these lengths, and its slope along each log length.
    fn loss(
        &self,
        logs: &[f64],
        values: &DVector<f64>,
        settings: &Settings,
    ) -> Option<(f64, Vec<f64>)> {
        let weights: Vec<f64> = logs.iter().map(|log| (-2.0 * log).exp()).collect();
        let pairs = self.squares.first().map_or(0, Vec::len);
        let mut distances = vec![0.0; pairs];
        for (squares, weight) in self.squares.iter().zip(&weights) {
            for (distance, square) in distances.iter_mut().zip(squares) {
                *distance += weight * square;
            }
        }
        let kernel: Vec<(f64, f64)> = distances.into_iter().map(matern).collect();
        let mut covariance =
            DMatrix::from_diagonal_element(self.count, self.count, 1.0 + settings.nugget);
        self.each_pair(|pair, i, j| {
            covariance[(i, j)] = kernel[pair].0;
            covariance[(j, i)] = kernel[pair].0;
        });
        let cholesky: Cholesky<f64, Dyn> = Cholesky::new(covariance)?;
        let solved = cholesky.solve(values);
        let inverse = cholesky.inverse();
        let mut pull = vec![0.0; pairs];
        self.each_pair(|pair, i, j| {
            pull[pair] = (solved[i] * solved[j] - inverse[(i, j)]) * kernel[pair].1;
        });
        let from_prior: Vec<f64> =
            logs.iter().map(|log| (log - settings.length.ln()) / settings.spread).collect();
        let log_determinant: f64 = (0..self.count).map(|i| cholesky.l_dirty()[(i, i)].ln()).sum();
        let loss =
            0.5 * values.dot(&solved) + log_determinant + 0.5 * dot(&from_prior, &from_prior);
        let slopes =
            self.squares.iter().zip(&weights).zip(&from_prior).map(|((squares, weight), away)| {
                away / settings.spread - weight * dot(&pull, squares)
            });
        loss.is_finite().then(|| (loss, slopes.collect()))
    }

    fn each_pair(&self, mut call: impl FnMut(usize, usize, usize)) {
        let all = (0..self.count).flat_map(|i| (0..i).map(move |j| (i, j)));
        for (pair, (i, j)) in all.enumerate() {
            call(pair, i, j);
        }
    }
}

/// The kernel at a squared distance, and minus twice its slope there.
fn matern(squared: f64) -> (f64, f64) {
    let r = (5.0 * squared).sqrt();
    let tail = (-r).exp();
    ((1.0 + r + r * r / 3.0) * tail, 5.0 / 3.0 * (1.0 + r) * tail)
}

fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Vec<Vec<f64>> {
        (0..25).map(|i| vec![f64::from(i % 5) / 2.0 - 1.0, f64::from(i / 5) / 2.0 - 1.0]).collect()
    }

    #[test]
    fn passes_through_what_was_observed_and_doubts_what_is_far() {
        let points = grid();
        let points: Vec<&[f64]> = points.iter().map(Vec::as_slice).collect();
        let values: Vec<f64> = points.iter().map(|p| (2.0 * p[0]).sin()).collect();
        let settings = Settings { length: 2.0, ..Settings::default() };
        let mut process = Lengths::new(2, settings).condition(&points, &values).unwrap();
        let (mean, deviation) = process.predict(&[0.5, 0.5]);
        assert!((mean - 1f64.sin()).abs() < 0.02 && deviation < 0.05, "{mean} {deviation}");
        let (mean, deviation) = process.predict(&[40.0, 40.0]);
        assert!(mean.abs() < 1e-6 && (deviation - 1.0).abs() < 1e-6);
    }

    #[test]
    fn the_slopes_are_those_of_the_loss() {
        let points = grid();
        let points: Vec<&[f64]> = points.iter().map(Vec::as_slice).collect();
        let values =
            DVector::from_iterator(25, points.iter().map(|p| (2.0 * p[0]).sin() + 0.1 * p[1]));
        let pairs = Pairs::of(&points);
        let (_, slopes) = pairs.loss(&[0.3, -0.2], &values, &Settings::default()).unwrap();
        let loss = |logs: [f64; 2]| pairs.loss(&logs, &values, &Settings::default()).unwrap().0;
        let d = 1e-5;
        let numeric = [
            (loss([0.3 + d, -0.2]) - loss([0.3 - d, -0.2])) / (2.0 * d),
            (loss([0.3, -0.2 + d]) - loss([0.3, -0.2 - d])) / (2.0 * d),
        ];
        for (exact, numeric) in slopes.iter().zip(numeric) {
            assert!((exact - numeric).abs() < 1e-4 * (1.0 + exact.abs()), "{exact} {numeric}");
        }
    }

    #[test]
    fn a_fit_finds_which_feature_matters() {
        let points = grid();
        let points: Vec<&[f64]> = points.iter().map(Vec::as_slice).collect();
        let values: Vec<f64> = points.iter().map(|p| (4.0 * p[0]).sin()).collect();
        let mut lengths = Lengths::new(2, Settings::default());
        lengths.fit(&points, &values);
        assert!(lengths.logs[0] + 0.5 < lengths.logs[1], "{:?}", lengths.logs);
    }
}
