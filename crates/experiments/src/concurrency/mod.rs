//! Kernels that run at the same time.

pub mod analysis;
mod co_running;
pub mod data;
pub mod plan;
mod run;
mod section;
pub mod spec;

use crate::experiment::{Experiment, PlanCase, Run, Timelines, ToSection};
use crate::prediction_scores::ModelPrediction;
use gpubench_model::concurrency::Device as Residency;
use gpubench_suite::Family;

/// Kernels that run at the same time.
pub struct Concurrency;

impl Experiment for Concurrency {
    const ABOUT: &'static str = "Kernels that run at the same time.";
    const FAMILY: Option<Family> = Some(Family::Concurrency);
    const PLAN: PlanCase<Self> = plan::co_running;
    const RUN: Run = run::measure;
    const SECTION: Option<ToSection> = Some(section::section);
    type Spec = spec::Spec;
    type Plan = plan::CoRunning;
    type Data = data::Concurrency;

    fn predictions(raw: &Self::Data, device: Option<Residency>) -> Vec<ModelPrediction> {
        let pairs = analysis::concurrency(raw, device, None).pairs;
        let one = |pair: &analysis::PairSummary| {
            let concurrent = (pair.isolated[0] + pair.isolated[1]) / pair.expected?.speedup;
            Some(ModelPrediction {
                model: "concurrency (model 7)",
                predicted: concurrent,
                measured: pair.concurrent[0],
            })
        };
        pairs.iter().filter_map(one).collect()
    }

    fn timelines(raw: &Self::Data) -> Option<Timelines> {
        let pairs = raw.pairs.iter().flat_map(|pair| {
            let (first, second) = (&raw.kernel.name, &pair.second.name);
            [
                (format!("{first} isolated"), pair.first_isolated.clone()),
                (format!("{second} isolated"), pair.second_isolated.clone()),
                (format!("{first}, then {second}"), pair.concurrent_a_first.clone()),
                (format!("{second}, then {first}"), pair.concurrent_b_first.clone()),
            ]
        });
        let copies = raw.copies.iter();
        let copies = copies.map(|(n, timed)| (format!("copies: {n}"), timed.clone()));
        Some((raw.clock, pairs.chain(copies).collect()))
    }
}
