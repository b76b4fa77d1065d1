//! Buffers of every kind.
//!
//! - **Device**: storage buffers, in whatever memory the driver prefers for the device.
//! - **Pageable**: a `Vec`. To the device it goes through wgpu's own staging
//!   (`Queue::write_buffer`), from the device through a staging buffer that is mapped.
//! - **Pinned**: a buffer in host memory that the device's copy engine reaches. It is requested
//!   as memory to be *read* by the host: memory to be *written* by the host is placed in the
//!   device's memory where the host can reach that (resizable BAR), and a copy from there would
//!   not cross the bus.
//! - **Mapped**: a `Vec` too; the copy goes through a map of the device's buffer itself. The
//!   buffer is replaced by a mappable one when the first such copy is prepared.

use super::context::Context;
use super::mapping;
use crate::validation::{self, no_buffer};
use ::wgpu::{Buffer, BufferUsages};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{BufferId, DeviceInfo, MemoryKind, Slice};
use gpubench_core::units::Bytes;
use std::collections::HashMap;

/// What a buffer is made of.
enum Place {
    /// The device's memory.
    Device { buffer: Buffer, mappable: bool },
    /// A pinned buffer.
    Pinned(Buffer),
    /// The host's memory, and the staging buffer through which downloads to pageable memory go.
    Host { data: Vec<u8>, staging: Option<Buffer> },
}

struct Allocation {
    kind: MemoryKind,
    len: u64,
    place: Place,
}

/// All buffers of a device.
#[derive(Default)]
pub(super) struct Memory {
    allocations: HashMap<BufferId, Allocation>,
}

/// `len` zero bytes.
///
/// # Errors
/// `OutOfMemory`, where `vec!` would abort.
pub(crate) fn zeroed(len: u64) -> Result<Vec<u8>> {
    let mut data = reserved(len)?;
    data.resize(Bytes(len).as_usize(), 0);
    Ok(data)
}

/// Room for `len` bytes of host memory.
///
/// # Errors
/// As [`zeroed`].
pub(crate) fn reserved(len: u64) -> Result<Vec<u8>> {
    let mut data = Vec::new();
    data.try_reserve_exact(Bytes(len).as_usize())
        .map_err(|_| Error::OutOfMemory(format!("{} of host memory", Bytes(len))))?;
    Ok(data)
}

impl Memory {
    /// Allocates a buffer.
    ///
    /// # Errors
    /// `Unsupported` beyond the device's limits or without its support, `OutOfMemory`.
    pub fn alloc(
        &mut self,
        context: &Context,
        info: &DeviceInfo,
        id: BufferId,
        bytes: Bytes,
        kind: MemoryKind,
    ) -> Result<()> {
        self.allocations.remove(&id);
        validation::allocation(bytes, kind, info)?;
        let len = bytes.0;
        let place = match kind {
            MemoryKind::Device => {
                let buffer = mapping::create(context, len, device_usage())?;
                clear(context, &buffer)?;
                Place::Device { buffer, mappable: false }
            }
            MemoryKind::Pinned => {
                let usage =
                    BufferUsages::MAP_READ | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
                let buffer = mapping::create(context, len, usage)?;
                clear(context, &buffer)?;
                Place::Pinned(buffer)
            }
            MemoryKind::Pageable | MemoryKind::Mapped => {
                Place::Host { data: zeroed(len)?, staging: None }
            }
            MemoryKind::ZeroCopy | MemoryKind::HostPointer => {
                return Err(validation::no_zero_copy());
            }
        };
        self.allocations.insert(id, Allocation { kind, len, place });
        Ok(())
    }

    /// Fills a buffer from its beginning.
    pub fn write(&mut self, context: &Context, id: BufferId, data: &[u8]) -> Result<()> {
        let allocation = self.get_mut(id)?;
        let on_device = !matches!(allocation.place, Place::Host { .. });
        validation::filling(id, data.len(), allocation.len, on_device)?;
        match &mut allocation.place {
            Place::Device { buffer, .. } | Place::Pinned(buffer) => {
                mapping::upload(context, buffer, data)
            }
            Place::Host { data: host, .. } => {
                host[..data.len()].copy_from_slice(data);
                Ok(())
            }
        }
    }

    /// Reads a whole buffer.
    pub fn read(&self, context: &Context, id: BufferId) -> Result<Vec<u8>> {
        let allocation = self.get(id)?;
        match &allocation.place {
            Place::Device { buffer, .. } | Place::Pinned(buffer) => {
                mapping::download(context, buffer, allocation.len)
            }
            Place::Host { data, .. } => Ok(data.clone()),
        }
    }

    /// The kind of a buffer.
    pub fn kind(&self, id: BufferId) -> Result<MemoryKind> {
        self.get(id).map(|allocation| allocation.kind)
    }

    /// The buffer that holds a device or pinned allocation.
    pub fn buffer(&self, id: BufferId) -> Result<&Buffer> {
        match &self.get(id)?.place {
            Place::Device { buffer, .. } | Place::Pinned(buffer) => Ok(buffer),
            Place::Host { .. } => Err(no_buffer(id, "device ")),
        }
    }

    /// The bytes of a slice of pageable or mapped memory.
    pub fn host(&mut self, slice: Slice) -> Result<&mut [u8]> {
        let Allocation { place: Place::Host { data, .. }, len, .. } = self.get_mut(slice.buffer)?
        else {
            return Err(no_buffer(slice.buffer, "host "));
        };
        validation::within(&slice, *len)?;
        Ok(&mut data[slice.offset.as_usize()..][..slice.len.as_usize()])
    }

    /// The staging buffer of a pageable allocation, as large as that.
    pub fn staging(&mut self, context: &Context, id: BufferId) -> Result<Buffer> {
        let allocation = self.get_mut(id)?;
        let len = allocation.len;
        let Place::Host { staging, .. } = &mut allocation.place else {
            return Err(no_buffer(id, "host "));
        };
        if let Some(buffer) = staging {
            return Ok(buffer.clone());
        }
        let usage = BufferUsages::MAP_READ | BufferUsages::COPY_DST;
        let buffer = mapping::create(context, len, usage)?;
        clear(context, &buffer)?;
        Ok(staging.insert(buffer).clone())
    }

    /// Makes a device buffer reachable by the host. True when it was replaced, so that bind
    /// groups with the old one are of no more use.
    pub fn make_mappable(&mut self, context: &Context, id: BufferId) -> Result<bool> {
        let allocation = self.get_mut(id)?;
        let len = allocation.len;
        let Place::Device { buffer, mappable } = &mut allocation.place else {
            return Err(no_buffer(id, "device "));
        };
        if *mappable {
            return Ok(false);
        }
        let usage = device_usage() | BufferUsages::MAP_READ | BufferUsages::MAP_WRITE;
        let replacement = mapping::create(context, len, usage)?;
        context.scoped(|| {
            let mut encoder = context.device.create_command_encoder(&Default::default());
            encoder.copy_buffer_to_buffer(buffer, 0, &replacement, 0, replacement.size());
            context.submit(Some(encoder.finish()))
        })?;
        *buffer = replacement;
        *mappable = true;
        Ok(true)
    }

    /// Checks that a slice lies within its buffer, at bounds that copies can have.
    ///
    /// # Errors
    /// `Device` outside the buffer, `Unsupported` off the bounds.
    pub fn check(&self, slice: Slice) -> Result<()> {
        validation::within(&slice, self.get(slice.buffer)?.len)?;
        validation::alignment(&slice)
    }

    fn get(&self, id: BufferId) -> Result<&Allocation> {
        self.allocations.get(&id).ok_or_else(|| no_buffer(id, ""))
    }

    fn get_mut(&mut self, id: BufferId) -> Result<&mut Allocation> {
        self.allocations.get_mut(&id).ok_or_else(|| no_buffer(id, ""))
    }
}

fn device_usage() -> BufferUsages {
    BufferUsages::STORAGE | BufferUsages::UNIFORM | BufferUsages::COPY_SRC | BufferUsages::COPY_DST
}

/// wgpu zeroes a buffer when it is first used; done here, that time falls on no launch or copy.
fn clear(context: &Context, buffer: &Buffer) -> Result<()> {
    context.scoped(|| {
        let mut encoder = context.device.create_command_encoder(&Default::default());
        encoder.clear_buffer(buffer, 0, None);
        context.submit(Some(encoder.finish()))
    })
}
