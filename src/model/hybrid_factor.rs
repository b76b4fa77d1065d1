//! What a kernel takes beyond what the [hybrid](super::hybrid) sees of it: its launches tell, those
//! the most that do about as much as the one to be foreseen.
//!
//! ```text
//! ln f = Σ w_i·r_i / Σ w_i · n/(n + draw)      w_i = exp(−d_i² / 2·ln²2)
//! ```
//!
//! `r_i` is the logarithm of what launch `i` of `n` took over what the device's costs foresee, and `d_i`
//! how far it lies, by logarithms of instructions, traffic, footprint and groups: a mean of neighbours
//! (Nadaraya, Watson 1964), which is drawn towards a factor of 1.

use super::hybrid::Work;

/// How much the factor of one launch is drawn towards 1, in launches.
pub(super) const DRAW: f64 = 0.1;
/// Launches that do this many times as much, by its logarithm, tell noticeably less.
const NEAR: f64 = std::f64::consts::LN_2;

/// The launches of a kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Factor(Vec<([f64; 4], f64)>);

impl Factor {
    /// Of launches, each with the logarithm of what it took over what the costs foresee.
    pub fn new(launches: impl Iterator<Item = (Work, f64)>) -> Self {
        Self(launches.map(|(work, off)| (place(&work), off)).collect())
    }

    /// What a launch takes over what the costs foresee.
    pub fn at(&self, work: &Work) -> f64 {
        let here = place(work);
        let far: Vec<f64> = self.0.iter().map(|(there, _)| square(here, *there)).collect();
        // By how much farther than the nearest, so that not all weights vanish.
        let nearest = far.iter().copied().fold(f64::INFINITY, f64::min);
        let weights = far.iter().map(|far| (-0.5 * (far - nearest) / (NEAR * NEAR)).exp());
        let (mut sum, mut all) = (0.0, 0.0);
        for (weight, (_, off)) in weights.zip(&self.0) {
            sum += weight * off;
            all += weight;
        }
        let count = self.0.len() as f64;
        if self.0.is_empty() { 1.0 } else { (sum / all * count / (count + DRAW)).exp() }
    }
}

/// Where a launch lies among others.
fn place(work: &Work) -> [f64; 4] {
    let instructions = work.simple + work.special + work.accesses + work.local;
    [instructions, work.traffic, work.footprint, work.groups].map(|amount| amount.max(1.0).ln())
}

fn square(one: [f64; 4], other: [f64; 4]) -> f64 {
    one.iter().zip(other).map(|(a, b)| (a - b).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(size: f64) -> Work {
        Work { simple: 9.0 * size, traffic: 8.0 * size, footprint: 8.0 * size, ..Work::default() }
    }

    #[test]
    fn the_nearest_launches_tell_the_factor() {
        let off = [(1e4, 1.0), (1e6, 2.0), (1e8, 4.0)];
        let factor = Factor::new(off.iter().map(|&(size, off)| (work(size), f64::ln(off))));
        // Three launches are drawn by a tenth of one.
        for (size, off) in off {
            let wanted = f64::powf(off, 3.0 / 3.1);
            assert!((factor.at(&work(size)) / wanted - 1.0).abs() < 1e-9, "{size}");
        }
        // Halfway between two, their geometric mean; far beyond all, the nearest.
        let between = factor.at(&work(1e7));
        assert!((between / f64::powf(8.0, 0.5 * 3.0 / 3.1) - 1.0).abs() < 1e-6, "{between}");
        assert_eq!(factor.at(&work(1e30)), factor.at(&work(1e8)));
        assert_eq!(Factor::default().at(&work(1.0)), 1.0);
    }

    #[test]
    fn as_much_work_in_fewer_groups_lies_elsewhere() {
        let [few, many] = [32.0, 1024.0].map(|groups| Work { groups, ..work(1e6) });
        let factor = Factor::new([(few, f64::ln(2.0)), (many, f64::ln(8.0))].into_iter());
        let told = [few, many].map(|work| factor.at(&work).ln() * 2.1 / 2.0);
        assert!((told[0] / f64::ln(2.0) - 1.0).abs() < 1e-3, "{told:?}");
        assert!((told[1] / f64::ln(8.0) - 1.0).abs() < 1e-3, "{told:?}");
    }
}
