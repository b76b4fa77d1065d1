//! The loop over a live device: build, verify, warm up, sample, verify again.

mod autotune;
mod characterise;
mod check;
mod checkpoint;
mod checkpoint_store;
mod chunks;
mod compare;
mod compute;
mod concurrency;
mod device_group;
mod drift_guard;
mod emulated;
mod energy;
mod expected;
mod flows;
mod halo;
mod iterate;
mod kernel;
mod launch;
mod layout_transform;
mod loops;
mod measurement;
mod memory;
mod occupancy_sweep;
mod overlap;
mod polling;
pub mod ranks;
mod reference_kernel;
pub mod ring;
mod schedule;
mod session;
pub mod slabs;
mod split;
mod stage_timer;
mod sweep;
mod timing;
mod transfer;
mod transfer_plans;
mod transfer_states;

pub use compare::compare;
pub use compute::compute;
pub use device_group::{DeviceGroup, measure_multi_device};
pub use drift_guard::measure_with_drift_guard;
pub use iterate::{Iterated, iterate};
pub use measurement::{Measurement, Policy, Stage, outcome_of};
pub use memory::{initial, promised};
pub use session::Session;
pub use stage_timer::StageTimer;

use gpubench_core::error::{Error, Result};
use gpubench_core::record::Wall;
use gpubench_core::workload::Measure;
use gpubench_plan::Case;

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
    let result: Result<()> = match case.key.measure {
        Measure::Kernel => kernel::measure(session, case, policy, stage, &mut measurement),
        Measure::Launch => launch::measure(session, case, policy, stage, &mut measurement),
        Measure::Upload | Measure::Download => {
            transfer::measure(session, case, policy, stage, &mut measurement)
        }
        Measure::Transfer => sweep::measure(session, case, policy, stage, &mut measurement),
        Measure::Overlap => overlap::measure(session, case, policy, stage, &mut measurement),
        Measure::Schedule => schedule::measure(session, case, policy, stage, &mut measurement),
        Measure::Concurrency => {
            concurrency::measure(session, case, policy, stage, &mut measurement)
        }
        Measure::Layout => {
            layout_transform::measure(session, case, policy, stage, &mut measurement)
        }
        Measure::Halo => halo::measure(session, case, policy, stage, &mut measurement),
        Measure::Checkpoint => checkpoint::measure(session, case, policy, stage, &mut measurement),
        Measure::Occupancy => {
            occupancy_sweep::measure(session, case, policy, stage, &mut measurement)
        }
        Measure::Characterise => {
            characterise::measure(session, case, policy, stage, &mut measurement)
        }
        Measure::TransferStates | Measure::Split => {
            Err(Error::Unsupported("one device where two are needed".into()))
        }
    };
    measurement.wall = Wall { busy: measurement.wall.busy, ..stage_timer.end() };
    session.device.reset();
    measurement.conclude(result)
}
