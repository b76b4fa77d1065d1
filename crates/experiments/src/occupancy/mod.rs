//! Time against the number of work-groups.

pub mod analysis;
pub mod data;
mod run;

use crate::experiment::{Experiment, Planning};
use crate::plan::Case;
use crate::{Measurement, Policy, Session, Stage};
use gpubench_core::error::Result;
use gpubench_core::reason::Reason;
use gpubench_core::workload::Kind;
use gpubench_suite::{Family, Needs};

/// Time against the number of work-groups.
pub struct Occupancy;

impl Experiment for Occupancy {
    const KIND: Kind = Kind::new("occupancy");
    const ABOUT: &'static str = "Time against the number of work-groups.";
    const NEEDS: Needs = Needs { groups_by_size: true, ..Needs::KERNEL };
    const FAMILY: Option<Family> = Some(Family::Concurrency);
    type Spec = ();
    type Plan = ();
    type Data = data::OccupancySweep;

    fn plan(_: &(), _: &Case, _: &Planning) -> Result<(), Reason> {
        Ok(())
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
}
