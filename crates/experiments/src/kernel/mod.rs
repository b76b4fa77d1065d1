//! Time of one launch, from its start to its end on the device.

mod run;
pub mod shares;

use crate::Bench;
use crate::experiment::{Experiment, Timelines};
use crate::plan::Case;
use gpubench_analysis::ReportInput;
use gpubench_core::error::Result;
use gpubench_core::workload::Kind;
use gpubench_document::Section;
use gpubench_suite::{Needs, Passes};

/// Time of one launch, from its start to its end on the device.
pub struct Kernel;

impl Experiment for Kernel {
    const KIND: Kind = Kind::KERNEL;
    const ABOUT: &'static str = "Time of one launch, from its start to its end on the device.";
    const NEEDS: Needs = Needs { passes: Passes::Taken, ..Needs::KERNEL };
    type Spec = ();
    type Plan = ();
    type Data = shares::Shares;

    fn run(case: &Case, bench: &mut Bench) -> Result<()> {
        run::measure(case, bench)
    }

    fn timelines(shares: &shares::Shares) -> Option<Timelines> {
        shares::timelines(shares)
    }

    fn section(input: &ReportInput) -> Option<Section> {
        Some(shares::section(input))
    }
}
