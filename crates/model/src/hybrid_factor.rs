//! What a kernel takes beyond what the [hybrid](super::hybrid) sees of it: inferred from its launches, those
//! the most that do about as much as the one to be predicted.
//!
//! ```text
//! ln f = Σ a_i·k(d_i)      a = (k(d_ij) + noise²·δ_ij)⁻¹ r      k(d) = level² + change²·exp(−d / reach)
//! ```
//!
//! `r_i` is the logarithm of what launch `i` took over what the device's costs predict, `d_i` how far it lies
//! from the one to be predicted, and `d_ij` from launch `j`, by logarithms of instructions, traffic, footprint and
//! groups: the expected value given those launches (Krige 1951; Rasmussen and Williams 2006, eq. 2.25), where
//! logarithms of factors spread by `level` about 0 from kernel to kernel, by `change` from one launch of a kernel
//! to another far away, and by `noise` from one measurement to the next.

use super::hybrid::Work;
use nalgebra::{DMatrix, DVector};

/// How far kernels differ, by the factor's logarithm.
const LEVEL: f64 = 1.0;
/// How far launches of one kernel do that have little in common.
const CHANGE: f64 = 0.5;
/// From which distance on they have.
const REACH: f64 = 4.0;
/// How far measurements of one launch do.
const NOISE: f64 = 0.1;

type Place = [f64; 4];

/// The launches of a kernel, each with its weight `a`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Factor(Vec<(Place, f64)>);

impl Factor {
    /// Of launches, each with the logarithm of what it took over what the costs predict.
    pub fn new(launches: impl Iterator<Item = (Work, f64)>) -> Self {
        let (places, off): (Vec<Place>, Vec<f64>) =
            launches.map(|(work, off)| (place(&work), off)).unzip();
        let n = places.len();
        let noise = |i: usize, j: usize| if i == j { NOISE * NOISE } else { 0.0 };
        let alike = DMatrix::from_fn(n, n, |i, j| alike(places[i], places[j]) + noise(i, j));
        // Noise keeps it from being singular, however near launches lie; a place that is no number makes it fail.
        let Some(alike) = alike.cholesky() else { return Self::default() };
        let weights = alike.solve(&DVector::from_vec(off));
        Self(places.into_iter().zip(weights.iter().copied()).collect())
    }

    /// What a launch takes over what the costs predict.
    pub fn at(&self, work: &Work) -> f64 {
        let here = place(work);
        self.0.iter().map(|(there, weight)| weight * alike(here, *there)).sum::<f64>().exp()
    }
}

/// Where a launch lies among others.
fn place(work: &Work) -> Place {
    let instructions = work.simple + work.special + work.accesses + work.local;
    [instructions, work.traffic, work.footprint, work.groups].map(|amount| amount.max(1.0).ln())
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
        Factor::new(off.iter().map(|&(size, times)| (work(size), times.ln())))
    }

    #[test]
    fn one_launch_is_drawn_towards_1_by_its_noise() {
        let expected_factor = factor([(1e6, 2.0)]).at(&work(1e6));
        // 1.25 is the spread of factors, 0.01 that of measurements.
        assert!(
            (expected_factor.ln() - 2f64.ln() * 1.25 / 1.26).abs() < 1e-12,
            "{expected_factor}"
        );
        let far = factor([(1e6, 2.0)]).at(&work(1e300));
        assert!((far.ln() - 2f64.ln() / 1.26).abs() < 1e-6, "{far}");
        assert_eq!(Factor::default().at(&work(1.0)), 1.0);
    }

    #[test]
    fn the_nearest_launches_weigh_most_in_the_factor() {
        let off = [(1e4, 1.0), (1e6, 2.0), (1e8, 4.0)];
        let factor = factor(off);
        for (size, off) in off {
            assert!((factor.at(&work(size)) / off - 1.0).abs() < 0.1, "{size}");
        }
        // Between two, between them; far beyond all, nearer to the nearest than to the farthest.
        let between = factor.at(&work(1e7));
        assert!((2.2..3.6).contains(&between), "{between}");
        let beyond = factor.at(&work(1e10));
        assert!((2.0..4.0).contains(&beyond), "{beyond}");
    }

    #[test]
    fn two_measurements_of_one_launch_count_as_their_mean() {
        let expected_factor = factor([(1e6, 1.0), (1e6, 4.0)]).at(&work(1e6));
        assert!(
            (expected_factor.ln() - 2f64.ln() * 1.25 / 1.255).abs() < 1e-9,
            "{expected_factor}"
        );
    }

    #[test]
    fn as_much_work_in_fewer_groups_lies_elsewhere() {
        let [few, many] = [32.0, 1024.0].map(|groups| Work { groups, ..work(1e6) });
        let factor = Factor::new([(few, f64::ln(2.0)), (many, f64::ln(8.0))].into_iter());
        let [few, many] = [few, many].map(|work| factor.at(&work));
        assert!((2.0..2.3).contains(&few) && (7.0..8.0).contains(&many), "{few} {many}");
    }

    #[test]
    fn what_is_no_number_counts_for_nothing() {
        let launches = [(work(f64::INFINITY), 1.0), (work(1e6), 1.0)];
        assert_eq!(Factor::new(launches.into_iter()).at(&work(1e6)), 1.0);
    }

    #[test]
    fn a_launch_lies_where_the_logarithms_of_its_amounts_do() {
        let mut work = Work {
            simple: 1.0,
            special: 2.0,
            accesses: 3.0,
            local: 4.0,
            barriers: 5.0,
            ..Work::default()
        };
        (work.traffic, work.groups) = (5.0, 20.0);
        assert_eq!(place(&work), [10.0, 5.0, 1.0, 20.0].map(f64::ln));
    }
}
