//! Which ranks and mean ratios the data allow: the bootstrap over cases [Davison 1997, §3.8].
//!
//! A case drawn brings its rounds with it, whole: the scatter of the cases' observed values
//! already holds the noise of their rounds and samples, and drawing those again would count it
//! twice (their "strategy 2"). Cases of several strata are drawn within theirs, and each stratum weighs what it is
//! given, however many cases it has. A stratum of few cases does not show how much they scatter: it varies as the
//! cases of all strata do around their means. Where all are too few to stand for others, they are taken as they are,
//! and only the noise of their means is drawn.

use super::{t_quantile, threads};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeSet;
use std::f64::consts::TAU;

/// Fewer cases than this do not stand for others.
pub const FEW_CASES: usize = 5;
/// Draws whose weights are held at once: they stay in a processor's cache while every device is weighted.
const BLOCK: usize = 64;
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
    /// By device, then replicate: how far from its mean.
    drawn: Vec<Vec<f64>>,
    noise: Vec<Noise>,
    /// Degrees of freedom of the variance that the cases show.
    freedom: f64,
}

impl Replicates {
    /// Draws `count` times. `values` holds the logarithms by device, then case, all of one length, stratum by
    /// stratum; `noise` one entry a device. Equal arguments give equal draws, whatever the number of threads.
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
        let drawn = match level {
            Level::Cases => strata.drawn(values, count, &mut rng),
            Level::Rounds => noisy(noise, count, &mut rng),
        };
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
        let both = self.drawn[first].iter().zip(&self.drawn[second]);
        let mut drawn: Vec<f64> = both.map(|(first, second)| first - second).collect();
        drawn.sort_unstable_by(f64::total_cmp);
        let stretch = self.stretch(pair(self.noise[first], self.noise[second]));
        [0.025, 0.975].map(|q| middle + stretch * super::quantile(&drawn, q))
    }

    /// The best and worst rank that every device takes in the middle 95 % of the draws, from 1;
    /// the largest mean is first.
    pub fn ranks(&self) -> Vec<[usize; 2]> {
        let freedom = self.noise.iter().map(|n| n.freedom).fold(f64::INFINITY, f64::min);
        let stretch = self.stretch(freedom);
        let draws = self.drawn.first().map_or(0, Vec::len);
        let place = |draw: usize| {
            let both = self.means.iter().zip(&self.drawn);
            let moved: Vec<f64> = both.map(|(mean, drawn)| mean + stretch * drawn[draw]).collect();
            largest_first(&moved)
        };
        let orders = threads::map(draws, place);
        let mut counts = vec![vec![0_u32; self.means.len()]; self.means.len()];
        for order in orders {
            for (rank, device) in order.into_iter().enumerate() {
                counts[device][rank] += 1;
            }
        }
        counts.iter().map(|counts| middle(counts, draws)).collect()
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

/// Positions in the order of these values, the largest first; equal ones stay as they are.
pub fn largest_first(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    order
}

/// What is drawn of devices where their noise is all that is known, by device.
fn noisy(noise: &[Noise], count: usize, rng: &mut Pcg64Mcg) -> Vec<Vec<f64>> {
    let mut drawn = vec![vec![]; noise.len()];
    for _ in 0..count {
        for (drawn, noise) in drawn.iter_mut().zip(noise) {
            drawn.push(noise.variance.sqrt() * normal(rng));
        }
    }
    drawn
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

    /// What is drawn of devices with these values, by device. The weights are drawn one after the other, so that
    /// they do not depend on the number of threads.
    fn drawn(&self, values: &[Vec<f64>], count: usize, rng: &mut Pcg64Mcg) -> Vec<Vec<f64>> {
        let mut drawn: Vec<Vec<f64>> = vec![vec![]; values.len()];
        for first in (0..count).step_by(BLOCK) {
            let block = first..count.min(first + BLOCK);
            let weights: Vec<Vec<f64>> = block.map(|_| self.weights(rng)).collect();
            let sums = threads::map(values.len(), |device| {
                let of = |weights: &Vec<f64>| weighted_sum(&values[device], weights);
                weights.iter().map(of).collect::<Vec<f64>>()
            });
            drawn.iter_mut().zip(sums).for_each(|(drawn, sums)| drawn.extend(sums));
        }
        drawn
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
mod tests;
