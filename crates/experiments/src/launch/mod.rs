//! Time from asking for a launch on an idle device to its start.

mod run;

use crate::Bench;
use crate::experiment::{Experiment, Nothing};
use crate::plan::Case;
use gpubench_core::error::Result;
use gpubench_core::workload::Kind;

/// Time from asking for a launch on an idle device to its start.
pub struct Launch;

impl Experiment for Launch {
    const KIND: Kind = Kind::new("launch");
    const ABOUT: &'static str = "Time from asking for a launch on an idle device to its start.";
    type Spec = ();
    type Plan = ();
    type Data = Nothing;

    fn run(case: &Case, bench: &mut Bench) -> Result<()> {
        run::measure(case, bench)
    }
}
