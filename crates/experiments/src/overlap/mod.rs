//! A problem in chunks: copies overlap kernels.

pub mod analysis;
pub mod data;
mod engines;
pub mod rounds;
mod run;
mod saving;
mod section;
#[cfg(test)]
mod testing;
mod verdict;

pub use saving::{Saving, Share};
pub use verdict::{Because, Settled, Verdict};

use crate::engines::{Engines, either};
use crate::experiment::{Experiment, Run, Timelines, ToSection};
use crate::prediction_scores::ModelPrediction;
use crate::stages;
use gpubench_core::text::counted;
use gpubench_model::concurrency::Device as Residency;
use gpubench_model::streams::Stages;
use gpubench_suite::{Family, HostMemory, Needs};

/// A problem in chunks: copies overlap kernels.
pub struct Overlap;

impl Experiment for Overlap {
    const ABOUT: &'static str = "A problem in chunks: copies overlap kernels.";
    const NEEDS: Needs = Needs::CHUNKS;
    const FAMILY: Option<Family> = Some(Family::Overlap);
    const HOST_MEMORY: HostMemory = HostMemory::Listed;
    const RUN: Run = run::measure;
    const SECTION: Option<ToSection> = Some(section::section);
    type Spec = ();
    type Plan = ();
    type Data = data::Overlap;

    fn learn(raw: &Self::Data, found: &mut Engines) {
        found.overlaps_kernels = either(found.overlaps_kernels, engines::overlaps_kernels(raw));
        found.both_ways = either(found.both_ways, engines::both_ways(raw));
    }

    fn stages(raw: &Self::Data) -> Option<Stages> {
        stages::medians([&raw.upload, &raw.kernel, &raw.download])
    }

    fn predictions(raw: &Self::Data, _: Option<Residency>) -> Vec<ModelPrediction> {
        let Some(summary) = analysis::overlap(raw) else { return vec![] };
        let one = |model| {
            move |[predicted, measured]: [f64; 2]| ModelPrediction { model, predicted, measured }
        };
        let max_queues = summary.runs.iter().map(|run| run.queues).max();
        let runs = summary.runs.iter().filter(|run| Some(run.queues) == max_queues);
        let streams = runs.map(|run| [run.streams, run.seconds]).map(one("streams (model 1)"));
        let pipeline = "pipeline, fitted to the other runs";
        streams.chain(summary.unseen.iter().copied().map(one(pipeline))).collect()
    }

    fn timelines(raw: &Self::Data) -> Option<Timelines> {
        let isolated =
            [("upload", &raw.upload), ("kernel", &raw.kernel), ("download", &raw.download)];
        let isolated = isolated.map(|(stage, timed)| (format!("{stage} alone"), timed.clone()));
        let runs = raw.runs.iter().map(|run| {
            let chunks = counted(run.chunks as usize, "chunk");
            let queues = counted(run.queues as usize, "queue");
            (format!("{chunks} on {queues}"), run.timed.clone())
        });
        Some((raw.clock, isolated.into_iter().chain(runs).collect()))
    }
}
