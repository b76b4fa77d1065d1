//! A problem split over several devices.

pub mod analysis;
pub mod data;
mod partition;
mod partitioner;
mod run;
mod section;
mod split_run;

use crate::experiment::Experiment;
use crate::plan::Case;
use crate::{Bench, DeviceGroup};
use gpubench_analysis::ReportInput;
use gpubench_core::error::Result;
use gpubench_core::workload::Kind;
use gpubench_document::Section;
use gpubench_suite::{Family, HostMemory, Needs};

/// A problem split over several devices.
pub struct Split;

impl Experiment for Split {
    const KIND: Kind = Kind::new("split");
    const ABOUT: &'static str = "A problem split over several devices.";
    const NEEDS: Needs = Needs::CHUNKS;
    const FAMILY: Option<Family> = Some(Family::Concurrency);
    const HOST_MEMORY: HostMemory = HostMemory::Listed;
    const SEVERAL_DEVICES: bool = true;
    type Spec = ();
    type Plan = ();
    type Data = data::Split;

    fn section(input: &ReportInput) -> Option<Section> {
        Some(section::section(input))
    }

    fn run_on_group(cases: &[Case], bench: &mut Bench<DeviceGroup>) -> Result<()> {
        run::measure(cases, bench)
    }
}
