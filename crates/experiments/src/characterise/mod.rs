//! Time of every variant of a kernel against the number of work-groups: their differences are the device's costs.

pub mod data;
pub mod profile;
mod run;
mod section;

use crate::experiment::{Experiment, Run, ToSection};

/// Time of every variant of a kernel against the number of work-groups: their differences are the device's costs.
pub struct Characterise;

impl Experiment for Characterise {
    const ABOUT: &'static str = "Time of every variant of a kernel against the number of work-groups: their differences are the device's costs.";
    const RUN: Run = run::measure;
    const SECTION: Option<ToSection> = Some(section::section);
    type Spec = ();
    type Plan = ();
    type Data = data::Characterised;
}
