//! Time of every variant of a kernel against the number of work-groups: their differences are the device's costs.

pub mod data;
pub mod profile;
mod run;
mod section;

use crate::Bench;
use crate::experiment::Experiment;
use crate::plan::Case;
use gpubench_analysis::ReportInput;
use gpubench_core::error::Result;
use gpubench_core::workload::Kind;
use gpubench_document::Section;

/// Time of every variant of a kernel against the number of work-groups: their differences are the device's costs.
pub struct Characterise;

impl Experiment for Characterise {
    const KIND: Kind = Kind::new("characterise");
    const ABOUT: &'static str = "Time of every variant of a kernel against the number of work-groups: their differences are the device's costs.";
    type Spec = ();
    type Plan = ();
    type Data = data::Characterised;

    fn run(case: &Case, bench: &mut Bench) -> Result<()> {
        run::measure(case, bench)
    }

    fn section(input: &ReportInput) -> Option<Section> {
        section::section(input)
    }
}
