//! A buffer with its memory, mapped for as long as it lives where the host reaches it; zero-copy memory is mapped
//! when it is wanted, and the program's own is reached by its own address.

use super::context::{Context, Owned};
use super::imported::{self, Pages, import};
use super::status::checked;
use ash::vk;
use gpubench_core::error::{Error, Result};
use gpubench_core::units::Bytes;
use std::ops::Range;
use std::rc::Rc;

/// Where a buffer is to lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The device's memory, out of the host's sight where there is such.
    Device,
    /// The device's memory where the host reaches it.
    Direct,
    /// The host's memory: cached, so that the host reads it at full speed.
    Host,
    /// The device's memory where the host reaches it, cached where there is such: mapped when it is wanted.
    ZeroCopy,
    /// The program's own memory, imported: mapped when it is wanted.
    HostPointer,
}

/// What zero-copy memory is, the best first. Memory that is not coherent would want flushes too.
pub(super) fn zero_copy_flags() -> [vk::MemoryPropertyFlags; 2] {
    use vk::MemoryPropertyFlags as Flags;
    let both = Flags::DEVICE_LOCAL | Flags::HOST_VISIBLE | Flags::HOST_COHERENT;
    [both | Flags::HOST_CACHED, both]
}

/// A buffer.
pub(super) struct Buffer {
    buffer: Owned<vk::Buffer>,
    memory: Memory,
    context: Rc<Context>,
    start: Option<*mut u8>,
    len: u64,
}

/// A buffer's memory: its fields are dropped in this order, also where the buffer never comes to be.
struct Memory {
    handle: Owned<vk::DeviceMemory>,
    /// Where it is the program's own: gone last.
    pages: Option<Pages>,
}

impl Buffer {
    /// A buffer of `len` bytes at a place, of unknown content.
    ///
    /// # Errors
    /// `OutOfMemory`, `Unsupported` where the device has no such memory.
    pub fn new(context: &Rc<Context>, len: u64, place: Place) -> Result<Self> {
        // Fills and bindings are of whole words.
        let size = len.next_multiple_of(4).max(4);
        let buffer = create(context, size, place)?;
        let memory = allocate(context, *buffer, place)
            .map_err(|error| named(error, &format!("allocating {}", Bytes(len))))?;
        bind(context, *buffer, *memory.handle)?;
        let start = match place {
            Place::Device | Place::ZeroCopy | Place::HostPointer => None,
            Place::Direct | Place::Host => Some(map(context, *memory.handle)?),
        };
        Ok(Self { buffer, memory, context: Rc::clone(context), start, len })
    }

    /// Lets the host reach it, of a place that it can reach.
    ///
    /// # Errors
    /// What the driver says.
    pub fn map(&mut self) -> Result<()> {
        if self.start.is_none() {
            self.start = Some(match &self.memory.pages {
                Some(pages) => pages.start(),
                None => map(&self.context, *self.memory.handle)?,
            });
        }
        Ok(())
    }

    /// The host reaches it no more.
    #[expect(unsafe_code, reason = "Vulkan call")]
    pub fn unmap(&mut self) {
        if self.start.take().is_some() && self.memory.pages.is_none() {
            // SAFETY: the memory is mapped, and `start`, by which alone it was reached, is gone.
            unsafe { self.context.device.unmap_memory(*self.memory.handle) }
        }
    }

    /// Vulkan's handle.
    pub fn handle(&self) -> vk::Buffer {
        *self.buffer
    }

    /// Its bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the host reaches it.
    pub fn is_mapped(&self) -> bool {
        self.start.is_some()
    }

    /// Fills it with zeros, where the host reaches it.
    #[expect(unsafe_code, reason = "writes memory shared with the driver")]
    pub fn clear(&mut self) {
        if let Some(start) = self.start {
            // SAFETY: `start` points to `len` mapped bytes at least, which nobody uses yet.
            unsafe { start.write_bytes(0, Bytes(self.len).as_usize()) }
        }
    }

    /// Its content, where the host reaches it; nothing where it does not.
    #[expect(unsafe_code, reason = "reads memory shared with the driver")]
    pub fn bytes(&self) -> &[u8] {
        let Some(start) = self.start else { return &[] };
        // SAFETY: `start` points to `len` mapped bytes at least for as long as the memory lives;
        // whoever reads has waited for what writes there. Every byte was written before: buffers
        // are cleared when they are made.
        unsafe { std::slice::from_raw_parts(start, Bytes(self.len).as_usize()) }
    }

    /// Its content, to be changed; nothing where the host does not reach it.
    #[expect(unsafe_code, reason = "writes memory shared with the driver")]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let Some(start) = self.start else { return &mut [] };
        // SAFETY: as in `bytes`, and `self` is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(start, Bytes(self.len).as_usize()) }
    }

    /// A part of its content, to be changed, while the device may use others; nothing where the host does not
    /// reach it, or it is no part.
    #[expect(unsafe_code, reason = "writes memory shared with the driver")]
    pub fn part_mut(&mut self, part: Range<usize>) -> &mut [u8] {
        let is_within = part.start <= part.end && part.end as u64 <= self.len;
        let Some(start) = self.start.filter(|_| is_within) else { return &mut [] };
        // SAFETY: as in `bytes_mut`, of these bytes, which lie within the buffer. Where a recording copies to the same
        // bytes again, the device may write them meanwhile; then they are read again once it has ended.
        unsafe { std::slice::from_raw_parts_mut(start.add(part.start), part.len()) }
    }
}

fn named(error: Error, what: &str) -> Error {
    match error {
        Error::OutOfMemory(text) => Error::OutOfMemory(format!("{what}: {text}")),
        other => other,
    }
}

/// What buffers are used for.
pub(super) fn usage() -> vk::BufferUsageFlags {
    vk::BufferUsageFlags::STORAGE_BUFFER
        | vk::BufferUsageFlags::UNIFORM_BUFFER
        | vk::BufferUsageFlags::TRANSFER_SRC
        | vk::BufferUsageFlags::TRANSFER_DST
}

#[expect(unsafe_code, reason = "Vulkan call")]
fn create(context: &Rc<Context>, size: u64, place: Place) -> Result<Owned<vk::Buffer>> {
    let (sharing, families) = context.shared();
    let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(imported::HANDLE);
    let mut request = vk::BufferCreateInfo::default()
        .size(size)
        .usage(usage())
        .sharing_mode(sharing)
        .queue_family_indices(families);
    if place == Place::HostPointer {
        request = request.push_next(&mut external);
    }
    // SAFETY: the structure lives through the call.
    let buffer = unsafe { context.device.create_buffer(&request, None) };
    Ok(Owned::new(context, checked("creating a buffer", buffer)?, ash::Device::destroy_buffer))
}

#[expect(unsafe_code, reason = "Vulkan calls")]
fn allocate(context: &Rc<Context>, buffer: vk::Buffer, place: Place) -> Result<Memory> {
    use vk::MemoryPropertyFlags as Flags;
    // SAFETY: the buffer was made from the device.
    let needs = unsafe { context.device.get_buffer_memory_requirements(buffer) };
    let host = Flags::HOST_VISIBLE | Flags::HOST_COHERENT;
    let (wanted, avoided) = match place {
        Place::Device => (vec![Flags::DEVICE_LOCAL, Flags::empty()], Flags::HOST_VISIBLE),
        Place::Direct => (vec![Flags::DEVICE_LOCAL | host], Flags::empty()),
        Place::Host => (vec![host | Flags::HOST_CACHED, host], Flags::DEVICE_LOCAL),
        Place::ZeroCopy => (zero_copy_flags().to_vec(), Flags::empty()),
        Place::HostPointer => {
            let alignment = context.abilities.host_pointers.ok_or_else(|| {
                Error::Unsupported("this device takes no memory of the program's own".into())
            })?;
            let pages = Pages::zeroed(needs.size, alignment)?;
            let handle = import(context, &pages, needs.memory_type_bits)?;
            return Ok(Memory { handle, pages: Some(pages) });
        }
    };
    let index = context
        .memory_type(needs.memory_type_bits, &wanted, avoided)
        .ok_or_else(|| Error::Unsupported(format!("this device has no {place:?} memory")))?;
    let request =
        vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index);
    // SAFETY: the structure lives through the call.
    let memory = checked("memory", unsafe { context.device.allocate_memory(&request, None) })?;
    Ok(Memory { handle: Owned::new(context, memory, ash::Device::free_memory), pages: None })
}

#[expect(unsafe_code, reason = "Vulkan call")]
fn bind(context: &Context, buffer: vk::Buffer, memory: vk::DeviceMemory) -> Result<()> {
    // SAFETY: both were just made, of a type and size that fit each other.
    checked("binding memory", unsafe { context.device.bind_buffer_memory(buffer, memory, 0) })
}

#[expect(unsafe_code, reason = "Vulkan call")]
fn map(context: &Context, memory: vk::DeviceMemory) -> Result<*mut u8> {
    let flags = vk::MemoryMapFlags::empty();
    // SAFETY: the memory is the host's to see, and is mapped but once; freeing it unmaps it.
    let start = unsafe { context.device.map_memory(memory, 0, vk::WHOLE_SIZE, flags) };
    checked("mapping memory", start).map(|start| start.cast())
}
