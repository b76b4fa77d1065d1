//! Model 14, memory levels, from the time of a dependent load over the size of the working set: how
//! many caches there are, how much each holds, and what a load from each costs.
//!
//! A working set of `S` bytes in a cache of `C` hits always where it fits, and then less and less:
//! `miss(S) = 1 − (C/S)^q` for `S > C`. A cache that replaces lines at random has `q = 1`; one that
//! keeps the last ones used bends sharper. A load costs `t(S) = t0 + Σ step_j · miss_j(S)`. Caches
//! are added one by one, as long as each is worth its parameters by far (the Bayesian information criterion falls
//! by ten, which Kass and Raftery, 1995, call very strong evidence). A cache counts as four parameters: its capacity,
//! its `q`, its step, and that the capacity was sought among many (Zhang and Siegmund, Biometrics 63, 2007). What makes
//! loads slower by less than two fifths is fitted and not shown: address translation, or a cache's farther parts.

mod interval;

use crate::least_squares::{Domain, Estimate, Problem, Solution};
use nalgebra::{DMatrix, DVector};

/// A measured working set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Its bytes, above zero.
    pub bytes: f64,
    /// Seconds of a load that waits for the one before it, above zero.
    pub seconds: f64,
}

/// A cache that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cache {
    /// Bytes that it holds, with their interval.
    pub capacity: Estimate,
    /// Seconds of a load from it, with their interval.
    pub seconds: Estimate,
}

/// A memory and its caches.
#[derive(Clone, Debug, PartialEq)]
pub struct Levels {
    /// From the smallest to the largest.
    pub caches: Vec<Cache>,
    /// Seconds of a load from what is behind them all, with their interval.
    pub memory: Estimate,
}

/// More caches than any device has.
const MAX_CACHES: usize = 5;
/// After how many caches in a row that were not worth their parameters the search ends: two may show as a pair only.
const IN_VAIN: usize = 2;
/// How much a further cache must lower the criterion.
const VERY_STRONG: f64 = 10.0;
/// Where the search for a cache's `q` begins.
const SHARPNESS: [f64; 3] = [1.0, 2.0, 4.0];
/// The least and the most that it may be.
const BLUNTEST: f64 = 0.7;
const SHARPEST: f64 = 8.0;
/// Places for one more cache between a size and its double.
const PLACES: f64 = 4.0;
/// From a cache to what is behind it a load gets so many times slower.
const DISTINCT: f64 = 1.4;
/// A relative error that no timer is below.
const EXACT: f64 = 1e-4;

/// Finds the levels; `None` with fewer than eight points, or where loads get no slower than `DISTINCT`.
pub fn find(points: &[Point]) -> Option<Levels> {
    let good = |p: &&Point| p.bytes > 0.0 && p.seconds > 0.0 && p.seconds.is_finite();
    let mut points: Vec<Point> = points.iter().filter(good).copied().collect();
    points.sort_by(|a, b| a.bytes.total_cmp(&b.bytes));
    if points.len() < 8 {
        return None;
    }
    let mut best: Option<Fit> = None;
    let mut criterion = flat(&points);
    let (mut grown, mut in_vain) = (vec![], 0);
    while grown.len() < MAX_CACHES && in_vain < IN_VAIN {
        let Some(fit) = one_more(&points, &grown) else { break };
        grown = fit.bends();
        in_vain += 1;
        if fit.criterion < criterion - VERY_STRONG {
            (criterion, in_vain) = (fit.criterion, 0);
            best = Some(fit);
        }
    }
    best.map(|fit| fit.levels(&points)).filter(|levels| !levels.caches.is_empty())
}

/// Seconds of the first level and of each behind it, then capacities, then how sharp each cache bends.
struct Fit {
    parameters: Vec<Estimate>,
    criterion: f64,
}

/// What decides how many loads miss a cache.
#[derive(Clone, Copy)]
struct Bend {
    capacity: f64,
    sharpness: f64,
}

impl Fit {
    fn caches(&self) -> usize {
        (self.parameters.len() - 1) / 3
    }

    fn bends(&self) -> Vec<Bend> {
        let (capacities, sharpness) = self.parameters[1 + self.caches()..].split_at(self.caches());
        let bend = |(capacity, sharpness): (&Estimate, &Estimate)| Bend {
            capacity: capacity.value,
            sharpness: sharpness.value,
        };
        capacities.iter().zip(sharpness).map(bend).collect()
    }

    fn levels(&self, points: &[Point]) -> Levels {
        let latencies = &self.parameters[..=self.caches()];
        let bends = self.bends();
        let mut first = latencies[0];
        let mut caches = vec![];
        for (number, pair) in latencies.windows(2).enumerate() {
            if pair[1].value >= DISTINCT * first.value {
                let linear = self.parameters[1 + self.caches() + number];
                caches.push(Cache {
                    capacity: interval::capacity(points, &bends, number, linear),
                    seconds: first,
                });
                first = pair[1];
            }
        }
        Levels { caches, memory: latencies[self.caches()] }
    }
}

/// The share of loads that miss a cache.
fn misses(Bend { capacity, sharpness }: Bend, bytes: f64) -> f64 {
    if bytes <= capacity { 0.0 } else { 1.0 - (capacity / bytes).powf(sharpness) }
}

/// Bayesian information criterion of a fit.
fn criterion(squares: f64, points: usize, parameters: usize) -> f64 {
    let n = points as f64;
    n * (squares / n).max(EXACT * EXACT).ln() + parameters as f64 * n.ln()
}

/// The criterion without any cache.
fn flat(points: &[Point]) -> f64 {
    let logarithms = || points.iter().map(|p| p.seconds.ln());
    let mean = logarithms().sum::<f64>() / points.len() as f64;
    criterion(logarithms().map(|t| (t - mean).powi(2)).sum(), points.len(), 1)
}

/// One cache more than `bends`, where it helps most.
fn one_more(points: &[Point], bends: &[Bend]) -> Option<Fit> {
    let low = points[0].bytes;
    let octaves = (points[points.len() - 2].bytes / low).log2();
    let place = |i: usize| low * (i as f64 / PLACES).exp2();
    let places: Vec<f64> = (1..(octaves * PLACES) as usize).map(place).collect();
    let start = |&sharpness: &f64| {
        let with = |place: &f64| {
            let mut all = [bends, &[Bend { capacity: *place, sharpness }]].concat();
            all.sort_by(|a, b| a.capacity.total_cmp(&b.capacity));
            let (mut start, squares) = latencies(points, &all)?;
            start.extend(all.iter().map(|bend| bend.capacity));
            start.extend(all.iter().map(|bend| bend.sharpness));
            Some((start, squares))
        };
        let best = places.iter().filter_map(with).min_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(best.0)
    };
    let starts: Vec<Vec<f64>> = SHARPNESS.iter().filter_map(start).collect();
    (!starts.is_empty()).then(|| polish(points, &starts))?
}

/// The best times for given caches, and the squares of the relative errors that are left; `None`
/// where a level would be faster than the one before.
fn latencies(points: &[Point], bends: &[Bend]) -> Option<(Vec<f64>, f64)> {
    let share = |row: usize, column: usize| match column {
        0 => 1.0,
        _ => misses(bends[column - 1], points[row].bytes),
    };
    let shares = DMatrix::from_fn(points.len(), bends.len() + 1, |row, column| {
        share(row, column) / points[row].seconds
    });
    let ones = DVector::from_element(points.len(), 1.0);
    let steps = (shares.transpose() * &shares).cholesky()?.solve(&(shares.transpose() * &ones));
    let squares = (shares * &steps - ones).norm_squared();
    let sum = |sum: &mut f64, step: &f64| {
        *sum += step;
        Some(*sum)
    };
    let latencies = steps.iter().scan(0.0, sum).collect();
    steps.iter().all(|step| *step > 0.0).then_some((latencies, squares))
}

/// The best parameters from any of `starts`.
fn polish(points: &[Point], starts: &[Vec<f64>]) -> Option<Fit> {
    let count = starts.first()?.len();
    let caches = (count - 1) / 3;
    let residuals = |p: &[f64]| {
        let time = |bytes: f64| {
            let bend =
                |j: usize| Bend { capacity: p[1 + caches + j], sharpness: p[1 + 2 * caches + j] };
            let slower = |j: usize| (p[j + 1] - p[j]) * misses(bend(j), bytes);
            p[0] + (0..caches).map(slower).sum::<f64>()
        };
        points.iter().map(|point| (time(point.bytes) / point.seconds).ln()).collect()
    };
    let mut domains = vec![Domain::Positive; count];
    domains[1 + 2 * caches..].fill(Domain::Between(BLUNTEST, SHARPEST));
    let problem = Problem { residuals: &residuals, domains: &domains };
    let mut solution = problem.solve(starts).ok()?;
    // A descent may have led two caches past each other: from the same times in their order it ends there.
    let found = |solution: &Solution| -> Vec<f64> {
        solution.values.iter().map(|estimate| estimate.value).collect()
    };
    let is_ordered =
        |all: &[f64]| all[..=caches].is_sorted() && all[1 + caches..][..caches].is_sorted();
    let all = found(&solution);
    if !all[1 + caches..][..caches].is_sorted() {
        solution = problem.solve(&[in_order(&all, caches)]).ok()?;
    }
    if !is_ordered(&found(&solution)) {
        return None;
    }
    // The capacities count once more, since they were sought.
    let criterion = criterion(solution.squares, points.len(), count + caches);
    Some(Fit { parameters: solution.values, criterion })
}

/// The same times with the smallest cache first: each keeps what is behind it slower by.
fn in_order(parameters: &[f64], caches: usize) -> Vec<f64> {
    let (latencies, bends) = parameters.split_at(1 + caches);
    let step = |j: usize| (bends[j], latencies[j + 1] - latencies[j], bends[caches + j]);
    let mut steps: Vec<(f64, f64, f64)> = (0..caches).map(step).collect();
    steps.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut all = vec![latencies[0]];
    for (_, step, _) in &steps {
        all.push(all[all.len() - 1] + step);
    }
    all.extend(steps.iter().map(|(capacity, ..)| capacity));
    all.extend(steps.iter().map(|(.., sharpness)| sharpness));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    /// Times of a device with caches at random, two sizes an octave, with 1 % of noise; and the caches.
    fn simulated(seed: u64) -> (Vec<f64>, Vec<Point>) {
        let mut rng = Pcg64::seed_from_u64(seed);
        let mut between = |low: f64, high: f64| low * (high / low).powf(rng.random::<f64>());
        let mut capacity = between(12e3, 200e3);
        let (mut capacities, mut seconds) = (vec![], vec![between(1e-9, 40e-9)]);
        let count = 1 + between(1.0, 4.0) as usize;
        while capacities.len() < count && capacity < 60e6 {
            capacities.push(capacity);
            seconds.push(seconds[seconds.len() - 1] * between(1.8, 5.0));
            capacity *= between(6.0, 32.0);
        }
        let sharpness: Vec<f64> = capacities.iter().map(|_| between(1.0, 4.0)).collect();
        let mut point = |i: i32| {
            let bytes = 4096.0 * (f64::from(i) / 2.0).exp2();
            let level = |j: usize| match capacities[j] / bytes {
                fits if fits >= 1.0 => 0.0,
                rest => (seconds[j + 1] - seconds[j]) * (1.0 - rest.powf(sharpness[j])),
            };
            let exact = seconds[0] + (0..capacities.len()).map(level).sum::<f64>();
            // A normal distribution, nearly: the sum of twelve.
            let noise = (0..12).map(|_| between(1.0, std::f64::consts::E).ln()).sum::<f64>() - 6.0;
            Point { bytes, seconds: exact * (1.0 + 0.01 * noise) }
        };
        let points = (0..33).map(&mut point).collect();
        (capacities, points)
    }

    #[test]
    fn levels_of_200_simulated_devices_are_found() {
        let (mut right, mut within, mut margins, mut far) = (0, vec![], vec![], vec![]);
        for seed in 0..200 {
            let (truth, points) = simulated(seed);
            let found = find(&points).map_or_else(Vec::new, |levels| levels.caches);
            if found.len() != truth.len() {
                continue;
            }
            right += 1;
            for (cache, truth) in found.iter().zip(truth) {
                let [low, high] = cache.capacity.interval();
                within.push((low..=high).contains(&truth));
                margins.push(cache.capacity.margin / truth);
                let off = (cache.capacity.value / truth - 1.0).abs();
                far.extend((off > 0.2).then_some((seed, off)));
            }
        }
        assert!(right >= 190, "the number of levels is right for {right} of 200");
        assert!(far.is_empty(), "{} capacities are off by more than 20 %: {far:?}", far.len());
        let (held, caches) = (within.iter().filter(|held| **held).count(), within.len());
        assert!(held * 10 >= caches * 9, "intervals of 95 % hold {held} of {caches} capacities");
        margins.sort_by(f64::total_cmp);
        let [median, widest] = [margins[caches / 2], margins[caches - 1]];
        println!("{right} right, {held} of {caches} held, ±{median}, at most {widest}");
        assert!(median < 0.05 && widest < 1.0, "intervals of ±{median}, at most {widest}");
    }

    #[test]
    fn one_level_is_no_cache_and_few_points_say_nothing() {
        let flat = |n: i32| -> Vec<Point> {
            (0..n).map(|i| Point { bytes: f64::from(1 << i), seconds: 1e-9 }).collect()
        };
        assert_eq!(find(&flat(20)), None);
        assert_eq!(find(&flat(5)), None);
        assert_eq!(find(&[Point { bytes: 1.0, seconds: f64::NAN }; 9]), None);
    }

    #[test]
    fn exact_times_give_capacity_and_latency_of_each_level() {
        let time = |bytes: f64| {
            let misses = |c: f64| if bytes > c { 1.0 - c / bytes } else { 0.0 };
            1e-9 + 3e-9 * misses(32768.0) + 80e-9 * misses(4e6)
        };
        let sizes = (0..28).map(|i| 4096.0 * (f64::from(i) / 2.0).exp2());
        let points: Vec<Point> = sizes.map(|bytes| Point { bytes, seconds: time(bytes) }).collect();
        let levels = find(&points).unwrap();
        let near = |x: f64, y: f64| assert!((x / y - 1.0).abs() < 0.04, "{x} {y}");
        assert_eq!(levels.caches.len(), 2, "{levels:?}");
        near(levels.caches[0].capacity.value, 32768.0);
        near(levels.caches[1].capacity.value, 4e6);
        near(levels.caches[1].seconds.value, 4e-9);
        near(levels.memory.value, 84e-9);
        let [low, high] = levels.memory.interval();
        assert!(low > 82e-9 && high < 86e-9, "{levels:?}");
        let [low, high] = levels.caches[1].capacity.interval();
        assert!(low < 4.1e6 && high > 3.9e6 && high / low < 1.1, "{levels:?}");
        let odd =
            [(0.0, 1e-9), (-1.0, 1e-9), (8192.0, 0.0), (8192.0, -1e-9), (8192.0, f64::INFINITY)];
        let odd = odd.map(|(bytes, seconds)| Point { bytes, seconds });
        assert_eq!(
            find(&[&points[..], &odd].concat()),
            Some(levels),
            "what is no time of a load is left out"
        );
    }

    #[test]
    fn what_makes_loads_little_slower_is_no_cache() {
        let time = |bytes: f64| {
            let misses = |c: f64| if bytes > c { 1.0 - c / bytes } else { 0.0 };
            1e-9 + 3e-9 * misses(32768.0) + 1e-9 * misses(5e5) + 80e-9 * misses(8e6)
        };
        let sizes = (0..32).map(|i| 4096.0 * (f64::from(i) / 2.0).exp2());
        let points: Vec<Point> = sizes.map(|bytes| Point { bytes, seconds: time(bytes) }).collect();
        let levels = find(&points).unwrap();
        let capacities: Vec<f64> = levels.caches.iter().map(|c| c.capacity.value).collect();
        assert_eq!(capacities.len(), 2, "{levels:?}");
        assert!((capacities[1] / 8e6 - 1.0).abs() < 0.1, "{capacities:?}");
        assert!((levels.caches[1].seconds.value / 4e-9 - 1.0).abs() < 0.1, "{levels:?}");
    }

    #[test]
    fn the_same_times_have_the_smallest_cache_first() {
        let parameters = [2.0, 5.0, 6.0, 900.0, 30.0, 1.0, 4.0];
        assert_eq!(in_order(&parameters, 2), [2.0, 3.0, 6.0, 30.0, 900.0, 4.0, 1.0]);
    }

    /// `n ln(squares / n) + parameters ln n`, the squares of a point being 1e-8 at least.
    #[test]
    fn the_criterion_weighs_what_is_left_and_what_it_took() {
        let near =
            |is: f64, wanted: f64| assert!((is - wanted).abs() < 1e-9, "{is} is not {wanted}");
        let (e, ten) = (std::f64::consts::E, 10f64.ln());
        near(criterion(8.0 * e * e, 8, 0), 16.0);
        near(criterion(8.0, 8, 3), 6.238_324_625_039_508);
        near(criterion(10.0 * 1e-7, 10, 2), -68.0 * ten);
        near(criterion(10.0 * 1e-9, 10, 2), -78.0 * ten);
        near(criterion(0.0, 10, 0), -80.0 * ten);
        // Logarithms of 1 and of e² are 1 away from their mean.
        let points: Vec<Point> = [1.0, e * e].map(|seconds| Point { bytes: 1.0, seconds }).to_vec();
        near(flat(&points), 2f64.ln());
    }
}
