//! Saving and restoring the state of an iteration of several passes while it goes on.

pub mod analysis;
pub mod data;
mod run;
#[cfg(test)]
mod sample;
mod section;

use crate::experiment::{Experiment, PlanCase, Run, ToSection};
use crate::iteration::check_state;
use crate::prediction_scores::ModelPrediction;
use gpubench_model::concurrency::Device as Residency;
use gpubench_suite::{Family, Needs, Passes};

/// Saving and restoring the state of an iteration of several passes while it goes on.
pub struct Checkpoint;

impl Experiment for Checkpoint {
    const ABOUT: &'static str =
        "Saving and restoring the state of an iteration of several passes while it goes on.";
    const NEEDS: Needs = Needs { passes: Passes::Needed, ..Needs::KERNEL };
    const FAMILY: Option<Family> = Some(Family::Overlap);
    const PLAN: PlanCase<Self> =
        |(), case, planning| check_state(case, planning.device, planning.limits);
    const RUN: Run = run::measure;
    const SECTION: Option<ToSection> = Some(section::section);
    type Spec = ();
    type Plan = ();
    type Data = data::Checkpoint;

    fn predictions(raw: &Self::Data, _: Option<Residency>) -> Vec<ModelPrediction> {
        let Some(summary) = analysis::checkpoint(raw) else { return vec![] };
        let one = |run: &analysis::SaveSummary| ModelPrediction {
            model: "checkpoint (model 12)",
            predicted: run.predicted,
            measured: run.seconds,
        };
        summary.runs.iter().map(one).collect()
    }
}
