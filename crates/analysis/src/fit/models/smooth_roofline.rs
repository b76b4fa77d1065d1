//! Model 3 with a launch cost and a rounded corner.

use super::roofline::{Amounts, rates};
use super::{KernelModel, shortest};
use crate::fit::device::Device;
use crate::fit::fitted::Sample;
use crate::fit::pass::{Bound, Pass};
use crate::fit::{Launch, Model};
use gpubench_core::class::Class;
use gpubench_core::error::Result;
use gpubench_model::hybrid::Multiples;
use gpubench_model::least_squares::Domain;
use gpubench_model::smooth_roofline::SmoothRoofline;
use std::sync::Arc;

/// The corner's sharpness where nothing was measured: the sharper of the two that descents begin with.
const UNFITTED_SHARPNESS: f64 = 4.0;

/// The model.
pub(super) const MODEL: Model = Model {
    id: "smooth-roofline",
    name: "smooth roofline",
    parameters: &["launch", "peak", "bandwidth", "sharpness"],
    needs_profile: false,
    about: None,
    rules: &Smooth,
};

/// Its rules.
struct Smooth;

/// What it sees of a launch.
#[derive(Debug)]
struct Rounded(Amounts);

impl KernelModel for Smooth {
    fn pass(&self, launch: &Launch, _: Option<&Device>) -> Result<Arc<dyn Pass>> {
        Ok(Arc::new(Rounded(Amounts::of(launch))))
    }

    fn unfitted(&self, device: &Device) -> Result<Vec<f64>> {
        let peak = 2.0 * device.rate(Class::FloatFma);
        Ok(vec![device.launch, peak, device.read.at(f64::INFINITY), UNFITTED_SHARPNESS])
    }

    fn domains(&self, _: Option<&Device>) -> Vec<Domain> {
        let positive = Domain::Positive;
        vec![positive, positive, positive, Domain::Between(1.0, 16.0)]
    }

    fn starts(&self, samples: &[Sample<'_>], _: Option<&Device>) -> Result<Vec<Vec<f64>>> {
        let ([peak, bandwidth], shortest) = (rates(samples), shortest(samples));
        let start =
            |sharpness| [0.1, 0.9].map(|share| vec![share * shortest, peak, bandwidth, sharpness]);
        Ok([1.5, UNFITTED_SHARPNESS].map(start).concat())
    }
}

impl Pass for Rounded {
    fn seconds_with(&self, p: &[f64], _: Multiples, _: f64) -> f64 {
        let [launch, peak, bandwidth, sharpness] = [p[0], p[1], p[2], p[3]];
        SmoothRoofline { launch, peak, bandwidth, sharpness }
            .seconds(self.0.operations, self.0.bytes)
    }

    fn parts(&self, p: &[f64], _: Multiples) -> Vec<(Bound, f64)> {
        vec![
            (Bound::Launch, p[0]),
            (Bound::Compute, self.0.operations / p[1]),
            (Bound::Global, self.0.bytes / p[2]),
        ]
    }
}
