//! What each variant of a search is expected to take before anything is measured: by the emulator's counts of one of its
//! groups, and the profile of the device.

use super::lab::MAX_WHY;
use super::target::Target;
use crate::cmd::run::interrupt;
use crate::kernel_counts::counted_launch;
use gpubench_analysis::fit::Profiled;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::text::printable;
use gpubench_core::units::seconds;
use gpubench_experiments::plan::{Limits, emulated_device, shuffle};
use gpubench_report::progress::say;
use gpubench_tune::model::Expected;
use rayon::prelude::*;
use std::time::{Duration, Instant};

/// The share of a search's time in which variants are counted, and how long that may take where only their number is
/// limited.
const SHARE: f64 = 0.2;
const LONGEST: Duration = Duration::from_secs(60);

/// Seconds that the published model of components expects of each variant on a device with a profile. Nothing of those
/// that the device or the emulator (it runs WGSL only) does not take, and of those that a fifth of `budget` was too short
/// for, or the user did not wait for.
pub fn expected(target: &Target, limits: &Limits, budget: Option<Duration>) -> Expected {
    let Some(profiled) = &target.profiled else { return Expected::default() };
    let begun = Instant::now();
    let limit = budget.map_or(LONGEST, |time| time.mul_f64(SHARE));
    let left = || limit.saturating_sub(begun.elapsed());
    // Those that there is no time for are any of them.
    let mut order: Vec<usize> = (0..target.variants.len()).collect();
    shuffle(&mut order, limits.seed, 0);
    let one = |variant: &usize| (*variant, time(target, *variant, (profiled, limits), left()));
    let found: Vec<_> = order.par_iter().map(one).collect();
    let mut all = vec![None; target.variants.len()];
    let mut why = None;
    for (variant, time) in found {
        match time {
            Ok(seconds) => all[variant] = Some(seconds),
            Err(error) => why = why.or(Some(error)),
        }
    }
    let (known, count) = (all.iter().flatten().count(), all.len());
    let (device, workload) = (target.device.label(), &target.workload.name);
    let took = seconds(begun.elapsed().as_secs_f64());
    let line = |why: Error| printable(&why.to_string(), MAX_WHY);
    let why = why.map_or_else(String::new, |why| format!("; of another: {}", line(why)));
    say(&format!("{device} {workload}: counts order {known} of {count} variants ({took}){why}"));
    Expected(all)
}

/// Seconds of one variant; counting it may take the time that is `left`.
fn time(
    target: &Target,
    variant: usize,
    (profiled, limits): (&Profiled, &Limits),
    left: Duration,
) -> Result<f64> {
    let missing = |why: &str| Err(Error::Unsupported(why.to_owned()));
    if interrupt::asked() {
        return missing("the search was interrupted");
    }
    if left.is_zero() {
        return missing("there was no time to count it");
    }
    // What the device does not take is not searched.
    let on = |device: &DeviceInfo| {
        target.case(device, variant, limits).map_err(|why| Error::Unsupported(why.to_string()))
    };
    on(&target.device)?;
    let case = on(&emulated_device())?;
    let launch = counted_launch(&case, profiled.rules(), left)?;
    Ok(profiled.predict(&launch)?.seconds)
}
