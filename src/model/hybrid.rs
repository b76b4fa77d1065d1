//! Hybrid: our own model, from what a kernel does rather than from what its author says it does.
//!
//! ```text
//! T = t0 + G·groups + f_w · (C^p + (traffic/B1)^p + (bytes/B2)^p)^(1/p)
//! C = c1·simple + c2·special + c3·accesses + c4·local + c5·barriers
//! ```
//!
//! `simple` … `barriers` are dynamic instructions of the whole launch, counted by emulating one
//! work-group; `traffic` is what its memory transactions move between the units and the nearest
//! cache, `bytes` what must cross the memory bus at least. The costs `c1 … c5`, `G`, `B1`, `B2` and
//! the sharpness `p` belong to the device. `f_w` is what the compiler and the device make of
//! workload `w` beyond that: learnt from its other sizes, drawn towards 1, and 1 for a workload that
//! was never seen. It fails where that factor changes with the size: a cache between B1 and B2, or
//! too few groups to fill the device.

use super::least_squares::{Domain, Problem};
use crate::error::Result;
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
    /// Bytes that must be moved at least.
    pub bytes: f64,
    /// Work-groups.
    pub groups: f64,
}

impl Work {
    fn terms(&self) -> [f64; TERMS] {
        [
            self.simple,
            self.special,
            self.accesses,
            self.local,
            self.barriers,
            self.traffic,
            self.bytes,
            self.groups,
        ]
    }
}

const TERMS: usize = 8;

/// What the parameters are called, in the order of [`Hybrid::parameters`]; the costs are seconds each.
pub const PARAMETERS: [&str; TERMS + 2] = [
    "launch",
    "sharpness",
    "instruction",
    "special instruction",
    "global access",
    "local access",
    "barrier",
    "byte to the units",
    "byte to memory",
    "group",
];

/// A measured launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The workload that its factor is shared with.
    pub workload: String,
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
    /// Seconds of each of [`Work`]'s fields, in order.
    pub costs: [f64; TERMS],
    /// `f_w` by workload.
    pub factors: BTreeMap<String, f64>,
}

/// The part of a launch that takes longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Instructions, all but those on local memory and barriers.
    Compute,
    /// Local memory and barriers.
    Local,
    /// Transactions between the units and the nearest cache.
    Traffic,
    /// The memory bus.
    Memory,
    /// Starting the launch and its groups.
    Launch,
}

impl Hybrid {
    /// Seconds of a launch of `workload`.
    pub fn seconds(&self, workload: &str, work: &Work) -> f64 {
        let (fixed, shared) = self.parts(work);
        fixed + shared * self.factors.get(workload).copied().unwrap_or(1.0)
    }

    /// What bounds a launch, and how many times longer that takes than the next longest part.
    pub fn bound(&self, work: &Work) -> (Bound, f64) {
        let x = self.times(work);
        let mut parts = [
            (Bound::Compute, x[0] + x[1] + x[2]),
            (Bound::Local, x[3] + x[4]),
            (Bound::Traffic, x[5]),
            (Bound::Memory, x[6]),
            (Bound::Launch, self.launch + x[7]),
        ];
        parts.sort_by(|a, b| b.1.total_cmp(&a.1));
        (parts[0].0, parts[0].1 / parts[1].1.max(f64::MIN_POSITIVE))
    }

    /// Launch, sharpness and costs, as [`PARAMETERS`] names them.
    pub fn parameters(&self) -> [f64; TERMS + 2] {
        let mut all = [self.launch, self.sharpness, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        all[2..].copy_from_slice(&self.costs);
        all
    }

    fn of(parameters: &[f64]) -> Self {
        let mut costs = [0.0; TERMS];
        costs.copy_from_slice(&parameters[2..]);
        let [launch, sharpness] = [parameters[0], parameters[1]];
        Self { launch, sharpness, costs, factors: BTreeMap::new() }
    }

    fn times(&self, work: &Work) -> [f64; TERMS] {
        let mut times = work.terms();
        times.iter_mut().zip(self.costs).for_each(|(x, cost)| *x *= cost);
        times
    }

    /// Seconds that the workload's factor leaves alone, and those that it multiplies.
    fn parts(&self, work: &Work) -> (f64, f64) {
        let x = self.times(work);
        let sides = [x[..5].iter().sum::<f64>(), x[5], x[6]];
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

/// How much a factor of one sample is drawn towards 1, in samples.
const DRAW: f64 = 0.1;
/// Weight of a factor's logarithm among the residuals: a device that needs none is preferred.
const FACTOR: f64 = 0.3;
/// Weight of a cost's distance from where it began: what no kernel tells stays there.
const STAY: f64 = 0.02;

/// Fits a device to `samples` by least squares of the logarithms, beginning at `start` where an
/// earlier fit of nearly the same samples is known.
///
/// # Errors
/// `Unsupported` with fewer samples than parameters.
pub fn fit(samples: &[Sample], start: Option<&Hybrid>) -> Result<Hybrid> {
    let needed = PARAMETERS.len() + 1;
    if samples.len() < needed {
        return Err(crate::error::Error::Unsupported(format!(
            "the hybrid needs at least {needed} kernels at one size or another, {} were measured",
            samples.len()
        )));
    }
    let workloads = Workloads::of(samples);
    let begin = begin(samples);
    let residuals = |parameters: &[f64]| {
        let device = Hybrid::of(parameters);
        let parts: Vec<_> = samples.iter().map(|s| device.parts(&s.work)).collect();
        let factors = workloads.factors(samples, &parts);
        let fit = samples
            .iter()
            .zip(&parts)
            .zip(&workloads.of)
            .map(|((s, part), &w)| ((part.0 + part.1 * factors[w].exp()) / s.seconds).ln());
        let drawn = factors.iter().map(|factor| FACTOR * factor);
        let stay = parameters.iter().zip(&begin).map(|(now, then)| STAY * (now / then).ln());
        fit.chain(drawn).chain(stay).collect()
    };
    let mut domains = [Domain::Positive; TERMS + 2];
    domains[1] = Domain::Between(1.0, 16.0);
    let start = start.map_or_else(|| begin.to_vec(), |start| start.parameters().to_vec());
    let solution = Problem { residuals: &residuals, domains: &domains }.solve(&[start])?;
    let values: Vec<f64> = solution.values.iter().map(|estimate| estimate.value).collect();
    let mut device = Hybrid::of(&values);
    let parts: Vec<_> = samples.iter().map(|s| device.parts(&s.work)).collect();
    let factors = workloads.factors(samples, &parts);
    device.factors = workloads.names.into_iter().zip(factors.into_iter().map(f64::exp)).collect();
    Ok(device)
}

/// Costs to begin with: a tenth of what each would be if nothing else took time.
fn begin(samples: &[Sample]) -> [f64; TERMS + 2] {
    let shortest = samples.iter().map(|s| s.seconds).fold(f64::INFINITY, f64::min);
    let mut begin = [0.5 * shortest, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    for (term, cost) in begin[2..].iter_mut().enumerate() {
        let each = samples.iter().map(|s| s.seconds / s.work.terms()[term]);
        let mut each: Vec<f64> = each.filter(|cost| cost.is_finite()).collect();
        each.sort_by(f64::total_cmp);
        *cost = match each.is_empty() {
            true => 1e-15,
            false => 0.1 * crate::stats::median(&each),
        };
    }
    begin
}

/// The workloads among samples.
struct Workloads {
    names: Vec<String>,
    /// Position in `names`, sample by sample.
    of: Vec<usize>,
}

impl Workloads {
    fn of(samples: &[Sample]) -> Self {
        let mut names: Vec<String> = samples.iter().map(|s| s.workload.clone()).collect();
        names.sort_unstable();
        names.dedup();
        let position = |s: &Sample| names.binary_search(&s.workload).unwrap_or(0);
        let of = samples.iter().map(position).collect();
        Self { names, of }
    }

    /// Logarithms of the factors that suit `parts` best.
    fn factors(&self, samples: &[Sample], parts: &[(f64, f64)]) -> Vec<f64> {
        let mut sums = vec![(0.0, DRAW); self.names.len()];
        for ((sample, &(fixed, shared)), &workload) in samples.iter().zip(parts).zip(&self.of) {
            if shared > 0.0 {
                // Where the fixed part is nearly all, the rest is not told well.
                let rest = (sample.seconds - fixed).max(0.1 * sample.seconds);
                sums[workload].0 += (rest / shared).ln();
                sums[workload].1 += 1.0;
            }
        }
        sums.into_iter().map(|(sum, count)| sum / count).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device() -> Hybrid {
        Hybrid {
            launch: 5e-6,
            sharpness: 3.0,
            costs: [1e-12, 8e-12, 3e-12, 2e-12, 5e-12, 1e-12, 4e-12, 1e-9],
            factors: BTreeMap::from([("slow".to_owned(), 2.0)]),
        }
    }

    fn kernels() -> Vec<(String, Work)> {
        let mut kernels = vec![];
        for size in [1e4, 1e5, 1e6, 1e7] {
            let mut add = |name: &str, work: Work| kernels.push((name.to_owned(), work));
            let work = |simple: f64, bytes: f64| Work {
                simple: simple * size,
                bytes: bytes * size,
                traffic: 1.5 * bytes * size,
                accesses: bytes / 4.0 * size,
                groups: size / 256.0,
                ..Work::default()
            };
            add("copy", work(4.0, 8.0));
            add("arithmetic", work(4000.0, 8.0));
            add("slow", work(300.0, 8.0));
            add("special", Work { special: 200.0 * size, ..work(100.0, 20.0) });
            let tiled = Work { local: 512.0 * size, barriers: 32.0 * size, ..work(600.0, 12.0) };
            add("tiled", tiled);
            add("strided", Work { traffic: 64.0 * size, ..work(6.0, 8.0) });
        }
        kernels
    }

    fn samples(device: &Hybrid) -> Vec<Sample> {
        let each = |(workload, work): (String, Work)| {
            let seconds = device.seconds(&workload, &work);
            Sample { workload, work, seconds }
        };
        kernels().into_iter().map(each).collect()
    }

    #[test]
    fn a_factor_multiplies_what_is_not_the_launch() {
        let (device, work) = (device(), Work { simple: 1e9, ..Work::default() });
        assert!((device.seconds("other", &work) - 1.005e-3).abs() < 1e-12);
        assert!((device.seconds("slow", &work) - 2.005e-3).abs() < 1e-12);
        assert_eq!(device.bound(&work).0, Bound::Compute);
        assert_eq!(device.bound(&Work { groups: 1.0, ..Work::default() }).0, Bound::Launch);
    }

    #[test]
    fn exact_times_are_foreseen_at_sizes_left_out() {
        let all = samples(&device());
        let foresee = |left_out: usize| {
            let mut others = all.clone();
            let sample = others.remove(left_out);
            let fitted = fit(&others, None).unwrap();
            super::super::accuracy(fitted.seconds(&sample.workload, &sample.work), sample.seconds)
        };
        let scores: Vec<f64> = (0..all.len()).map(foresee).collect();
        // What keeps costs that nothing tells in place pulls a little at the others.
        let mean = scores.iter().sum::<f64>() / scores.len() as f64;
        assert!(mean > 0.95 && scores.iter().all(|score| *score > 0.8), "{mean}: {scores:?}");
    }

    #[test]
    fn too_few_kernels_are_said() {
        let few: Vec<_> = samples(&device()).into_iter().take(5).collect();
        assert!(fit(&few, None).unwrap_err().to_string().contains("at least 11"));
    }
}
