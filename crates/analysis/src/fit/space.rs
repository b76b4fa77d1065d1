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
