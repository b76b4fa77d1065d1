//! The same kernel over and over for minutes: what its rate settles at.

pub mod analysis;
pub mod data;
mod run;
mod section;
pub mod spec;

use crate::experiment::{Experiment, PlanCase, Run, ToSection};
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
    const ABOUT: &'static str =
        "The same kernel over and over for minutes: rate, clock, power and temperature.";
    const DRIFT_IS_RESULT: bool = true;
    const PLAN: PlanCase<Self> = |spec, _, _| Ok(Plan { seconds: 60.0 * spec.minutes });
    const RUN: Run = run::measure;
    const SECTION: Option<ToSection> = Some(section::section);
    type Spec = spec::Spec;
    type Plan = Plan;
    type Data = data::Sustain;

    fn seconds(plan: &Plan) -> Option<f64> {
        Some(plan.seconds)
    }
}
