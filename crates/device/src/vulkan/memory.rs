//! Buffers of every kind.
//!
//! - **Device**: a buffer in the device's memory, out of the host's sight where there is such.
//! - **Pageable**: a `Vec`. Copies go through a staging buffer of equal size in the host's memory, or through a
//!   small ring (`pieces`).
//! - **Pinned**: a buffer in the host's memory, cached where there is such.
//! - **Mapped**: a `Vec` too; the host copies into or out of the device's buffer itself, which moves
//!   to memory that the host reaches when the first such copy is prepared.
//! - **Zero-copy**: a buffer in the device's memory where the host reaches it, and does while it is mapped.
//! - **Host pointer**: a buffer in pages of the program's own, which the driver imports.

use super::buffer::{Buffer, Place};
use super::commands::Pools;
use super::context::Context;
use super::pieces::RING;
use super::plan::How;
use crate::validation::{self, MappedParts, no_buffer};
use crate::wgpu::{reserved, zeroed};
use ash::vk;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{BufferId, DeviceInfo, MemoryKind, Op, Slice};
use gpubench_core::units::Bytes;
use std::collections::HashMap;
use std::rc::Rc;

/// The most that is written or read through staging at once.
const CHUNK: u64 = 16 << 20;
const _: () = assert!(RING <= CHUNK);

enum Held {
    /// In the device's memory, or pinned.
    Buffer(Buffer),
    /// The host's memory, and the staging buffer through which pageable copies go.
    Host { data: Vec<u8>, staging: Option<Buffer> },
}

struct Allocation {
    kind: MemoryKind,
    len: u64,
    held: Held,
}

/// All buffers of a device.
pub(super) struct Memory {
    context: Rc<Context>,
    allocations: HashMap<BufferId, Allocation>,
    /// Through which device buffers are written and read outside recordings; it has the ring, too.
    staging: Option<Buffer>,
    mapped: MappedParts,
}

impl Memory {
    /// No buffers.
    pub fn new(context: &Rc<Context>) -> Self {
        let (allocations, mapped) = (HashMap::new(), MappedParts::default());
        Self { context: Rc::clone(context), allocations, staging: None, mapped }
    }

    /// Frees everything.
    pub fn clear(&mut self) {
        self.allocations.clear();
        self.mapped = MappedParts::default();
        self.staging = None;
    }

    /// Allocates a buffer of zeros.
    ///
    /// # Errors
    /// `Unsupported` beyond the device's limits or without its support, `OutOfMemory`.
    pub fn alloc(
        &mut self,
        pools: &mut Pools,
        info: &DeviceInfo,
        (id, bytes, kind): (BufferId, Bytes, MemoryKind),
    ) -> Result<()> {
        self.allocations.remove(&id);
        self.mapped.forget(id);
        validation::allocation(bytes, kind, info)?;
        let len = bytes.0;
        let held = match kind {
            MemoryKind::Device => Held::Buffer(self.on_device(pools, len, Place::Device)?),
            MemoryKind::Pinned => Held::Buffer(self.on_host(len)?),
            MemoryKind::ZeroCopy => Held::Buffer(self.on_device(pools, len, Place::ZeroCopy)?),
            MemoryKind::HostPointer => {
                Held::Buffer(self.on_device(pools, len, Place::HostPointer)?)
            }
            MemoryKind::Pageable | MemoryKind::Mapped => {
                Held::Host { data: zeroed(len)?, staging: None }
            }
        };
        self.allocations.insert(id, Allocation { kind, len, held });
        Ok(())
    }

    fn on_device(&self, pools: &mut Pools, len: u64, place: Place) -> Result<Buffer> {
        let buffer = Buffer::new(&self.context, len, place)?;
        fill(pools, &buffer)?;
        Ok(buffer)
    }

    fn on_host(&self, len: u64) -> Result<Buffer> {
        let mut buffer = Buffer::new(&self.context, len, Place::Host)?;
        // Pages must exist before timing, and hold what was written only.
        buffer.clear();
        Ok(buffer)
    }

    /// Fills a buffer from its beginning.
    pub fn write(&mut self, pools: &mut Pools, id: BufferId, data: &[u8]) -> Result<()> {
        self.mapped.unused(id)?;
        let mut staging = self.staging.take();
        let context = Rc::clone(&self.context);
        let allocation = self.get_mut(id)?;
        validation::filling(id, data.len(), allocation.len, false)?;
        match &mut allocation.held {
            Held::Host { data: host, .. } => host[..data.len()].copy_from_slice(data),
            Held::Buffer(buffer) if allocation.kind.is_zero_copy() => {
                buffer.map()?;
                buffer.bytes_mut()[..data.len()].copy_from_slice(data);
                buffer.unmap();
            }
            Held::Buffer(buffer) if buffer.is_mapped() => {
                buffer.bytes_mut()[..data.len()].copy_from_slice(data);
            }
            Held::Buffer(buffer) => {
                for (first, part) in (0..).step_by(CHUNK as usize).zip(data.chunks(CHUNK as usize))
                {
                    let staging = staged(&mut staging, &context)?;
                    staging.bytes_mut()[..part.len()].copy_from_slice(part);
                    copy(pools, (staging, 0), (buffer, first), part.len() as u64)?;
                }
            }
        }
        self.staging = staging;
        Ok(())
    }

    /// Reads a whole buffer.
    pub fn read(&mut self, pools: &mut Pools, id: BufferId) -> Result<Vec<u8>> {
        let len = self.get_mut(id)?.len;
        let mut data = reserved(len)?;
        self.look_at(pools, id, |part| data.extend_from_slice(part))?;
        Ok(data)
    }

    /// Whether a buffer holds these bytes and no others.
    pub fn holds(&mut self, pools: &mut Pools, id: BufferId, bytes: &[u8]) -> Result<bool> {
        let mut rest = Some(bytes);
        self.look_at(pools, id, |part| rest = rest.and_then(|rest| rest.strip_prefix(part)))?;
        Ok(rest.is_some_and(<[u8]>::is_empty))
    }

    /// Shows the bytes of a whole buffer, part after part.
    fn look_at(
        &mut self,
        pools: &mut Pools,
        id: BufferId,
        mut look: impl FnMut(&[u8]),
    ) -> Result<()> {
        self.mapped.unused(id)?;
        let mut staging = self.staging.take();
        let context = Rc::clone(&self.context);
        let allocation = self.get_mut(id)?;
        match &mut allocation.held {
            Held::Host { data, .. } => look(data),
            Held::Buffer(buffer) if allocation.kind.is_zero_copy() => {
                buffer.map()?;
                look(buffer.bytes());
                buffer.unmap();
            }
            Held::Buffer(buffer) if buffer.is_mapped() => look(buffer.bytes()),
            Held::Buffer(buffer) => {
                for first in (0..allocation.len).step_by(CHUNK as usize) {
                    let len = CHUNK.min(allocation.len - first);
                    let staging = staged(&mut staging, &context)?;
                    copy(pools, (&*buffer, first), (staging, 0), len)?;
                    look(&staging.bytes()[..len as usize]);
                }
            }
        }
        self.staging = staging;
        Ok(())
    }

    /// Notes what a step maps and unmaps, and checks that it uses nothing that is mapped.
    pub fn map_or_use(&mut self, op: &Op) -> Result<()> {
        let mut mapped = std::mem::take(&mut self.mapped);
        let allowed = mapped.step(op, |id| self.kind(id));
        self.mapped = mapped;
        allowed
    }

    /// Lets the host reach a zero-copy buffer, or takes it away.
    pub fn map(&mut self, id: BufferId, reach: bool) -> Result<()> {
        match &mut self.get_mut(id)?.held {
            Held::Buffer(buffer) if reach => buffer.map(),
            Held::Buffer(buffer) => {
                buffer.unmap();
                Ok(())
            }
            Held::Host { .. } => Err(no_buffer(id, "zero-copy ")),
        }
    }

    /// The kind of a buffer.
    pub fn kind(&self, id: BufferId) -> Result<MemoryKind> {
        self.get(id).map(|allocation| allocation.kind)
    }

    /// Checks that a slice lies within its buffer.
    pub fn check(&self, slice: Slice) -> Result<()> {
        validation::within(&slice, self.get(slice.buffer)?.len)
    }

    /// What the device binds for a slice.
    pub fn buffer(&self, id: BufferId) -> Result<vk::Buffer> {
        match &self.get(id)?.held {
            Held::Buffer(buffer) => Ok(buffer.handle()),
            Held::Host { .. } => Err(no_buffer(id, "device ")),
        }
    }

    /// Where the device copies from or to for a slice: in its buffer, or in the staging of pageable memory.
    pub fn place(&self, slice: Slice, how: How) -> Result<(vk::Buffer, u64)> {
        let (buffer, first) = match (&self.get(slice.buffer)?.held, how) {
            (Held::Buffer(buffer), _) => (Some(buffer), slice.offset.0),
            (Held::Host { .. }, How::Ring(at)) => (self.staging.as_ref(), at),
            (Held::Host { staging, .. }, _) => (staging.as_ref(), slice.offset.0),
        };
        let buffer = buffer.ok_or_else(|| no_buffer(slice.buffer, "device "))?;
        Ok((buffer.handle(), first))
    }

    /// Makes the buffer that has the ring.
    pub fn make_ring(&mut self) -> Result<()> {
        staged(&mut self.staging, &self.context).map(drop)
    }

    /// Makes the staging buffer of pageable memory, as large as that.
    pub fn make_staging(&mut self, id: BufferId) -> Result<()> {
        if let Held::Host { staging: None, data } = &self.get(id)?.held {
            let buffer = self.on_host(data.len() as u64)?;
            if let Held::Host { staging, .. } = &mut self.get_mut(id)?.held {
                *staging = Some(buffer);
            }
        }
        Ok(())
    }

    /// Moves a device buffer to memory that the host reaches. True where it was another before, so that
    /// descriptors of the old one are of no more use.
    pub fn make_direct(&mut self, pools: &mut Pools, id: BufferId) -> Result<bool> {
        let Held::Buffer(buffer) = &self.get(id)?.held else {
            return Err(no_buffer(id, "device "));
        };
        if buffer.is_mapped() {
            return Ok(false);
        }
        let direct = self.on_device(pools, buffer.len(), Place::Direct)?;
        copy(pools, (buffer, 0), (&direct, 0), buffer.len())?;
        self.get_mut(id)?.held = Held::Buffer(direct);
        Ok(true)
    }

    /// The host's half of a copy from or to pageable memory.
    pub fn through_staging(&mut self, slice: Slice, how: How, upload: bool) -> Result<()> {
        let missing = || no_buffer(slice.buffer, "staged ");
        let allocation = self.allocations.get_mut(&slice.buffer).ok_or_else(missing)?;
        let Held::Host { data, staging } = &mut allocation.held else { return Err(missing()) };
        let (staging, first) = match how {
            How::Ring(at) => (&mut self.staging, Bytes(at)),
            _ => (staging, slice.offset),
        };
        let staging = staging.as_mut().ok_or_else(missing)?;
        let staging = staging.part_mut(range(Slice { offset: first, ..slice }));
        let host = &mut data[range(slice)];
        if upload {
            staging.copy_from_slice(host)
        } else {
            host.copy_from_slice(staging)
        }
        Ok(())
    }

    /// A copy that the host makes: from mapped memory into the device's buffer, or back.
    pub fn direct(&mut self, host: Slice, device: Slice, upload: bool) -> Result<()> {
        let Held::Host { data, .. } = &mut self.get_mut(host.buffer)?.held else {
            return Err(no_buffer(host.buffer, "host "));
        };
        // Both are in the same map: the host's is taken out for the moment.
        let mut taken = std::mem::take(data);
        let copied = match &mut self.get_mut(device.buffer)?.held {
            Held::Buffer(buffer) => {
                let (from, to) = (&mut taken[range(host)], &mut buffer.bytes_mut()[range(device)]);
                if upload {
                    to.copy_from_slice(from)
                } else {
                    from.copy_from_slice(to)
                }
                Ok(())
            }
            Held::Host { .. } => Err(no_buffer(device.buffer, "device ")),
        };
        if let Held::Host { data, .. } = &mut self.get_mut(host.buffer)?.held {
            *data = taken;
        }
        copied
    }

    fn get(&self, id: BufferId) -> Result<&Allocation> {
        self.allocations.get(&id).ok_or_else(|| no_buffer(id, ""))
    }

    fn get_mut(&mut self, id: BufferId) -> Result<&mut Allocation> {
        self.allocations.get_mut(&id).ok_or_else(|| no_buffer(id, ""))
    }
}

fn range(slice: Slice) -> std::ops::Range<usize> {
    let first = slice.offset.as_usize();
    first..first + slice.len.as_usize()
}

/// The staging buffer, made when it is first wanted.
fn staged<'a>(staging: &'a mut Option<Buffer>, context: &Rc<Context>) -> Result<&'a mut Buffer> {
    if staging.is_none() {
        let mut buffer = Buffer::new(context, CHUNK, Place::Host)?;
        buffer.clear();
        *staging = Some(buffer);
    }
    staging.as_mut().ok_or_else(|| Error::OutOfMemory("staging".into()))
}

#[expect(unsafe_code, reason = "Vulkan call")]
fn fill(pools: &mut Pools, buffer: &Buffer) -> Result<()> {
    // SAFETY: the buffer is alive until the queue is idle, and whole words long.
    pools.once(|device, commands| unsafe {
        device.cmd_fill_buffer(commands, buffer.handle(), 0, vk::WHOLE_SIZE, 0);
    })
}

/// Copies between two places, each a buffer and its first byte, and waits.
#[expect(unsafe_code, reason = "Vulkan calls")]
fn copy(pools: &mut Pools, from: (&Buffer, u64), to: (&Buffer, u64), len: u64) -> Result<()> {
    if len == 0 {
        return Ok(());
    }
    let region = vk::BufferCopy { src_offset: from.1, dst_offset: to.1, size: len };
    let visible = vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
        .dst_access_mask(vk::AccessFlags::HOST_READ);
    // SAFETY: both buffers are alive until the queue is idle, and hold their part of the copy.
    pools.once(|device, commands| unsafe {
        device.cmd_copy_buffer(commands, from.0.handle(), to.0.handle(), &[region]);
        device.cmd_pipeline_barrier(
            commands,
            vk::PipelineStageFlags::TRANSFER,
            vk::PipelineStageFlags::HOST,
            vk::DependencyFlags::empty(),
            &[visible],
            &[],
            &[],
        );
    })
}
