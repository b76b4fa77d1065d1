//! A model on a device that its profile alone prices: nothing is fitted to any kernel's time.

use super::device::{Device, End};
use super::fitted::Fitted;
use super::pass::Bound;
use super::view::View;
use super::{Launch, Model};
use gpubench_core::error::Result;
use gpubench_core::record::profile::Profile;
use gpubench_emulator::Rules;

/// A model with the parameters that a device's profile gives it.
#[derive(Clone, Debug)]
pub struct Profiled {
    fitted: Fitted,
    device: Device,
}

/// What a launch is predicted to take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictedTime {
    /// Seconds.
    pub seconds: f64,
    /// The part of it that takes longest.
    pub bound: Bound,
}

impl Profiled {
    /// `model` on the device of `profile`, whose intervals are taken at `end`.
    ///
    /// # Errors
    /// `Unsupported` where the profile lacks what the model needs, or the model has parameters
    /// that only measured kernels determine.
    pub fn new(model: Model, profile: &Profile, end: End) -> Result<Self> {
        let device = Device::new(profile, end)?;
        Ok(Self { fitted: model.unfitted(&device)?, device })
    }

    /// Which model.
    pub fn model(&self) -> Model {
        self.fitted.model
    }

    /// By what the kernels of the device are counted.
    pub fn rules(&self) -> Rules {
        self.device.rules
    }

    /// What `launch` takes.
    ///
    /// # Errors
    /// `Unsupported` where it was not counted, or does not fit the device.
    pub fn predict(&self, launch: &Launch) -> Result<PredictedTime> {
        let view = View::new(self.fitted.model, launch, Some(&self.device))?;
        let (parameters, multiples) = self.fitted.of(&launch.kernel, &view);
        let parts = view.parts(parameters, multiples);
        let longest = parts.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        Ok(PredictedTime {
            seconds: view.seconds(parameters, multiples),
            bound: longest.map_or(Bound::Launch, |(bound, _)| bound),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::hand_computed::{changed, launch, profile};

    #[test]
    fn a_profile_predicts_a_launch_and_its_longest_part() {
        let profiled = Profiled::new(Model::COMPONENTS, &profile(), End::Middle).unwrap();
        let found = profiled.predict(&launch()).unwrap();
        assert!((found.seconds - 192e-9).abs() < 1e-15, "{found:?}");
        assert_eq!(found.bound, Bound::Global);
        // A group alone: its instructions' latency takes longer than its bytes.
        let one = profiled.predict(&changed(1.0, |_| ())).unwrap();
        assert!((one.seconds - 80e-9).abs() < 1e-15 && one.bound == Bound::Compute, "{one:?}");
        // All eight groups of its launch, which do the same, stand for themselves.
        let whole = changed(8.0, |counts| {
            counts.groups = 8;
            counts.instructions.values_mut().for_each(|count| count.items *= 8);
            counts.global_reads.transactions *= 8;
            counts.global_writes.transactions *= 8;
            counts.local_reads.rounds *= 8;
        });
        assert_eq!(profiled.predict(&whole).unwrap(), found);
        assert_eq!(profiled.model(), Model::COMPONENTS);
        let mut narrow = profile();
        narrow.device.subgroup = Some([8, 8]);
        let rules = Profiled::new(Model::COMPONENTS, &narrow, End::Middle).unwrap().rules();
        assert_eq!((rules.warp, rules.banks), (8, 32));
        let lost = Launch { counted: Err("matrices".into()), ..launch() };
        assert!(profiled.predict(&lost).is_err());
        assert!(Profiled::new(Model::HYBRID, &profile(), End::Middle).is_err());
    }
}
