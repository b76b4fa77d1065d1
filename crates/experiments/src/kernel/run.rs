//! Time of one launch, from its start to its end on the device.

use crate::autotune::KERNEL;
use crate::loops::{Sample, warm_up_and_sample};
use crate::plan::{Case, launches};
use crate::verified_kernel::around;
use crate::{Measurement, Policy, Session, Stage, energy};
use gpubench_core::error::Result;
use gpubench_core::record::Flag;

/// Measures `case` into `measurement`.
pub(super) fn measure(
    session: &mut Session,
    case: &Case,
    policy: &Policy,
    stage: &mut dyn FnMut(Stage),
    measurement: &mut Measurement,
) -> Result<()> {
    around(session, case, policy, stage, measurement, |session, variant, stage, measurement| {
        let batch = session.batch(variant.launch, MAX_BATCH);
        measurement.monitor.empty_launch = Some(session.empty_launch());
        let recording = launches(case, variant.candidate, KERNEL, batch);
        stage(Stage::Measure);
        warm_up_and_sample(policy, batch, measurement, || {
            Ok(Sample::of_batch(session.device.run(&recording)?, batch))
        })?;
        if let Some(measured) = &mut measurement.measured {
            measured.flops = variant.candidate.flops;
            measured.bytes = variant.candidate.bytes;
        }
        energy::measure(session, &recording, batch, policy, measurement)?;
        flag_cache(session, case, measurement);
        Ok(())
    })
}

/// Most launches in one sample.
const MAX_BATCH: u32 = 10_000;

/// A working set below twice the largest cache may be served from it.
fn flag_cache(session: &Session, case: &Case, measurement: &mut Measurement) {
    if session.device.info().cache.is_some_and(|cache| case.working_set().0 < 2 * cache.0) {
        measurement.flag(Flag::Cache);
    }
}
