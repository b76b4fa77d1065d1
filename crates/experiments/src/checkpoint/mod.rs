//! Saving and restoring the state of an iteration of several passes while it goes on.

pub mod analysis;
pub mod data;
mod run;
#[cfg(test)]
mod sample;
mod section;

use crate::Bench;
use crate::experiment::{Experiment, Planning};
use crate::iteration::check_state;
use crate::plan::Case;
use crate::prediction_scores::ModelPrediction;
use gpubench_analysis::ReportInput;
use gpubench_core::error::Result;
use gpubench_core::reason::Reason;
use gpubench_core::workload::Kind;
use gpubench_document::Section;
use gpubench_model::concurrency::Device as Residency;
use gpubench_suite::{Family, Needs, Passes};

/// Saving and restoring the state of an iteration of several passes while it goes on.
pub struct Checkpoint;

impl Experiment for Checkpoint {
    const KIND: Kind = Kind::new("checkpoint");
    const ABOUT: &'static str =
        "Saving and restoring the state of an iteration of several passes while it goes on.";
    const NEEDS: Needs = Needs { passes: Passes::Needed, ..Needs::KERNEL };
    const FAMILY: Option<Family> = Some(Family::Overlap);
    type Spec = ();
    type Plan = ();
    type Data = data::Checkpoint;

    fn plan(_: &(), case: &Case, planning: &Planning) -> Result<(), Reason> {
        check_state(case, planning.device, planning.limits)
    }

    fn run(case: &Case, bench: &mut Bench) -> Result<()> {
        run::measure(case, bench)
    }

    fn predictions(raw: &Self::Data, _: Option<Residency>) -> Vec<ModelPrediction> {
        let Some(summary) = analysis::checkpoint(raw) else { return vec![] };
        let one = |run: &analysis::SaveSummary| ModelPrediction {
            model: "checkpoint (model 12)",
            predicted: run.predicted,
            measured: run.seconds,
        };
        summary.runs.iter().map(one).collect()
    }

    fn section(input: &ReportInput) -> Option<Section> {
        Some(section::section(input))
    }
}
