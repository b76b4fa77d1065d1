//! What only the Vulkan driver below wgpu reports: API version, memory, clock, compute units, UUID.

use super::info::DriverFacts;
use crate::vulkan::facts::{self, Physical};
use ::wgpu::hal::api::Vulkan;
use ash::vk;

/// The facts, where the adapter is a Vulkan one.
pub(super) fn facts(adapter: &::wgpu::Adapter) -> Option<DriverFacts> {
    #[expect(unsafe_code, reason = "wgpu has no safe way to the Vulkan handles")]
    // SAFETY: the guard is only read from, and nothing that it hands out is destroyed.
    let hal = unsafe { adapter.as_hal::<Vulkan>() }?;
    // The guard keeps the instance alive, and the handle came from that instance.
    let physical = Physical {
        instance: hal.shared_instance().raw_instance(),
        handle: hal.raw_physical_device(),
    };
    let capabilities = hal.physical_device_capabilities();
    let properties = capabilities.properties();
    let memory = physical.memory();
    let (largest, bytes) = facts::largest_device_heap(&memory)?;

    let has_properties2 = hal.shared_instance().instance_api_version() >= vk::API_VERSION_1_1
        && properties.api_version >= vk::API_VERSION_1_1;
    let (uuid, compute_units) = if has_properties2 {
        let units = physical.compute_units(|name| capabilities.supports_extension(name));
        (physical.uuid(), units)
    } else {
        (None, None)
    };
    Some(DriverFacts {
        api: Some(facts::api(properties.api_version)),
        memory: Some(bytes),
        host_reaches_memory: facts::host_reaches(&memory, largest),
        tick: Some(f64::from(properties.limits.timestamp_period) * 1e-9),
        compute_units,
        uuid,
    })
}
