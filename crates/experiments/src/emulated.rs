//! The expected result of a case, computed by running its kernel on the emulator. Its outputs hold
//! another poison than the device's, and it must write all of them.

use super::memory::oracle_contents;
use crate::plan::{Candidate, Case, emulated_launch, emulated_results, enter_pass, track_outputs};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::Access;
use gpubench_core::reason::Reason;
use gpubench_emulator::{Emulator, Fault, Groups, Instrumentation, Seen};
use gpubench_reference::Data;
use std::time::{Duration, Instant};

/// Longest that a whole grid may take, as the time of its first group predicts.
const LONGEST: Duration = Duration::from_secs(60);

/// With the subgroups that the kernel asks for.
fn instrumentation(candidate: &Candidate) -> Instrumentation {
    let usual = Instrumentation::default();
    let subgroup = candidate.kernel.settings.subgroup.unwrap_or(usual.subgroup);
    Instrumentation { races: true, limit: LONGEST, subgroup, ..usual }
}

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
    check_writes(&emulator, case)?;
    check_predicted_time(&emulator, candidate, initial)?;
    let contents = case.buffers.iter().zip(initial);
    let mut launch = emulated_launch(candidate, contents.map(|(b, data)| oracle_contents(b, data)));
    track_outputs(case, &mut launch);
    let instrumentation = instrumentation(candidate);
    for pass in candidate.passes() {
        enter_pass(&mut launch, &pass);
        let Seen { faults, .. } = emulator.run(&mut launch, Groups::All, instrumentation)?;
        right(&faults)?;
    }
    right(&emulator.never_written(&launch))?;
    let results = emulated_results(case, launch).into_iter().enumerate();
    Ok(results.filter(|(i, _)| case.buffers[*i].access != Access::Read).collect())
}

fn right(faults: &[Fault]) -> Result<()> {
    if faults.is_empty() {
        return Ok(());
    }
    // Each in a line of its own, since a report cuts long lines.
    let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
    Err(Error::Mismatch(format!("the kernel is wrong: {}", faults.join("\n"))))
}

/// A buffer that is changed in place and left as it was may be right; without any write in the
/// kernel's text nothing would be verified.
fn check_writes(emulator: &Emulator, case: &Case) -> Result<()> {
    for (i, buffer) in case.buffers.iter().enumerate() {
        if buffer.access == Access::ReadWrite && !emulator.writes(i) {
            let name = &buffer.name;
            return Err(Error::Mismatch(format!(
                "the kernel is wrong: nothing in it writes `{name}`, which is `access: read_write`"
            )));
        }
    }
    Ok(())
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
    emulator.run(&mut launch, Groups::One([0; 3]), instrumentation(candidate))?;
    let seconds = begun.elapsed().as_secs_f64() * groups;
    if seconds <= LONGEST.as_secs_f64() {
        return Ok(());
    }
    Err(Error::OverBudget(Reason::OverBudget {
        what: format!(
            "emulating its {groups} work-groups (verify smaller sizes against the emulator, or these \
             against something else)"
        ),
        needed: seconds,
        available: LONGEST.as_secs_f64(),
        option: None,
    }))
}
