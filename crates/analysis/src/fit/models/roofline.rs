//! Model 3, roofline, with the best rates seen.

use super::KernelModel;
use crate::fit::device::Device;
use crate::fit::fitted::{Fitted, For, Sample};
use crate::fit::pass::{Bound, Pass};
use crate::fit::{Launch, Model, OwnRoof};
use gpubench_core::class::Class;
use gpubench_core::error::{Error, Result};
use gpubench_model::hybrid::Multiples;
use gpubench_model::roofline::Ceilings;
use std::sync::Arc;

/// The model.
pub(super) const MODEL: Model = Model {
    id: "roofline",
    name: "roofline",
    parameters: &["peak", "bandwidth"],
    needs_profile: false,
    about: Some("Model 3: arithmetic or memory, at their best"),
    rules: &Roofline,
};

/// Its rules.
struct Roofline;

/// What it sees of a launch, in terms of the device's roof.
#[derive(Clone, Copy, Debug)]
pub(super) struct Amounts {
    /// Operations of `f32` that take as long as its own ones.
    pub operations: f64,
    /// Bytes from the last level of memory that take as long as those that must be moved.
    pub bytes: f64,
}

impl Amounts {
    /// Of the mean pass; its operations are those that were counted, where they were.
    pub fn of(launch: &Launch) -> Self {
        let operations = match &launch.counted {
            Ok(counted) => counted.operations(),
            Err(_) => launch.operations / launch.passes,
        };
        let OwnRoof { peak, bandwidth } = launch.own_roof;
        Self { operations: operations / peak, bytes: launch.bytes / launch.passes / bandwidth }
    }
}

/// The best rates seen: operations and bytes a second.
pub(super) fn rates(samples: &[Sample<'_>]) -> [f64; 2] {
    let mut best = [f64::MIN_POSITIVE; 2];
    for sample in samples {
        let Amounts { operations, bytes } = Amounts::of(sample.launch);
        let rates = [operations, bytes].map(|amount| amount / sample.seconds());
        best = [best[0].max(rates[0]), best[1].max(rates[1])];
    }
    best
}

impl KernelModel for Roofline {
    fn pass(&self, launch: &Launch, _: Option<&Device>) -> Result<Arc<dyn Pass>> {
        Ok(Arc::new(Amounts::of(launch)))
    }

    fn unfitted(&self, device: &Device) -> Result<Vec<f64>> {
        Ok(vec![2.0 * device.rate(Class::FloatFma), device.read.at(f64::INFINITY)])
    }

    fn min_samples(&self, _: usize) -> usize {
        1
    }

    fn own_fit(
        &self,
        samples: &[Sample<'_>],
        _: For,
        _: Option<&Fitted>,
    ) -> Option<Result<Fitted>> {
        let rates = rates(samples);
        Some(if rates.iter().any(|rate| *rate <= f64::MIN_POSITIVE) {
            let why = "a roofline needs a kernel with operations and one with bytes";
            Err(Error::Unsupported(why.into()))
        } else {
            Ok(Fitted::new(Model::ROOFLINE, rates.to_vec()))
        })
    }
}

impl Pass for Amounts {
    fn seconds_with(&self, p: &[f64], _: Multiples, _: f64) -> f64 {
        Ceilings { peak: p[0], bandwidth: p[1] }.ideal_seconds(self.operations, self.bytes)
    }

    fn parts(&self, p: &[f64], _: Multiples) -> Vec<(Bound, f64)> {
        vec![(Bound::Compute, self.operations / p[0]), (Bound::Global, self.bytes / p[1])]
    }
}
