//! A kernel that accesses a buffer in strides against one whose buffer's layout is transformed first.

pub mod analysis;
pub mod data;
pub mod plan;
mod run;
mod section;
pub mod spec;

use crate::Bench;
use crate::experiment::{Experiment, Planning};
use crate::plan::Case;
use gpubench_analysis::ReportInput;
use gpubench_core::error::Result;
use gpubench_core::reason::Reason;
use gpubench_core::workload::Kind;
use gpubench_document::Section;
use gpubench_suite::Family;

/// A kernel that accesses a buffer in strides against one whose buffer's layout is transformed first.
pub struct Layout;

impl Experiment for Layout {
    const KIND: Kind = Kind::new("layout");
    const ABOUT: &'static str = "A kernel that accesses a buffer in strides against one whose buffer's layout is transformed first.";
    const FAMILY: Option<Family> = Some(Family::Memory);
    type Spec = spec::Spec;
    type Plan = plan::LayoutPlan;
    type Data = data::LayoutTransform;

    fn plan(spec: &Self::Spec, case: &Case, planning: &Planning) -> Result<Self::Plan, Reason> {
        plan::layout_transform(spec, case, planning)
    }

    fn run(case: &Case, bench: &mut Bench) -> Result<()> {
        run::measure(case, bench)
    }

    fn section(input: &ReportInput) -> Option<Section> {
        Some(section::section(input))
    }
}
