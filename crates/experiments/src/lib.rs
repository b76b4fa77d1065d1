//! The loop over a live device: build, verify, warm up, sample, verify again.

mod characterise;
mod check;
mod checkpoint;
mod choose;
mod chunks;
mod compare;
mod compute;
mod concurrency;
mod emulated;
mod energy;
mod expected;
mod finding;
mod flows;
mod halo;
mod iterate;
mod keep;
mod kernel;
mod launch;
mod loops;
mod memory;
mod overlap;
mod polling;
pub mod ranks;
mod rearrange;
pub mod ring;
mod schedule;
mod sentinel;
mod session;
pub mod slabs;
mod split;
mod staircase;
mod sweep;
mod team;
mod timing;
mod transfer;
mod transfer_plans;
mod transfer_states;
mod watch;
mod watched;

pub use compare::compare;
pub use compute::compute;
pub use finding::{Finding, Policy, Stage, outcome_of};
pub use iterate::{Iterated, iterate};
pub use memory::{initial, promised};
pub use session::Session;
pub use team::{Team, measure_together};
pub use watch::Watch;
pub use watched::watched;

use gpubench_core::error::{Error, Result};
use gpubench_core::record::Wall;
use gpubench_core::workload::Measure;
use gpubench_plan::Case;

/// Measures one case, telling `stage` what it is about to do. Never fails: what went wrong is
/// the finding's outcome.
pub fn measure(
    session: &mut Session,
    case: &Case,
    policy: &Policy,
    stage: &mut dyn FnMut(Stage),
) -> Finding {
    session.device.reset();
    let mut finding = Finding::default();
    let mut watch = Watch::default();
    let stage: &mut dyn FnMut(Stage) = &mut |now| {
        watch.enter(Some(now));
        stage(now);
    };
    let result: Result<()> = match case.key.measure {
        Measure::Kernel => kernel::measure(session, case, policy, stage, &mut finding),
        Measure::Launch => launch::measure(session, case, policy, stage, &mut finding),
        Measure::Send | Measure::Receive => {
            transfer::measure(session, case, policy, stage, &mut finding)
        }
        Measure::Transfer => sweep::measure(session, case, policy, stage, &mut finding),
        Measure::Overlap => overlap::measure(session, case, policy, stage, &mut finding),
        Measure::Schedule => schedule::measure(session, case, policy, stage, &mut finding),
        Measure::Concurrency => concurrency::measure(session, case, policy, stage, &mut finding),
        Measure::Rearrange => rearrange::measure(session, case, policy, stage, &mut finding),
        Measure::Halo => halo::measure(session, case, policy, stage, &mut finding),
        Measure::Checkpoint => checkpoint::measure(session, case, policy, stage, &mut finding),
        Measure::Staircase => staircase::measure(session, case, policy, stage, &mut finding),
        Measure::Characterise => characterise::measure(session, case, policy, stage, &mut finding),
        Measure::TransferStates | Measure::Split => {
            Err(Error::Unsupported("one device where two are needed".into()))
        }
    };
    finding.wall = Wall { busy: finding.wall.busy, ..watch.end() };
    session.device.reset();
    finding.conclude(result)
}
