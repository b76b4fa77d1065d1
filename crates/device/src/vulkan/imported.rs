//! The program's own memory as the device's: whole pages that the driver imports.

use super::context::{Context, Owned};
use super::status::checked;
use ash::vk;
use gpubench_core::error::{Error, Result};
use gpubench_core::units::Bytes;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::c_void;
use std::ptr::NonNull;
use std::rc::Rc;

/// What such memory is called where handles have types.
pub(super) const HANDLE: vk::ExternalMemoryHandleTypeFlags =
    vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT;

/// Pages of the program's own, all zero.
pub(super) struct Pages {
    start: NonNull<u8>,
    layout: Layout,
}

impl Pages {
    /// For so many bytes at least, in whole multiples of `alignment`, which is a power of two.
    ///
    /// # Errors
    /// `OutOfMemory`.
    #[expect(unsafe_code, reason = "memory on the edge of a page")]
    pub fn zeroed(bytes: u64, alignment: u64) -> Result<Self> {
        let none = || Error::OutOfMemory(format!("{} of host memory", Bytes(bytes)));
        let size = bytes.max(1).checked_next_multiple_of(alignment).ok_or_else(none)?;
        let [size, alignment] = [size, alignment].map(|bytes| Bytes(bytes).as_usize());
        let layout = Layout::from_size_align(size, alignment).map_err(|_| none())?;
        // SAFETY: the layout has a size.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or_else(none)?;
        Ok(Self { start, layout })
    }

    /// The first byte.
    pub fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.layout.size() as u64
    }
}

impl Drop for Pages {
    #[expect(unsafe_code, reason = "frees what was allocated")]
    fn drop(&mut self) {
        // SAFETY: allocated with this layout; what was imported from here is gone before.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

/// Imports pages as memory of a type that `allowed` has and that needs no flushes.
///
/// # Errors
/// `Unsupported` where the driver has no such type for them; else what it says.
#[expect(unsafe_code, reason = "Vulkan calls")]
pub(super) fn import(
    context: &Rc<Context>,
    pages: &Pages,
    allowed: u32,
) -> Result<Owned<vk::DeviceMemory>> {
    use vk::MemoryPropertyFlags as Flags;
    let pointer: *mut c_void = pages.start().cast();
    let mut of_pages = vk::MemoryHostPointerPropertiesEXT::default();
    let query = context.host_memory.fp().get_memory_host_pointer_properties_ext;
    // SAFETY: the extension was asked for; the pages are the program's, on the alignment that the driver wants.
    let code = unsafe { query(context.device.handle(), HANDLE, pointer, &mut of_pages) };
    checked("asking for the types of host memory", code.result())?;
    let host = Flags::HOST_VISIBLE | Flags::HOST_COHERENT;
    let index = context
        .memory_type(
            allowed & of_pages.memory_type_bits,
            &[host | Flags::HOST_CACHED, host],
            Flags::empty(),
        )
        .ok_or_else(|| {
            Error::Unsupported("this device imports no host memory without flushes".into())
        })?;
    let mut source =
        vk::ImportMemoryHostPointerInfoEXT::default().handle_type(HANDLE).host_pointer(pointer);
    let request = vk::MemoryAllocateInfo::default()
        .allocation_size(pages.len())
        .memory_type_index(index)
        .push_next(&mut source);
    // SAFETY: the structures live through the call, and the pages until the memory is freed.
    let memory = unsafe { context.device.allocate_memory(&request, None) };
    let memory = checked("importing host memory", memory)?;
    Ok(Owned::new(context, memory, ash::Device::free_memory))
}

#[test]
fn pages_are_zero_and_whole() {
    let pages = Pages::zeroed(5000, 4096).unwrap();
    assert_eq!((pages.len(), pages.start().addr() % 4096), (8192, 0));
    assert_eq!(Pages::zeroed(0, 4096).unwrap().len(), 4096);
    assert!(matches!(Pages::zeroed(u64::MAX, 4096), Err(Error::OutOfMemory(_))));
    assert!(matches!(Pages::zeroed(u64::MAX - 8191, 4096), Err(Error::OutOfMemory(_))));
}
