//! The loop over a live device: build, verify, warm up, sample, verify again.

mod autotune;
pub mod characterise;
pub mod checkpoint;
pub mod concurrency;
pub mod copy;
mod engines;
mod experiment;
pub mod halo;
pub mod kernel;
mod ladder;
pub mod launch;
pub mod layout;
pub mod occupancy;
pub mod overlap;
pub mod plan;
mod planner;
mod predictions;
pub mod registry;
pub mod schedule;
pub mod split;
pub mod transfer;
pub mod transfer_states;

mod check;
mod checkpoint_store;
mod chunks;
mod compare;
mod compute;
mod device_group;
mod drift_guard;
mod emulated;
mod energy;
mod expected;
mod flows;
mod iterate;
mod loops;
mod measurement;
mod memory;
mod polling;
pub mod ranks;
mod reference_kernel;
mod results;
pub mod ring;
mod session;
pub mod slabs;
mod stage_timer;
mod stages;
mod timing;

pub use compare::compare;
pub use compute::compute;
pub use device_group::{DeviceGroup, measure_multi_device};
pub use drift_guard::measure_with_drift_guard;
pub use experiment::{ErasedExperiment, Experiment, Nothing, Planning, Spec, Timelines};
pub use iterate::{Iterated, iterate};
pub use measurement::{Measurement, Policy, Stage, outcome_of};
pub use memory::{initial, promised};
pub use planner::{keys, plan};
pub use registry::load;
pub use session::Session;
pub use stage_timer::StageTimer;

/// What kinds of experiments make of their raw times.
pub mod analysis {
    pub use crate::characterise::profile::{is_probe, profile};
    pub use crate::checkpoint::analysis::{CheckpointSummary, SaveSummary, checkpoint};
    pub use crate::concurrency::analysis::{
        ConcurrencySummary, Expected, PairSummary, PairTally, concurrency, pair_tally,
    };
    pub use crate::engines::{Engines, engines};
    pub use crate::halo::analysis::{Better, HaloSummary, halo};
    pub use crate::ladder::LADDER;
    pub use crate::layout::analysis::{LayoutTransformSummary, UsesSummary, layout_transform};
    pub use crate::occupancy::analysis::{
        OccupancySearch, OccupancySweepSummary, Residency, Shape, occupancy_sweep, residency,
    };
    pub use crate::overlap::analysis::{OverlapSummary, RunSummary, overlap};
    pub use crate::predictions::{ModelPrediction, Tally, predictions, tallies};
    pub use crate::schedule::analysis::{PlanSummary, ScheduleSummary, schedule};
    pub use crate::split::analysis::{BALANCED, SplitSummary, split};
    pub use crate::transfer::analysis::{Meanwhile, TransferSummary, transfer};
    pub use crate::transfer_states::analysis::{PlanAgainst, all_states, plan_against, state_of};
}

use gpubench_core::error::Error;
use gpubench_core::record::Wall;
use plan::Case;

/// Measures one case, reporting to `stage` what it is about to do. Never fails: what went wrong is
/// the measurement's outcome.
pub fn measure(
    session: &mut Session,
    case: &Case,
    policy: &Policy,
    stage: &mut dyn FnMut(Stage),
) -> Measurement {
    session.device.reset();
    let mut measurement = Measurement::default();
    let mut stage_timer = StageTimer::default();
    let stage: &mut dyn FnMut(Stage) = &mut |now| {
        stage_timer.enter(Some(now));
        stage(now);
    };
    let result = match registry::experiment(case.key.measure) {
        Some(experiment) => experiment.run(session, case, policy, stage, &mut measurement),
        None => Err(Error::Unsupported("no experiment of this build".into())),
    };
    measurement.wall = Wall { busy: measurement.wall.busy, ..stage_timer.end() };
    session.device.reset();
    measurement.conclude(result)
}
