//! What a kernel takes beyond what the costs of the [hybrid](super::hybrid) say: a multiple of its computing and one of
//! its memory, and what is left, inferred from its launches, those the most that are most like the one to be predicted.
//!
//! ```text
//! ln r = Σ a_i·k(d_i)      a = (k(d_ij) + noise²·δ_ij)⁻¹ o      k(d) = level² + change²·exp(−d / reach)
//! ```
//!
//! `o_i` is the logarithm of what launch `i` took over what costs and multiples let expect, `d_i` how far it lies
//! from the one to be predicted, and `d_ij` from launch `j`, by logarithms of groups, instructions of a group, bytes of
//! traffic an instruction and of footprint a byte of traffic: the expected value given those launches (Krige 1951;
//! Rasmussen and Williams 2006, eq. 2.25), where these logarithms spread by `level` about 0 from kernel to kernel, by
//! `change` from one launch of a kernel to another far away, and by `noise` from one measurement to the next.

use super::hybrid::Work;
use nalgebra::{DMatrix, DVector};

/// How far kernels differ as a whole, beyond their multiples.
const LEVEL: f64 = 0.3;
/// How far launches of one kernel do that have little in common.
const CHANGE: f64 = 0.8;
/// From which distance on they have.
const REACH: f64 = 4.0;
/// How far measurements of one launch do.
const NOISE: f64 = 0.1;
/// How much farther apart than equally unequal sizes unequal intensities are.
const INTENSITY: f64 = 2.0;

type Place = [f64; 4];

/// How many times as long as the costs say a launch's computing takes, and its memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Multiples {
    /// Instructions, transactions and a warp's steps.
    pub compute: f64,
    /// What crosses the memory bus.
    pub memory: f64,
}

impl Multiples {
    /// As the costs say.
    pub const ONE: Self = Self { compute: 1.0, memory: 1.0 };

    /// Both so many times.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        Self { compute: self.compute * factor, memory: self.memory * factor }
    }
}

/// The multiples of a kernel, and its launches, each with its weight `a`.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    multiples: Multiples,
    launches: Vec<(Place, f64)>,
}

impl Factor {
    /// Of launches, each with the logarithm of what it took over what costs and multiples let expect.
    pub fn new(multiples: Multiples, launches: impl Iterator<Item = (Work, f64)>) -> Self {
        let (places, off): (Vec<Place>, Vec<f64>) =
            launches.map(|(work, off)| (place(&work), off)).unzip();
        let n = places.len();
        let noise = |i: usize, j: usize| if i == j { NOISE * NOISE } else { 0.0 };
        let alike = DMatrix::from_fn(n, n, |i, j| alike(places[i], places[j]) + noise(i, j));
        // Noise keeps it from being singular, however near launches lie; a place that is no number makes it fail.
        let Some(alike) = alike.cholesky() else { return Self { multiples, launches: vec![] } };
        let weights = alike.solve(&DVector::from_vec(off));
        Self { multiples, launches: places.into_iter().zip(weights.iter().copied()).collect() }
    }

    /// What a launch takes over what the costs say.
    pub fn at(&self, work: &Work) -> Multiples {
        let here = place(work);
        let left = self.launches.iter().map(|(there, weight)| weight * alike(here, *there));
        self.multiples.scaled(left.sum::<f64>().exp())
    }
}

/// Where a launch lies among others.
fn place(work: &Work) -> Place {
    let instructions =
        work.simple + work.special + work.transcendental + work.accesses + work.local;
    let [instructions, traffic, footprint, groups] =
        [instructions, work.traffic, work.footprint, work.groups]
            .map(|amount| amount.max(1.0).ln());
    let intensities = [traffic - instructions, footprint - traffic].map(|ln| INTENSITY * ln);
    [groups, instructions - groups, intensities[0], intensities[1]]
}

/// How much two launches of a kernel have in common.
fn alike(one: Place, other: Place) -> f64 {
    let far = one.iter().zip(other).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    LEVEL * LEVEL + CHANGE * CHANGE * (-far / REACH).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(size: f64) -> Work {
        Work { simple: 9.0 * size, traffic: 8.0 * size, footprint: 8.0 * size, ..Work::default() }
    }

    fn factor<const N: usize>(off: [(f64, f64); N]) -> Factor {
        Factor::new(Multiples::ONE, off.iter().map(|&(size, times)| (work(size), times.ln())))
    }

    fn at(factor: &Factor, work: &Work) -> f64 {
        let times = factor.at(work);
        assert_eq!(times.compute, times.memory);
        times.compute
    }

    #[test]
    fn one_launch_is_drawn_towards_1_by_its_noise() {
        let expected_factor = at(&factor([(1e6, 2.0)]), &work(1e6));
        // 0.73 is the spread of what is left, 0.01 that of measurements.
        assert!(
            (expected_factor.ln() - 2f64.ln() * 0.73 / 0.74).abs() < 1e-12,
            "{expected_factor}"
        );
        let far = at(&factor([(1e6, 2.0)]), &work(1e300));
        assert!((far.ln() - 2f64.ln() * 0.09 / 0.74).abs() < 1e-6, "{far}");
        assert_eq!(factor([]).at(&work(1.0)), Multiples::ONE);
    }

    #[test]
    fn what_is_left_multiplies_both_multiples() {
        let multiples = Multiples { compute: 2.0, memory: 0.5 };
        let factor = Factor::new(multiples, [(work(1e6), 2f64.ln())].into_iter());
        let found = factor.at(&work(1e6));
        let left = (2f64.ln() * 0.73 / 0.74).exp();
        assert!(
            (found.compute - 2.0 * left).abs() < 1e-12 && (found.memory - 0.5 * left).abs() < 1e-12
        );
    }

    #[test]
    fn the_nearest_launches_weigh_most() {
        let off = [(1e4, 1.0), (1e6, 2.0), (1e8, 4.0)];
        let factor = factor(off);
        for (size, off) in off {
            assert!((at(&factor, &work(size)) / off - 1.0).abs() < 0.1, "{size}");
        }
        // Between two, between them; far beyond all, between the nearest and none, since a level is drawn towards 1.
        let between = at(&factor, &work(1e7));
        assert!((2.2..3.6).contains(&between), "{between}");
        let beyond = at(&factor, &work(1e10));
        assert!((1.5..4.0).contains(&beyond), "{beyond}");
    }

    #[test]
    fn two_measurements_of_one_launch_count_as_their_mean() {
        let expected_factor = at(&factor([(1e6, 1.0), (1e6, 4.0)]), &work(1e6));
        assert!(
            (expected_factor.ln() - 2f64.ln() * 0.73 / 0.735).abs() < 1e-9,
            "{expected_factor}"
        );
    }

    #[test]
    fn as_much_work_in_fewer_groups_lies_elsewhere() {
        let [few, many] = [32.0, 1024.0].map(|groups| Work { groups, ..work(1e6) });
        let off = [(few, f64::ln(2.0)), (many, f64::ln(8.0))];
        let factor = Factor::new(Multiples::ONE, off.into_iter());
        let [few, many] = [few, many].map(|work| at(&factor, &work));
        assert!((2.0..2.3).contains(&few) && (7.0..8.0).contains(&many), "{few} {many}");
    }

    #[test]
    fn a_launch_lies_by_its_groups_and_its_intensities() {
        let mut work = Work {
            simple: 10.0,
            special: 20.0,
            transcendental: 30.0,
            accesses: 40.0,
            local: 100.0,
            barriers: 5.0,
            ..Work::default()
        };
        (work.traffic, work.footprint, work.groups) = (50.0, 25.0, 20.0);
        let expected = [20f64.ln(), 10f64.ln(), 2.0 * 0.25f64.ln(), 2.0 * 0.5f64.ln()];
        for (found, expected) in place(&work).into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }

    #[test]
    fn what_is_no_number_counts_for_nothing() {
        let launches = [(work(f64::INFINITY), 1.0), (work(1e6), 1.0)];
        let factor = Factor::new(Multiples::ONE, launches.into_iter());
        assert_eq!(factor.at(&work(1e6)), Multiples::ONE);
    }
}
