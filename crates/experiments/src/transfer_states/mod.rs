//! What several devices move at the same time, and transfer plans made of that.

pub mod analysis;
pub mod data;
mod flows;
mod plans;
mod run;
mod section;

use crate::experiment::Experiment;
use crate::plan::{BufferPlan, Case, Limits, copy_buffer};
use crate::{Bench, DeviceGroup};
use gpubench_analysis::ReportInput;
use gpubench_core::error::Result;
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::workload::Kind;
use gpubench_document::Section;
use gpubench_suite::{Family, HostMemory, Needs};

/// What several devices move at the same time, and transfer plans made of that.
pub struct TransferStates;

impl Experiment for TransferStates {
    const KIND: Kind = Kind::new("transfer-states");
    const ABOUT: &'static str =
        "What several devices move at the same time, and transfer plans made of that.";
    const NEEDS: Needs = Needs::NOTHING;
    const FAMILY: Option<Family> = Some(Family::Transfer);
    const HOST_MEMORY: HostMemory = HostMemory::Listed;
    const SEVERAL_DEVICES: bool = true;
    type Spec = ();
    type Plan = ();
    type Data = data::TransferStates;

    fn buffers(device: &DeviceInfo, limits: &Limits) -> Option<Vec<BufferPlan>> {
        Some(vec![copy_buffer(device, limits)])
    }

    fn section(input: &ReportInput) -> Option<Section> {
        Some(section::section(input))
    }

    fn run_on_group(cases: &[Case], bench: &mut Bench<DeviceGroup>) -> Result<()> {
        run::measure(cases, bench)
    }
}
