//! A domain cut into parts whose halos are exchanged after every pass.

pub mod analysis;
pub mod data;
pub mod domain;
mod run;
pub mod spec;

use crate::experiment::{Experiment, Planning, Timelines};
use crate::plan::Case;
use crate::{Measurement, Policy, Session, Stage};
use gpubench_core::error::Result;
use gpubench_core::reason::Reason;
use gpubench_core::workload::Kind;
use gpubench_suite::{Family, Needs, Passes};

/// A domain cut into parts whose halos are exchanged after every pass.
pub struct Halo;

impl Experiment for Halo {
    const KIND: Kind = Kind::new("halo");
    const ABOUT: &'static str =
        "A domain cut into parts whose halos are exchanged after every pass.";
    const NEEDS: Needs = Needs { passes: Passes::Taken, ..Needs::KERNEL };
    const FAMILY: Option<Family> = Some(Family::Memory);
    type Spec = spec::Spec;
    type Plan = domain::Halo;
    type Data = data::Halo;

    fn plan(spec: &Self::Spec, case: &Case, planning: &Planning) -> Result<Self::Plan, Reason> {
        domain::halo(spec, case, planning)
    }

    fn run(
        session: &mut Session,
        case: &Case,
        policy: &Policy,
        stage: &mut dyn FnMut(Stage),
        measurement: &mut Measurement,
    ) -> Result<()> {
        run::measure(session, case, policy, stage, measurement)
    }

    fn timelines(raw: &Self::Data) -> Option<Timelines> {
        let undivided = ("undivided".to_owned(), raw.undivided.clone());
        let parts = ("in parts, nothing exchanged".to_owned(), raw.parts.clone());
        Some((raw.clock, vec![undivided, parts]))
    }
}
