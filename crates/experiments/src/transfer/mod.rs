//! Copies of growing size, either way and both at once.

pub mod analysis;
pub mod data;
mod engines;
mod run;
mod section;

use crate::Bench;
use crate::engines::{Engines, either};
use crate::experiment::Experiment;
use crate::plan::{BufferPlan, Case, Limits, sweep_buffer};
use gpubench_analysis::ReportInput;
use gpubench_core::error::Result;
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::workload::Kind;
use gpubench_document::Section;
use gpubench_suite::{Family, HostMemory, Needs};

/// Copies of growing size, either way and both at once.
pub struct Transfer;

impl Experiment for Transfer {
    const KIND: Kind = Kind::new("transfer");
    const ABOUT: &'static str = "Copies of growing size, either way and both at once.";
    const NEEDS: Needs = Needs::NOTHING;
    const FAMILY: Option<Family> = Some(Family::Transfer);
    const HOST_MEMORY: HostMemory = HostMemory::Listed;
    type Spec = ();
    type Plan = ();
    type Data = data::Transfer;

    fn buffers(device: &DeviceInfo, limits: &Limits) -> Option<Vec<BufferPlan>> {
        Some(vec![sweep_buffer(device, limits)])
    }

    fn run(case: &Case, bench: &mut Bench) -> Result<()> {
        run::measure(case, bench)
    }

    fn learn(raw: &Self::Data, found: &mut Engines) {
        found.both_ways = either(found.both_ways, engines::both_ways(raw));
    }

    fn section(input: &ReportInput) -> Option<Section> {
        Some(section::section(input))
    }
}
