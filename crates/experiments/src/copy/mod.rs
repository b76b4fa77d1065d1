//! Copies of a workload's buffers between host and device, one way.

mod run;
mod section;

use crate::Bench;
use crate::experiment::{Experiment, Nothing};
use crate::plan::Case;
use gpubench_analysis::ReportInput;
use gpubench_core::error::Result;
use gpubench_core::workload::Kind;
use gpubench_document::Section;
use gpubench_suite::{Family, HostMemory, Needs};

/// Time of a copy between host and device, one way.
pub struct OneWay<const TO_DEVICE: bool>;

/// Time of a copy from host to device.
pub type Upload = OneWay<true>;
/// Time of a copy from device to host.
pub type Download = OneWay<false>;

impl<const TO_DEVICE: bool> Experiment for OneWay<TO_DEVICE> {
    const KIND: Kind = Kind::new(if TO_DEVICE { "upload" } else { "download" });
    const ABOUT: &'static str = if TO_DEVICE {
        "Time of a copy from host to device."
    } else {
        "Time of a copy from device to host."
    };
    const NEEDS: Needs = Needs { buffers: true, ..Needs::NOTHING };
    const FAMILY: Option<Family> = Some(Family::Transfer);
    const HOST_MEMORY: HostMemory = HostMemory::All;
    type Spec = ();
    type Plan = ();
    type Data = Nothing;

    fn run(case: &Case, bench: &mut Bench) -> Result<()> {
        run::measure(case, TO_DEVICE, bench)
    }

    /// Of both ways, once.
    fn section(input: &ReportInput) -> Option<Section> {
        TO_DEVICE.then(|| section::section(input))
    }
}
