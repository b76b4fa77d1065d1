//! What a Vulkan device says of itself, and which devices can be used.

use super::abilities::Abilities;
use super::buffer::zero_copy_flags;
use super::facts::{self, Physical};
use super::instance::Instance;
use super::topology::Topology;
use crate::kind_rank;
use ash::vk;
use gpubench_core::error::Result;
use gpubench_core::gpu::{DeviceInfo, DeviceKind, Language, MemoryKind, ZeroCopy};
use gpubench_core::record::is_tick;
use gpubench_core::units::Bytes;
use std::ffi::CStr;
use std::rc::Rc;

/// A usable device.
pub(super) struct Found {
    pub instance: Rc<Instance>,
    pub handle: vk::PhysicalDevice,
    pub topology: Topology,
    pub abilities: Abilities,
    pub info: DeviceInfo,
}

/// A device that cannot be used: its name, and why.
pub(super) struct Skipped {
    pub name: String,
    pub why: String,
}

/// The usable devices, GPUs before CPU implementations, then by PCI address and name, so that an index
/// means the same device in every process; and the others. The caller sets `backend`. None of either where no Vulkan is installed.
pub(super) fn all(topology: impl Fn(Topology) -> Topology) -> Result<(Vec<Found>, Vec<Skipped>)> {
    let Some(instance) = Instance::load()? else { return Ok((vec![], vec![])) };
    let (mut found, mut skipped) = (vec![], vec![]);
    for handle in instance.physical()? {
        match examine(&instance, handle, &topology)? {
            Ok(device) => found.push(device),
            Err(device) => {
                tracing::debug!(name = device.name, why = device.why, "skipping a Vulkan device");
                skipped.push(device);
            }
        }
    }
    found.sort_by_cached_key(|Found { info, .. }| {
        (kind_rank(info.kind), info.pci.clone(), info.name.clone())
    });
    for (index, device) in found.iter_mut().enumerate() {
        device.info.index = index;
    }
    Ok((found, skipped))
}

#[expect(unsafe_code, reason = "ash's queries are foreign functions")]
fn examine(
    instance: &Rc<Instance>,
    handle: vk::PhysicalDevice,
    topology: impl Fn(Topology) -> Topology,
) -> Result<Result<Found, Skipped>> {
    let physical = instance.of(handle);
    // SAFETY: the instance is alive, and the handle came from it.
    let properties = unsafe { instance.get_physical_device_properties(handle) };
    let name = text(properties.device_name_as_c_str());
    if properties.api_version < vk::API_VERSION_1_1 {
        let why = format!("it is of {}, older than 1.1", facts::api(properties.api_version));
        return Ok(Err(Skipped { name, why }));
    }
    let mut topology = topology(Topology::of(physical));
    if let Some(why) = topology.lacks() {
        return Ok(Err(Skipped { name, why: why.to_owned() }));
    }
    let mut abilities = Abilities::of(instance, physical)?;
    if !abilities.timeline {
        // Queues have no other way to wait for each other here.
        topology.queues.truncate(1);
    }
    abilities.calibrated = abilities.calibrated && instance.has_device_clock(handle);
    let info = describe(physical, &properties, &topology, &abilities);
    let instance = Rc::clone(instance);
    Ok(Ok(Found { instance, handle, topology, abilities, info }))
}

fn describe(
    physical: Physical<'_>,
    properties: &vk::PhysicalDeviceProperties,
    topology: &Topology,
    abilities: &Abilities,
) -> DeviceInfo {
    let limits = &properties.limits;
    let memory = physical.memory();
    let heap = facts::largest_device_heap(&memory);
    let kind = kind(properties.device_type);
    let max_buffer = max_buffer(physical);
    let has = |name: &CStr| abilities.has(name);
    DeviceInfo {
        name: text(properties.device_name_as_c_str()),
        vendor: facts::vendor(properties.vendor_id),
        kind,
        driver: driver(physical, has).unwrap_or_else(|| properties.driver_version.to_string()),
        api: facts::api(properties.api_version),
        language: Language::Wgsl,
        memory: heap.map(|(_, bytes)| bytes),
        max_buffer,
        max_binding: max_buffer.min(Bytes(u64::from(limits.max_storage_buffer_range))),
        max_storage_buffers: limits
            .max_per_stage_descriptor_storage_buffers
            .min(limits.max_descriptor_set_storage_buffers),
        compute_units: physical.compute_units(has),
        max_group_size: limits.max_compute_work_group_invocations,
        max_group_dims: limits.max_compute_work_group_size,
        max_groups: limits.max_compute_work_group_count,
        local_memory: Bytes(limits.max_compute_shared_memory_size.into()),
        queues: topology.count(),
        timestamp_resolution: (topology.first().timestamp_bits > 0
            && limits.timestamp_period > 0.0)
            .then(|| f64::from(limits.timestamp_period) * 1e-9)
            .filter(|seconds| is_tick(*seconds)),
        subgroup: abilities.subgroups.range,
        offset_alignment: Bytes(limits.min_storage_buffer_offset_alignment.max(4)),
        host_memory: host_memory(&memory, kind, heap.map(|(index, _)| index)),
        zero_copy: zero_copy(&memory, abilities),
        memory_types: facts::memory_types(&memory),
        pci: pci(physical, has),
        uuid: physical.uuid(),
        features: abilities.names(),
        ..DeviceInfo::default()
    }
}

/// A driver's text; what is not UTF-8 in it is replaced.
fn text(bytes: Result<&CStr, std::ffi::FromBytesUntilNulError>) -> String {
    bytes.map_or_else(|_| "unnamed".into(), |text| text.to_string_lossy().into_owned())
}

fn kind(device_type: vk::PhysicalDeviceType) -> DeviceKind {
    match device_type {
        vk::PhysicalDeviceType::DISCRETE_GPU => DeviceKind::Discrete,
        vk::PhysicalDeviceType::INTEGRATED_GPU => DeviceKind::Integrated,
        vk::PhysicalDeviceType::VIRTUAL_GPU => DeviceKind::Virtual,
        vk::PhysicalDeviceType::CPU => DeviceKind::Cpu,
        _ => DeviceKind::Other,
    }
}

/// The largest allocation, in whole words.
fn max_buffer(physical: Physical<'_>) -> Bytes {
    let limits: vk::PhysicalDeviceMaintenance3Properties<'_> = physical.properties();
    let max = limits.max_memory_allocation_size;
    Bytes(max - max % 4)
}

/// Name and version, as the driver writes them.
fn driver(physical: Physical<'_>, has: impl Fn(&CStr) -> bool) -> Option<String> {
    if !has(ash::khr::driver_properties::NAME) {
        return None;
    }
    let driver: vk::PhysicalDeviceDriverProperties<'_> = physical.properties();
    let (name, info) = (text(driver.driver_name_as_c_str()), text(driver.driver_info_as_c_str()));
    Some(format!("{name} {info}").trim().to_owned())
}

fn pci(physical: Physical<'_>, has: impl Fn(&CStr) -> bool) -> Option<String> {
    if !has(ash::ext::pci_bus_info::NAME) {
        return None;
    }
    let pci: vk::PhysicalDevicePCIBusInfoPropertiesEXT<'_> = physical.properties();
    let (domain, bus) = (pci.pci_domain, pci.pci_bus);
    Some(format!("{domain:04x}:{bus:02x}:{:02x}.{:x}", pci.pci_device, pci.pci_function))
}

/// Every device copies through staging and pinned memory. Its own memory is reached directly where
/// it is the host's, or where the host sees all of it (resizable BAR).
fn host_memory(
    memory: &vk::PhysicalDeviceMemoryProperties,
    kind: DeviceKind,
    heap: Option<u32>,
) -> Vec<MemoryKind> {
    let mut kinds = vec![MemoryKind::Pageable, MemoryKind::Pinned];
    let shared = matches!(kind, DeviceKind::Integrated | DeviceKind::Cpu);
    if shared || heap.is_some_and(|heap| facts::host_reaches(memory, heap)) {
        kinds.push(MemoryKind::Mapped);
    }
    kinds
}

/// Memory that is the device's and within the host's reach, where there is such, and the program's own where the
/// driver imports it.
fn zero_copy(memory: &vk::PhysicalDeviceMemoryProperties, abilities: &Abilities) -> Vec<ZeroCopy> {
    let types = memory.memory_types_as_slice();
    let has = |flags: &vk::MemoryPropertyFlags| {
        types.iter().any(|kind| kind.property_flags.contains(*flags))
    };
    let flags = zero_copy_flags().into_iter().find(has);
    let named = flags.map(|flags| ZeroCopy {
        memory: MemoryKind::ZeroCopy,
        allocation: facts::memory_words(flags),
    });
    let imported = abilities.host_pointers.map(|alignment| ZeroCopy {
        memory: MemoryKind::HostPointer,
        allocation: format!("VK_EXT_external_memory_host at a multiple of {}", Bytes(alignment)),
    });
    named.into_iter().chain(imported).collect()
}
