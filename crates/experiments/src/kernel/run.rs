//! Time of one launch, from its start to its end on the device.

use super::shares;
use crate::autotune::KERNEL;
use crate::blocking_kernel::Batch;
use crate::loops::{Sample, warm_up_and_sample};
use crate::plan::{Case, launches};
use crate::verified_kernel::around;
use crate::{Bench, Stage, energy};
use gpubench_core::error::Result;
use gpubench_core::record::{Detail, Flag};

/// Measures `case` with `bench`.
pub(super) fn measure(case: &Case, bench: &mut Bench) -> Result<()> {
    around(case, bench, |bench, variant| {
        let batch = bench.session.batch(variant.launch, MAX_BATCH);
        bench.measurement.monitor.empty_launch = bench.session.empty_launch();
        let alone = launches(case, variant.candidate, KERNEL, batch);
        bench.enter(Stage::Measure);
        let launches = Batch::of(bench.session, alone, variant.launch * f64::from(batch))?;
        if let Some(flag) = launches.flag() {
            bench.measurement.flag(flag);
        }
        let policy = bench.policy.after_launch(variant.launch);
        let mut last = None;
        warm_up_and_sample(&policy, batch, bench.measurement, || {
            let timeline = launches.run(bench.session.device.as_mut())?;
            last = Some(shares::Launches::of(variant.candidate, &timeline));
            Ok(Sample::of_batch(timeline, batch))
        })?;
        if let Some(measured) = &mut bench.measurement.measured {
            measured.flops = variant.candidate.flops;
            measured.bytes = variant.candidate.bytes;
            measured.types.clone_from(&variant.candidate.types);
        }
        let shares = shares::of(bench.device(), case, variant.candidate, last.as_ref())?;
        bench.measurement.detail = shares.as_ref().map(Detail::new);
        if bench.policy.race.is_none() {
            energy::measure(bench, launches.alone(), batch)?;
        }
        flag_cache(case, bench);
        Ok(())
    })
}

/// Most launches in one sample.
const MAX_BATCH: u32 = 10_000;

/// A working set below twice the largest cache may be served from it.
fn flag_cache(case: &Case, bench: &mut Bench) {
    if bench.device().info().cache.is_some_and(|cache| case.working_set().0 < 2 * cache.0) {
        bench.measurement.flag(Flag::Cache);
    }
}
