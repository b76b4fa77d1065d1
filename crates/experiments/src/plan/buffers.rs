//! A case's buffers, and whether device and host have room for them.

use super::limits::{GUARD, Limits};
use super::{BufferPlan, Case, estimate};
use gpubench_core::gpu::{Access, DeviceInfo, Element, Scalar};
use gpubench_core::reason::{Reason, Room};
use gpubench_core::units::Bytes;
use gpubench_core::workload::{Fill, Split};
use gpubench_suite::{Scope, Workload};

/// What the host holds of each of a case's bytes: the inputs as they were, copies of what came
/// back, and what is expected.
const HOST_COPIES: u64 = 5;
/// Guards on either side of a buffer, together.
const GUARDS: u64 = 2 * GUARD.0;

/// The buffers of `workload` with their counts over `scope`.
pub(super) fn buffers(workload: &Workload, scope: &Scope) -> Result<Vec<BufferPlan>, String> {
    workload
        .buffers
        .iter()
        .map(|buffer| {
            let count =
                buffer.count.count(scope).map_err(|e| format!("buffer `{}`: {e}", buffer.name))?;
            if count == 0 {
                return Err(format!("buffer `{}` has no elements at this size", buffer.name));
            }
            Ok(BufferPlan {
                name: buffer.name.clone(),
                element: buffer.element,
                count,
                fill: buffer.fill.clone(),
                access: buffer.access,
                split: buffer.split.clone(),
                image: buffer
                    .image_at(count, scope)
                    .map_err(|why| format!("buffer `{}`: {why}", buffer.name))?,
            })
        })
        .collect()
}

/// The largest buffer of a transfer sweep: two of them on the device, each a quarter of its
/// memory at most; no more than an eighth of the host's, than is made and uploaded in the time, and
/// than 32 bits count.
pub fn sweep_buffer(device: &DeviceInfo, limits: &Limits) -> BufferPlan {
    let part = |memory: Option<Bytes>, n: u64| memory.map_or(u64::MAX, |memory| memory.0 / n);
    let seconds = limits.seconds.min(estimate::LONGEST_PREPARE);
    let affordable = (estimate::fill_rate(limits.cores) * seconds / 4.0) as u64;
    let max_bytes = part(limits.memory, 4)
        .min(part(device.memory, 4))
        .min(part(limits.host_memory, 8))
        .min(device.max_buffer.0.saturating_sub(GUARDS))
        .min(device.max_binding.0)
        .min(affordable)
        .min(4 * u64::from(u32::MAX));
    // A power of two: sizes grow by fours from 4 KiB.
    let bytes = 1u64 << max_bytes.max(4096).ilog2();
    BufferPlan {
        name: "data".into(),
        element: Element::scalar(Scalar::U32),
        count: bytes / 4,
        fill: Some(Fill::RandomBits),
        access: Access::ReadWrite,
        split: Split::Broadcast,
        image: None,
    }
}

/// One copy of a measurement over several devices: long enough that its latency counts for little,
/// short enough that many of them fill a state's time.
pub fn copy_buffer(device: &DeviceInfo, limits: &Limits) -> BufferPlan {
    const BYTES: u64 = 8 << 20;
    let largest = sweep_buffer(device, limits);
    BufferPlan { count: largest.count.min(BYTES / 4), ..largest }
}

/// Refuses buffers that do not fit. Those that no kernel sees (`bound` is false) are only copied:
/// any size that can be made.
pub(super) fn check_buffers(
    buffers: &[BufferPlan],
    bound: bool,
    device: &DeviceInfo,
    limits: &Limits,
) -> Result<(), Reason> {
    for buffer in buffers {
        check_buffer(buffer, bound, device)?;
    }
    let total = buffers.iter().map(on_device).fold(0, u64::saturating_add);
    Room::Device.check("it", total, available(device, limits))?;
    let sizes = buffers.iter().map(|buffer| buffer.bytes().0);
    let on_host = sizes.fold(0, u64::saturating_add).saturating_mul(HOST_COPIES);
    Room::Host.check("making and checking it", on_host, limits.host_memory)
}

/// Bytes of the device's memory that cases may use, where anything limits them.
pub fn available(device: &DeviceInfo, limits: &Limits) -> Option<Bytes> {
    limits.memory.into_iter().chain(device.memory.map(|m| Bytes(m.0 / 4 * 3))).min()
}

/// Bytes of a case on the device, guards included.
pub fn device_bytes(case: &Case) -> u64 {
    case.buffers.iter().map(on_device).fold(0, u64::saturating_add)
}

/// Bytes of a buffer on the device, with its guards and the image that is made of it.
fn on_device(buffer: &BufferPlan) -> u64 {
    let image = buffer.image.map_or(0, |_| buffer.bytes().0);
    buffer.bytes().0.saturating_add(GUARDS).saturating_add(image)
}

/// Bytes that a process may take for a case, where the device's memory is the host's.
pub fn peak_bytes(case: &Case) -> u64 {
    device_bytes(case).saturating_mul(1 + HOST_COPIES)
}

fn check_buffer(buffer: &BufferPlan, bound: bool, device: &DeviceInfo) -> Result<(), Reason> {
    let bytes = buffer.bytes();
    let scalars = buffer.count.saturating_mul(u64::from(buffer.element.width));
    let what = format!("buffer `{}`", buffer.name);
    Room::Binding.check(&what, bytes.0, bound.then_some(device.max_binding))?;
    Room::Buffer.check(&what, bytes.0.saturating_add(GUARDS), Some(device.max_buffer))?;
    if scalars > u64::from(u32::MAX) {
        return Err(format!("buffer `{}` has more scalars than 32 bits count", buffer.name).into());
    }
    Ok(())
}
