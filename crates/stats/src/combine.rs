//! Several processes' medians in one value with the uncertainty between processes.

use super::{Summary, t_quantile};

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
    let mut all = Rounds::default();
    rounds.into_iter().filter_map(Summary::of).for_each(|summary| all.add(&summary));
    all.overall()
}

/// The geometric mean of positive numbers; `None` where there are none, or one is not positive.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() || values.iter().any(|x| !x.is_finite() || *x <= 0.0) {
        return None;
    }
    Some((values.iter().map(|x| x.ln()).sum::<f64>() / values.len() as f64).exp())
}

/// Rounds taken in one by one, their samples forgotten: what [`overall`] is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rounds {
    /// Rounds with samples.
    pub count: u32,
    /// Mean of the logarithms of the rounds' medians.
    pub mean: f64,
    /// Sum of the squared distances from that mean.
    pub squares: f64,
    /// Sum over rounds of the variance of the median's logarithm, estimated from its samples.
    sampling: f64,
    /// The rank interval of the median where there is one round.
    only: [f64; 2],
    /// Whether a round's median has no logarithm: it took no time that its clock could resolve.
    unresolved: bool,
}

impl Rounds {
    /// Takes in one more round.
    pub fn add(&mut self, round: &Summary) {
        let mean = round.median.ln();
        let unresolved = !mean.is_finite();
        self.merge(&Self {
            count: 1,
            mean: if unresolved { 0.0 } else { mean },
            squares: 0.0,
            sampling: round.log_error().powi(2),
            only: round.interval,
            unresolved,
        });
    }

    /// Takes in further rounds (Chan's update of mean and squares).
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = *other;
            return;
        }
        let (a, b) = (f64::from(self.count), f64::from(other.count));
        let distance = other.mean - self.mean;
        self.mean += distance * b / (a + b);
        self.squares += other.squares + distance * distance * a * b / (a + b);
        self.sampling += other.sampling;
        self.count += other.count;
        self.unresolved |= other.unresolved;
    }

    /// Whether they have a value: there is a round, and each took a time that its clock could resolve.
    pub fn has_value(&self) -> bool {
        self.count > 0 && !self.unresolved
    }

    /// Their value, if they have one.
    pub fn overall(&self) -> Option<Overall> {
        if !self.has_value() {
            return None;
        }
        let interval = match self.between() {
            None => self.only,
            Some(variance) => {
                let half = t_quantile(f64::from(self.count) - 1.0, 0.975) * variance.sqrt();
                [(self.mean - half).exp(), (self.mean + half).exp()]
            }
        };
        Some(Overall { value: self.mean.exp(), interval, rounds: self.count as usize })
    }

    /// Variance of the mean over rounds: `None` with a single round.
    pub fn between(&self) -> Option<f64> {
        let n = f64::from(self.count);
        (self.count > 1).then(|| self.squares / (n - 1.0) / n)
    }

    /// Variance of the mean over rounds as far as it comes from the samples within them.
    pub fn within(&self) -> f64 {
        self.sampling / f64::from(self.count).powi(2)
    }
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

    #[test]
    fn merging_is_the_same_as_adding() {
        let rounds = [1.0, 1.3, 1.1, 1.2, 1.4].map(|x| Summary::of(&[x]).unwrap());
        let of = |rounds: &[Summary]| {
            let mut all = Rounds::default();
            rounds.iter().for_each(|round| all.add(round));
            all
        };
        let (whole, mut parts) = (of(&rounds), of(&rounds[..2]));
        parts.merge(&of(&rounds[2..]));
        parts.merge(&Rounds::default());
        assert!((whole.mean - parts.mean).abs() < 1e-12);
        assert!((whole.squares - parts.squares).abs() < 1e-12);
        assert_eq!(whole.count, parts.count);
        let two = of(&[1.0, 4.0].map(|x| Summary::of(&[x]).unwrap()));
        // Squares 2·(ln 2)², over n − 1 and n.
        assert!((two.between().unwrap() - 2f64.ln().powi(2)).abs() < 1e-12);
    }

    #[test]
    fn a_round_without_a_time_leaves_no_value() {
        assert_eq!(overall([[0.0].as_slice(), &[1.0]]), None);
        assert_eq!(overall([[].as_slice()]), None);
    }
}
