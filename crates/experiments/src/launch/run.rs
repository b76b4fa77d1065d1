//! Time from asking for a launch on an idle device to its start.
//!
//! On a device whose timestamps know when a launch was queued: start − queued of one event.
//! Elsewhere: the host's wall time of one launch from the call to its completion, and the
//! record's clock says so. A latency is no work: operations and bytes stay 0.

use crate::autotune::KERNEL;
use crate::loops::{Sample, warm_up_and_sample};
use crate::plan::{Case, launches};
use crate::verified_kernel::around;
use crate::{Bench, Stage};
use gpubench_core::error::Result;

/// Measures `case` with `bench`.
pub(super) fn measure(case: &Case, bench: &mut Bench) -> Result<()> {
    around(case, bench, |bench, variant| {
        bench.enter(Stage::Measure);
        let once = launches(case, variant.candidate, KERNEL, 1);
        warm_up_and_sample(bench.policy, 1, bench.measurement, || {
            let mut timeline = bench.session.device.run(&once)?;
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
