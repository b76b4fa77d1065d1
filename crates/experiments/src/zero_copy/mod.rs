//! A kernel on memory that the host maps, against the same kernel between copies.

pub mod analysis;
pub mod data;
mod plan;
mod run;
mod section;

use crate::Bench;
use crate::experiment::{Experiment, Planning};
use crate::plan::Case;
use gpubench_analysis::ReportInput;
use gpubench_core::error::Result;
use gpubench_core::reason::Reason;
use gpubench_core::workload::Kind;
use gpubench_document::Section;
use gpubench_suite::{Family, Needs, Passes};

/// A kernel on memory that the host maps, against the same kernel between copies.
pub struct ZeroCopy;

impl Experiment for ZeroCopy {
    const KIND: Kind = Kind::new("zero-copy");
    const ABOUT: &'static str =
        "A kernel on memory that the host maps, against the same kernel between copies.";
    const NEEDS: Needs = Needs { buffers: true, passes: Passes::Taken, ..Needs::KERNEL };
    const FAMILY: Option<Family> = Some(Family::Memory);
    type Spec = ();
    type Plan = ();
    type Data = data::ZeroCopy;

    fn plan(_: &(), case: &Case, planning: &Planning) -> Result<(), Reason> {
        plan::check(case, planning)
    }

    fn run(case: &Case, bench: &mut Bench) -> Result<()> {
        run::measure(case, bench)
    }

    fn section(input: &ReportInput) -> Option<Section> {
        Some(section::section(input))
    }
}
