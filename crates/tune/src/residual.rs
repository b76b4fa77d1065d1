//! What measured variants say of the others, beyond what a model predicts: the log of measured over predicted.

use crate::model::{Lengths, Process};
use crate::trees::Trees;

/// How much a residual is drawn towards 0: as many measurements as this at a residual of 0.
const DRAWN: f64 = 0.5;
/// Variance of what the features cannot tell, of a total of 1.
const NUGGET: f64 = 0.02;

/// The expected residuals at all `rows`, given `values` at `train`: the mean of a Gaussian process and of trees, these
/// drawn towards 0.
/// Rows have features of mean 0 and deviation 1.
pub fn residuals(rows: &[Vec<f64>], train: &[usize], values: &[f64], seed: u64) -> Vec<f64> {
    let points: Vec<&[f64]> = train.iter().map(|&at| rows[at].as_slice()).collect();
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / (count + DRAWN);
    let centred: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let variance = centred.iter().map(|value| value * value).sum::<f64>() / count.max(1.0);
    let scale = variance.sqrt().max(1e-9);
    let scaled: Vec<f64> = centred.iter().map(|value| value / scale).collect();
    let trees = Trees::fit(&points, &scaled, seed);
    let settings = Process { nugget: NUGGET, ..Process::default() };
    let kept = Trees::kept(values.len());
    let mut lengths = Lengths::new(rows.first().map_or(0, Vec::len), settings);
    lengths.fit(&points, &scaled);
    let mut process = lengths.condition(&points, &scaled);
    let one = |row: &Vec<f64>| {
        let by_trees = kept * trees.predict(row);
        let by_process = process.as_mut().map_or(by_trees, |process| process.predict(row).0);
        mean + scale * 0.5 * (by_trees + by_process)
    };
    rows.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slope_in_one_feature_is_learnt() {
        let rows: Vec<Vec<f64>> = (0..40)
            .map(|i| vec![f64::from(i) / 20.0 - 1.0, f64::from(i * 17 % 40) / 20.0 - 1.0])
            .collect();
        let train: Vec<usize> = (0..40).step_by(2).collect();
        let values: Vec<f64> = train.iter().map(|&i| rows[i][0] + 0.5).collect();
        let all = residuals(&rows, &train, &values, 1);
        for i in [9, 21, 33] {
            assert!((all[i] - rows[i][0] - 0.5).abs() < 0.15, "{i}: {}", all[i]);
        }
    }

    #[test]
    fn trees_of_few_measurements_are_drawn_towards_zero() {
        let rows: Vec<Vec<f64>> = (0..4).map(|i| vec![f64::from(i) * 1000.0]).collect();
        let all = residuals(&rows, &[0, 1, 2, 3], &[1.0, 1.0, -1.0, -1.0], 1);
        // The process passes through them but for the nugget; of the trees 4 / (4 + 12) is left.
        let expected = 0.5 / 1.02 + 0.5 * 0.25;
        for (at, sign) in [1.0, 1.0, -1.0, -1.0].into_iter().enumerate() {
            assert!((all[at] - sign * expected).abs() < 0.02, "{at}: {}", all[at]);
        }
    }
}
