//! Fitting the hybrid's costs to a device's launches.

use super::hybrid::{Factor, Hybrid, Multiples, PARAMETERS, Parts, Sample, Seconds, TERMS};
use super::least_squares::{Domain, NEXT_TO_NOTHING, Problem};
use gpubench_core::error::{Error, Result};
use std::collections::BTreeMap;

/// Whether kernels have factors of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factors {
    /// Those of each, which take up what sets it apart: for other sizes of the same kernels.
    Each,
    /// 1 for all, so that the costs have to suit all kernels: for others.
    None,
}

/// A fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// The device.
    pub hybrid: Hybrid,
    /// How many times each parameter's variance is what it would be if the others were known;
    /// infinite where no sample determines it.
    pub inflation: Vec<f64>,
}

/// Where a fit begins, and how far it goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Start<'a> {
    /// From the samples alone, to the end.
    Own,
    /// From the samples alone, until a step gains next to nothing.
    Rough,
    /// From the parameters of a fit to nearly the same samples, until a step gains next to nothing.
    Near(&'a [f64]),
}

/// Weights of the logarithms of a kernel's multiples among the residuals, of computing and of memory: a device that
/// needs none is preferred.
const WEIGHTS: [f64; 2] = [0.2, 0.3];
/// Steps of Gauss and Newton to a kernel's multiples, each of this length at most.
const STEPS: usize = 3;
const MAX_STEP: f64 = 2.0;
/// Weight of a cost's distance from where it began: what no kernel determines stays there.
const STAY: f64 = 0.02;

/// Fits a device to `samples` by least squares of the logarithms.
///
/// # Errors
/// `Unsupported` with fewer samples than parameters.
pub fn fit(samples: &[Sample], start: Start<'_>, factors: Factors) -> Result<Fitted> {
    let needed = PARAMETERS.len() + 1;
    if samples.len() < needed {
        return Err(Error::Unsupported(format!(
            "the hybrid needs at least {needed} kernels at one size or another, {} were measured",
            samples.len()
        )));
    }
    let kernels = Kernels::of(samples);
    let begin = begin(samples);
    let residuals = |parameters: &[f64]| {
        let device = Hybrid::of(parameters);
        let parts: Vec<_> = samples.iter().map(|s| device.parts(&s.work)).collect();
        let logs = kernels.logs(samples, &parts, device.sharpness, factors);
        let fit = samples.iter().zip(&parts).zip(&kernels.of).map(|((sample, part), &kernel)| {
            let seconds = part.seconds(device.sharpness, multiples(logs[kernel]));
            ((seconds.fixed + seconds.shared) / sample.seconds).ln()
        });
        let drawn = logs.iter().flat_map(|logs| [WEIGHTS[0] * logs[0], WEIGHTS[1] * logs[1]]);
        let stay = parameters.iter().zip(&begin).map(|(now, then)| STAY * (now / then).ln());
        fit.chain(drawn).chain(stay).collect()
    };
    let mut domains = [Domain::Positive; TERMS + 3];
    domains[1] = Domain::Between(1.0, 16.0);
    let problem = Problem { residuals: &residuals, domains: &domains };
    let values = match start {
        Start::Near(near) => problem.refine(near, NEXT_TO_NOTHING)?,
        Start::Rough => problem.refine(&begin, NEXT_TO_NOTHING)?,
        Start::Own => {
            let solution = problem.solve(&[begin.to_vec()])?;
            solution.values.iter().map(|estimate| estimate.value).collect()
        }
    };
    // That factors are near 1 is what separates costs from them; what stays determines nothing.
    let inflation = problem.inflation(&values, samples.len() + 2 * kernels.names.len());
    let mut device = Hybrid::of(&values);
    if factors == Factors::Each {
        device.factors = kernels.factors(samples, &device);
    }
    Ok(Fitted { hybrid: device, inflation })
}

/// Costs to begin with: a tenth of what each would be if nothing else took time; and a cache between
/// the smallest and the largest launch.
fn begin(samples: &[Sample]) -> [f64; TERMS + 3] {
    let shortest = samples.iter().map(|s| s.seconds).fold(f64::INFINITY, f64::min);
    let bytes = || samples.iter().map(|s| s.work.footprint).filter(|bytes| *bytes > 0.0);
    let ends = [bytes().fold(f64::INFINITY, f64::min), bytes().fold(1.0, f64::max)];
    let cache = (ends[0].min(ends[1]) * ends[1]).sqrt();
    let mut begin = [0.0; TERMS + 3];
    begin[..3].copy_from_slice(&[0.5 * shortest, 1.5, cache]);
    for (term, cost) in begin[3..].iter_mut().enumerate() {
        let each = samples.iter().map(|s| s.seconds / s.work.terms(cache)[term]);
        let mut each: Vec<f64> = each.filter(|cost| cost.is_finite()).collect();
        each.sort_by(f64::total_cmp);
        *cost = match each.is_empty() {
            true => 1e-15,
            false => 0.1 * gpubench_stats::median(&each),
        };
    }
    begin
}

/// The kernels among samples.
struct Kernels {
    names: Vec<String>,
    /// Position in `names`, sample by sample.
    of: Vec<usize>,
}

impl Kernels {
    fn of(samples: &[Sample]) -> Self {
        let mut names: Vec<String> = samples.iter().map(|s| s.kernel.clone()).collect();
        names.sort_unstable();
        names.dedup();
        let position = |s: &Sample| names.binary_search(&s.kernel).unwrap_or(0);
        let of = samples.iter().map(position).collect();
        Self { names, of }
    }

    /// Logarithms of each kernel's multiples that suit its launches best.
    fn logs(
        &self,
        samples: &[Sample],
        parts: &[Parts],
        sharpness: f64,
        factors: Factors,
    ) -> Vec<[f64; 2]> {
        let mut logs = vec![[0.0; 2]; self.names.len()];
        let steps = if factors == Factors::None { 0 } else { STEPS };
        for _ in 0..steps {
            let mut normal: Vec<Normal> = logs.iter().map(Normal::drawn).collect();
            for ((sample, part), &kernel) in samples.iter().zip(parts).zip(&self.of) {
                let seconds = part.seconds(sharpness, multiples(logs[kernel]));
                normal[kernel].add(&seconds, sample.seconds);
            }
            for (logs, normal) in logs.iter_mut().zip(normal) {
                logs.iter_mut().zip(normal.step()).for_each(|(log, step)| *log += step);
            }
        }
        logs
    }

    /// What every kernel takes beyond the costs.
    fn factors(&self, samples: &[Sample], device: &Hybrid) -> BTreeMap<String, Factor> {
        let parts: Vec<_> = samples.iter().map(|s| device.parts(&s.work)).collect();
        let logs = self.logs(samples, &parts, device.sharpness, Factors::Each);
        let of = |kernel: usize| {
            let times = multiples(logs[kernel]);
            let own = samples.iter().zip(&self.of).filter(|(_, of)| **of == kernel);
            let off = own.filter_map(|(s, _)| Some((s.work, device.left(s, times)?)));
            Factor::new(times, off)
        };
        self.names.iter().enumerate().map(|(i, name)| (name.clone(), of(i))).collect()
    }
}

fn multiples([compute, memory]: [f64; 2]) -> Multiples {
    Multiples { compute: compute.exp(), memory: memory.exp() }
}

/// The normal equations of a kernel's two logarithms.
struct Normal {
    squares: [f64; 2],
    product: f64,
    right: [f64; 2],
}

impl Normal {
    /// That draw both towards 0.
    fn drawn(logs: &[f64; 2]) -> Self {
        let squares = WEIGHTS.map(|weight| weight * weight);
        Self { squares, product: 0.0, right: [squares[0] * logs[0], squares[1] * logs[1]] }
    }

    /// With a launch that is expected to take `seconds` and took `measured`.
    fn add(&mut self, seconds: &Seconds, measured: f64) {
        let [compute, memory] = seconds.slopes;
        let off = ((seconds.fixed + seconds.shared) / measured).ln();
        self.squares[0] += compute * compute;
        self.squares[1] += memory * memory;
        self.product += compute * memory;
        self.right[0] += compute * off;
        self.right[1] += memory * off;
    }

    fn step(self) -> [f64; 2] {
        let Self { squares: [a, c], product: b, right: [u, v] } = self;
        let determinant = a * c - b * b;
        [b * v - c * u, b * u - a * v].map(|x| (x / determinant).clamp(-MAX_STEP, MAX_STEP))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hybrid::Work;
    use crate::hybrid::tests::device;

    fn kernels() -> Vec<(String, Work)> {
        let mut kernels = vec![];
        for size in [1e4, 1e5, 1e6, 1e7] {
            let mut add = |name: &str, work: Work| kernels.push((name.to_owned(), work));
            let work = |simple: f64, bytes: f64| Work {
                simple: simple * size,
                footprint: bytes * size,
                traffic: 1.5 * bytes * size,
                accesses: bytes / 4.0 * size,
                groups: size / 256.0,
                steps: simple + bytes / 4.0,
                ..Work::default()
            };
            add("copy", work(4.0, 8.0));
            add("arithmetic", work(4000.0, 8.0));
            add("slow", work(300.0, 8.0));
            add("special", Work { special: 200.0 * size, ..work(100.0, 20.0) });
            add("sines", Work { transcendental: 90.0 * size, ..work(80.0, 20.0) });
            let tiled = Work { local: 512.0 * size, barriers: 32.0 * size, ..work(600.0, 12.0) };
            add("tiled", tiled);
            add("strided", Work { traffic: 64.0 * size, ..work(6.0, 8.0) });
        }
        kernels
    }

    /// The kernels' times, where the one called slow takes so many times as long.
    fn samples(device: &Hybrid, slow: f64) -> Vec<Sample> {
        let each = |(kernel, work): (String, Work)| {
            let factor = if kernel == "slow" { slow } else { 1.0 };
            let seconds = device.seconds_of(&work, Multiples::ONE.scaled(factor));
            Sample { kernel, work, seconds }
        };
        kernels().into_iter().map(each).collect()
    }

    #[test]
    fn exact_times_are_predicted_at_held_out_sizes() {
        let all = samples(&device(), 2.0);
        let predict = |held_out: usize| {
            let mut others = all.clone();
            let sample = others.remove(held_out);
            let fitted = fit(&others, Start::Own, Factors::Each).unwrap().hybrid;
            crate::accuracy(fitted.seconds(&sample.kernel, &sample.work), sample.seconds)
        };
        let scores: Vec<f64> = (0..all.len()).map(predict).collect();
        // What keeps undetermined costs in place pulls a little at the others; a kernel's two multiples do at the one that
        // its other sizes hardly show.
        let mean = scores.iter().sum::<f64>() / scores.len() as f64;
        assert!(mean > 0.95 && scores.iter().all(|score| *score > 0.65), "{mean}: {scores:?}");
    }

    #[test]
    fn without_factors_exact_times_of_an_unseen_kernel_are_predicted() {
        let (out, others): (Vec<_>, Vec<_>) =
            samples(&device(), 1.0).into_iter().partition(|sample| sample.kernel == "arithmetic");
        let fitted = fit(&others, Start::Own, Factors::None).unwrap().hybrid;
        assert!(fitted.factors.is_empty());
        for sample in out {
            let seconds = fitted.seconds(&sample.kernel, &sample.work);
            let score = crate::accuracy(seconds, sample.seconds);
            assert!(score > 0.8, "{score}: {sample:?}");
        }
    }

    #[test]
    fn a_cost_that_no_kernel_has_is_not_identifiable() {
        let mut all = samples(&device(), 2.0);
        let of = |name: &str| PARAMETERS.iter().position(|other| *other == name).unwrap();
        let (barrier, local) = (of("barrier"), of("local access"));
        // Only one kernel has either, and both in step: they are known together only.
        let coupled = fit(&all, Start::Own, Factors::Each).unwrap();
        assert_eq!([barrier, local].map(|i| coupled.inflation[i]), [f64::INFINITY; 2]);
        all.iter_mut().for_each(|sample| sample.work.barriers = 0.0);
        for start in [Start::Own, Start::Near(&coupled.hybrid.parameters())] {
            let fitted = fit(&all, start, Factors::Each).unwrap();
            assert_eq!(fitted.inflation[barrier], f64::INFINITY);
            assert!(fitted.inflation[local].is_finite(), "{:?}", fitted.inflation);
        }
    }

    #[test]
    fn too_few_kernels_are_said() {
        let few: Vec<_> = samples(&device(), 2.0).into_iter().take(15).collect();
        assert!(fit(&few, Start::Rough, Factors::Each).is_ok(), "as many as there must be");
        let few = &few[..14];
        assert!(
            fit(few, Start::Own, Factors::Each).unwrap_err().to_string().contains("at least 15")
        );
    }
}
