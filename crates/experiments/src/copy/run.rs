//! Time of one copy between host and device, by kind of host memory.

use crate::copied::verify_copied;
use crate::loops::{Sample, warm_up_and_sample};
use crate::plan::{Case, copies, host_buffer};
use crate::session::span;
use crate::{Bench, Stage};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{BufferId, MemoryKind};
use gpubench_core::workload::Fill;
use gpubench_device::Device;
use gpubench_reference::{Data, fill};

/// Most copies in one sample.
const MAX_BATCH: u32 = 1000;

/// Measures `case` with `bench`.
pub(super) fn measure(case: &Case, to_device: bool, bench: &mut Bench) -> Result<()> {
    let Some(buffer) = case.buffers.first() else {
        return Err(Error::Unsupported("a transfer needs a buffer".into()));
    };
    bench.enter(Stage::Prepare);
    let scalar = buffer.element.scalar;
    let count = buffer.bytes().as_usize() / scalar.size();
    let mut data =
        fill(buffer.fill.as_ref().unwrap_or(&Fill::RandomBits), scalar, count, case.seed);
    let target = place(bench.device(), case, to_device, &mut data)?;

    let once = copies(case, to_device, 1);
    if bench.policy.verify_only {
        bench.device().run(&once)?;
    } else {
        bench.enter(Stage::Measure);
        bench.device().run(&once)?;
        let seconds = span(&bench.device().run(&once)?);
        let batch = bench.session.batch(seconds, MAX_BATCH);
        let recording = copies(case, to_device, batch);
        warm_up_and_sample(bench.policy, batch, bench.measurement, || {
            Ok(Sample::of_batch(bench.session.device.run(&recording)?, batch))
        })?;
    }
    if let Some(measured) = &mut bench.measurement.measured {
        measured.bytes = buffer.bytes().0 as f64;
    }
    bench.enter(Stage::Verify);
    verify_copied(bench, (target, "data"), &data, "timed copies").map(drop)
}

/// Allocates both ends. Fills the target with `data`, then inverts `data` and fills the source with that: no byte of the two is
/// equal. Returns the target.
fn place(
    device: &mut dyn Device,
    case: &Case,
    to_device: bool,
    data: &mut Data,
) -> Result<BufferId> {
    let host = host_buffer(case);
    device.alloc(BufferId(0), host.len, MemoryKind::Device)?;
    device.alloc(host.buffer, host.len, case.key.host_memory.unwrap_or(MemoryKind::Pageable))?;
    let (source, target) =
        if to_device { (host.buffer, BufferId(0)) } else { (BufferId(0), host.buffer) };
    device.write(target, data.as_bytes())?;
    data.invert();
    device.write(source, data.as_bytes())?;
    Ok(target)
}
