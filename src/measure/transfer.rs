//! Time of one copy between host and device, by kind of host memory.

use super::compare;
use super::loops::{Sample, warm_up_and_sample};
use super::session::span;
use super::{Finding, Policy, Session, Stage};
use crate::error::{Error, Result};
use crate::gpu::{BufferId, MemoryKind};
use crate::plan::{Case, copies, host_buffer};
use crate::reference::{Data, fill};
use crate::workload::{Comparison, Fill, Measure};
use std::time::Instant;

/// Measures `case` into `finding`.
pub(super) fn measure(
    session: &mut Session,
    case: &Case,
    policy: &Policy,
    stage: &mut dyn FnMut(Stage),
    finding: &mut Finding,
) -> Result<()> {
    let Some(buffer) = case.buffers.first() else {
        return Err(Error::Unsupported("a transfer needs a buffer".into()));
    };
    stage(Stage::Prepare);
    let start = Instant::now();
    let scalar = buffer.element.scalar;
    let count = buffer.bytes().as_usize() / 4;
    let data = fill(buffer.fill.as_ref().unwrap_or(&Fill::RandomBits), scalar, count, case.seed);
    let to_device = case.key.measure == Measure::Send;
    let target = place(session, case, to_device, &data)?;
    finding.wall.prepare += start.elapsed().as_secs_f64();

    let once = copies(case, to_device, 1);
    if policy.verify_only {
        session.device.run(&once)?;
    } else {
        stage(Stage::Measure);
        let batch = batch(session, &once)?;
        let recording = copies(case, to_device, batch);
        warm_up_and_sample(policy, batch, finding, || {
            Ok(Sample::of_batch(session.device.run(&recording)?, batch))
        })?;
    }
    if let Some(measured) = &mut finding.measured {
        measured.bytes = buffer.bytes().0 as f64;
    }
    stage(Stage::Verify);
    verify(session, target, &data, finding)?;
    Ok(())
}

/// Allocates both ends, fills the source and poisons the target, which is returned.
fn place(session: &mut Session, case: &Case, to_device: bool, data: &Data) -> Result<BufferId> {
    let device = session.device.as_mut();
    let host = host_buffer(case);
    device.alloc(BufferId(0), host.len, MemoryKind::Device)?;
    device.alloc(host.buffer, host.len, case.key.host_memory.unwrap_or(MemoryKind::Pageable))?;
    let (source, target) =
        if to_device { (host.buffer, BufferId(0)) } else { (BufferId(0), host.buffer) };
    device.write(source, data.as_bytes())?;
    device.write(target, &vec![0xff; host.len.as_usize()])?;
    Ok(target)
}

/// Copies in one sample: it lasts at least 100 × the clock's resolution and 20 × an empty launch.
fn batch(session: &mut Session, once: &crate::gpu::Recording) -> Result<u32> {
    const MOST: f64 = 1000.0;
    let resolution = session.device.info().timestamp_resolution.unwrap_or(1e-7);
    let least = (100.0 * resolution).max(20.0 * session.empty_launch());
    session.device.run(once)?;
    let copy = span(&session.device.run(once)?);
    Ok((least / copy.max(1e-9)).ceil().clamp(1.0, MOST) as u32)
}

/// The target must hold the source's bytes.
fn verify(
    session: &mut Session,
    target: BufferId,
    data: &Data,
    finding: &mut Finding,
) -> Result<()> {
    let start = Instant::now();
    let bytes = session.device.read(target)?;
    let found = Data::from_bytes(data.scalar(), &bytes);
    let exact = Comparison { relative: 0.0, absolute: 0.0 };
    match compare("data", data, &found, exact, "timed copies") {
        Ok(norms) => finding.norms = Some(norms),
        Err(mismatch) => finding.mismatch(*mismatch),
    }
    finding.wall.verify += start.elapsed().as_secs_f64();
    Ok(())
}
