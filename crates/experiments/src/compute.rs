//! What a device computes, as the expected result of another one, or builds without launching it.

use super::autotune::{self, KERNEL};
use super::memory;
use super::{Session, Stage};
use crate::plan::{Case, launches};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::Access;

/// Launches the first variant of `case` once and returns the bytes of every written buffer, one
/// after the other: what `Verify::File` reads.
///
/// # Errors
/// Whatever the device says; `Mismatch` when the kernel wrote outside a buffer.
pub fn compute(
    session: &mut Session,
    case: &Case,
    stage: &mut dyn FnMut(Stage),
) -> Result<Vec<u8>> {
    let device = session.device.as_mut();
    device.reset();
    let candidate = case.first_variant()?;
    stage(Stage::Prepare);
    memory::allocate(device, case)?;
    memory::write(device, case, &memory::of_a_cross_device_oracle(case), false)?;
    stage(Stage::Build);
    device.build(KERNEL, &candidate.kernel)?;
    stage(Stage::Launch);
    device.run(&launches(case, candidate, KERNEL, 1))?;
    if let Some(breach) = memory::breach(device, case)? {
        return Err(Error::Mismatch(breach.text(case)));
    }
    let mut bytes = Vec::new();
    for id in 0..case.buffers.len() {
        if case.buffers[id].access != Access::Read {
            bytes.extend_from_slice(memory::read(device, case, id)?.as_bytes());
        }
    }
    device.reset();
    Ok(bytes)
}

/// Builds every kernel of the first variant of `case`, and launches nothing.
///
/// # Errors
/// Whatever the device's compiler says; `Unsupported` for a case without a kernel.
pub fn build(session: &mut Session, case: &Case, stage: &mut dyn FnMut(Stage)) -> Result<()> {
    let candidate = case.first_variant()?;
    session.device.reset();
    stage(Stage::Build);
    autotune::build_on(session.device.as_mut(), KERNEL, candidate).map(drop)
}
