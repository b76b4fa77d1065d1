//! What a Vulkan driver reports of a device, for this backend and for wgpu's, which lies above it.

use ash::{Instance, vk};
use gpubench_core::hash::hex;
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

    /// Properties beyond those that every device has.
    #[expect(unsafe_code, reason = "ash's queries are foreign functions")]
    pub fn properties<T: vk::ExtendsPhysicalDeviceProperties2 + Default>(self) -> T {
        let mut properties = T::default();
        let mut chain = vk::PhysicalDeviceProperties2::default().push_next(&mut properties);
        // SAFETY: as in `memory`; both are of Vulkan 1.1 at least, and the chain holds only
        // structures that the device's version or extensions define.
        unsafe { self.instance.get_physical_device_properties2(self.handle, &mut chain) };
        properties
    }

    /// Its UUID in lower-case hexadecimal.
    pub fn uuid(self) -> Option<String> {
        let uuid = self.properties::<vk::PhysicalDeviceIDProperties<'_>>().device_uuid;
        (uuid != [0; 16]).then(|| hex(&uuid))
    }

    /// Vulkan itself does not report it; two vendors have an extension for it.
    pub fn compute_units(self, supports: impl Fn(&CStr) -> bool) -> Option<u32> {
        let units = if supports(ash::nv::shader_sm_builtins::NAME) {
            self.properties::<vk::PhysicalDeviceShaderSMBuiltinsPropertiesNV<'_>>().shader_sm_count
        } else if supports(ash::amd::shader_core_properties2::NAME) {
            let amd: vk::PhysicalDeviceShaderCoreProperties2AMD<'_> = self.properties();
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

/// Each memory type in words, and the heap it lies in: `device-local host-visible coherent (8.00 GiB)`. A type
/// that a device lists twice is named once.
pub(crate) fn memory_types(memory: &vk::PhysicalDeviceMemoryProperties) -> Vec<String> {
    let mut types: Vec<String> = vec![];
    for kind in memory.memory_types_as_slice() {
        let heap = memory.memory_heaps_as_slice().get(kind.heap_index as usize);
        let heap = heap.map_or(Bytes(0), |heap| Bytes(heap.size));
        let text = format!("{} ({heap})", memory_words(kind.property_flags));
        if !types.contains(&text) {
            types.push(text);
        }
    }
    types
}

/// `device-local host-visible coherent`.
pub(crate) fn memory_words(flags: vk::MemoryPropertyFlags) -> String {
    let table = [
        (vk::MemoryPropertyFlags::DEVICE_LOCAL, "device-local"),
        (vk::MemoryPropertyFlags::HOST_VISIBLE, "host-visible"),
        (vk::MemoryPropertyFlags::HOST_COHERENT, "coherent"),
        (vk::MemoryPropertyFlags::HOST_CACHED, "cached"),
        (vk::MemoryPropertyFlags::LAZILY_ALLOCATED, "lazily allocated"),
        (vk::MemoryPropertyFlags::PROTECTED, "protected"),
    ];
    let words: Vec<_> =
        table.iter().filter(|(flag, _)| flags.contains(*flag)).map(|(_, word)| *word).collect();
    if words.is_empty() { "host".to_owned() } else { words.join(" ") }
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

#[cfg(test)]
mod tests {
    use super::*;
    use vk::MemoryPropertyFlags as Flags;

    #[test]
    fn memory_types_are_named_once_with_their_heap() {
        let mut memory = vk::PhysicalDeviceMemoryProperties::default();
        (memory.memory_heap_count, memory.memory_type_count) = (2, 4);
        memory.memory_heaps[0].size = 8 << 30;
        memory.memory_heaps[0].flags = vk::MemoryHeapFlags::DEVICE_LOCAL;
        memory.memory_heaps[1].size = 16 << 30;
        let host = Flags::HOST_VISIBLE | Flags::HOST_COHERENT;
        let kinds =
            [(Flags::empty(), 1), (Flags::DEVICE_LOCAL, 0), (Flags::DEVICE_LOCAL, 0), (host, 1)];
        for (kind, (flags, heap)) in memory.memory_types.iter_mut().zip(kinds) {
            (kind.property_flags, kind.heap_index) = (flags, heap);
        }
        let named = memory_types(&memory);
        let wanted =
            ["host (16.0 GiB)", "device-local (8.00 GiB)", "host-visible coherent (16.0 GiB)"];
        assert_eq!(named, wanted);
        assert_eq!(largest_device_heap(&memory), Some((0, Bytes(8 << 30))));
        assert!(!host_reaches(&memory, 0));
        memory.memory_types[1].property_flags |= host;
        assert!(host_reaches(&memory, 0), "resizable BAR");
    }
}
