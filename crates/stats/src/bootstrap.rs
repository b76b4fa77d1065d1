//! Which ranks and mean ratios the data allow: the bootstrap over cases [Davison 1997, §3.8].
//!
//! A case drawn brings its rounds with it, whole: the scatter of the cases' observed values
//! already holds the noise of their rounds and samples, and drawing those again would count it
//! twice (their "strategy 2"). Cases of several strata are drawn within theirs, and each stratum weighs what it is
//! given, however many cases it has. A stratum of few cases does not show how much they scatter: it varies as the
//! cases of all strata do around their means. Where all are too few to stand for others, they are taken as they are,
//! and only the noise of their means is drawn.

use super::t_quantile;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeSet;
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
    /// By replicate, then device: how far from its mean.
    drawn: Vec<Vec<f64>>,
    noise: Vec<Noise>,
    /// Degrees of freedom of the variance that the cases show.
    freedom: f64,
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
        let strata = Strata::of(strata);
        let level = if strata.is_few() { Level::Rounds } else { Level::Cases };
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let drawn = (0..count).map(|_| match level {
            Level::Cases => {
                let weights = strata.weights(&mut rng);
                values.iter().map(|v| weighted_sum(v, &weights)).collect()
            }
            Level::Rounds => noise.iter().map(|n| n.variance.sqrt() * normal(&mut rng)).collect(),
        });
        let drawn = drawn.collect();
        let shares = strata.shares();
        let means = values.iter().map(|values| weighted_sum(values, &shares)).collect();
        Self { level, means, drawn, noise: noise.to_vec(), freedom: strata.freedom() }
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
        [0.025, 0.975].map(|q| middle + stretch * super::quantile(&drawn, q))
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
            let moved = |d: usize| self.means[d] + stretch * drawn[d];
            order.sort_by(|&a, &b| moved(b).total_cmp(&moved(a)).then(a.cmp(&b)));
            for (rank, &device) in order.iter().enumerate() {
                counts[device][rank] += 1;
            }
        }
        counts.iter().map(|counts| middle(counts, self.drawn.len())).collect()
    }

    /// How much wider than drawn an interval must be, since variances are estimates: Student's t instead of the
    /// normal distribution [Hesterberg 2015, §5.3].
    fn stretch(&self, of_rounds: f64) -> f64 {
        let freedom = match self.level {
            Level::Cases => self.freedom,
            Level::Rounds => of_rounds,
        };
        if freedom.is_finite() { t_quantile(freedom.max(1.0), 0.975) / Z } else { 1.0 }
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

/// Strata and where their cases stand.
struct Strata {
    /// Each with the place of its first case.
    all: Vec<(Stratum, usize)>,
    /// The places of the cases whose stratum shows how they scatter, with that stratum.
    scattered: Vec<(usize, usize)>,
}

impl Strata {
    fn of(strata: &[Stratum]) -> Self {
        let mut first = 0;
        let all: Vec<(Stratum, usize)> = strata
            .iter()
            .map(|stratum| {
                first += stratum.cases;
                (*stratum, first - stratum.cases)
            })
            .collect();
        let scatters = |(stratum, _): &(Stratum, usize)| stratum.cases > 1 && stratum.share > 0.0;
        let of = |(at, (stratum, first)): (usize, &(Stratum, usize))| {
            (*first..first + stratum.cases).map(move |place| (place, at))
        };
        let scattered = all.iter().enumerate().filter(|(_, one)| scatters(one)).flat_map(of);
        Self { scattered: scattered.collect(), all }
    }

    /// Degrees of freedom of the scatter around the strata's means.
    fn pooled_freedom(&self) -> usize {
        let strata: BTreeSet<usize> = self.scattered.iter().map(|(_, stratum)| *stratum).collect();
        self.scattered.len() - strata.len()
    }

    fn is_few(&self) -> bool {
        self.pooled_freedom() + 1 < FEW_CASES
    }

    fn cases(&self) -> usize {
        self.all.last().map_or(0, |(stratum, first)| first + stratum.cases)
    }

    /// What each case weighs: 1 together.
    fn shares(&self) -> Vec<f64> {
        let each = |(stratum, _): &(Stratum, usize)| {
            std::iter::repeat_n(stratum.share / stratum.cases.max(1) as f64, stratum.cases)
        };
        self.all.iter().flat_map(each).collect()
    }

    /// What each case weighs more than its share when of each stratum as many cases are drawn as there are: its
    /// own, or where they are few, whichever lies as far from its stratum's mean.
    fn weights(&self, rng: &mut Pcg64Mcg) -> Vec<f64> {
        let mut weights = vec![0.0; self.cases()];
        let mut taken = vec![0.0; self.all.len()];
        for (at, (stratum, first)) in
            self.all.iter().enumerate().filter(|(_, one)| one.0.share > 0.0)
        {
            let count = stratum.cases;
            for _ in 0..count {
                let (place, from) = match count >= FEW_CASES {
                    true => (first + rng.random_range(0..count), at),
                    false => self.scattered[rng.random_range(0..self.scattered.len())],
                };
                // Deviations from a mean of few are too small by the square root of n / (n − 1).
                let n = self.all[from].0.cases as f64;
                let weight = stratum.share / count as f64 * (n / (n - 1.0)).sqrt();
                weights[place] += weight;
                taken[from] += weight;
            }
        }
        for ((stratum, first), taken) in self.all.iter().zip(taken) {
            let each = taken / stratum.cases.max(1) as f64;
            weights[*first..first + stratum.cases].iter_mut().for_each(|weight| *weight -= each);
        }
        weights
    }

    /// Degrees of freedom of the mean's variance, where the cases of all strata scatter alike [Satterthwaite 1946].
    fn freedom(&self) -> f64 {
        let (mut all, mut squares) = (0.0, 0.0);
        for (stratum, _) in &self.all {
            let own = stratum.cases >= FEW_CASES;
            let freedom = if own { stratum.cases - 1 } else { self.pooled_freedom() };
            let variance = stratum.share * stratum.share / stratum.cases.max(1) as f64;
            all += variance;
            squares += variance * variance / freedom.max(1) as f64;
        }
        all * all / squares
    }
}

fn weighted_sum(values: &[f64], weights: &[f64]) -> f64 {
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
    sums.iter().sum::<f64>() + rest
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
        let [one, other] = replicates.means() else { panic!("two devices") };
        assert!((one - 1.0).abs() < 1e-12 && (other - 2.0).abs() < 1e-12, "{one} {other}");
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
        // 1 ± t(8) · √0.02, the two estimates of four degrees each taken together.
        assert!((low - 0.674).abs() < 0.02 && (high - 1.326).abs() < 0.02, "{low} {high}");
        assert_eq!(replicates.ranks(), [[2, 2], [1, 1]]);
    }

    #[test]
    fn strata_of_single_cases_have_the_noise_of_their_rounds() {
        let values = [vec![0.0; 5], vec![1.0; 5]];
        let strata = [Stratum { cases: 1, share: 0.2 }; 5];
        let noise = Noise { variance: 0.01, freedom: f64::INFINITY };
        let replicates = Replicates::draw(&values, &strata, &[noise; 2], 4000, 1);
        assert_eq!(replicates.level, Level::Rounds);
        let [low, high] = replicates.interval(1, 0);
        // 1 ± 1.96 · √0.02.
        assert!((low - 0.723).abs() < 0.02 && (high - 1.277).abs() < 0.02, "{low} {high}");
    }

    #[test]
    fn a_stratum_of_one_case_scatters_as_the_others_do() {
        let values = [vec![0.0; 11], [[0.5, 1.5].repeat(5), vec![1.0]].concat()];
        let width = |shares: [f64; 2]| {
            let [many, one] = shares;
            let strata = [Stratum { cases: 10, share: many }, Stratum { cases: 1, share: one }];
            let replicates = Replicates::draw(&values, &strata, &[NONE; 2], 20_000, 1);
            let [low, high] = replicates.interval(1, 0);
            (replicates.level, (high - low) / 2.0)
        };
        // Ten cases scatter by 0.527: 2.262 · 0.527 / √10. Of one case, ± 0.527 twice as often as not.
        let (level, alone) = width([1.0, 0.0]);
        assert!(level == Level::Cases && (alone - 0.377).abs() < 0.02, "{alone}");
        let (level, both) = width([0.5, 0.5]);
        assert!(level == Level::Cases && both > 0.5 * 0.527, "{both}");
        // What has no weight shows nothing.
        assert_eq!(width([0.0, 1.0]).0, Level::Rounds);
    }

    #[test]
    fn a_weighted_sum_takes_every_value_with_its_weight() {
        let (values, weights) =
            ([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0], [2.0, 0.0, 1.0, 3.0, 0.0, 1.0, 5.0]);
        assert_eq!(weighted_sum(&values, &weights), 382.0);
        assert_eq!(weighted_sum(&[1.0; 8], &[1.0; 8]), 8.0);
    }

    #[test]
    fn the_smaller_stratum_decides_the_degrees_of_freedom() {
        let of = |cases: [usize; 2]| Strata::of(&cases.map(|cases| Stratum { cases, share: 0.5 }));
        assert!((of([5, 5]).freedom() - 8.0).abs() < 1e-12);
        assert!((of([5, 500]).freedom() - 4.08).abs() < 0.01);
        // 0.8² / 5 = 0.128 and 0.2² / 5 = 0.008: 0.136² · 4 / (0.128² + 0.008²).
        let uneven = Strata::of(&[0.8, 0.2].map(|share| Stratum { cases: 5, share }));
        assert!((uneven.freedom() - 4.498).abs() < 1e-3, "{}", uneven.freedom());
        // Of one case the variance is the others'.
        assert!(
            (of([1, 11]).freedom() - 10.0 * (12.0 / 11f64).powi(2) / (1.0 + 1.0 / 121.0)).abs()
                < 1e-9
        );
        assert!(of([4, 1]).is_few() && !of([4, 2]).is_few());
    }

    #[test]
    fn the_middle_leaves_a_fortieth_of_the_draws_on_either_side() {
        assert_eq!(middle(&[2, 96, 2], 100), [2, 2]);
        assert_eq!(middle(&[3, 95, 2], 100), [1, 2]);
        assert_eq!(middle(&[2, 95, 3], 100), [2, 3]);
    }

    #[test]
    fn normal_deviates_are_normal() {
        let mut rng = Pcg64Mcg::seed_from_u64(11);
        let drawn: Vec<f64> = (0..100_000).map(|_| normal(&mut rng)).collect();
        let mean_of = |of: fn(f64) -> f64| drawn.iter().map(|x| of(*x)).sum::<f64>() / 1e5;
        assert!(mean_of(|x| x).abs() < 0.015 && (mean_of(|x| x * x) - 1.0).abs() < 0.02);
        // The fourth moment, and the share below −1.
        assert!((mean_of(|x| x.powi(4)) - 3.0).abs() < 0.15);
        assert!((mean_of(|x| f64::from(u8::from(x < -1.0))) - 0.1587).abs() < 0.005);
    }

    #[test]
    fn ranks_are_those_of_the_stretched_draws() {
        // With one degree of freedom a draw is t(1) / 1.96 = 6.48 times too near the mean: 0.4 above 0 overtakes
        // 0.5 below 1, although it lies below it as drawn.
        let replicates = Replicates {
            level: Level::Cases,
            means: vec![0.0, 1.0],
            drawn: vec![vec![0.4, -0.5]; 100],
            noise: vec![NONE; 2],
            freedom: 1.0,
        };
        assert!((replicates.stretch(f64::INFINITY) - 12.7062 / 1.959_96).abs() < 1e-3);
        assert_eq!(replicates.ranks(), [[1, 1], [2, 2]]);
    }
}
