//! Time from asking for a launch on an idle device to its start.
//!
//! On a device whose timestamps know when a launch was queued: start − queued of one event.
//! Elsewhere: the host's wall time of one launch from the call to its completion, and the
//! record's clock says so. A latency is no work: operations and bytes stay 0.

use crate::autotune::KERNEL;
use crate::loops::{Sample, warm_up_and_sample};
use crate::plan::{Case, launches};
use crate::verified_kernel::around;
use crate::{Measurement, Policy, Session, Stage};
use gpubench_core::error::Result;

/// Measures `case` into `measurement`.
pub(super) fn measure(
    session: &mut Session,
    case: &Case,
    policy: &Policy,
    stage: &mut dyn FnMut(Stage),
    measurement: &mut Measurement,
) -> Result<()> {
    around(session, case, policy, stage, measurement, |session, variant, stage, measurement| {
        stage(Stage::Measure);
        let once = launches(case, variant.candidate, KERNEL, 1);
        warm_up_and_sample(policy, 1, measurement, || {
            let mut timeline = session.device.run(&once)?;
            // Timestamps that do not know the queueing time hold no latency; the host's clock does.
            timeline.steps.retain(|step| step.queued < step.started);
            let (latency, busy) = match timeline.steps.first() {
                Some(step) => (step.started - step.queued, step.duration()),
                None => (timeline.wall, timeline.wall),
            };
            Ok(Sample::new(latency, busy, timeline))
        })
    })
}
