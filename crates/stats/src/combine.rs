//! Several processes' medians in one value with the uncertainty between processes.

use super::Summary;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// A case's value over all its rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overall {
    /// Geometric mean of the rounds' medians.
    pub value: f64,
    /// A 95 % interval: between rounds (Student's t on the logarithms) where there are at least
    /// two, else the one round's rank interval of the median.
    pub interval: [f64; 2],
    /// Number of rounds.
    pub rounds: usize,
}

/// The value over rounds, each given by its samples; `None` where no round has any.
pub fn overall<'a>(rounds: impl IntoIterator<Item = &'a [f64]>) -> Option<Overall> {
    let summaries: Vec<Summary> = rounds.into_iter().filter_map(Summary::of).collect();
    let medians: Vec<f64> = summaries.iter().map(|s| s.median).collect();
    let value = geometric_mean(&medians)?;
    let interval = match summaries.as_slice() {
        [only] => only.interval,
        _ => between_rounds(&medians)?,
    };
    Some(Overall { value, interval, rounds: medians.len() })
}

/// The geometric mean of positive numbers; `None` where there are none, or one is not positive.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() || values.iter().any(|x| !x.is_finite() || *x <= 0.0) {
        return None;
    }
    Some((values.iter().map(|x| x.ln()).sum::<f64>() / values.len() as f64).exp())
}

fn between_rounds(medians: &[f64]) -> Option<[f64; 2]> {
    let n = medians.len() as f64;
    let mean = medians.iter().map(|x| x.ln()).sum::<f64>() / n;
    let variance = medians.iter().map(|x| (x.ln() - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let t = StudentsT::new(0.0, 1.0, n - 1.0).ok()?.inverse_cdf(0.975);
    let half = t * (variance / n).sqrt();
    Some([(mean - half).exp(), (mean + half).exp()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_geometric_mean_of_one_and_four_is_two() {
        assert!((geometric_mean(&[1.0, 4.0]).unwrap() - 2.0).abs() < 1e-12);
        assert!(geometric_mean(&[]).is_none() && geometric_mean(&[0.0, 1.0]).is_none());
    }

    #[test]
    fn one_round_has_its_own_rank_interval() {
        let samples: Vec<f64> = (1..=15).map(f64::from).collect();
        let overall = overall([samples.as_slice()]).unwrap();
        assert_eq!(overall.interval, [4.0, 12.0]);
        assert!((overall.value - 8.0).abs() < 1e-12);
    }

    #[test]
    fn three_rounds_have_a_student_interval_between_them() {
        let rounds = [[1.0].as_slice(), &[1.1], &[1.21]];
        let overall = overall(rounds).unwrap();
        assert!((overall.value - 1.1).abs() < 1e-12);
        // Standard deviation of the logs is ln 1.1; t(0.975, 2) = 4.30265.
        let half = 4.302_65 * 1.1f64.ln() / 3f64.sqrt();
        assert!((overall.interval[1].ln() - 1.1f64.ln() - half).abs() < 1e-4);
    }
}
