//! A problem in chunks, cut by published rules and by search.

pub mod analysis;
pub mod data;
mod run;
#[cfg(any(test, feature = "testing"))]
pub mod sample;
mod section;

use crate::Bench;
use crate::experiment::{Experiment, Timelines};
use crate::plan::Case;
use crate::prediction_scores::ModelPrediction;
use gpubench_analysis::ReportInput;
use gpubench_core::error::Result;
use gpubench_core::workload::Kind;
use gpubench_document::Section;
use gpubench_model::concurrency::Device as Residency;
use gpubench_suite::{Family, HostMemory, Needs};

/// A problem in chunks, cut by published rules and by search.
pub struct Schedule;

impl Experiment for Schedule {
    const KIND: Kind = Kind::new("schedule");
    const ABOUT: &'static str = "A problem in chunks, cut by published rules and by search.";
    const NEEDS: Needs = Needs::CHUNKS;
    const FAMILY: Option<Family> = Some(Family::Overlap);
    const HOST_MEMORY: HostMemory = HostMemory::Listed;
    type Spec = ();
    type Plan = ();
    type Data = data::Schedule;

    fn run(case: &Case, bench: &mut Bench) -> Result<()> {
        run::measure(case, bench)
    }

    fn predictions(raw: &Self::Data, _: Option<Residency>) -> Vec<ModelPrediction> {
        let plans = analysis::schedule(raw).map_or_else(Vec::new, |summary| summary.plans);
        let one = |plan: &analysis::PlanSummary| ModelPrediction {
            model: "schedule (model 9)",
            predicted: plan.predicted,
            measured: plan.seconds,
        };
        plans.iter().map(one).collect()
    }

    fn section(input: &ReportInput) -> Option<Section> {
        Some(section::section(input))
    }

    fn timelines(raw: &Self::Data) -> Option<Timelines> {
        let runs = raw.runs.iter().map(|run| (run.plan.clone(), run.timed.clone()));
        Some((raw.clock, runs.collect()))
    }
}
