//! Parameters of a model on a device: those that the profile gives, and those that fit best.

use super::device::Device;
use super::view::View;
use super::{Launch, Model};
use crate::error::{Error, Result};
use crate::model::hybrid::{self, Factors, PARAMETERS, Start};
use crate::model::least_squares::{Domain, Problem};
use crate::model::parallel_degrees::Shape;
use std::collections::BTreeMap;

/// A launch as a model sees it, and what it took.
#[derive(Clone, Debug)]
pub(super) struct Sample<'a> {
    pub(super) launch: &'a Launch,
    pub(super) view: View,
}

/// A model with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// Which.
    pub model: Model,
    /// The parameters, named by [`Model::parameters`].
    pub parameters: Vec<f64>,
    /// How many times each one's variance is what it would be if the others were known; infinite
    /// where the launches do not tell it, 1 where it was not fitted.
    pub inflation: Vec<f64>,
    /// What each workload takes beyond what the model sees, of the hybrid.
    pub factors: BTreeMap<String, f64>,
    /// The parameters for workloads that have no factor, where they are others.
    pub strangers: Option<Vec<f64>>,
}

/// What a fit is for. Those that foresee what was left out begin at their own samples: what these
/// do not tell must not come from a fit that saw the rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum For<'a> {
    /// Any launch.
    All,
    /// Launches of the workloads that it is fitted to.
    Seen,
    /// Launches of others.
    Unseen,
    /// How far the parameters lie from those of this fit to all.
    Draw(&'a Fitted),
}

/// Scales of a profile's costs lie so far from 1 at most.
const SCALE: Domain = Domain::Between(0.02, 50.0);

impl Model {
    /// What the parameters are called.
    pub fn parameters(self) -> &'static [&'static str] {
        match self {
            Self::Roofline => &["peak", "bandwidth"],
            Self::SmoothRoofline => &["launch", "peak", "bandwidth", "sharpness"],
            Self::WarpTimeline => {
                &["launch", "compute scale", "memory latency", "further transaction", "barrier"]
            }
            Self::ParallelDegrees => &["launch", "transaction cycles", "a", "b", "c", "d"],
            Self::Components => &["launch", "compute scale", "global scale", "local scale"],
            Self::Hybrid => &PARAMETERS,
        }
    }

    /// The parameters as the device's profile gives them, without any fit.
    ///
    /// # Errors
    /// `Unsupported` for a model that is only fitted.
    pub fn unfitted(self, device: &Device) -> Result<Fitted> {
        let launch = device.launch;
        let bandwidth = device.read.at(f64::INFINITY);
        let memory_latency = || {
            device.memory_latency.ok_or_else(|| {
                let why = "the device's profile does not tell the latency of memory";
                Error::Unsupported(format!("{}: {why}", self.name()))
            })
        };
        let parameters = match self {
            Self::Roofline => {
                vec![2.0 * device.rate(crate::emulate::Class::FloatFma), bandwidth]
            }
            Self::WarpTimeline => {
                let units = f64::from(device.unit.units);
                let further = f64::from(device.rules.transaction) * units / bandwidth;
                vec![launch, 1.0, memory_latency()?, further, device.barrier]
            }
            Self::ParallelDegrees => {
                let Shape { a, b, c, d } = Shape::GTX_260;
                vec![launch, memory_latency()? * device.clock, a, b, c, d]
            }
            Self::Components => vec![launch, 1.0, 1.0, 1.0],
            Self::SmoothRoofline | Self::Hybrid => {
                let why = "it has parameters that only measured kernels tell";
                return Err(Error::Unsupported(format!("{}: {why}", self.name())));
            }
        };
        Ok(Fitted::new(self, parameters))
    }

    fn domains(self, views: &[Sample<'_>]) -> Vec<Domain> {
        let positive = Domain::Positive;
        match self {
            Self::SmoothRoofline => {
                vec![positive, positive, positive, Domain::Between(1.0, 16.0)]
            }
            Self::WarpTimeline => vec![positive, SCALE, positive, positive, positive],
            Self::ParallelDegrees => {
                let warps = views.iter().find_map(|sample| match sample.view {
                    View::Tasks { units: [_, warps], .. } => Some(f64::from(warps.max(2))),
                    _ => None,
                });
                let warps = warps.unwrap_or(2.0);
                let degree = Domain::Between(1.0, 2.0 * warps);
                let bend = Domain::Between(0.0, warps);
                let share = Domain::Between(0.0, 1.0);
                vec![positive, positive, degree, bend, share, Domain::Between(0.1, 1000.0)]
            }
            Self::Components => vec![positive, SCALE, SCALE, SCALE],
            Self::Roofline | Self::Hybrid => vec![],
        }
    }

    /// Fits it to `samples`.
    pub(super) fn fit(
        self,
        samples: &[Sample<'_>],
        device: Option<&Device>,
        what: For<'_>,
    ) -> Result<Fitted> {
        self.check(samples)?;
        match self {
            Self::Roofline => self.best_rates(samples),
            Self::Hybrid => self.hybrid(samples, what),
            _ => self.least_squares(samples, device, what),
        }
    }

    /// Whether there is more to fit to than parameters.
    fn check(self, samples: &[Sample<'_>]) -> Result<()> {
        let needed = match self {
            Self::Roofline => 1,
            _ => self.parameters().len() + 1,
        };
        let missing = needed.saturating_sub(samples.len());
        if missing == 0 {
            return Ok(());
        }
        Err(Error::Unsupported(format!(
            "it needs at least {needed} kernels and sizes, {} were measured: {missing} more",
            samples.len()
        )))
    }

    fn starts(self, samples: &[Sample<'_>], device: Option<&Device>) -> Result<Vec<Vec<f64>>> {
        let shortest = samples.iter().map(|s| s.launch.seconds).fold(f64::INFINITY, f64::min);
        if self == Self::SmoothRoofline {
            let [peak, bandwidth] = rates(samples);
            let starts = [1.5, 4.0].map(|p| [0.1, 0.9].map(|share| (share * shortest, p)));
            return Ok(starts
                .into_iter()
                .flatten()
                .map(|(launch, p)| vec![launch, peak, bandwidth, p])
                .collect());
        }
        let profiled = device.ok_or_else(|| {
            Error::Unsupported("it needs the device's profile: `gpubench run characterise`".into())
        })?;
        let mut start = self.unfitted(profiled)?.parameters;
        for value in &mut start {
            *value = value.max(1e-12);
        }
        // A launch of the profile may be longer than the shortest kernel, timed otherwise.
        start[0] = start[0].min(0.5 * shortest).max(1e-3 * shortest);
        Ok(match self {
            Self::Components => vec![ceilings(samples, start)],
            Self::ParallelDegrees => bends(&start, f64::from(profiled.unit.warps)),
            _ => {
                let mut other = start.clone();
                other[1] *= 3.0;
                other[2] /= 3.0;
                vec![start, other]
            }
        })
    }

    fn least_squares(
        self,
        samples: &[Sample<'_>],
        device: Option<&Device>,
        what: For<'_>,
    ) -> Result<Fitted> {
        let residuals = |p: &[f64]| {
            let error = |s: &Sample<'_>| (s.view.seconds(p, 1.0) / s.launch.seconds).ln();
            samples.iter().map(error).collect()
        };
        let domains = self.domains(samples);
        let problem = Problem { residuals: &residuals, domains: &domains };
        let parameters = match what {
            For::Draw(near) => problem.refine(&near.parameters)?,
            For::All | For::Seen | For::Unseen => {
                let off = |p: &Vec<f64>| residuals(p).iter().map(|r| r * r).sum::<f64>();
                let starts = self.starts(samples, device)?;
                let near = starts.iter().filter_map(|start| problem.refine(start).ok());
                let best = near.min_by(|a, b| off(a).total_cmp(&off(b)));
                let starts = best.map_or(starts, |best| vec![best]);
                problem.solve(&starts)?.values.iter().map(|estimate| estimate.value).collect()
            }
        };
        let inflation = problem.inflation(&parameters, samples.len());
        Ok(Fitted { inflation, ..Fitted::new(self, parameters) })
    }

    fn best_rates(self, samples: &[Sample<'_>]) -> Result<Fitted> {
        let rates = rates(samples);
        if rates.iter().any(|rate| *rate <= f64::MIN_POSITIVE) {
            let why = "a roofline needs a kernel with operations and one with bytes";
            return Err(Error::Unsupported(why.into()));
        }
        Ok(Fitted::new(self, rates.to_vec()))
    }

    fn hybrid(self, samples: &[Sample<'_>], what: For<'_>) -> Result<Fitted> {
        let measured: Vec<hybrid::Sample> = samples
            .iter()
            .filter_map(|sample| match &sample.view {
                View::Work(work) => Some(hybrid::Sample {
                    workload: sample.launch.key.workload.clone(),
                    work: *work,
                    seconds: sample.launch.seconds,
                }),
                _ => None,
            })
            .collect();
        let (start, factors) = match what {
            For::All => (Start::Own, Factors::Each),
            For::Seen => (Start::Rough, Factors::Each),
            For::Unseen => (Start::Rough, Factors::None),
            For::Draw(near) => (Start::Near(&near.parameters), Factors::Each),
        };
        let fitted = hybrid::fit(&measured, start, factors)?;
        let mut all = Fitted {
            inflation: fitted.inflation,
            ..Fitted::new(self, fitted.hybrid.parameters().to_vec())
        };
        if factors == Factors::Each {
            all.factors = fitted.hybrid.factors;
        }
        if what == For::All {
            let strange = hybrid::fit(&measured, Start::Own, Factors::None)?.hybrid;
            all.strangers = Some(strange.parameters().to_vec());
        }
        Ok(all)
    }
}

/// The scales at which no component takes longer than any launch: what is never the longest part
/// would not be told by a descent from lower ones. A component that no launch has stays as the
/// profile prices it.
fn ceilings(samples: &[Sample<'_>], mut start: Vec<f64>) -> Vec<f64> {
    let Domain::Between(low, high) = SCALE else { return start };
    let mut least = [f64::INFINITY; 3];
    for sample in samples {
        if let View::Components(base) = &sample.view {
            for (least, part) in least.iter_mut().zip([base.compute, base.global, base.local]) {
                *least = least.min(sample.launch.seconds / part);
            }
        }
    }
    for (scale, least) in start[1..].iter_mut().zip(least).filter(|(_, least)| least.is_finite()) {
        *scale = least.clamp(low, high);
    }
    start
}

/// Bends of the compute parallel degree all over where it may lie, on a device whose units hold so
/// many warps.
fn bends(start: &[f64], warps: f64) -> Vec<Vec<f64>> {
    let mut all = vec![start.to_vec()];
    for a in [2.0, 8.0] {
        for b in [0.25, 0.6] {
            for c in [0.3, 0.5, 0.7] {
                let mut other = start.to_vec();
                other[1] /= 4.0;
                other[2..5].copy_from_slice(&[a, b * warps, c]);
                all.push(other);
            }
        }
    }
    all
}

/// The best rates seen: operations and bytes a second.
fn rates(samples: &[Sample<'_>]) -> [f64; 2] {
    let mut best = [f64::MIN_POSITIVE; 2];
    for sample in samples {
        if let View::Amounts { operations, bytes, .. } = sample.view {
            let rates = [operations, bytes].map(|amount| amount / sample.launch.seconds);
            best = [best[0].max(rates[0]), best[1].max(rates[1])];
        }
    }
    best
}

impl Fitted {
    fn new(model: Model, parameters: Vec<f64>) -> Self {
        let inflation = vec![1.0; parameters.len()];
        Self { model, parameters, inflation, factors: BTreeMap::new(), strangers: None }
    }

    /// Seconds of a launch of `workload` that the model sees as `view`.
    pub fn seconds(&self, workload: &str, view: &View) -> f64 {
        match self.factors.get(workload) {
            Some(factor) => view.seconds(&self.parameters, *factor),
            None => view.seconds(self.strangers.as_ref().unwrap_or(&self.parameters), 1.0),
        }
    }
}
