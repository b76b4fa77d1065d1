//! What every device checks of a kernel or a step before its driver sees it.

use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{BufferId, DeviceInfo, KernelId, KernelSource, MemoryKind, Slice, Step};
use gpubench_core::units::Bytes;

/// The group of a kernel must have work-items, and no more of them than the device takes.
pub(crate) fn group(source: &KernelSource, info: &DeviceInfo) -> Result<()> {
    let (size, [x, y, z]) = (source.group_size(), source.group);
    if size == 0 {
        return Err(Error::Usage(format!("a group of {x}x{y}x{z} has no work-items")));
    }
    let (max_size, dims) = (info.max_group_size, info.max_group_dims);
    if size > max_size.into() || source.group.iter().zip(dims).any(|(&n, limit)| n > limit) {
        return Err(Error::Unsupported(format!(
            "a group of {x}x{y}x{z} = {size} work-items; the device takes {max_size}, {dims:?} along \
             each dimension"
        )));
    }
    Ok(())
}

/// A launch must have groups, no more of them than the device takes, and what its kernel `takes`: so
/// many buffers and bytes of parameters.
pub(crate) fn launch(
    groups: [u32; 3],
    given: (usize, usize),
    takes: (usize, usize),
    info: &DeviceInfo,
) -> Result<()> {
    if given != takes {
        return Err(Error::Usage(format!(
            "the kernel takes {} buffers and {} bytes of parameters, not {} and {}",
            takes.0, takes.1, given.0, given.1
        )));
    }
    if groups.contains(&0) {
        return Err(Error::Usage(format!("a launch of {groups:?} work-groups does nothing")));
    }
    if groups.iter().zip(info.max_groups).any(|(&n, limit)| n > limit) {
        let limit = info.max_groups;
        let message = format!("a launch of {groups:?} work-groups; the device takes {limit:?}");
        return Err(Error::Unsupported(message));
    }
    Ok(())
}

/// The step at `position` may wait for earlier ones only.
pub(crate) fn order(position: usize, step: &Step) -> Result<()> {
    let later = step.after.iter().find(|id| id.0 as usize >= position);
    later.map_or(Ok(()), |id| {
        let later = id.0;
        Err(Error::Usage(format!("step {position} waits for step {later}, which is not before it")))
    })
}

/// Both sides of a copy must be of one length.
pub(crate) fn copy(from: &Slice, to: &Slice) -> Result<()> {
    match from.len == to.len {
        true => Ok(()),
        false => Err(Error::Usage(format!("a copy of {} to {}", from.len, to.len))),
    }
}

/// A slice must lie within its buffer of `len` bytes.
pub(crate) fn within(slice: &Slice, len: u64) -> Result<()> {
    let end = slice.offset.0.checked_add(slice.len.0);
    match end.is_some_and(|end| end <= len) {
        true => Ok(()),
        false => Err(Error::Usage(format!(
            "{} bytes from byte {} do not lie in buffer {} of {len} bytes",
            slice.len.0, slice.offset.0, slice.buffer.0
        ))),
    }
}

/// A buffer must be of a kind that the device has, and no larger than it allows.
pub(crate) fn allocation(bytes: Bytes, kind: MemoryKind, info: &DeviceInfo) -> Result<()> {
    if kind != MemoryKind::Device && !info.host_memory.contains(&kind) {
        return Err(Error::Unsupported(format!("this device has no {kind:?} host memory")));
    }
    if bytes > info.max_buffer {
        return Err(Error::Unsupported(format!(
            "a buffer of {bytes}; the device's largest is {}",
            info.max_buffer
        )));
    }
    Ok(())
}

/// What fills a buffer of `len` bytes from its beginning must fit, and WebGPU writes whole words: the rest of
/// the last one would be overwritten.
pub(crate) fn filling(id: BufferId, data: usize, len: u64, on_device: bool) -> Result<()> {
    let bytes = Bytes(data as u64);
    if bytes.0 > len {
        let (id, len) = (id.0, Bytes(len));
        return Err(Error::Device(format!("{bytes} written to buffer {id}, which has {len}")));
    }
    if on_device && bytes.0 != len && !data.is_multiple_of(4) {
        return Err(Error::Unsupported(format!(
            "WebGPU writes multiples of 4 bytes, or a whole buffer; not {data} bytes"
        )));
    }
    Ok(())
}

/// A part of a buffer must begin and end where WebGPU's copies and bindings can.
pub(crate) fn alignment(slice: &Slice) -> Result<()> {
    if !slice.offset.0.is_multiple_of(4) || !slice.len.0.is_multiple_of(4) {
        return Err(Error::Unsupported(format!(
            "WebGPU moves and binds multiples of 4 bytes; the slice is {} bytes from byte {} on",
            slice.len.0, slice.offset.0
        )));
    }
    Ok(())
}

/// A part of a buffer that a kernel is given must be one that the device can bind.
pub(crate) fn argument(slice: &Slice, info: &DeviceInfo) -> Result<()> {
    if slice.len > info.max_binding {
        return Err(Error::Unsupported(format!(
            "a kernel argument of {}; the device's largest is {}",
            slice.len, info.max_binding
        )));
    }
    if !slice.offset.0.is_multiple_of(info.offset_alignment.0) || slice.len.0 == 0 {
        return Err(Error::Unsupported(format!(
            "a kernel argument of {} from byte {} on; the device takes multiples of {} bytes, \
             and not nothing",
            slice.len, slice.offset.0, info.offset_alignment.0
        )));
    }
    Ok(())
}

/// A kernel that was never built.
pub(crate) fn no_kernel(id: KernelId) -> Error {
    Error::Usage(format!("there is no kernel {}", id.0))
}

/// A buffer that was never allocated, of this kind where one is wanted.
pub(crate) fn no_buffer(id: BufferId, kind: &str) -> Error {
    Error::Usage(format!("there is no {kind}buffer {}", id.0))
}
