//! Time from asking for a launch on an idle device to its start.

mod data;
mod run;
mod section;

use crate::experiment::{Experiment, Run, ToSection};
pub(crate) use data::Submissions;

/// Time from asking for a launch on an idle device to its start.
pub struct Launch;

impl Experiment for Launch {
    const ABOUT: &'static str = "Time from asking for a launch on an idle device to its start.";
    const RUN: Run = run::measure;
    const SECTION: Option<ToSection> = Some(section::section);
    type Spec = ();
    type Plan = ();
    type Data = Submissions;

    fn costs(raw: &Self::Data) -> Vec<(&'static str, Vec<f64>)> {
        raw.costs()
    }
}
