//! Time from asking for a launch on an idle device to its start.

mod run;

use crate::experiment::{Experiment, Nothing, Planning};
use crate::plan::Case;
use crate::{Measurement, Policy, Session, Stage};
use gpubench_core::error::Result;
use gpubench_core::reason::Reason;
use gpubench_core::workload::Kind;

/// Time from asking for a launch on an idle device to its start.
pub struct Launch;

impl Experiment for Launch {
    const KIND: Kind = Kind::new("launch");
    const ABOUT: &'static str = "Time from asking for a launch on an idle device to its start.";
    type Spec = ();
    type Plan = ();
    type Data = Nothing;

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
