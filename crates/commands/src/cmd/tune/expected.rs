//! What each variant of a search is expected to take before anything is measured: by the emulator's counts of one of its
//! groups, and the profile of the device.

use super::target::Target;
use crate::kernel_counts::counted_launch;
use gpubench_analysis::fit::{End, Model, Profiled};
use gpubench_core::error::Result;
use gpubench_core::record::profile::Profile;
use gpubench_experiments::plan::{Limits, shuffle};
use gpubench_tune::model::Expected;
use rayon::prelude::*;
use std::time::{Duration, Instant};

/// The share of a search's time in which variants are counted, and the longest where only their number is limited.
const SHARE: f64 = 0.2;
const LONGEST: Duration = Duration::from_secs(60);

/// Seconds that the published model of components expects of each variant on the device of `profile`. `None` of those
/// that the emulator does not take (it runs WGSL only), or that there was no time for: at most a fifth of `budget`.
///
/// # Errors
/// Where the profile is not enough for the model.
pub fn expected(
    target: &Target,
    profile: &Profile,
    limits: &Limits,
    budget: Option<Duration>,
) -> Result<Expected> {
    let profiled = Profiled::new(Model::COMPONENTS, profile, End::Middle)?;
    let (begun, most) = (Instant::now(), budget.map_or(LONGEST, |time| time.mul_f64(SHARE)));
    let seconds = |variant: usize| {
        if begun.elapsed() > most {
            return None;
        }
        let case = target.emulated(variant, limits).ok()?;
        let launch = counted_launch(&case, profiled.rules()).ok()?;
        Some(profiled.predict(&launch).ok()?.seconds)
    };
    // Those that there is no time for are any of them.
    let mut order: Vec<usize> = (0..target.variants.len()).collect();
    shuffle(&mut order, limits.seed, 0);
    let found: Vec<_> = order.par_iter().map(|variant| (*variant, seconds(*variant))).collect();
    let mut all = vec![None; target.variants.len()];
    found.into_iter().for_each(|(variant, seconds)| all[variant] = seconds);
    Ok(Expected(all))
}
