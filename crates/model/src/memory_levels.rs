//! The levels of a memory, from the time of a dependent load over the size of the working set: how
//! many caches there are, how much each holds, and what a load from each costs.
//!
//! A working set of `S` bytes in a cache of `C` hits always where it fits, and then less and less:
//! `miss(S) = 1 − (C/S)^q` for `S > C`. A cache that replaces lines at random has `q = 1`; one that
//! keeps the last ones used bends sharper. A load costs `t(S) = t0 + Σ step_j · miss_j(S)`. Caches
//! are added one by one, as long as each is worth its two parameters by far (the Bayesian
//! information criterion falls by ten, which Kass and Raftery, 1995, call very strong evidence).

use gpubench_stats::t_quantile;
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
    /// Bytes that it holds.
    pub capacity: f64,
    /// The 95 % interval of that, the other caches being where they are.
    pub interval: [f64; 2],
    /// Seconds of a load from it.
    pub seconds: f64,
}

/// A memory and its caches.
#[derive(Clone, Debug, PartialEq)]
pub struct Levels {
    /// From the smallest to the largest.
    pub caches: Vec<Cache>,
    /// Seconds of a load from what is behind them all.
    pub memory: f64,
}

/// More caches than any device has.
const MAX_CACHES: usize = 5;
/// How much a further cache must lower the criterion.
const VERY_STRONG: f64 = 10.0;
/// How sharply caches bend, `q`; the same for all of a device.
const SHARPNESS: [f64; 5] = [1.0, 1.5, 2.0, 3.0, 5.0];
/// Candidates for a capacity between a size and its double.
const CANDIDATES: f64 = 16.0;
/// A relative error that no timer is below.
const EXACT: f64 = 1e-4;

/// Finds the levels; `None` with fewer than eight points, or where no load gets slower.
pub fn find(points: &[Point]) -> Option<Levels> {
    let good = |p: &&Point| p.bytes > 0.0 && p.seconds > 0.0 && p.seconds.is_finite();
    let mut points: Vec<Point> = points.iter().filter(good).copied().collect();
    points.sort_by(|a, b| a.bytes.total_cmp(&b.bytes));
    if points.len() < 8 {
        return None;
    }
    let search = |&sharpness: &f64| Search { points: &points, sharpness }.caches();
    let best = SHARPNESS.iter().map(search).min_by(|a, b| a.criterion.total_cmp(&b.criterion))?;
    let search = Search { points: &points, sharpness: best.sharpness };
    (!best.capacities.is_empty()).then(|| search.levels(&best))
}

/// The search for capacities at one sharpness.
struct Search<'a> {
    points: &'a [Point],
    sharpness: f64,
}

/// Capacities, ascending, with the best times for them.
struct Fit {
    sharpness: f64,
    capacities: Vec<f64>,
    /// Seconds of the first level, then what each further level adds.
    steps: Vec<f64>,
    /// Sum of the squared relative errors.
    squares: f64,
    criterion: f64,
}

impl Search<'_> {
    /// The caches that are each worth their parameters.
    fn caches(&self) -> Fit {
        let mut best = self.fit(vec![]).unwrap_or_else(|| self.nothing());
        // Two caches may show only together, so that one more is always tried.
        let mut grown = best.capacities.clone();
        for _ in 0..MAX_CACHES {
            let Some(more) = self.one_more(&grown) else { break };
            grown.clone_from(&more.capacities);
            if more.criterion < best.criterion - VERY_STRONG {
                best = more;
            }
        }
        best
    }

    fn nothing(&self) -> Fit {
        let nothing = f64::INFINITY;
        let sharpness = self.sharpness;
        Fit { sharpness, capacities: vec![], steps: vec![0.0], squares: nothing, criterion: nothing }
    }

    /// One cache more than `capacities`, where it helps most, and then each where it fits best.
    fn one_more(&self, capacities: &[f64]) -> Option<Fit> {
        let with = |c: f64| {
            let mut all = [capacities, &[c]].concat();
            all.sort_by(f64::total_cmp);
            self.fit(all)
        };
        let mut best = least(self.candidates().filter_map(with))?;
        for _ in 0..10 {
            let before = best.squares;
            for j in 0..best.capacities.len() {
                let moved = least(self.candidates().filter_map(|c| self.moved(&best, j, c)));
                if let Some(moved) = moved.filter(|moved| moved.squares < best.squares) {
                    best = moved;
                }
            }
            if best.squares >= before * (1.0 - 1e-6) {
                break;
            }
        }
        Some(best)
    }

    fn moved(&self, fit: &Fit, which: usize, capacity: f64) -> Option<Fit> {
        let mut capacities = fit.capacities.clone();
        capacities[which] = capacity;
        capacities.windows(2).all(|pair| pair[0] < pair[1]).then(|| self.fit(capacities))?
    }

    /// From the second size to the last but one.
    fn candidates(&self) -> impl Iterator<Item = f64> {
        let low = self.points[0].bytes;
        let octaves = (self.points[self.points.len() - 2].bytes / low).log2();
        (1..(octaves * CANDIDATES) as usize).map(move |i| low * (i as f64 / CANDIDATES).exp2())
    }

    /// The best times with given capacities; `None` where a level would be faster than the one before.
    fn fit(&self, capacities: Vec<f64>) -> Option<Fit> {
        let columns = capacities.len() + 1;
        let share = |row: usize, column: usize| match column {
            0 => 1.0,
            _ => self.misses(capacities[column - 1], self.points[row].bytes),
        };
        // Of relative errors.
        let rows = self.points.len();
        let shares =
            DMatrix::from_fn(rows, columns, |r, c| share(r, c) / self.points[r].seconds);
        let ones = DVector::from_element(rows, 1.0);
        let steps = (shares.transpose() * &shares).cholesky()?.solve(&(shares.transpose() * &ones));
        if steps.iter().any(|step| *step <= 0.0) {
            return None;
        }
        let squares = (shares * &steps - ones).norm_squared();
        let parameters = (1 + 2 * capacities.len()) as f64;
        let variance = (squares / rows as f64).max(EXACT * EXACT);
        let criterion = rows as f64 * variance.ln() + parameters * (rows as f64).ln();
        let steps = steps.iter().copied().collect();
        Some(Fit { sharpness: self.sharpness, capacities, steps, squares, criterion })
    }

    /// The share of loads that miss a cache.
    fn misses(&self, capacity: f64, bytes: f64) -> f64 {
        if bytes <= capacity { 0.0 } else { 1.0 - (capacity / bytes).powf(self.sharpness) }
    }

    fn levels(&self, fit: &Fit) -> Levels {
        let freedom = self.points.len().saturating_sub(1 + 2 * fit.capacities.len()).max(1) as f64;
        let variance = (fit.squares / freedom).max(EXACT * EXACT);
        let most = fit.squares + variance * t_quantile(freedom, 0.975).powi(2);
        let mut seconds = 0.0;
        let mut caches = vec![];
        for (j, &capacity) in fit.capacities.iter().enumerate() {
            seconds += fit.steps[j];
            let possible = |c: &f64| self.moved(fit, j, *c).is_some_and(|m| m.squares <= most);
            let range = self.candidates().filter(possible);
            let interval =
                range.fold([capacity; 2], |[low, high], c| [low.min(c), high.max(c)]);
            caches.push(Cache { capacity, interval, seconds });
        }
        Levels { caches, memory: seconds + fit.steps[fit.capacities.len()] }
    }
}

fn least(fits: impl Iterator<Item = Fit>) -> Option<Fit> {
    fits.min_by(|a, b| a.squares.total_cmp(&b.squares))
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
        let sharpness = between(1.0, 4.0);
        let mut point = |i: i32| {
            let bytes = 4096.0 * (f64::from(i) / 2.0).exp2();
            let level = |j: usize| match capacities[j] / bytes {
                fits if fits >= 1.0 => 0.0,
                rest => (seconds[j + 1] - seconds[j]) * (1.0 - rest.powf(sharpness)),
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
        let (mut right, mut far) = (0, vec![]);
        for seed in 0..200 {
            let (truth, points) = simulated(seed);
            let found = find(&points).map_or_else(Vec::new, |levels| levels.caches);
            if found.len() != truth.len() {
                continue;
            }
            right += 1;
            let off = |(c, t): (&Cache, &f64)| (c.capacity / t - 1.0).abs();
            far.extend(found.iter().zip(&truth).map(off).filter(|off| *off > 0.2).map(|o| (seed, o)));
        }
        assert!(right >= 190, "the number of levels is right for {right} of 200");
        assert!(far.is_empty(), "{} capacities are off by more than 20 %: {far:?}", far.len());
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
        let points: Vec<Point> =
            sizes.map(|bytes| Point { bytes, seconds: time(bytes) }).collect();
        let levels = find(&points).unwrap();
        let near = |x: f64, y: f64| assert!((x / y - 1.0).abs() < 0.04, "{x} {y}");
        assert_eq!(levels.caches.len(), 2, "{levels:?}");
        near(levels.caches[0].capacity, 32768.0);
        near(levels.caches[1].capacity, 4e6);
        near(levels.caches[1].seconds, 4e-9);
        near(levels.memory, 84e-9);
        let [low, high] = levels.caches[1].interval;
        assert!((low..=high).contains(&4e6) || high / low < 1.1, "{levels:?}");
    }
}
