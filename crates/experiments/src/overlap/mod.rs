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

use crate::Bench;
use crate::engines::{Engines, either};
use crate::experiment::{Experiment, Timelines};
use crate::plan::Case;
use crate::prediction_scores::ModelPrediction;
use crate::stages;
use gpubench_analysis::ReportInput;
use gpubench_core::error::Result;
use gpubench_core::text::counted;
use gpubench_core::workload::Kind;
use gpubench_document::Section;
use gpubench_model::concurrency::Device as Residency;
use gpubench_model::streams::Stages;
use gpubench_suite::{Family, HostMemory, Needs};

/// A problem in chunks: copies overlap kernels.
pub struct Overlap;

impl Experiment for Overlap {
    const KIND: Kind = Kind::new("overlap");
    const ABOUT: &'static str = "A problem in chunks: copies overlap kernels.";
    const NEEDS: Needs = Needs::CHUNKS;
    const FAMILY: Option<Family> = Some(Family::Overlap);
    const HOST_MEMORY: HostMemory = HostMemory::Listed;
    type Spec = ();
    type Plan = ();
    type Data = data::Overlap;

    fn run(case: &Case, bench: &mut Bench) -> Result<()> {
        run::measure(case, bench)
    }

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

    fn section(input: &ReportInput) -> Option<Section> {
        Some(section::section(input))
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
