//! The same kernel over and over for minutes: what its rate settles at.

pub mod analysis;
pub mod data;
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
use serde::{Deserialize, Serialize};

/// The same kernel over and over for minutes: what its rate settles at.
pub struct Sustain;

/// How long a case is kept running.
#[derive(Debug, Serialize, Deserialize)]
pub struct Plan {
    /// Seconds.
    pub seconds: f64,
}

impl Experiment for Sustain {
    const KIND: Kind = Kind::new("sustain");
    const ABOUT: &'static str =
        "The same kernel over and over for minutes: rate, clock, power and temperature.";
    const DRIFT_IS_RESULT: bool = true;
    type Spec = spec::Spec;
    type Plan = Plan;
    type Data = data::Sustain;

    fn seconds(plan: &Plan) -> Option<f64> {
        Some(plan.seconds)
    }

    fn plan(spec: &spec::Spec, _: &Case, _: &Planning) -> Result<Plan, Reason> {
        Ok(Plan { seconds: 60.0 * spec.minutes })
    }

    fn run(case: &Case, bench: &mut Bench) -> Result<()> {
        run::measure(case, bench)
    }

    fn section(input: &ReportInput) -> Option<Section> {
        Some(section::section(input))
    }
}
