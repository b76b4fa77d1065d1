//! Time of one launch, from its start to its end on the device.

mod run;
pub mod shares;

use crate::experiment::{Experiment, Run, Timelines, ToSection};
use gpubench_suite::{Needs, Passes};

/// Time of one launch, from its start to its end on the device.
pub struct Kernel;

impl Experiment for Kernel {
    const ABOUT: &'static str = "Time of one launch, from its start to its end on the device.";
    const NEEDS: Needs = Needs { passes: Passes::Taken, ..Needs::KERNEL };
    const RUN: Run = run::measure;
    const SECTION: Option<ToSection> = Some(shares::section);
    type Spec = ();
    type Plan = ();
    type Data = shares::Shares;

    fn timelines(shares: &shares::Shares) -> Option<Timelines> {
        shares::timelines(shares)
    }
}
