//! Time against the number of work-groups.

pub mod analysis;
pub mod data;
mod run;
mod section;

use crate::experiment::{Experiment, Run, ToSection};
use crate::residency::GroupsAtOnce;
use gpubench_suite::{Family, Needs};

/// Time against the number of work-groups.
pub struct Occupancy;

impl Experiment for Occupancy {
    const ABOUT: &'static str = "Time against the number of work-groups.";
    const NEEDS: Needs = Needs { groups_by_size: true, ..Needs::KERNEL };
    const FAMILY: Option<Family> = Some(Family::Concurrency);
    const RUN: Run = run::measure;
    const SECTION: Option<ToSection> = Some(section::section);
    type Spec = ();
    type Plan = ();
    type Data = data::OccupancySweep;

    fn groups_at_once(raw: &Self::Data) -> Option<GroupsAtOnce> {
        analysis::occupancy_sweep(raw)?.groups_at_once()
    }
}
