//! Hybrid: our own model, from what a kernel does rather than from what its author says it does.
//!
//! ```text
//! T = t0 + G·groups + f_k · (C^p + (b1·traffic)^p + M^p + (c6·steps)^p)^(1/p)
//! C = c1·simple + c2·special + c3·accesses + c4·local + c5·barriers
//! M = b2·footprint + b3·max(0, footprint − cache)
//! ```
//!
//! `simple` … `barriers` are dynamic instructions of the whole launch, counted by emulating one
//! work-group; `traffic` is what its memory transactions move between the units and the nearest
//! cache, `footprint` the memory that it touches, which must cross the memory bus at least; what of it
//! lies beyond the size of the largest cache costs more. `steps` are the instructions of one warp, which wait
//! for each other: a launch of too few warps takes as long as one of them. The costs `c1 … c6`, `G`, `b1`, `b2`, `b3`, the
//! size of that cache and the sharpness `p` belong to the device. `f_k` is what the compiler and the
//! device make of kernel `k` beyond that: while the costs are fitted it is one number, which suits the
//! kernel's launches best and is drawn towards 1; then the launches nearest to the one to be predicted
//! determine it ([`Factor`]). For a kernel that was never seen it is 1, with parameters of a fit in which all
//! factors are. It fails where the factor changes between the sizes that were measured.

pub use super::hybrid_factor::Factor;
pub use super::hybrid_fit::{Factors, Fitted, Start, fit};
use std::collections::BTreeMap;

/// What one launch does, over all its work-items.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Instructions but those below.
    pub simple: f64,
    /// Divisions, roots, exponentials, logarithms, sines.
    pub special: f64,
    /// Reads and writes of global memory.
    pub accesses: f64,
    /// Reads and writes of local memory.
    pub local: f64,
    /// Barriers, by work-items.
    pub barriers: f64,
    /// Bytes of all transactions with global memory.
    pub traffic: f64,
    /// Bytes of memory that it touches.
    pub footprint: f64,
    /// Work-groups.
    pub groups: f64,
    /// Instructions of one warp, its accesses and barriers among them.
    pub steps: f64,
}

impl Work {
    /// What each cost multiplies, beyond a cache of so many bytes.
    pub(super) fn terms(&self, cache: f64) -> [f64; TERMS] {
        [
            self.simple,
            self.special,
            self.accesses,
            self.local,
            self.barriers,
            self.traffic,
            self.footprint,
            self.groups,
            (self.footprint - cache).max(0.0),
            self.steps,
        ]
    }
}

/// How many costs a device has.
pub(super) const TERMS: usize = 10;

/// What the parameters are called, in the order of [`Hybrid::parameters`]; the costs are seconds each.
pub const PARAMETERS: [&str; TERMS + 3] = [
    "launch",
    "sharpness",
    "cache",
    "instruction",
    "special instruction",
    "global access",
    "local access",
    "barrier",
    "byte to the units",
    "byte to memory",
    "group",
    "byte beyond the cache",
    "instruction of a warp",
];

/// A measured launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Its kernel, which other launches share the factor of.
    pub kernel: String,
    /// What it does.
    pub work: Work,
    /// Seconds, above zero.
    pub seconds: f64,
}

/// The parameters of one device.
#[derive(Clone, Debug, PartialEq)]
pub struct Hybrid {
    /// Seconds of an empty launch, `t0`.
    pub launch: f64,
    /// How sharp the corners are, `p`, from 1 (parts add up) to 16 (the longest counts).
    pub sharpness: f64,
    /// Bytes of the largest cache.
    pub cache: f64,
    /// Seconds of each of the terms, as [`PARAMETERS`] names them.
    pub costs: [f64; TERMS],
    /// `f_k` by kernel.
    pub factors: BTreeMap<String, Factor>,
}

impl Hybrid {
    /// Seconds of a launch of `kernel`.
    pub fn seconds(&self, kernel: &str, work: &Work) -> f64 {
        self.times_of(work, self.factors.get(kernel).map_or(1.0, |factor| factor.at(work)))
    }

    /// Seconds of a launch with this factor.
    pub fn times_of(&self, work: &Work, factor: f64) -> f64 {
        let (fixed, shared) = self.parts(work);
        fixed + shared * factor
    }

    /// Seconds of starting, computing, local memory with barriers, global memory, and one warp's instructions,
    /// each alone; the second and third add up, to `C`.
    pub fn parts_of(&self, work: &Work) -> [f64; 5] {
        let x = self.times(work);
        [self.launch + x[7], x[0] + x[1] + x[2], x[3] + x[4], x[5].max(x[6] + x[8]), x[9]]
    }

    /// Launch, sharpness, cache and costs, as [`PARAMETERS`] names them.
    pub fn parameters(&self) -> [f64; TERMS + 3] {
        let mut all = [0.0; TERMS + 3];
        all[..3].copy_from_slice(&[self.launch, self.sharpness, self.cache]);
        all[3..].copy_from_slice(&self.costs);
        all
    }

    /// Of parameters as [`PARAMETERS`] names them, without any kernel's factor.
    pub fn of(parameters: &[f64]) -> Self {
        let mut costs = [0.0; TERMS];
        costs.copy_from_slice(&parameters[3..]);
        let [launch, sharpness, cache] = [parameters[0], parameters[1], parameters[2]];
        Self { launch, sharpness, cache, costs, factors: BTreeMap::new() }
    }

    fn times(&self, work: &Work) -> [f64; TERMS] {
        let mut times = work.terms(self.cache);
        times.iter_mut().zip(self.costs).for_each(|(x, cost)| *x *= cost);
        times
    }

    /// Seconds that the kernel's factor leaves alone, and those that it multiplies.
    pub(super) fn parts(&self, work: &Work) -> (f64, f64) {
        let x = self.times(work);
        let sides = [x[..5].iter().sum::<f64>(), x[5], x[6] + x[8], x[9]];
        let longest = sides.into_iter().fold(0.0, f64::max);
        let fixed = self.launch + x[7];
        if longest <= 0.0 {
            return (fixed, 0.0);
        }
        // The longest is taken out of the root, so that no power overflows.
        let powers: f64 = sides.iter().map(|side| (side / longest).powf(self.sharpness)).sum();
        (fixed, longest * powers.powf(1.0 / self.sharpness))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn device() -> Hybrid {
        Hybrid {
            launch: 5e-6,
            sharpness: 3.0,
            cache: 1e7,
            costs: [1e-12, 8e-12, 3e-12, 2e-12, 5e-12, 1e-12, 4e-12, 1e-9, 8e-12, 1e-9],
            factors: BTreeMap::new(),
        }
    }

    #[test]
    fn a_factor_multiplies_what_is_not_the_launch() {
        let (device, work) = (device(), Work { simple: 1e9, ..Work::default() });
        assert!((device.seconds("other", &work) - 1.005e-3).abs() < 1e-12);
        assert!((device.times_of(&work, 2.0) - 2.005e-3).abs() < 1e-12);
        assert_eq!(device.parts_of(&work), [5e-6, 1e-3, 0.0, 0.0, 0.0]);
        let one = Work { groups: 1.0, ..Work::default() };
        assert_eq!(device.parts_of(&one), [5e-6 + 1e-9, 0.0, 0.0, 0.0, 0.0]);
    }

    /// Costs 1 to 10 of 1, 2, 3, 4, 5 instructions, 1 B of traffic, 12 B of footprint of which 2 lie beyond the
    /// cache, 2 groups and 7 steps: C = 1 + 4 + 9 + 16 + 25, traffic 6, M = 84 + 18, a warp's own 70, and 1 + 16
    /// apart from them.
    #[test]
    fn every_term_has_its_place_in_the_equation() {
        let parameters = [1.0, 2.0, 10.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0];
        let device = Hybrid::of(&parameters);
        let mut work = Work {
            simple: 1.0,
            special: 2.0,
            accesses: 3.0,
            local: 4.0,
            barriers: 5.0,
            ..Work::default()
        };
        (work.traffic, work.footprint, work.groups, work.steps) = (1.0, 12.0, 2.0, 7.0);
        assert_eq!((device.sharpness, device.parameters()), (2.0, parameters));
        assert_eq!(device.parts_of(&work), [17.0, 14.0, 41.0, 102.0, 70.0]);
        let (fixed, shared) = device.parts(&work);
        let root = f64::from(55 * 55 + 6 * 6 + 102 * 102 + 70 * 70).sqrt();
        assert!(fixed == 17.0 && (shared - root).abs() < 1e-9, "{shared}");
        assert!((device.times_of(&work, 3.0) - (17.0 + 3.0 * root)).abs() < 1e-9);
        assert_eq!(device.parts(&Work { groups: 1.0, ..Work::default() }), (9.0, 0.0));
    }
}
