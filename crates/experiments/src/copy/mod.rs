//! Copies of a workload's buffers between host and device, one way.

mod run;
mod section;

use crate::experiment::{Experiment, Nothing, Run, ToSection};
use gpubench_core::workload::Kind;
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
    const RUN: Run = |case, bench| run::measure(case, TO_DEVICE, bench);
    /// Of both ways, once.
    const SECTION: Option<ToSection> = if TO_DEVICE { Some(section::section) } else { None };
    type Spec = ();
    type Plan = ();
    type Data = Nothing;
}
