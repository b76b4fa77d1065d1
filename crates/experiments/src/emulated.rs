//! The expected result of a case, computed by running its kernel on the emulator.

use crate::plan::{Candidate, Case, emulated_launch, emulated_results, enter_pass};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::Access;
use gpubench_core::units;
use gpubench_emulator::{Emulator, Groups, Instrumentation, Seen};
use gpubench_reference::Data;
use std::time::Instant;

/// Longest that a whole grid may take, in seconds, as the time of its first group predicts.
const LONGEST: f64 = 60.0;

/// What every written buffer must hold, by position among the case's buffers.
///
/// # Errors
/// `Unsupported` where the kernel has no WGSL source or uses what the emulator does not know;
/// `OverBudget` where the grid is too large; `Mismatch` where the kernel itself is wrong.
pub(super) fn emulated(
    case: &Case,
    candidate: &Candidate,
    initial: &[Data],
) -> Result<Vec<(usize, Data)>> {
    let kernel = candidate.wgsl().ok_or_else(|| {
        Error::Unsupported("the kernel has no WGSL source, which the emulator needs".into())
    })?;
    let emulator = Emulator::new(kernel)?;
    check_predicted_time(&emulator, candidate, initial)?;
    let mut launch = emulated_launch(candidate, initial);
    let instrumentation = Instrumentation { counts: None, races: true };
    for pass in candidate.passes() {
        enter_pass(&mut launch, &pass);
        let Seen { faults, .. } = emulator.run(&mut launch, Groups::All, instrumentation)?;
        if !faults.is_empty() {
            let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
            return Err(Error::Mismatch(format!("the kernel is wrong: {}", faults.join("; "))));
        }
    }
    let results = emulated_results(case, launch).into_iter().enumerate();
    Ok(results.filter(|(i, _)| case.buffers[*i].access != Access::Read).collect())
}

/// Runs one group to see whether all are affordable.
fn check_predicted_time(
    emulator: &Emulator,
    candidate: &Candidate,
    initial: &[Data],
) -> Result<()> {
    let mut launch = emulated_launch(candidate, initial);
    let groups = candidate.all_groups();
    let begun = Instant::now();
    emulator.run(
        &mut launch,
        Groups::One([0; 3]),
        Instrumentation { counts: None, races: true },
    )?;
    let seconds = begun.elapsed().as_secs_f64() * groups;
    if seconds <= LONGEST {
        return Ok(());
    }
    Err(Error::OverBudget(format!(
        "emulating its {groups} work-groups takes about {}, more than {}: verify smaller sizes \
         against the emulator, or these against something else",
        units::seconds(seconds),
        units::seconds(LONGEST)
    )))
}
