//! What a Vulkan driver reports of a device, for this backend and for wgpu's, which lies above it.

use ash::{Instance, vk};
use gpubench_core::units::Bytes;
use std::ffi::CStr;

/// A physical device and the instance that it came from, which must be of Vulkan 1.1 both for what
/// extends the properties: ash panics when it calls a missing function.
#[derive(Clone, Copy)]
pub(crate) struct Physical<'a> {
    pub instance: &'a Instance,
    pub handle: vk::PhysicalDevice,
}

impl Physical<'_> {
    /// The device's memory.
    #[expect(unsafe_code, reason = "ash's queries are foreign functions")]
    pub fn memory(self) -> vk::PhysicalDeviceMemoryProperties {
        // SAFETY: the instance is alive, and the handle came from it.
        unsafe { self.instance.get_physical_device_memory_properties(self.handle) }
    }

    /// Fills a chain of properties.
    #[expect(unsafe_code, reason = "ash's queries are foreign functions")]
    pub fn properties(self, chain: &mut vk::PhysicalDeviceProperties2<'_>) {
        // SAFETY: as in `memory`; both are of Vulkan 1.1 at least, and the chain holds only
        // structures that the device's version or extensions define.
        unsafe { self.instance.get_physical_device_properties2(self.handle, chain) }
    }

    /// Its UUID in lower-case hexadecimal.
    pub fn uuid(self) -> Option<String> {
        let mut id = vk::PhysicalDeviceIDProperties::default();
        self.properties(&mut vk::PhysicalDeviceProperties2::default().push_next(&mut id));
        let uuid = id.device_uuid;
        (uuid != [0; 16]).then(|| uuid.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Vulkan itself does not report it; two vendors have an extension for it.
    pub fn compute_units(self, supports: impl Fn(&CStr) -> bool) -> Option<u32> {
        let units = if supports(ash::nv::shader_sm_builtins::NAME) {
            let mut nvidia = vk::PhysicalDeviceShaderSMBuiltinsPropertiesNV::default();
            self.properties(&mut vk::PhysicalDeviceProperties2::default().push_next(&mut nvidia));
            nvidia.shader_sm_count
        } else if supports(ash::amd::shader_core_properties2::NAME) {
            let mut amd = vk::PhysicalDeviceShaderCoreProperties2AMD::default();
            self.properties(&mut vk::PhysicalDeviceProperties2::default().push_next(&mut amd));
            amd.active_compute_unit_count
        } else {
            0
        };
        (units > 0).then_some(units)
    }
}

/// `Vulkan 1.3.230`.
pub(crate) fn api(version: u32) -> String {
    format!(
        "Vulkan {}.{}.{}",
        vk::api_version_major(version),
        vk::api_version_minor(version),
        vk::api_version_patch(version)
    )
}

/// Index and size. Smaller device-local heaps are windows onto the same memory or tiny extras.
pub(crate) fn largest_device_heap(
    memory: &vk::PhysicalDeviceMemoryProperties,
) -> Option<(u32, Bytes)> {
    (0..)
        .zip(memory.memory_heaps_as_slice())
        .filter(|(_, heap)| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL))
        .max_by_key(|(_, heap)| heap.size)
        .map(|(index, heap)| (index, Bytes(heap.size)))
}

/// Whether the host reaches all of a heap through its address space.
pub(crate) fn host_reaches(memory: &vk::PhysicalDeviceMemoryProperties, heap: u32) -> bool {
    let both = vk::MemoryPropertyFlags::DEVICE_LOCAL
        | vk::MemoryPropertyFlags::HOST_VISIBLE
        | vk::MemoryPropertyFlags::HOST_COHERENT;
    memory
        .memory_types_as_slice()
        .iter()
        .any(|kind| kind.heap_index == heap && kind.property_flags.contains(both))
}

/// The vendor by its PCI number, or by Khronos's (`VkVendorId`) where it has none.
pub(crate) fn vendor(id: u32) -> String {
    let name = match id {
        0x1002 | 0x1022 => "AMD",
        0x1010 => "Imagination",
        0x106b => "Apple",
        0x10de => "NVIDIA",
        0x13b5 => "Arm",
        0x1414 => "Microsoft",
        0x14e4 => "Broadcom",
        0x1ae0 => "Google",
        0x5143 => "Qualcomm",
        0x8086 => "Intel",
        0x10005 => "Mesa",
        _ => return format!("vendor {id:#06x}"),
    };
    name.into()
}
