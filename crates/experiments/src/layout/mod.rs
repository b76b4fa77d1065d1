//! A kernel that accesses a buffer in strides against one whose buffer's layout is transformed first.

pub mod analysis;
pub mod data;
pub mod plan;
mod run;
mod section;
pub mod spec;

use crate::experiment::{Experiment, PlanCase, Run, ToSection};
use gpubench_suite::Family;

/// A kernel that accesses a buffer in strides against one whose buffer's layout is transformed first.
pub struct Layout;

impl Experiment for Layout {
    const ABOUT: &'static str = "A kernel that accesses a buffer in strides against one whose buffer's layout is transformed first.";
    const FAMILY: Option<Family> = Some(Family::Memory);
    const PLAN: PlanCase<Self> = plan::layout_transform;
    const RUN: Run = run::measure;
    const SECTION: Option<ToSection> = Some(section::section);
    type Spec = spec::Spec;
    type Plan = plan::LayoutPlan;
    type Data = data::LayoutTransform;
}
