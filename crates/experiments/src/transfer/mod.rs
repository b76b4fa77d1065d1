//! Copies of growing size, either way and both at once.

pub mod analysis;
pub mod data;
mod engines;
mod run;
mod section;

use crate::engines::{Engines, either};
use crate::experiment::{Experiment, Run, ToSection};
use crate::plan::{BufferPlan, Limits, sweep_buffer};
use gpubench_core::gpu::DeviceInfo;
use gpubench_suite::{Family, HostMemory, Needs};

/// Copies of growing size, either way and both at once.
pub struct Transfer;

impl Experiment for Transfer {
    const ABOUT: &'static str = "Copies of growing size, either way and both at once.";
    const NEEDS: Needs = Needs::NOTHING;
    const FAMILY: Option<Family> = Some(Family::Transfer);
    const HOST_MEMORY: HostMemory = HostMemory::Listed;
    const RUN: Run = run::measure;
    const SECTION: Option<ToSection> = Some(section::section);
    type Spec = ();
    type Plan = ();
    type Data = data::Transfer;

    fn buffers(device: &DeviceInfo, limits: &Limits) -> Option<Vec<BufferPlan>> {
        Some(vec![sweep_buffer(device, limits)])
    }

    fn learn(raw: &Self::Data, found: &mut Engines) {
        found.both_ways = either(found.both_ways, engines::both_ways(raw));
    }
}
