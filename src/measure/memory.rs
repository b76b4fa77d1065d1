//! A case's buffers: inputs from a seeded generator, outputs poisoned, guards on either side.

use crate::backend::Device;
use crate::error::{Error, Result};
use crate::gpu::{Access, MemoryKind};
use crate::plan::{BufferPlan, Case, GUARD};
use crate::reference::{Data, fill};
use crate::units::Bytes;
use sha2::{Digest, Sha256};

/// Every byte of an output before it is written, and of the guards: as a float it is NaN.
const POISON: u8 = 0xff;
const GUARD_PATTERN: u8 = 0xa5;

/// Allocates every buffer of `case` with its guards.
pub(super) fn allocate(device: &mut dyn Device, case: &Case) -> Result<()> {
    for (i, buffer) in case.buffers.iter().enumerate() {
        let bytes = Bytes(buffer.bytes().0 + 2 * GUARD.0);
        device.alloc(case.buffer(i), bytes, MemoryKind::Device)?;
    }
    Ok(())
}

/// The contents of every buffer before a launch, in binding order.
pub(super) fn initial(case: &Case) -> Vec<Data> {
    case.buffers.iter().map(|buffer| contents(buffer, case.seed)).collect()
}

/// Inputs are seeded by the buffer's name, so that every variant of a workload sees the same.
fn contents(buffer: &BufferPlan, seed: u64) -> Data {
    let scalars = buffer.bytes().as_usize() / 4;
    match &buffer.fill {
        Some(how) => fill(how, buffer.element.scalar, scalars, seed ^ name_seed(&buffer.name)),
        None => Data::from_bytes(buffer.element.scalar, &vec![POISON; scalars * 4]),
    }
}

fn name_seed(name: &str) -> u64 {
    let digest = Sha256::digest(name.as_bytes());
    u64::from_le_bytes(std::array::from_fn(|i| digest[i]))
}

/// Writes the initial contents of every buffer, or only of those that a kernel writes.
pub(super) fn write(
    device: &mut dyn Device,
    case: &Case,
    data: &[Data],
    only_written: bool,
) -> Result<()> {
    for ((i, buffer), data) in case.buffers.iter().enumerate().zip(data) {
        if only_written && buffer.access == Access::Read {
            continue;
        }
        let guard = [GUARD_PATTERN; GUARD.0 as usize];
        let guarded = [guard.as_slice(), data.as_bytes(), guard.as_slice()].concat();
        device.write(case.buffer(i), &guarded)?;
    }
    Ok(())
}

/// Poisons every buffer between its guards, inputs too: a recording that sends them must do so.
pub(super) fn poison(device: &mut dyn Device, case: &Case) -> Result<()> {
    let poisoned: Vec<Data> = case
        .buffers
        .iter()
        .map(|b| Data::from_bytes(b.element.scalar, &vec![POISON; b.bytes().as_usize()]))
        .collect();
    write(device, case, &poisoned, false)
}

/// Reads buffer number `id` of `case`.
///
/// # Errors
/// `Mismatch` when a guard was overwritten: the kernel wrote outside the buffer.
pub(super) fn read(device: &mut dyn Device, case: &Case, id: usize) -> Result<Data> {
    let buffer = &case.buffers[id];
    let guarded = device.read(case.buffer(id))?;
    let (before, rest) = guarded.split_at(GUARD.as_usize());
    let (inside, after) = rest.split_at(buffer.bytes().as_usize());
    for (side, guard) in [("before", before), ("behind", after)] {
        if guard.iter().any(|&byte| byte != GUARD_PATTERN) {
            return Err(Error::Mismatch(format!(
                "the kernel wrote {side} the bounds of buffer `{}`",
                buffer.name
            )));
        }
    }
    Ok(Data::from_bytes(buffer.element.scalar, inside))
}
