//! A model over the variants of one kernel on one device.

use super::device::Device;
use super::fitted::{For, Sample};
use super::view::View;
use super::{Launch, Model};
use gpubench_core::error::Result;

/// A model with what it sees of every variant.
pub struct SpacePredictor<'a> {
    model: Model,
    launches: &'a [Launch],
    device: &'a Device,
    views: Vec<Option<View>>,
}

impl<'a> SpacePredictor<'a> {
    /// Of these launches on this device.
    pub fn new(model: Model, launches: &'a [Launch], device: &'a Device) -> Self {
        let view = |launch: &Launch| View::new(model, launch, Some(device)).ok();
        Self { model, launches, device, views: launches.iter().map(view).collect() }
    }

    /// Seconds of each launch by the model fitted to those at `train`, or with none by the parameters that the device
    /// alone gives it; `None` for launches that the model does not see.
    ///
    /// # Errors
    /// `Unsupported` where the launches to fit are too few, or the device alone does not give the parameters.
    pub fn seconds(&self, train: &[usize]) -> Result<Vec<Option<f64>>> {
        let fitted = if train.is_empty() {
            self.model.unfitted(self.device)?
        } else {
            let sample = |&at: &usize| {
                let view = self.views.get(at)?.clone()?;
                Some(Sample { launch: self.launches.get(at)?, view })
            };
            let samples: Vec<Sample<'_>> = train.iter().filter_map(sample).collect();
            self.model.fit(&samples, Some(self.device), For::Seen, None)?
        };
        let seconds = |(launch, view): (&Launch, &Option<View>)| {
            view.as_ref().map(|view| fitted.seconds(&launch.kernel, view))
        };
        Ok(self.launches.iter().zip(&self.views).map(seconds).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::hand_computed::{changed, device, launch};
    use gpubench_model::hybrid::Multiples;

    /// The launch on one, two, three … times as many groups; the last one was not counted.
    fn launches(model: Model, p: &[f64]) -> Vec<Launch> {
        let of = |times: i32| {
            let launch = changed(f64::from(8 * times), |_| ());
            let seconds =
                View::new(model, &launch, Some(&device())).unwrap().seconds(p, Multiples::ONE);
            Launch { seconds, ..launch }
        };
        let lost = Launch { counted: Err("matrices".into()), ..launch() };
        (1..8).map(of).chain([lost]).collect()
    }

    #[test]
    fn without_launches_the_device_alone_predicts() {
        let (model, device) = (Model::COMPONENTS, device());
        let launches = launches(model, &[0.0, 1.0, 1.0, 1.0]);
        let predicted = SpacePredictor::new(model, &launches, &device).seconds(&[]).unwrap();
        assert_eq!((predicted.len(), predicted[7]), (8, None));
        for (found, launch) in predicted.iter().flatten().zip(&launches) {
            assert!((found / launch.seconds - 1.0).abs() < 1e-9, "{found}");
        }
        assert!(SpacePredictor::new(Model::HYBRID, &launches, &device).seconds(&[]).is_err());
    }

    #[test]
    fn launches_are_fitted_to() {
        let (model, device) = (Model::COMPONENTS, device());
        let launches = launches(model, &[1e-9, 1.0, 3.0, 1.0]);
        let space = SpacePredictor::new(model, &launches, &device);
        let predicted = space.seconds(&[0, 1, 2, 3, 4, 7, 99]).unwrap();
        for (found, launch) in predicted.iter().flatten().zip(&launches) {
            assert!((found / launch.seconds - 1.0).abs() < 1e-2, "{found} {}", launch.seconds);
        }
        let why = space.seconds(&[0, 1]).unwrap_err().to_string();
        assert!(why.contains("2 were measured: 3 more"), "{why}");
    }
}
