//! What a model sees of a kernel: its passes, each a launch of its own.

use super::device::Device;
use super::pass::{Bound, Pass};
use super::{Launch, Model};
use gpubench_core::error::Result;
use gpubench_model::hybrid::Multiples;
use std::sync::Arc;

/// A kernel in a model's eyes: what all its passes take is their number times what their mean takes, the
/// cost of a launch included.
#[derive(Clone, Debug)]
pub struct View {
    /// Launches that make one result.
    pub passes: f64,
    /// The mean one.
    pub(super) pass: Arc<dyn Pass>,
}

impl View {
    /// What `model` sees of `launch`.
    ///
    /// # Errors
    /// `Unsupported` where it lacks the launch's counts or the device's profile, or the group does
    /// not fit.
    pub fn new(model: Model, launch: &Launch, device: Option<&Device>) -> Result<Self> {
        Ok(Self { passes: launch.passes, pass: model.pass(launch, device)? })
    }

    /// Seconds of all passes at the parameters `p`, named as the model's file says; `multiples` are what the
    /// kernel takes beyond what the model sees.
    pub fn seconds(&self, p: &[f64], multiples: Multiples) -> f64 {
        self.passes * self.pass.seconds_with(p, multiples, self.pass.waiting(p))
    }

    /// The parts that the seconds of all passes are made of, as far as the model distinguishes them.
    pub fn parts(&self, p: &[f64], multiples: Multiples) -> Vec<(Bound, f64)> {
        let mut parts = self.pass.parts(p, multiples);
        parts.iter_mut().for_each(|(_, seconds)| *seconds *= self.passes);
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::OwnRoof;
    use gpubench_core::record::sample;

    fn launch(passes: f64) -> Launch {
        Launch {
            key: sample::key("made_up", 1),
            kernel: "made_up".into(),
            passes,
            operations: 4e9,
            bytes: 8e9,
            buffers: 8e9,
            own_roof: OwnRoof::default(),
            counted: Err("matrices".into()),
            seconds: f64::NAN,
        }
    }

    #[test]
    fn every_pass_pays_for_its_launch() {
        let seconds = |passes: f64| {
            let view = View::new(Model::SMOOTH_ROOFLINE, &launch(passes), None).unwrap();
            let parts = view.parts(&[1e-3, 1e12, 1e10, 16.0], Multiples::ONE);
            assert_eq!(parts[0].0, Bound::Launch);
            assert!((parts[0].1 - 1e-3 * passes).abs() < 1e-12, "{parts:?}");
            view.seconds(&[1e-3, 1e12, 1e10, 16.0], Multiples::ONE)
        };
        // The work itself is the same: 0.8 s of bytes.
        assert!((seconds(1.0) - 0.801).abs() < 1e-6);
        assert!((seconds(200.0) - 1.0).abs() < 1e-6);
    }
}
