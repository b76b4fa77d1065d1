//! Models of a kernel that are fitted per device: one file a model, which holds all that is particular to its fit.
//! Its equations are the file of the same name in `gpubench_model`, where papers have them; [`Model`] lists it.

mod components;
mod hybrid;
mod parallel_degrees;
mod roofline;
mod smooth_roofline;
mod warp_timeline;

use super::Launch;
use super::descent::least_squares;
use super::device::Device;
use super::fitted::{Fitted, For, Sample};
use super::pass::Pass;
use gpubench_core::error::{Error, Result};
use gpubench_model::least_squares::Domain;
use serde::{Serialize, Serializer};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A model of a kernel that is fitted per device.
#[derive(Clone, Copy)]
pub struct Model {
    /// Its name, with dashes.
    pub id: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What the parameters are called.
    pub parameters: &'static [&'static str],
    /// Whether it is priced by the device's profile.
    pub needs_profile: bool,
    /// In a few words, where a profile alone gives its parameters.
    pub about: Option<&'static str>,
    rules: &'static dyn KernelModel,
}

impl Model {
    /// Model 3 with the best rates seen.
    pub const ROOFLINE: Self = roofline::MODEL;
    /// Model 3 with a launch cost and a rounded corner.
    pub const SMOOTH_ROOFLINE: Self = smooth_roofline::MODEL;
    /// Model 4.
    pub const WARP_TIMELINE: Self = warp_timeline::MODEL;
    /// Model 5.
    pub const PARALLEL_DEGREES: Self = parallel_degrees::MODEL;
    /// Model 6.
    pub const COMPONENTS: Self = components::MODEL;
    /// Our own.
    pub const HYBRID: Self = hybrid::MODEL;

    /// All, by their numbers.
    pub const ALL: [Self; 6] = [
        Self::ROOFLINE,
        Self::SMOOTH_ROOFLINE,
        Self::WARP_TIMELINE,
        Self::PARALLEL_DEGREES,
        Self::COMPONENTS,
        Self::HYBRID,
    ];
}

/// How a model prices launches and is fitted.
pub trait KernelModel: Sync {
    /// What it sees of the mean pass of `launch`.
    ///
    /// # Errors
    /// `Unsupported` where it lacks the launch's counts or the device's profile, or the group does
    /// not fit.
    fn pass(&self, launch: &Launch, device: Option<&Device>) -> Result<Arc<dyn Pass>>;

    /// The parameters as the device's profile gives them, without any fit.
    fn unfitted(&self, _: &Device) -> Result<Vec<f64>> {
        Err(Error::Unsupported("it has parameters that only measured kernels determine".into()))
    }

    /// Fewest samples that so many parameters can be fitted to.
    fn min_samples(&self, parameters: usize) -> usize {
        parameters + 1
    }

    /// Where its parameters may lie.
    fn domains(&self, _: Option<&Device>) -> Vec<Domain> {
        vec![]
    }

    /// Where descents begin.
    fn starts(&self, _: &[Sample<'_>], _: Option<&Device>) -> Result<Vec<Vec<f64>>> {
        Ok(vec![])
    }

    /// A fit of its own kind; `None` where least squares are found by descents.
    fn own_fit(&self, _: &[Sample<'_>], _: For, _: Option<&Fitted>) -> Option<Result<Fitted>> {
        None
    }
}

impl Deref for Model {
    type Target = dyn KernelModel;

    fn deref(&self) -> &Self::Target {
        self.rules
    }
}

impl Model {
    /// The parameters as the device's profile gives them, without any fit.
    ///
    /// # Errors
    /// `Unsupported` for a model that is only fitted, and where the profile lacks something.
    pub fn unfitted(self, device: &Device) -> Result<Fitted> {
        let parameters = self.rules.unfitted(device).map_err(|error| match error {
            Error::Unsupported(why) => Error::Unsupported(format!("{}: {why}", self.name)),
            other => other,
        });
        Ok(Fitted::new(self, parameters?))
    }

    /// Fits it to `samples`, beginning at a fit to nearly the same ones where that is given.
    pub(super) fn fit(
        self,
        samples: &[Sample<'_>],
        device: Option<&Device>,
        what: For,
        near: Option<&Fitted>,
    ) -> Result<Fitted> {
        let needed = self.rules.min_samples(self.parameters.len());
        let missing = needed.saturating_sub(samples.len());
        if missing > 0 {
            return Err(Error::Unsupported(format!(
                "it needs at least {needed} kernels and sizes, {} were measured: {missing} more",
                samples.len()
            )));
        }
        let own = self.rules.own_fit(samples, what, near);
        own.unwrap_or_else(|| least_squares(self, samples, device, what, near))
    }
}

impl PartialEq for Model {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Model {}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

impl Serialize for Model {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id)
    }
}

/// Scales of a profile's costs lie so far from 1 at most.
const SCALE: Domain = Domain::Between(0.02, 50.0);

/// The device's profile.
fn profiled(device: Option<&Device>) -> Result<&Device> {
    let why = "it needs the device's profile: `gpubench run characterise`".to_owned();
    device.ok_or(Error::Unsupported(why))
}

/// Seconds of the shortest sample.
fn shortest(samples: &[Sample<'_>]) -> f64 {
    samples.iter().map(Sample::seconds).fold(f64::INFINITY, f64::min)
}

/// The parameters of the profile as a start, of which the first are the seconds of a launch.
fn profiled_start(
    model: &dyn KernelModel,
    samples: &[Sample<'_>],
    device: Option<&Device>,
) -> Result<Vec<f64>> {
    let mut start = model.unfitted(profiled(device)?)?;
    for value in &mut start {
        *value = value.max(1e-12);
    }
    // A launch of the profile may be longer than the shortest kernel, timed otherwise.
    let shortest = shortest(samples);
    start[0] = start[0].min(0.5 * shortest).max(1e-3 * shortest);
    Ok(start)
}

#[cfg(test)]
mod tests;
