//! The loop over a live device: build, verify, warm up, sample, verify again.

mod api_cost;
mod arrays;
mod autotune;
mod bandwidth_section;
pub mod characterise;
pub mod checkpoint;
pub mod cold;
pub mod concurrency;
pub mod copy;
pub mod engines;
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
mod prediction_scores;
pub mod registry;
pub mod schedule;
pub mod split;
pub mod sustain;
pub mod transfer;
pub mod transfer_states;
pub mod zero_copy;

mod bench;
mod blocking_kernel;
mod buffer_pairs;
mod check;
mod checkpoint_store;
mod chunks;
mod compare;
mod compute;
mod cool_down;
mod copied;
mod device_group;
pub mod domain;
mod drift_guard;
mod emulated;
mod energy;
mod expected;
mod first_build;
mod images;
#[cfg(test)]
mod invented_device;
mod iterate;
pub mod iteration;
mod known_results;
mod long_launch;
mod loops;
mod measurement;
mod memory;
mod policy;
mod polling;
pub mod ranks;
mod reference_kernel;
mod reference_launch;
pub mod residency;
mod results;
pub mod ring;
mod scratch_file;
mod session;
pub mod slabs;
mod stage_timer;
mod stages;
mod timing;
mod tries;
mod verified_kernel;
mod verifier;
mod waking;

pub use bench::Bench;
pub use compare::compare;
pub use compute::{build, compute};
pub use device_group::{DeviceGroup, measure_multi_device};
pub use drift_guard::measure_with_drift_guard;
pub use experiment::{ErasedExperiment, Experiment, Nothing, Planning, Spec, Timelines};
pub use first_build::compiled_folder;
pub use iterate::{Iterated, iterate};
pub use long_launch::KERNEL_DOMINATED_SECONDS;
pub use measurement::{Measurement, Stage};
pub use memory::{initial, promised};
pub use planner::{keys, plan};
pub use policy::{Policy, Race};
pub use registry::load;
pub use session::Session;
pub use stage_timer::StageTimer;

use plan::Case;

/// Measures one case, reporting to `stage` what it is about to do. Never fails: what went wrong is
/// the measurement's outcome.
pub fn measure(
    session: &mut Session,
    case: &Case,
    policy: &Policy,
    stage: &mut dyn FnMut(Stage),
) -> Measurement {
    bench::measured(session, policy, stage, |bench| {
        (registry::known(case.key.measure)?.run)(case, bench)
    })
}
