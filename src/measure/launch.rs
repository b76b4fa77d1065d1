//! Time from asking for a launch on an idle device to its start.
//!
//! On a device whose timestamps know when a launch was queued: start − queued of one event.
//! Elsewhere: the host's wall time of one launch from the call to its completion, and the
//! record's clock says so.

use super::choose::{KERNEL, choose};
use super::loops::{Sample, warm_up_and_sample};
use super::memory;
use super::{Finding, Policy, Session, Stage};
use crate::error::Result;
use crate::plan::{Case, launches};
use crate::record::Outcome;

/// Measures `case` into `finding`.
pub(super) fn measure(
    session: &mut Session,
    case: &Case,
    policy: &Policy,
    stage: &mut dyn FnMut(Stage),
    finding: &mut Finding,
) -> Result<()> {
    stage(Stage::Prepare);
    let initial = memory::initial(case);
    memory::allocate(session.device.as_mut(), case)?;
    memory::write(session.device.as_mut(), case, &initial, false)?;
    let chosen = choose(session, case, policy, stage, finding)?;
    // An empty kernel leaves nothing to compare: that it ran without an error is the check.
    finding.outcome = Some(Outcome::Ok);
    if policy.verify_only {
        return Ok(());
    }
    stage(Stage::Measure);
    let once = launches(case, chosen.candidate, KERNEL, 1);
    warm_up_and_sample(policy, 1, finding, || {
        let mut timeline = session.device.run(&once)?;
        // Timestamps that do not know the queueing time hold no latency; the host's clock does.
        timeline.steps.retain(|step| step.queued < step.started);
        let (latency, busy) = match timeline.steps.first() {
            Some(step) => (step.started - step.queued, step.ended - step.queued),
            None => (timeline.wall, timeline.wall),
        };
        Ok(Sample::new(latency, busy, timeline))
    })
}
