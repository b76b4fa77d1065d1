//! A kernel on memory that the host maps, against the same kernel between copies.

pub mod analysis;
pub mod data;
mod plan;
mod run;
mod section;

use crate::experiment::{Experiment, PlanCase, Run, ToSection};
use gpubench_suite::{Family, Needs, Passes};

/// A kernel on memory that the host maps, against the same kernel between copies.
pub struct ZeroCopy;

impl Experiment for ZeroCopy {
    const ABOUT: &'static str =
        "A kernel on memory that the host maps, against the same kernel between copies.";
    const NEEDS: Needs = Needs { buffers: true, passes: Passes::Taken, ..Needs::KERNEL };
    const FAMILY: Option<Family> = Some(Family::Memory);
    const PLAN: PlanCase<Self> = |(), case, planning| plan::check(case, planning);
    const RUN: Run = run::measure;
    const SECTION: Option<ToSection> = Some(section::section);
    type Spec = ();
    type Plan = ();
    type Data = data::ZeroCopy;
}
