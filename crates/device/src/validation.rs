//! What every device checks of a kernel or a step before its driver sees it.

use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{
    BufferId, DeviceInfo, KernelId, KernelSource, MemoryKind, Op, Slice, Step,
};
use gpubench_core::units::Bytes;
use std::collections::BTreeMap;

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
    if kind.is_zero_copy() && info.zero_copy.iter().all(|offered| offered.memory != kind) {
        return Err(Error::Unsupported(format!("this device has no {} memory", kind.label())));
    }
    if !kind.is_for_kernels() && !info.host_memory.contains(&kind) {
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
        return Err(Error::Usage(format!("{bytes} written to buffer {id}, which has {len}")));
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

/// Which zero-copy buffers the host has mapped: no kernel and no copy may use one meanwhile.
#[derive(Clone, Default)]
pub(crate) struct MappedParts(BTreeMap<BufferId, Slice>);

impl MappedParts {
    /// Does what `op` does to them; `kind` is that of a buffer.
    ///
    /// # Errors
    /// `Usage` where a buffer cannot be mapped, is mapped, or is not mapped where it must be.
    pub fn step(&mut self, op: &Op, kind: impl Fn(BufferId) -> Result<MemoryKind>) -> Result<()> {
        match op {
            Op::Map { part, .. } => {
                if !kind(part.buffer)?.is_zero_copy() {
                    return Err(no_buffer(part.buffer, "zero-copy "));
                }
                self.unused(part.buffer)?;
                self.0.insert(part.buffer, *part);
                Ok(())
            }
            Op::Unmap { part } => match self.0.remove(&part.buffer) {
                Some(mapped) if mapped == *part => Ok(()),
                _ => Err(Error::Usage(format!("buffer {} is not mapped so", part.buffer.0))),
            },
            Op::Dispatch { buffers, .. } => {
                buffers.iter().try_for_each(|part| self.unused(part.buffer))
            }
            Op::Upload { from, to } | Op::Download { from, to } | Op::Copy { from, to } => {
                self.unused(from.buffer)?;
                self.unused(to.buffer)
            }
        }
    }

    /// A buffer of that number is gone.
    pub fn forget(&mut self, id: BufferId) {
        self.0.remove(&id);
    }

    /// # Errors
    /// `Usage` where a buffer is mapped.
    pub fn unused(&self, id: BufferId) -> Result<()> {
        match self.0.contains_key(&id) {
            true => Err(Error::Usage(format!("buffer {} is mapped", id.0))),
            false => Ok(()),
        }
    }
}

/// WebGPU has no such steps.
pub(crate) fn no_zero_copy() -> Error {
    Error::Unsupported("WebGPU: no kernel uses a buffer that the host maps".into())
}

/// A kernel that was never built.
pub(crate) fn no_kernel(id: KernelId) -> Error {
    Error::Usage(format!("there is no kernel {}", id.0))
}

/// A buffer that was never allocated, of this kind where one is wanted.
pub(crate) fn no_buffer(id: BufferId, kind: &str) -> Error {
    Error::Usage(format!("there is no {kind}buffer {}", id.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::gpu::Access;

    #[test]
    fn nothing_uses_a_buffer_while_the_host_has_it() {
        let kind =
            |id: BufferId| Ok(if id.0 == 1 { MemoryKind::ZeroCopy } else { MemoryKind::Device });
        let part =
            |buffer, len| Slice { buffer: BufferId(buffer), offset: Bytes(0), len: Bytes(len) };
        let map = |buffer| Op::Map { part: part(buffer, 8), access: Access::Read };
        let unmap = |len| Op::Unmap { part: part(1, len) };
        let copy = |from, to| Op::Copy { from: part(from, 8), to: part(to, 8) };
        let dispatch = || Op::Dispatch {
            kernel: KernelId(0),
            groups: [1; 3],
            buffers: vec![part(0, 8), part(1, 4)],
            params: vec![],
        };
        let mut mapped = MappedParts::default();
        for (op, is_right) in [
            (map(0), false),
            (unmap(8), false),
            (dispatch(), true),
            (map(1), true),
            (map(1), false),
            (dispatch(), false),
            (copy(0, 1), false),
            (copy(1, 0), false),
            (copy(0, 2), true),
            (unmap(8), true),
            (copy(0, 1), true),
            (map(1), true),
            (unmap(4), false),
        ] {
            assert_eq!(mapped.step(&op, kind).is_ok(), is_right, "{op:?}");
        }
        mapped.step(&map(1), kind).unwrap();
        mapped.forget(BufferId(1));
        assert!(mapped.step(&dispatch(), kind).is_ok());
    }
}
