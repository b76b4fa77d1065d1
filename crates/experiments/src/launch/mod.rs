//! Time from asking for a launch on an idle device to its start.

mod data;
mod run;
mod section;

use crate::Bench;
use crate::experiment::Experiment;
use crate::plan::Case;
pub(crate) use data::Submissions;
use gpubench_analysis::ReportInput;
use gpubench_core::error::Result;
use gpubench_core::workload::Kind;
use gpubench_document::Section;

/// Time from asking for a launch on an idle device to its start.
pub struct Launch;

impl Experiment for Launch {
    const KIND: Kind = Kind::new("launch");
    const ABOUT: &'static str = "Time from asking for a launch on an idle device to its start.";
    type Spec = ();
    type Plan = ();
    type Data = Submissions;

    fn run(case: &Case, bench: &mut Bench) -> Result<()> {
        run::measure(case, bench)
    }

    fn costs(raw: &Self::Data) -> Vec<(&'static str, Vec<f64>)> {
        raw.costs()
    }

    fn section(input: &ReportInput) -> Option<Section> {
        Some(section::section(input))
    }
}
