//! Time against the number of work-groups.

pub mod analysis;
pub mod data;
mod run;
mod section;

use crate::Bench;
use crate::experiment::Experiment;
use crate::plan::Case;
use crate::residency::GroupsAtOnce;
use gpubench_analysis::ReportInput;
use gpubench_core::error::Result;
use gpubench_core::workload::Kind;
use gpubench_document::Section;
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

    fn run(case: &Case, bench: &mut Bench) -> Result<()> {
        run::measure(case, bench)
    }

    fn section(input: &ReportInput) -> Option<Section> {
        Some(section::section(input))
    }

    fn groups_at_once(raw: &Self::Data) -> Option<GroupsAtOnce> {
        analysis::occupancy_sweep(raw)?.groups_at_once()
    }
}
