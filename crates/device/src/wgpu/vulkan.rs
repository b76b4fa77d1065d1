//! What only the Vulkan driver below wgpu reports: API version, memory, clock, compute units, UUID.

use super::info::DriverFacts;
use ::wgpu::hal::api::Vulkan;
use ash::vk;
use gpubench_core::units::Bytes;

/// The facts, where the adapter is a Vulkan one.
pub(super) fn facts(adapter: &::wgpu::Adapter) -> Option<DriverFacts> {
    #[expect(unsafe_code, reason = "wgpu has no safe way to the Vulkan handles")]
    // SAFETY: the guard is only read from, and nothing that it hands out is destroyed.
    let hal = unsafe { adapter.as_hal::<Vulkan>() }?;
    let instance = hal.shared_instance().raw_instance();
    let physical = hal.raw_physical_device();
    let capabilities = hal.physical_device_capabilities();
    let properties = capabilities.properties();

    #[expect(unsafe_code, reason = "ash's queries are foreign functions")]
    // SAFETY: the guard keeps the instance alive, and the handle came from that instance.
    let memory = unsafe { instance.get_physical_device_memory_properties(physical) };
    let (largest, bytes) = largest_device_heap(&memory)?;

    // `vkGetPhysicalDeviceProperties2` came with 1.1; ash panics when it calls a missing function.
    let has_properties2 = hal.shared_instance().instance_api_version() >= vk::API_VERSION_1_1
        && properties.api_version >= vk::API_VERSION_1_1;
    let (uuid, compute_units) = if has_properties2 {
        let chain = |properties: &mut vk::PhysicalDeviceProperties2<'_>| {
            #[expect(unsafe_code, reason = "ash's queries are foreign functions")]
            // SAFETY: instance and handle are alive as above, both are of Vulkan 1.1 at least,
            // and the chain holds only structures that the device's extensions define.
            unsafe {
                instance.get_physical_device_properties2(physical, properties);
            }
        };
        let supports = |name: &std::ffi::CStr| capabilities.supports_extension(name);
        (uuid(chain), compute_units(chain, supports))
    } else {
        (None, None)
    };
    Some(DriverFacts {
        api: Some(api(properties.api_version)),
        memory: Some(bytes),
        host_reaches_memory: host_reaches(&memory, largest),
        tick: Some(f64::from(properties.limits.timestamp_period) * 1e-9),
        compute_units,
        uuid,
    })
}

fn api(version: u32) -> String {
    format!(
        "Vulkan {}.{}.{}",
        vk::api_version_major(version),
        vk::api_version_minor(version),
        vk::api_version_patch(version)
    )
}

/// Index and size. Smaller device-local heaps are windows onto the same memory or tiny extras.
fn largest_device_heap(memory: &vk::PhysicalDeviceMemoryProperties) -> Option<(u32, Bytes)> {
    (0..)
        .zip(memory.memory_heaps_as_slice())
        .filter(|(_, heap)| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL))
        .max_by_key(|(_, heap)| heap.size)
        .map(|(index, heap)| (index, Bytes(heap.size)))
}

fn host_reaches(memory: &vk::PhysicalDeviceMemoryProperties, heap: u32) -> bool {
    let both = vk::MemoryPropertyFlags::DEVICE_LOCAL
        | vk::MemoryPropertyFlags::HOST_VISIBLE
        | vk::MemoryPropertyFlags::HOST_COHERENT;
    memory
        .memory_types_as_slice()
        .iter()
        .any(|kind| kind.heap_index == heap && kind.property_flags.contains(both))
}

fn uuid(query: impl Fn(&mut vk::PhysicalDeviceProperties2<'_>)) -> Option<String> {
    let mut id = vk::PhysicalDeviceIDProperties::default();
    query(&mut vk::PhysicalDeviceProperties2::default().push_next(&mut id));
    let uuid = id.device_uuid;
    (uuid != [0; 16]).then(|| uuid.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Vulkan itself does not report it; two vendors have an extension for it.
fn compute_units(
    query: impl Fn(&mut vk::PhysicalDeviceProperties2<'_>),
    supports: impl Fn(&std::ffi::CStr) -> bool,
) -> Option<u32> {
    let units = if supports(ash::nv::shader_sm_builtins::NAME) {
        let mut nvidia = vk::PhysicalDeviceShaderSMBuiltinsPropertiesNV::default();
        query(&mut vk::PhysicalDeviceProperties2::default().push_next(&mut nvidia));
        nvidia.shader_sm_count
    } else if supports(ash::amd::shader_core_properties2::NAME) {
        let mut amd = vk::PhysicalDeviceShaderCoreProperties2AMD::default();
        query(&mut vk::PhysicalDeviceProperties2::default().push_next(&mut amd));
        amd.active_compute_unit_count
    } else {
        0
    };
    (units > 0).then_some(units)
}
