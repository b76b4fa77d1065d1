//! A problem in chunks, cut by published rules and by search.

pub mod analysis;
pub mod data;
mod run;
#[cfg(any(test, feature = "testing"))]
pub mod sample;
mod section;

use crate::experiment::{Experiment, Run, Timelines, ToSection};
use crate::prediction_scores::ModelPrediction;
use gpubench_model::concurrency::Device as Residency;
use gpubench_suite::{Family, HostMemory, Needs};

/// A problem in chunks, cut by published rules and by search.
pub struct Schedule;

impl Experiment for Schedule {
    const ABOUT: &'static str = "A problem in chunks, cut by published rules and by search.";
    const NEEDS: Needs = Needs::CHUNKS;
    const FAMILY: Option<Family> = Some(Family::Overlap);
    const HOST_MEMORY: HostMemory = HostMemory::Listed;
    const RUN: Run = run::measure;
    const SECTION: Option<ToSection> = Some(section::section);
    type Spec = ();
    type Plan = ();
    type Data = data::Schedule;

    fn predictions(raw: &Self::Data, _: Option<Residency>) -> Vec<ModelPrediction> {
        let plans = analysis::schedule(raw).map_or_else(Vec::new, |summary| summary.plans);
        let one = |plan: &analysis::PlanSummary| ModelPrediction {
            model: "schedule (model 9)",
            predicted: plan.predicted,
            measured: plan.seconds,
        };
        plans.iter().map(one).collect()
    }

    fn timelines(raw: &Self::Data) -> Option<Timelines> {
        let runs = raw.runs.iter().map(|run| (run.plan.clone(), run.timed.clone()));
        Some((raw.clock, runs.collect()))
    }
}
