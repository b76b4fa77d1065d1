//! Copies of a workload's buffers between host and device, one way.

mod run;
mod section;

use crate::Bench;
use crate::experiment::{Experiment, Nothing, Planning};
use crate::plan::Case;
use gpubench_analysis::ReportInput;
use gpubench_core::error::Result;
use gpubench_core::reason::Reason;
use gpubench_core::workload::Kind;
use gpubench_document::Section;
use gpubench_suite::{Family, HostMemory, Needs};

/// Time of a copy from host to device.
pub struct Upload;

impl Experiment for Upload {
    const KIND: Kind = Kind::new("upload");
    const ABOUT: &'static str = "Time of a copy from host to device.";
    const NEEDS: Needs = Needs { buffers: true, ..Needs::NOTHING };
    const FAMILY: Option<Family> = Some(Family::Transfer);
    const HOST_MEMORY: HostMemory = HostMemory::All;
    type Spec = ();
    type Plan = ();
    type Data = Nothing;

    fn plan(_: &(), _: &Case, _: &Planning) -> Result<(), Reason> {
        Ok(())
    }

    fn run(case: &Case, bench: &mut Bench) -> Result<()> {
        run::measure(case, true, bench)
    }

    /// Of both ways.
    fn section(input: &ReportInput) -> Option<Section> {
        Some(section::section(input))
    }
}

/// Time of a copy from device to host.
pub struct Download;

impl Experiment for Download {
    const KIND: Kind = Kind::new("download");
    const ABOUT: &'static str = "Time of a copy from device to host.";
    const NEEDS: Needs = Needs { buffers: true, ..Needs::NOTHING };
    const FAMILY: Option<Family> = Some(Family::Transfer);
    const HOST_MEMORY: HostMemory = HostMemory::All;
    type Spec = ();
    type Plan = ();
    type Data = Nothing;

    fn plan(_: &(), _: &Case, _: &Planning) -> Result<(), Reason> {
        Ok(())
    }

    fn run(case: &Case, bench: &mut Bench) -> Result<()> {
        run::measure(case, false, bench)
    }
}
