//! Where the value of each case lies, by its rounds, of which some may lie far from the others.
//!
//! The logarithm of a round is μ + σ·e. Its noise e is normal, or has the long tails of Student's t with 3 or 1 degrees of
//! freedom (Lange, Little and Taylor 1989): the same for all cases, and averaged over by how likely each makes what was
//! seen of them. So is σ², by the prior of `variance_prior.rs`. μ has a flat prior: for a given noise and σ its
//! interval holds the truth as often as it says (Pitman 1939), and where the noise is normal it is that of a moderated t.

use super::Scatter;
use super::variance_prior::{Noise, floored, lattice, posteriors};
use statrs::function::erf::erf;
use std::f64::consts::FRAC_1_PI;

/// How probable normal noise is beforehand.
const NORMAL: f64 = 0.8;
/// The other kinds.
const LONG_TAILED: [LongTailed; 2] = [
    // 2/(π√3)·(1 + z²/3)⁻².
    LongTailed { freedom: 3.0, squared: true, top: 0.367_552_596_947_861, probability: 0.1 },
    // 1/π·(1 + z²)⁻¹.
    LongTailed { freedom: 1.0, squared: false, top: FRAC_1_PI, probability: 0.1 },
];
/// Points where the density of μ is computed lie around rounds, each so many times as far away as the one before.
const RATIO: f64 = 1.35;
/// From this share of the smallest σ on, to so many times the largest one.
const NEAREST: f64 = 0.2;
const FARTHEST: f64 = 5.0;
/// With more rounds than this the points lie around so many of their quantiles.
const MOST_ANCHORS: usize = 5;
/// What a σ of less probability adds to the density of μ, nobody sees.
const NEGLIGIBLE: f64 = 1e-7;

/// Noise with long tails: Student's t.
struct LongTailed {
    /// Its degrees of freedom.
    freedom: f64,
    /// Whether its density falls with the square of `1 + z²/freedom`, or with that.
    squared: bool,
    /// Its density at 0.
    top: f64,
    /// How probable it is beforehand.
    probability: f64,
}

/// Where the value of a case lies, in logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Location {
    /// The middle: the median of what is probable.
    pub value: f64,
    /// The interval that holds it in 95 of 100 cases.
    pub interval: [f64; 2],
}

/// Of the cases of a device, each given by the logarithms of its rounds, of which it has one at least.
pub(super) fn locations(cases: &[&[f64]]) -> Vec<Location> {
    let scatters: Vec<Scatter> = cases.iter().map(|case| Scatter::of(case)).collect();
    let estimates = floored(&scatters);
    let without: Vec<Scatter> = cases.iter().map(|case| without_farthest(case)).collect();
    let lattice = lattice(&floored(&[scatters.as_slice(), &without].concat()));
    let deviations: Vec<f64> = lattice.iter().map(|log| (log / 2.0).exp()).collect();
    let both = cases.iter().zip(scatters.iter().zip(&estimates));
    let frames: Vec<Frame> = both
        .map(|(case, (own, raised))| {
            let blur = if raised.variance > own.variance { raised.variance } else { 0.0 };
            Frame::around(case, blur, &deviations)
        })
        .collect();
    let logs: Vec<Vec<Vec<f64>>> = frames
        .iter()
        .zip(&estimates)
        .map(|(frame, estimate)| {
            let normal = normal_likelihood(frame.rounds.len(), estimate, &lattice);
            let others = LONG_TAILED.iter().map(|noise| frame.likelihood(noise, &deviations));
            std::iter::once(normal).chain(others).collect()
        })
        .collect();
    let noises = relative(&logs);
    let posteriors = posteriors(&noises, &lattice);
    let one = |(case, frame): (usize, &Frame)| {
        let of = |noise: usize| posteriors[noise][case].as_slice();
        Density::of(frame, [of(0), of(1), of(2)], &deviations).location()
    };
    frames.iter().enumerate().map(one).collect()
}

/// The kinds of noise with likelihoods from their logarithms (by case and noise), relative to each case's largest.
fn relative(logs: &[Vec<Vec<f64>>]) -> Vec<Noise> {
    let largest = |case: &Vec<Vec<f64>>| case.iter().flatten().copied().fold(f64::MIN, f64::max);
    let largest: Vec<f64> = logs.iter().map(largest).collect();
    let probabilities = std::iter::once(NORMAL).chain(LONG_TAILED.map(|noise| noise.probability));
    let noise = |(noise, probability): (usize, f64)| {
        let case = |(case, largest): (&Vec<Vec<f64>>, &f64)| {
            case[noise].iter().map(|log| (log - largest).exp()).collect()
        };
        Noise { probability, likelihoods: logs.iter().zip(&largest).map(case).collect() }
    };
    probabilities.enumerate().map(noise).collect()
}

/// Logarithm of how probable so many rounds with this variance are under normal noise, for each σ², over all μ.
fn normal_likelihood(rounds: usize, estimate: &Scatter, lattice: &[f64]) -> Vec<f64> {
    let constant = -0.5 * (estimate.freedom * std::f64::consts::TAU.ln() + (rounds as f64).ln());
    let of = |log: &f64| constant - 0.5 * estimate.freedom * (log + estimate.variance / log.exp());
    lattice.iter().map(of).collect()
}

/// The rounds of a case, and the points at which the density of μ is computed.
struct Frame<'a> {
    rounds: &'a [f64],
    /// Added to each squared distance: rounds that agree do so by luck or a coarse clock.
    blur: f64,
    points: Vec<f64>,
    /// How much of the axis belongs to each point.
    widths: Vec<f64>,
}

impl<'a> Frame<'a> {
    fn around(rounds: &'a [f64], blur: f64, deviations: &[f64]) -> Self {
        let smallest = NEAREST * deviations.first().copied().unwrap_or(1.0);
        let largest = FARTHEST * deviations.last().copied().unwrap_or(1.0);
        let steps = (largest / smallest).ln() / RATIO.ln();
        let distances: Vec<f64> =
            (0..=steps.ceil() as i32).map(|step| smallest * RATIO.powi(step)).collect();
        let mut points = vec![];
        for anchor in anchors(rounds) {
            points.push(anchor);
            points.extend(distances.iter().flat_map(|d| [anchor - d, anchor + d]));
        }
        points.sort_by(f64::total_cmp);
        points.dedup();
        let last = points.len() - 1;
        let width = |i: usize| (points[(i + 1).min(last)] - points[i.saturating_sub(1)]) / 2.0;
        let widths = (0..=last).map(width).collect();
        Self { rounds, blur, points, widths }
    }

    /// The density of all rounds at each point for this σ, relative to the largest, whose logarithm comes with it.
    fn densities(&self, noise: &LongTailed, deviation: f64) -> (Vec<f64>, f64) {
        let rate = 1.0 / (noise.freedom * deviation * deviation);
        let mut products = vec![1.0; self.points.len()];
        let mut log = 0.0;
        // Products of more rounds leave the range of numbers. What overflows all the same has a density of 0.
        for rounds in self.rounds.chunks(64) {
            for round in rounds {
                for (product, point) in products.iter_mut().zip(&self.points) {
                    *product *= 1.0 + ((round - point) * (round - point) + self.blur) * rate;
                }
            }
            let smallest = products.iter().copied().fold(f64::INFINITY, f64::min);
            if smallest.is_finite() {
                products.iter_mut().for_each(|product| *product /= smallest);
                log += smallest.ln();
            }
        }
        if noise.squared {
            products.iter_mut().for_each(|product| *product *= *product);
        }
        products.iter_mut().for_each(|product| *product = 1.0 / *product);
        let power = if noise.squared { 2.0 } else { 1.0 };
        let top = (noise.top / deviation).ln() * self.rounds.len() as f64;
        (products, top - power * log)
    }

    fn integral(&self, densities: &[f64]) -> f64 {
        densities.iter().zip(&self.widths).map(|(density, width)| density * width).sum()
    }

    /// Logarithm of how probable the rounds are for each σ, over all μ.
    fn likelihood(&self, noise: &LongTailed, deviations: &[f64]) -> Vec<f64> {
        let of = |deviation: &f64| {
            let (densities, log) = self.densities(noise, *deviation);
            self.integral(&densities).ln() + log
        };
        // A single round says nothing of σ.
        match self.rounds.len() {
            1 => vec![0.0; deviations.len()],
            _ => deviations.iter().map(of).collect(),
        }
    }
}

/// The scatter of a case's rounds but for the one farthest from their median, which may be a far one; of two nothing is known then.
fn without_farthest(rounds: &[f64]) -> Scatter {
    let mut rounds = rounds.to_vec();
    let middle = super::median_of(rounds.iter().copied()).unwrap_or_default();
    rounds.sort_by(|a, b| (a - middle).abs().total_cmp(&(b - middle).abs()));
    rounds.pop();
    Scatter::of(&rounds)
}

/// Around which values the points lie.
fn anchors(rounds: &[f64]) -> Vec<f64> {
    if rounds.len() <= MOST_ANCHORS {
        return rounds.to_vec();
    }
    let mut sorted = rounds.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |i: usize| super::quantile(&sorted, i as f64 / (MOST_ANCHORS - 1) as f64);
    (0..MOST_ANCHORS).map(at).collect()
}

/// How probable each μ is for a case.
struct Density<'a> {
    frame: &'a Frame<'a>,
    /// By normal noise: the mean of the rounds, and deviations of that with their probabilities.
    mean: f64,
    normal: Vec<(f64, f64)>,
    /// By the others: the density at each point, and the probability up to it.
    densities: Vec<f64>,
    below: Vec<f64>,
}

impl<'a> Density<'a> {
    /// Of how probable each kind of noise is with each σ.
    fn of(frame: &'a Frame, posteriors: [&[f64]; 3], deviations: &[f64]) -> Self {
        let n = frame.rounds.len() as f64;
        let probable = |posterior: &'_ [f64]| -> Vec<(f64, f64)> {
            let all = deviations.iter().copied().zip(posterior.iter().copied());
            all.filter(|(_, p)| *p > NEGLIGIBLE).collect()
        };
        let [normal, others @ ..] = posteriors.map(probable);
        let mut densities = vec![0.0; frame.points.len()];
        for (noise, all) in LONG_TAILED.iter().zip(others) {
            for (deviation, p) in all {
                let (of, _) = frame.densities(noise, deviation);
                let factor = p / frame.integral(&of);
                densities.iter_mut().zip(of).for_each(|(sum, d)| *sum += factor * d);
            }
        }
        let mut below = vec![0.0; densities.len()];
        for i in 1..densities.len() {
            let between = (densities[i] + densities[i - 1]) / 2.0;
            below[i] = below[i - 1] + between * (frame.points[i] - frame.points[i - 1]);
        }
        Self {
            frame,
            mean: frame.rounds.iter().sum::<f64>() / n,
            normal: normal.into_iter().map(|(deviation, p)| (deviation / n.sqrt(), p)).collect(),
            densities,
            below,
        }
    }

    /// How probable it is that μ is at most `x`.
    fn up_to(&self, x: f64) -> f64 {
        let distance = (x - self.mean) / std::f64::consts::SQRT_2;
        let normal = self.normal.iter().map(|(d, p)| p * (1.0 + erf(distance / d)) / 2.0);
        normal.sum::<f64>() + self.long_tailed_up_to(x)
    }

    /// The part of kinds of noise with long tails: between points their density is a straight line.
    fn long_tailed_up_to(&self, x: f64) -> f64 {
        let points = &self.frame.points;
        let next = points.partition_point(|point| *point <= x);
        match next {
            0 => 0.0,
            _ if next == points.len() => self.below[next - 1],
            _ => {
                let [near, far] = [self.densities[next - 1], self.densities[next]];
                let (beyond, width) = (x - points[next - 1], points[next] - points[next - 1]);
                self.below[next - 1] + beyond * (near + (far - near) * beyond / width / 2.0)
            }
        }
    }

    /// The μ below which it lies with this probability.
    fn quantile(&self, p: f64) -> f64 {
        let ends = [self.frame.points.first(), self.frame.points.last()];
        let [mut low, mut high] = ends.map(|end| end.copied().unwrap_or(self.mean));
        // Halved so often, what is left of the frame is less than rounding.
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            if self.up_to(middle) < p { low = middle } else { high = middle }
        }
        (low + high) / 2.0
    }

    fn location(&self) -> Location {
        // Rounding leaves a little out of the sum of 1.
        let all = self.up_to(f64::INFINITY);
        debug_assert!((all - 1.0).abs() < 1e-3, "{all}");
        let [low, value, high] = [0.025, 0.5, 0.975].map(|p| self.quantile(p * all));
        Location { value, interval: [low, high] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Moderated;

    fn of(cases: &[Vec<f64>]) -> Vec<Location> {
        locations(&cases.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    fn half([low, high]: [f64; 2]) -> f64 {
        (high - low) / 2.0
    }

    #[test]
    fn an_independent_computation_gives_the_same() {
        // By numpy, from this page's description, with fifty times as many points.
        let cases = [&[0.0, 0.01, -0.01, 0.02][..], &[1.0, 1.01, 1.5, 0.99], &[2.0, 2.02], &[3.0]];
        let wanted = [
            [-0.013_497, 0.005, 0.023_497],
            [0.977_523, 1.000_81, 1.135_883],
            [1.975_854, 2.01, 2.044_146],
            [2.808_257, 3.0, 3.191_743],
        ];
        for (found, [low, value, high]) in locations(&cases).into_iter().zip(wanted) {
            let close = |found: f64, wanted: f64| (found - wanted).abs() < 0.02 * (high - low);
            let Location { value: middle, interval: ends } = found;
            assert!(
                close(middle, value) && close(ends[0], low) && close(ends[1], high),
                "{found:?}"
            );
        }
    }

    #[test]
    fn rounds_with_normal_noise_have_their_mean_and_the_interval_of_a_moderated_t() {
        use statrs::distribution::{ContinuousCDF, Normal};
        let normal = Normal::standard();
        // 400 values at a normal distribution's quantiles, mixed, four to a case.
        let value = |i: i32| normal.inverse_cdf((f64::from(i * 173 % 400) + 0.5) / 400.0);
        let cases: Vec<Vec<f64>> =
            (0..100).map(|case| (4 * case..4 * case + 4).map(value).collect()).collect();
        let scatters: Vec<Scatter> = cases.iter().map(|case| Scatter::of(case)).collect();
        let moderated = Moderated::of(&scatters);
        for (i, (found, case)) in of(&cases).iter().zip(&cases).enumerate() {
            let mean = case.iter().sum::<f64>() / 4.0;
            assert!((found.value - mean).abs() < 0.05, "{i}: {found:?}, not {mean}");
            let wanted = moderated.half_width(i, 0.95) / 2.0;
            assert!((half(found.interval) / wanted - 1.0).abs() < 0.05, "{i}: {found:?}");
        }
    }

    #[test]
    fn a_round_far_off_hardly_counts_where_others_show_that_some_are() {
        let case = |i: i32| {
            let at = |round: i32| 0.01 * f64::from((7 * i + 3 * round) % 5 - 2);
            let far = |round: i32| if round == i % 4 && i % 2 == 0 { 0.5 } else { 0.0 };
            (0..4).map(|round| at(round) + far(round)).collect()
        };
        let cases: Vec<Vec<f64>> = (0..40).map(case).collect();
        for (found, case) in of(&cases).iter().zip(&cases) {
            assert!(found.value.abs() < 0.02 && half(found.interval) < 0.05, "{case:?}: {found:?}");
        }
    }

    #[test]
    fn equal_values_many_rounds_and_single_ones_are_no_special_case() {
        let found = of(&[vec![1.0; 3], vec![2.0; 3]]);
        assert!((found[0].value - 1.0).abs() < 1e-6 && half(found[0].interval) < 1e-6);
        // As many as a run may have, and twice as many.
        let many: Vec<f64> = (0..20_000).map(|i| f64::from(i * 37 % 500)).collect();
        let found = of(&[many, vec![7.0, 7.1]])[0];
        assert!((found.value - 249.5).abs() < 2.0, "{found:?}");
        assert!((1.0..4.0).contains(&half(found.interval)), "{found:?}");
        let many: Vec<f64> = (0..500).map(|i| f64::from(i * 37 % 500)).collect();
        let [found, single] = of(&[many, vec![7.0]])[..] else { panic!("two") };
        assert!((found.value - 249.5).abs() < 5.0, "{found:?}");
        assert!((10.0..16.0).contains(&half(found.interval)), "{found:?}");
        assert!((single.value - 7.0).abs() < 1e-9 && half(single.interval) > 200.0, "{single:?}");
        assert_eq!(of(&[]), vec![]);
    }

    proptest::proptest! {
        #[test]
        fn neither_the_unit_nor_the_size_of_the_noise_matters(
            logs in proptest::collection::vec(proptest::collection::vec(-1.0..1.0f64, 1..6), 2..6),
            shift in -20.0..20.0f64,
            factor in 0.001..10.0f64,
        ) {
            // Where none has two, nothing is known of the noise.
            proptest::prop_assume!(logs.iter().any(|case| case.len() > 2));
            let moved = |case: &Vec<f64>| case.iter().map(|log| shift + factor * log).collect();
            let (one, other) = (of(&logs), of(&logs.iter().map(moved).collect::<Vec<_>>()));
            for (one, other) in one.iter().zip(other) {
                let width = half(one.interval);
                let same = |one: f64, other: f64| ((other - shift) / factor - one).abs() < 1e-3 * width;
                proptest::prop_assert!(same(one.value, other.value), "{one:?} {other:?}");
                let ends = one.interval.iter().zip(other.interval);
                proptest::prop_assert!(ends.into_iter().all(|(a, b)| same(*a, b)), "{one:?} {other:?}");
            }
        }
    }
}
