//! A domain cut into parts whose halos are exchanged after every pass.

pub mod analysis;
pub mod data;
mod run;
mod section;

use crate::domain;
use crate::experiment::{Experiment, PlanCase, Run, Timelines, ToSection};
use gpubench_suite::{Family, Needs, Passes};

/// A domain cut into parts whose halos are exchanged after every pass.
pub struct Halo;

impl Experiment for Halo {
    const ABOUT: &'static str =
        "A domain cut into parts whose halos are exchanged after every pass.";
    const NEEDS: Needs = Needs { passes: Passes::Taken, ..Needs::KERNEL };
    const FAMILY: Option<Family> = Some(Family::Memory);
    const PLAN: PlanCase<Self> = domain::decompose;
    const RUN: Run = run::measure;
    const SECTION: Option<ToSection> = Some(section::section);
    type Spec = domain::Spec;
    type Plan = domain::Decomposition;
    type Data = data::Halo;

    fn timelines(raw: &Self::Data) -> Option<Timelines> {
        let undivided = ("undivided".to_owned(), raw.undivided.clone());
        let parts = ("in parts, nothing exchanged".to_owned(), raw.parts.clone());
        Some((raw.clock, vec![undivided, parts]))
    }
}
