//! Which ranks and mean ratios the data allow: the bootstrap over cases [Davison 1997, §3.8].
//!
//! A case drawn brings its rounds with it, whole: the scatter of the cases' observed values
//! already holds the noise of their rounds and samples, and drawing those again would count it
//! twice (their "strategy 2"). Where the cases are too few to stand for others, they are taken as
//! they are, and only the noise of their means is drawn. Cases of several strata are drawn within theirs, and each
//! stratum weighs what it is given, however many cases it has.

use super::t_quantile;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::f64::consts::TAU;

/// Fewer cases than this do not stand for others.
pub const FEW_CASES: usize = 5;
/// The normal distribution's 97.5 % quantile.
const Z: f64 = 1.959_963_985;

/// The noise of a device's mean over its cases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Variance of the mean.
    pub variance: f64,
    /// Degrees of freedom it was estimated with; infinite where it is not an estimate over rounds.
    pub freedom: f64,
}

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Cases: the intervals hold for cases like these.
    Cases,
    /// Rounds and samples: the intervals hold for these very cases.
    Rounds,
}

/// Cases that stand together, and what they weigh among the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stratum {
    /// How many of them there are.
    pub cases: usize,
    /// Their share in the mean: all strata's add up to 1.
    pub share: f64,
}

/// Means of logarithms, drawn again many times.
#[derive(Clone, Debug)]
pub struct Replicates {
    /// What was drawn.
    pub level: Level,
    /// The observed mean of every device.
    means: Vec<f64>,
    /// By replicate, then device.
    drawn: Vec<Vec<f64>>,
    noise: Vec<Noise>,
    cases: usize,
    strata: usize,
}

impl Replicates {
    /// Draws `count` times. `values` holds the logarithms by device, then case, all of one length, stratum by
    /// stratum; `noise` one entry a device. Equal arguments give equal draws.
    pub fn draw(
        values: &[Vec<f64>],
        strata: &[Stratum],
        noise: &[Noise],
        count: usize,
        seed: u64,
    ) -> Self {
        let cases = values.first().map_or(0, Vec::len);
        let level = if cases < FEW_CASES { Level::Rounds } else { Level::Cases };
        let each: Vec<f64> = strata.iter().flat_map(|one| one.each(cases)).collect();
        let means: Vec<f64> = values.iter().map(|v| weighted_mean(v, &each)).collect();
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let drawn = (0..count)
            .map(|_| match level {
                Level::Cases => {
                    let weights = weights(&mut rng, strata, cases);
                    values.iter().map(|v| weighted_mean(v, &weights)).collect()
                }
                Level::Rounds => means
                    .iter()
                    .zip(noise)
                    .map(|(mean, noise)| mean + noise.variance.sqrt() * normal(&mut rng))
                    .collect(),
            })
            .collect();
        Self { level, means, drawn, noise: noise.to_vec(), cases, strata: strata.len() }
    }

    /// The observed mean of every device.
    pub fn means(&self) -> &[f64] {
        &self.means
    }

    /// The 95 % interval of the difference between the means of two devices (first minus second).
    pub fn interval(&self, first: usize, second: usize) -> [f64; 2] {
        let middle = self.means[first] - self.means[second];
        let mut drawn: Vec<f64> = self.drawn.iter().map(|r| r[first] - r[second]).collect();
        drawn.sort_by(f64::total_cmp);
        let stretch = self.stretch(pair(self.noise[first], self.noise[second]));
        [0.025, 0.975].map(|q| middle + stretch * (super::quantile(&drawn, q) - middle))
    }

    /// The best and worst rank that every device takes in the middle 95 % of the draws, from 1;
    /// the largest mean is first.
    pub fn ranks(&self) -> Vec<[usize; 2]> {
        let freedom = self.noise.iter().map(|n| n.freedom).fold(f64::INFINITY, f64::min);
        let stretch = self.stretch(freedom);
        let devices = self.means.len();
        let mut counts = vec![vec![0_u32; devices]; devices];
        let mut order: Vec<usize> = (0..devices).collect();
        for drawn in &self.drawn {
            let moved = |d: usize| self.means[d] + stretch * (drawn[d] - self.means[d]);
            order.sort_by(|&a, &b| moved(b).total_cmp(&moved(a)).then(a.cmp(&b)));
            for (rank, &device) in order.iter().enumerate() {
                counts[device][rank] += 1;
            }
        }
        counts.iter().map(|counts| middle(counts, self.drawn.len())).collect()
    }

    /// How much wider than drawn an interval must be: few draws of few cases vary too little
    /// (by the square root of n / (n − 1)), and the variance is itself an estimate (Student's t
    /// instead of the normal distribution) [Hesterberg 2015, §5.3].
    fn stretch(&self, freedom: f64) -> f64 {
        let n = self.cases as f64;
        let free = (n - self.strata as f64).max(1.0);
        match self.level {
            Level::Cases => t_quantile(free, 0.975) / Z * (n / free).sqrt(),
            Level::Rounds if freedom.is_finite() => t_quantile(freedom.max(1.0), 0.975) / Z,
            Level::Rounds => 1.0,
        }
    }
}

/// Welch and Satterthwaite's degrees of freedom of a difference.
fn pair(a: Noise, b: Noise) -> f64 {
    let both = a.variance + b.variance;
    if both == 0.0 {
        return f64::INFINITY;
    }
    both * both / (a.variance * a.variance / a.freedom + b.variance * b.variance / b.freedom)
}

impl Stratum {
    /// What each of its cases weighs, where all `cases` weigh 1 together and on average.
    fn each(&self, cases: usize) -> impl Iterator<Item = f64> {
        let each = self.share * cases as f64 / self.cases.max(1) as f64;
        std::iter::repeat_n(each, self.cases)
    }
}

/// What each case weighs when of each stratum as many are drawn as there are.
fn weights(rng: &mut Pcg64Mcg, strata: &[Stratum], cases: usize) -> Vec<f64> {
    let mut weights = vec![0.0; cases];
    let mut first = 0;
    for stratum in strata {
        let each = stratum.share * cases as f64 / stratum.cases.max(1) as f64;
        for _ in 0..stratum.cases {
            weights[first + rng.random_range(0..stratum.cases)] += each;
        }
        first += stratum.cases;
    }
    weights
}

fn weighted_mean(values: &[f64], weights: &[f64]) -> f64 {
    // Four sums at once, so that the additions need not wait for each other.
    let mut sums = [0.0; 4];
    let (values4, rest) = values.as_chunks::<4>();
    let (weights4, weights_rest) = weights.as_chunks::<4>();
    for (v, w) in values4.iter().zip(weights4) {
        for i in 0..4 {
            sums[i] += v[i] * w[i];
        }
    }
    let rest: f64 = rest.iter().zip(weights_rest).map(|(v, w)| v * w).sum();
    (sums.iter().sum::<f64>() + rest) / values.len() as f64
}

/// The ranks, from 1, between which the middle 95 % lie.
fn middle(counts: &[u32], all: usize) -> [usize; 2] {
    let tail = (0.025 * all as f64) as u32;
    let mut below = 0;
    let low = counts.iter().position(|&count| {
        below += count;
        below > tail
    });
    let mut above = 0;
    let high = counts.iter().rposition(|&count| {
        above += count;
        above > tail
    });
    [low.unwrap_or(0) + 1, high.unwrap_or(0) + 1]
}

/// Box and Muller's normal deviate.
fn normal(rng: &mut Pcg64Mcg) -> f64 {
    let (u, v): (f64, f64) = (1.0 - rng.random::<f64>(), rng.random());
    (-2.0 * u.ln()).sqrt() * (TAU * v).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Noise = Noise { variance: 0.0, freedom: f64::INFINITY };

    fn one(cases: usize) -> Stratum {
        Stratum { cases, share: 1.0 }
    }

    #[test]
    fn strata_weigh_their_shares_however_many_cases_they_have() {
        let values = vec![vec![1.0; 30], [vec![0.0; 20], vec![4.0; 10]].concat()];
        let strata = [Stratum { cases: 20, share: 0.5 }, Stratum { cases: 10, share: 0.5 }];
        let replicates = Replicates::draw(&values, &strata, &[NONE; 2], 200, 1);
        assert!(replicates.means().iter().zip([1.0, 2.0]).all(|(a, b)| (a - b).abs() < 1e-12));
        // Within a stratum all cases agree, so that no draw differs.
        let [low, high] = replicates.interval(1, 0);
        assert!((low - 1.0).abs() < 1e-9 && (high - 1.0).abs() < 1e-9, "{low} {high}");
    }

    #[test]
    fn equal_arguments_give_equal_draws() {
        let values = vec![vec![0.1, 0.5, 0.2, 0.9, 0.3], vec![0.2, 0.1, 0.4, 0.3, 0.2]];
        let draw =
            |seed| Replicates::draw(&values, &[one(5)], &[NONE; 2], 200, seed).interval(0, 1);
        assert_eq!(draw(3), draw(3));
        assert_ne!(draw(3), draw(4));
    }

    #[test]
    fn a_device_that_always_wins_is_first_and_equal_ones_share_ranks() {
        let base: Vec<f64> = (0..20).map(|i| f64::from(i * 7 % 20)).collect();
        let better: Vec<f64> = base.iter().map(|x| x + 0.1).collect();
        let other: Vec<f64> =
            base.iter().enumerate().map(|(i, x)| x + if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let values = [base, better, other];
        let replicates = Replicates::draw(&values, &[one(20)], &[NONE; 3], 1000, 1);
        let ranks = replicates.ranks();
        assert_eq!(ranks[0], [2, 3]);
        assert_eq!(ranks[1], [1, 2]);
        assert_eq!(ranks[2], [1, 3]);
        let [low, high] = replicates.interval(1, 0);
        assert!((low - 0.1).abs() < 1e-9 && (high - 0.1).abs() < 1e-9);
    }

    #[test]
    fn few_cases_are_taken_as_they_are() {
        let values = [vec![0.0, 3.0], vec![1.0, 4.0]];
        let noise = Noise { variance: 0.01, freedom: 4.0 };
        let replicates = Replicates::draw(&values, &[one(2)], &[noise; 2], 4000, 1);
        assert_eq!(replicates.level, Level::Rounds);
        let [low, high] = replicates.interval(1, 0);
        // 1 ± t(8) · √0.02.
        assert!((low - 0.674).abs() < 0.02 && (high - 1.326).abs() < 0.02, "{low} {high}");
        assert_eq!(replicates.ranks(), [[2, 2], [1, 1]]);
    }

    #[test]
    fn a_weighted_mean_takes_every_value_with_its_weight() {
        let (values, weights) =
            ([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0], [2.0, 0.0, 1.0, 3.0, 0.0, 1.0, 5.0]);
        // 2 + 4 + 24 + 32 + 320, over seven values.
        assert!((weighted_mean(&values, &weights) - 382.0 / 7.0).abs() < 1e-12);
        let ones = [1.0; 8];
        assert!((weighted_mean(&ones, &ones) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn ranks_are_those_of_the_stretched_draws() {
        // Of two cases a draw is t(1) / 1.96 · √2 = 9.17 times too near the mean: 0.4 above 0 overtakes
        // 0.5 below 1, although it lies below it as drawn.
        let replicates = Replicates {
            level: Level::Cases,
            means: vec![0.0, 1.0],
            drawn: vec![vec![0.4, 0.5]; 100],
            noise: vec![NONE; 2],
            cases: 2,
            strata: 1,
        };
        let wanted = 12.7062 / 1.959_96 * 2f64.sqrt();
        assert!((replicates.stretch(f64::INFINITY) - wanted).abs() < 1e-3);
        assert_eq!(replicates.ranks(), [[1, 1], [2, 2]]);
    }
}
