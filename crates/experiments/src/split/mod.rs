//! A problem split over several devices.

pub mod analysis;
pub mod data;
mod partition;
mod partitioner;
mod run;
mod section;
mod split_run;

use crate::experiment::{Experiment, RunOnGroup, ToSection};
use gpubench_suite::{Family, HostMemory, Needs};

/// A problem split over several devices.
pub struct Split;

impl Experiment for Split {
    const ABOUT: &'static str = "A problem split over several devices.";
    const NEEDS: Needs = Needs::CHUNKS;
    const FAMILY: Option<Family> = Some(Family::Concurrency);
    const HOST_MEMORY: HostMemory = HostMemory::Listed;
    const SEVERAL_DEVICES: bool = true;
    const RUN_ON_GROUP: RunOnGroup = run::measure;
    const SECTION: Option<ToSection> = Some(section::section);
    type Spec = ();
    type Plan = ();
    type Data = data::Split;
}
