//! Buffers of a simulated device, and of the host as it sees it.

use super::Description;
use crate::validation::{self, no_buffer};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{BufferId, MemoryKind, Slice};
use gpubench_core::units::Bytes;
use std::collections::BTreeMap;

struct Buffer {
    kind: MemoryKind,
    bytes: Vec<u8>,
    /// Changes whenever the contents do, and differs from any other buffer's.
    version: u64,
}

/// All buffers by number.
#[derive(Default)]
pub(super) struct Memory {
    buffers: BTreeMap<BufferId, Buffer>,
    versions: u64,
}

impl Memory {
    pub fn alloc(
        &mut self,
        gpu: &Description,
        id: BufferId,
        bytes: Bytes,
        kind: MemoryKind,
    ) -> Result<()> {
        self.buffers.remove(&id);
        if kind != MemoryKind::Device && gpu.rates(kind).is_none() {
            return Err(Error::Unsupported(format!("{} has no {} memory", gpu.name, kind.label())));
        }
        if kind.is_for_kernels() {
            let used: u64 = self.device_buffers().map(|buffer| buffer.bytes.len() as u64).sum();
            if bytes.0 > gpu.memory.largest_buffer || used.saturating_add(bytes.0) > gpu.memory.size
            {
                return Err(Error::OutOfMemory(format!(
                    "{bytes} requested; the largest buffer is {}, and {} of {} are taken",
                    Bytes(gpu.memory.largest_buffer),
                    Bytes(used),
                    Bytes(gpu.memory.size)
                )));
            }
        }
        let version = self.fresh_version();
        self.buffers.insert(id, Buffer { kind, bytes: zeros(bytes)?, version });
        Ok(())
    }

    pub fn clear(&mut self) {
        self.buffers.clear();
    }

    pub fn kind(&self, id: BufferId) -> Result<MemoryKind> {
        Ok(self.buffer(id)?.kind)
    }

    pub fn version(&self, id: BufferId) -> Result<u64> {
        Ok(self.buffer(id)?.version)
    }

    /// The whole buffer.
    pub fn whole(&self, id: BufferId) -> Result<&[u8]> {
        Ok(&self.buffer(id)?.bytes)
    }

    /// A part of a buffer.
    pub fn part(&self, slice: Slice) -> Result<&[u8]> {
        let bytes = &self.buffer(slice.buffer)?.bytes;
        validation::within(&slice, bytes.len() as u64)?;
        Ok(&bytes[slice.offset.as_usize()..][..slice.len.as_usize()])
    }

    /// Writes `data` into a buffer from byte `offset` on. Equal contents count as no change.
    pub fn store(&mut self, id: BufferId, offset: Bytes, data: &[u8]) -> Result<()> {
        let slice = Slice { buffer: id, offset, len: Bytes(data.len() as u64) };
        if self.part(slice)? == data {
            return Ok(());
        }
        let version = self.fresh_version();
        if let Some(buffer) = self.buffers.get_mut(&id) {
            buffer.version = version;
            buffer.bytes[offset.as_usize()..][..data.len()].copy_from_slice(data);
        }
        Ok(())
    }

    fn buffer(&self, id: BufferId) -> Result<&Buffer> {
        self.buffers.get(&id).ok_or_else(|| no_buffer(id, ""))
    }

    fn device_buffers(&self) -> impl Iterator<Item = &Buffer> {
        self.buffers.values().filter(|buffer| buffer.kind.is_for_kernels())
    }

    fn fresh_version(&mut self) -> u64 {
        self.versions += 1;
        self.versions
    }
}

/// Zeroed memory, which the system hands out page by page as it is written.
fn zeros(bytes: Bytes) -> Result<Vec<u8>> {
    let out_of_memory =
        |_| Error::OutOfMemory(format!("the host has no {bytes} for a simulated buffer"));
    Vec::<u8>::new().try_reserve_exact(bytes.as_usize()).map_err(out_of_memory)?;
    Ok(vec![0; bytes.as_usize()])
}
