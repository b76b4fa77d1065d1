//! Hybrid: our own model, from what a kernel does rather than from what its author says it does.
//!
//! ```text
//! T = t0 + G·groups + ((f_k·C)^p + (f_k·b1·traffic)^p + (m_k·M)^p + (f_k·c7·steps)^p)^(1/p)
//! C = c1·simple + c2·special + c3·transcendental + c4·accesses + c5·local + c6·barriers
//! M = b2·footprint + b3·max(0, footprint − cache)
//! ```
//!
//! `simple` … `barriers` are dynamic instructions of the whole launch, counted by emulating one
//! work-group, the first three as a compiler leaves them; `traffic` is what its memory transactions move between the units and the nearest
//! cache, `footprint` the memory that it touches, which must cross the memory bus at least; what of it
//! lies beyond the size of the largest cache costs more. `steps` are the instructions of one warp as the text has them,
//! which wait for each other: a launch of too few warps takes as long as one of them. The costs `c1 … c7`, `G`, `b1`,
//! `b2`, `b3`, the size of that cache and the sharpness `p` belong to the device. `f_k` is what the compiler and the
//! device make of kernel `k`'s instructions beyond that, and `m_k` of its memory: a compiler that makes vectors of a
//! kernel's instructions makes no memory faster. While the costs are fitted they are two numbers, which suit the
//! kernel's launches best and are drawn towards 1; then the launches nearest to the one to be predicted
//! say how far it is off as a whole ([`Factor`]). For a kernel that was never seen both are 1, with parameters of a fit
//! in which all factors are, and what is left may be learnt from [`Work::features`]. It fails where the factors change between the sizes that were measured.

pub use super::hybrid_factor::{Factor, Multiples};
pub use super::hybrid_fit::{Factors, Fitted, Start, fit};
use std::collections::BTreeMap;

/// What one launch does, over all its work-items.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Instructions but those below; these and the next two as a compiler leaves them.
    pub simple: f64,
    /// Divisions and roots.
    pub special: f64,
    /// Exponentials, logarithms, sines.
    pub transcendental: f64,
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
    /// Instructions of one warp as the text has them, its accesses and barriers among them.
    pub steps: f64,
    /// Work-items of a group.
    pub group_size: f64,
    /// Of the lanes of all warps, over all instructions, the share that only waited.
    pub idle: f64,
    /// Values that a work-item holds at once.
    pub live_values: f64,
    /// Bytes of local memory that a group uses.
    pub local_bytes: f64,
}

impl Work {
    /// What each cost multiplies, beyond a cache of so many bytes.
    pub(super) fn terms(&self, cache: f64) -> [f64; TERMS] {
        [
            self.simple,
            self.special,
            self.transcendental,
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

    /// What tells kernels apart, for whoever learns what the costs do not see: logarithms of what a work-item does, of
    /// what its accesses become, and of how much there is.
    pub fn features(&self) -> [f64; 14] {
        let items = (self.groups * self.group_size).max(1.0);
        let each = |amount: f64| (amount / items + 0.1).ln();
        let of = |amount: f64| (amount + 1.0).ln();
        [
            each(self.simple),
            each(self.special + self.transcendental),
            each(self.accesses),
            each(self.local),
            each(self.barriers),
            of(self.traffic / self.accesses.max(1.0)),
            (self.footprint.max(1.0) / self.traffic.max(1.0)).ln(),
            of(self.footprint),
            of(self.groups),
            of(self.group_size),
            of(self.steps),
            self.idle,
            of(self.live_values),
            of(self.local_bytes),
        ]
    }
}

/// How many costs a device has.
pub(super) const TERMS: usize = 11;

/// What the parameters are called, in the order of [`Hybrid::parameters`]; the costs are seconds each.
pub const PARAMETERS: [&str; TERMS + 3] = [
    "launch",
    "sharpness",
    "cache",
    "instruction",
    "special instruction",
    "transcendental instruction",
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
    /// Its kernel, which other launches share the factors of.
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
    /// `f_k` and `m_k` by kernel.
    pub factors: BTreeMap<String, Factor>,
}

/// Seconds of a launch's parts, each alone, without factors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parts {
    /// Starting it and its groups.
    pub fixed: f64,
    /// Instructions and accesses.
    pub compute: f64,
    /// Local memory and barriers, which add up with those.
    pub local: f64,
    /// Its transactions.
    pub traffic: f64,
    /// Its footprint.
    pub memory: f64,
    /// The instructions of one warp.
    pub warp: f64,
}

/// How long a launch takes, and the shares of it that change as its computing and its memory do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Seconds {
    /// What no factor multiplies.
    pub fixed: f64,
    /// What factors multiply.
    pub shared: f64,
    /// `∂ ln T / ∂ ln f` and `∂ ln T / ∂ ln m`.
    pub slopes: [f64; 2],
}

impl Parts {
    /// With factors, by the root of powers.
    pub(super) fn seconds(&self, sharpness: f64, multiples: Multiples) -> Seconds {
        let compute =
            [self.compute + self.local, self.traffic, self.warp].map(|x| x * multiples.compute);
        let sides = [compute[0], compute[1], compute[2], self.memory * multiples.memory];
        let longest = sides.into_iter().fold(0.0, f64::max);
        if longest <= 0.0 {
            return Seconds { fixed: self.fixed, shared: 0.0, slopes: [0.0; 2] };
        }
        // The longest is taken out of the root, so that no power overflows.
        let powers = sides.map(|side| (side / longest).powf(sharpness));
        let sum = powers.iter().sum::<f64>();
        let shared = longest * sum.powf(1.0 / sharpness);
        let share = shared / (self.fixed + shared) / sum;
        let slopes = [(powers[0] + powers[1] + powers[2]) * share, powers[3] * share];
        Seconds { fixed: self.fixed, shared, slopes }
    }
}

impl Hybrid {
    /// Seconds of a launch of `kernel`.
    pub fn seconds(&self, kernel: &str, work: &Work) -> f64 {
        self.seconds_of(
            work,
            self.factors.get(kernel).map_or(Multiples::ONE, |factor| factor.at(work)),
        )
    }

    /// Seconds of a launch with these factors.
    pub fn seconds_of(&self, work: &Work, multiples: Multiples) -> f64 {
        let seconds = self.parts(work).seconds(self.sharpness, multiples);
        seconds.fixed + seconds.shared
    }

    /// The logarithm of what a launch took over what costs and factors say; `None` where they say nothing that a factor
    /// could multiply.
    pub fn left(&self, sample: &Sample, multiples: Multiples) -> Option<f64> {
        let seconds = self.parts(&sample.work).seconds(self.sharpness, multiples);
        // Where the fixed part is nearly all, the rest is poorly determined.
        let rest = (sample.seconds - seconds.fixed).max(0.1 * sample.seconds);
        (seconds.shared > 0.0).then(|| (rest / seconds.shared).ln())
    }

    /// Launch, sharpness, cache and costs, as [`PARAMETERS`] names them.
    pub fn parameters(&self) -> [f64; TERMS + 3] {
        let mut all = [0.0; TERMS + 3];
        all[..3].copy_from_slice(&[self.launch, self.sharpness, self.cache]);
        all[3..].copy_from_slice(&self.costs);
        all
    }

    /// Of parameters as [`PARAMETERS`] names them, without any kernel's factors.
    pub fn of(parameters: &[f64]) -> Self {
        let mut costs = [0.0; TERMS];
        costs.copy_from_slice(&parameters[3..]);
        let [launch, sharpness, cache] = [parameters[0], parameters[1], parameters[2]];
        Self { launch, sharpness, cache, costs, factors: BTreeMap::new() }
    }

    /// Seconds of a launch's parts, each alone, without factors.
    pub fn parts(&self, work: &Work) -> Parts {
        let mut x = work.terms(self.cache);
        x.iter_mut().zip(self.costs).for_each(|(x, cost)| *x *= cost);
        Parts {
            fixed: self.launch + x[8],
            compute: x[..4].iter().sum(),
            local: x[4] + x[5],
            traffic: x[6],
            memory: x[7] + x[9],
            warp: x[10],
        }
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
            costs: [1e-12, 8e-12, 3e-11, 3e-12, 2e-12, 5e-12, 1e-12, 4e-12, 1e-9, 8e-12, 1e-9],
            factors: BTreeMap::new(),
        }
    }

    fn both(times: f64) -> Multiples {
        Multiples { compute: times, memory: times }
    }

    #[test]
    fn a_factor_multiplies_what_is_not_the_launch() {
        let (device, work) = (device(), Work { simple: 1e9, ..Work::default() });
        assert!((device.seconds("other", &work) - 1.005e-3).abs() < 1e-12);
        assert!((device.seconds_of(&work, both(2.0)) - 2.005e-3).abs() < 1e-12);
        let parts = device.parts(&work);
        assert_eq!((parts.fixed, parts.compute, parts.local, parts.memory), (5e-6, 1e-3, 0.0, 0.0));
        let one = device.parts(&Work { groups: 1.0, ..Work::default() });
        assert_eq!((one.fixed, one.compute), (5e-6 + 1e-9, 0.0));
    }

    #[test]
    fn memory_has_a_factor_of_its_own() {
        let device = device();
        let work = Work { simple: 1e9, footprint: 1e9, ..Work::default() };
        let parts = device.parts(&work);
        let times =
            |compute, memory| device.seconds_of(&work, Multiples { compute, memory }) - 5e-6;
        let root = |compute: f64, memory: f64| {
            ((compute * parts.compute).powi(3) + (memory * parts.memory).powi(3)).cbrt()
        };
        for (compute, memory) in [(1.0, 1.0), (3.0, 1.0), (1.0, 0.2)] {
            assert!((times(compute, memory) / root(compute, memory) - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn slopes_are_the_derivatives_of_the_logarithm() {
        let work =
            Work { simple: 4e9, traffic: 1e9, footprint: 5e8, steps: 1e6, ..Work::default() };
        let parts = device().parts(&work);
        let ln = |compute: f64, memory: f64| {
            let seconds = parts.seconds(3.0, Multiples { compute, memory });
            (seconds.fixed + seconds.shared).ln()
        };
        let slopes = parts.seconds(3.0, Multiples { compute: 1.5, memory: 0.7 }).slopes;
        let step = f64::exp(1e-6);
        let numeric = [
            (ln(1.5 * step, 0.7) - ln(1.5, 0.7)) / 1e-6,
            (ln(1.5, 0.7 * step) - ln(1.5, 0.7)) / 1e-6,
        ];
        for (slope, numeric) in slopes.into_iter().zip(numeric) {
            assert!((slope - numeric).abs() < 1e-5, "{slope} {numeric}");
        }
    }

    /// Costs 1 to 11 of 1, 2, 3, 4, 5, 6 instructions, 1 B of traffic, 12 B of footprint of which 2 lie beyond the
    /// cache, 2 groups and 7 steps.
    #[test]
    fn every_term_has_its_place_in_the_equation() {
        let parameters = [1.0, 2.0, 10.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0];
        let device = Hybrid::of(&parameters);
        let work = Work {
            simple: 1.0,
            special: 2.0,
            transcendental: 3.0,
            accesses: 4.0,
            local: 5.0,
            barriers: 6.0,
            traffic: 1.0,
            footprint: 12.0,
            groups: 2.0,
            steps: 7.0,
            ..Work::default()
        };
        assert_eq!((device.sharpness, device.parameters()), (2.0, parameters));
        let parts = device.parts(&work);
        assert_eq!(
            (parts.fixed, parts.compute, parts.local),
            (1.0 + 18.0, 1.0 + 4.0 + 9.0 + 16.0, 61.0)
        );
        assert_eq!((parts.traffic, parts.memory, parts.warp), (7.0, 96.0 + 20.0, 77.0));
        let root = f64::from(91 * 91 + 7 * 7 + 116 * 116 + 77 * 77).sqrt();
        assert!((device.seconds_of(&work, both(3.0)) - (19.0 + 3.0 * root)).abs() < 1e-9);
        let nothing = Work { groups: 1.0, ..Work::default() };
        assert_eq!(device.seconds_of(&nothing, both(3.0)), 10.0);
    }

    #[test]
    fn features_are_of_a_work_item_and_of_the_launch() {
        let work = Work {
            simple: 900.0,
            accesses: 100.0,
            traffic: 700.0,
            footprint: 70.0,
            groups: 5.0,
            group_size: 20.0,
            idle: 0.25,
            ..Work::default()
        };
        let features = work.features();
        assert!(
            (features[0] - 9.1f64.ln()).abs() < 1e-12 && (features[2] - 1.1f64.ln()).abs() < 1e-12
        );
        assert!(
            (features[5] - 8f64.ln()).abs() < 1e-12 && (features[6] - 0.1f64.ln()).abs() < 1e-12
        );
        assert_eq!((features[8], features[11]), (6f64.ln(), 0.25));
        assert!(Work::default().features().iter().all(|feature| feature.is_finite()));
    }
}
