//! Kernels that no fit saw: the device's parameters, and what the kernels that it did see took beyond them.

use gpubench_tune::Trees;
use std::fmt;
use std::sync::Arc;

/// Equal fits are equally predicted.
const SEED: u64 = 1;

/// Parameters for a kernel that was never seen, and what to expect beyond them.
#[derive(Clone)]
pub struct Unseen {
    /// The parameters.
    pub parameters: Vec<f64>,
    trees: Arc<Trees>,
    mean: f64,
    kept: f64,
}

impl Unseen {
    /// Of launches, each with its features and the logarithm of what it took over what the parameters say; what is no
    /// number counts for nothing.
    pub(super) fn new(parameters: Vec<f64>, mut launches: Vec<(Vec<f64>, f64)>) -> Self {
        launches.retain(|(row, off)| row.iter().chain([off]).all(|x| x.is_finite()));
        let count = launches.len() as f64;
        let mean = launches.iter().map(|(_, off)| off).sum::<f64>() / count.max(1.0);
        let rows: Vec<&[f64]> = launches.iter().map(|(row, _)| row.as_slice()).collect();
        let off: Vec<f64> = launches.iter().map(|(_, off)| off - mean).collect();
        let trees = Arc::new(Trees::fit(&rows, &off, SEED));
        Self { parameters, trees, mean, kept: Trees::kept(launches.len()) }
    }

    /// How many times as long as the parameters say a launch with these features takes.
    pub(super) fn multiple(&self, features: &[f64]) -> f64 {
        (self.mean + self.kept * self.trees.predict(features)).exp()
    }
}

impl fmt::Debug for Unseen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Unseen({:?}, …)", self.parameters)
    }
}

/// Equal launches give equal trees.
impl PartialEq for Unseen {
    fn eq(&self, other: &Self) -> bool {
        (&self.parameters, self.mean, self.kept) == (&other.parameters, other.mean, other.kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_alike_are_alike_slow() {
        let launches: Vec<_> =
            (0..40).map(|i| (vec![f64::from(i)], if i < 20 { 0.0 } else { 1.0 })).collect();
        let unseen = Unseen::new(vec![], launches);
        // Of 0.5 to either side of the mean 40/52 are left.
        let [fast, slow] = [3.5, 33.5].map(|at| unseen.multiple(&[at]).ln());
        assert!((fast - (0.5 - 0.5 / 1.3)).abs() < 0.01 && (slow - (0.5 + 0.5 / 1.3)).abs() < 0.01);
    }

    #[test]
    fn without_launches_the_parameters_stand() {
        assert_eq!(Unseen::new(vec![1.0], vec![]).multiple(&[7.0]), 1.0);
        let odd = vec![(vec![f64::INFINITY], 1.0), (vec![0.0], f64::NAN)];
        assert_eq!(Unseen::new(vec![1.0], odd).multiple(&[7.0]), 1.0, "what is no number");
    }
}
