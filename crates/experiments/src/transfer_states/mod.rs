//! What several devices move at the same time, and transfer plans made of that.

pub mod analysis;
pub mod data;
mod flows;
mod plans;
mod run;
mod section;

use crate::experiment::{Experiment, RunOnGroup, ToSection};
use crate::plan::{BufferPlan, Limits, copy_buffer};
use gpubench_core::gpu::DeviceInfo;
use gpubench_suite::{Family, HostMemory, Needs};

/// What several devices move at the same time, and transfer plans made of that.
pub struct TransferStates;

impl Experiment for TransferStates {
    const ABOUT: &'static str =
        "What several devices move at the same time, and transfer plans made of that.";
    const NEEDS: Needs = Needs::NOTHING;
    const FAMILY: Option<Family> = Some(Family::Transfer);
    const HOST_MEMORY: HostMemory = HostMemory::Listed;
    const SEVERAL_DEVICES: bool = true;
    const RUN_ON_GROUP: RunOnGroup = run::measure;
    const SECTION: Option<ToSection> = Some(section::section);
    type Spec = ();
    type Plan = ();
    type Data = data::TransferStates;

    fn buffers(device: &DeviceInfo, limits: &Limits) -> Option<Vec<BufferPlan>> {
        Some(vec![copy_buffer(device, limits)])
    }
}
