//! Parameters of a model on a device: those that the profile gives, and those that fit best.

use super::descent::{descend, inflation};
use super::device::Device;
use super::pass::Pass;
use super::view::View;
use super::{Launch, Model};
use gpubench_core::error::{Error, Result};
use gpubench_model::hybrid::{self, Factor, Factors, PARAMETERS, Start};
use gpubench_model::least_squares::Domain;
use gpubench_model::parallel_degrees::Shape;
use std::collections::BTreeMap;

/// A launch as a model sees it, and what it took.
#[derive(Clone, Debug)]
pub(super) struct Sample<'a> {
    pub(super) launch: &'a Launch,
    pub(super) view: View,
}

impl Sample<'_> {
    /// Seconds of its mean pass.
    pub(super) fn seconds(&self) -> f64 {
        self.launch.seconds / self.view.passes
    }
}

/// A model with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// Which.
    pub model: Model,
    /// The parameters, named by [`Model::parameters`].
    pub parameters: Vec<f64>,
    /// How many times each one's variance is what it would be if the others were known; infinite
    /// where the launches do not determine it, 1 where it was not fitted or not asked.
    pub inflation: Vec<f64>,
    /// What each kernel takes beyond what the model sees, of the hybrid.
    pub factors: BTreeMap<String, Factor>,
    /// The parameters for kernels that have no factor, where they are others.
    pub unseen_parameters: Option<Vec<f64>>,
}

/// What a fit is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum For {
    /// Any launch.
    All,
    /// Launches of the kernels that it is fitted to.
    Seen,
    /// Launches of others.
    Unseen,
    /// How far the parameters lie from those of a fit to all.
    Draw,
}

impl For {
    /// Whether it matters how well the parameters are identified.
    fn shows_its_parameters(self) -> bool {
        matches!(self, Self::All | Self::Draw)
    }
}

/// Scales of a profile's costs lie so far from 1 at most.
pub(super) const SCALE: Domain = Domain::Between(0.02, 50.0);

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
                let why = "the device's profile lacks the latency of memory";
                Error::Unsupported(format!("{}: {why}", self.name()))
            })
        };
        let parameters = match self {
            Self::Roofline => {
                vec![2.0 * device.rate(gpubench_core::class::Class::FloatFma), bandwidth]
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
                let why = "it has parameters that only measured kernels determine";
                return Err(Error::Unsupported(format!("{}: {why}", self.name())));
            }
        };
        Ok(Fitted::new(self, parameters))
    }

    /// Fits it to `samples`, beginning at a fit to nearly the same ones where that is given.
    pub(super) fn fit(
        self,
        samples: &[Sample<'_>],
        device: Option<&Device>,
        what: For,
        near: Option<&Fitted>,
    ) -> Result<Fitted> {
        self.check(samples)?;
        match self {
            Self::Roofline => self.best_rates(samples),
            Self::Hybrid => self.hybrid(samples, what, near),
            _ => self.least_squares(samples, device, what, near),
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

    fn least_squares(
        self,
        samples: &[Sample<'_>],
        device: Option<&Device>,
        what: For,
        near: Option<&Fitted>,
    ) -> Result<Fitted> {
        let mut fitted = Fitted::new(self, descend(self, samples, device, what, near)?);
        if what.shows_its_parameters() {
            fitted.inflation = inflation(self, samples, &fitted.parameters);
        }
        Ok(fitted)
    }

    fn best_rates(self, samples: &[Sample<'_>]) -> Result<Fitted> {
        let rates = rates(samples);
        if rates.iter().any(|rate| *rate <= f64::MIN_POSITIVE) {
            let why = "a roofline needs a kernel with operations and one with bytes";
            return Err(Error::Unsupported(why.into()));
        }
        Ok(Fitted::new(self, rates.to_vec()))
    }

    fn hybrid(self, samples: &[Sample<'_>], what: For, near: Option<&Fitted>) -> Result<Fitted> {
        let measured: Vec<hybrid::Sample> = samples
            .iter()
            .filter_map(|sample| match &sample.view.pass {
                Pass::Work(work) => Some(hybrid::Sample {
                    kernel: sample.launch.kernel.clone(),
                    work: *work,
                    seconds: sample.seconds(),
                }),
                _ => None,
            })
            .collect();
        let start = match (near, what) {
            (Some(near), _) => Start::Near(&near.parameters),
            (None, For::All) => Start::Own,
            (None, _) => Start::Rough,
        };
        let factors = if what == For::Unseen { Factors::None } else { Factors::Each };
        let fitted = hybrid::fit(&measured, start, factors)?;
        let mut all = Fitted {
            inflation: fitted.inflation,
            ..Fitted::new(self, fitted.hybrid.parameters().to_vec())
        };
        all.factors = fitted.hybrid.factors;
        if what == For::All {
            let strange = hybrid::fit(&measured, Start::Own, Factors::None)?.hybrid;
            all.unseen_parameters = Some(strange.parameters().to_vec());
        }
        Ok(all)
    }
}

/// The best rates seen: operations and bytes a second.
pub(super) fn rates(samples: &[Sample<'_>]) -> [f64; 2] {
    let mut best = [f64::MIN_POSITIVE; 2];
    for sample in samples {
        if let Pass::Amounts { operations, bytes, .. } = sample.view.pass {
            let rates = [operations, bytes].map(|amount| amount / sample.seconds());
            best = [best[0].max(rates[0]), best[1].max(rates[1])];
        }
    }
    best
}

impl Fitted {
    fn new(model: Model, parameters: Vec<f64>) -> Self {
        let inflation = vec![1.0; parameters.len()];
        Self { model, parameters, inflation, factors: BTreeMap::new(), unseen_parameters: None }
    }

    /// Seconds of a launch of `kernel` that the model sees as `view`.
    pub fn seconds(&self, kernel: &str, view: &View) -> f64 {
        let (parameters, factor) = self.of(kernel, view);
        view.seconds(parameters, factor)
    }

    /// The parameters for a launch, and its factor.
    pub(super) fn of(&self, kernel: &str, view: &View) -> (&[f64], f64) {
        match (self.factors.get(kernel), &view.pass) {
            (Some(factor), Pass::Work(work)) => (&self.parameters, factor.at(work)),
            _ => (self.unseen_parameters.as_ref().unwrap_or(&self.parameters), 1.0),
        }
    }
}
