//! A domain cut into parts whose halos are exchanged after every pass.

pub mod analysis;
pub mod data;
mod run;
mod section;

use crate::Bench;
use crate::domain;
use crate::experiment::{Experiment, Planning, Timelines};
use crate::plan::Case;
use gpubench_analysis::ReportInput;
use gpubench_core::error::Result;
use gpubench_core::reason::Reason;
use gpubench_core::workload::Kind;
use gpubench_document::Section;
use gpubench_suite::{Family, Needs, Passes};

/// A domain cut into parts whose halos are exchanged after every pass.
pub struct Halo;

impl Experiment for Halo {
    const KIND: Kind = Kind::new("halo");
    const ABOUT: &'static str =
        "A domain cut into parts whose halos are exchanged after every pass.";
    const NEEDS: Needs = Needs { passes: Passes::Taken, ..Needs::KERNEL };
    const FAMILY: Option<Family> = Some(Family::Memory);
    type Spec = domain::Spec;
    type Plan = domain::Decomposition;
    type Data = data::Halo;

    fn plan(spec: &Self::Spec, case: &Case, planning: &Planning) -> Result<Self::Plan, Reason> {
        domain::decompose(spec, case, planning)
    }

    fn run(case: &Case, bench: &mut Bench) -> Result<()> {
        run::measure(case, bench)
    }

    fn section(input: &ReportInput) -> Option<Section> {
        Some(section::section(input))
    }

    fn timelines(raw: &Self::Data) -> Option<Timelines> {
        let undivided = ("undivided".to_owned(), raw.undivided.clone());
        let parts = ("in parts, nothing exchanged".to_owned(), raw.parts.clone());
        Some((raw.clock, vec![undivided, parts]))
    }
}
