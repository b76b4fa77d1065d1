//! What an adapter says of itself.

use super::context;
use crate::vulkan::facts::vendor;
use ::wgpu::{Adapter, AdapterInfo, Backend, DeviceType, Features, Limits};
use gpubench_core::gpu::{DeviceInfo, DeviceKind, Language, MemoryKind};
use gpubench_core::record::is_tick;
use gpubench_core::units::Bytes;

/// Facts that wgpu does not report but the driver below it may.
#[derive(Default)]
pub(super) struct DriverFacts {
    /// The API's version on this device.
    pub api: Option<String>,
    /// The largest heap of device memory.
    pub memory: Option<Bytes>,
    /// Whether the host reaches all of that heap through its address space.
    pub host_reaches_memory: bool,
    /// Seconds of one tick of the device's timestamps.
    pub tick: Option<f64>,
    /// Compute units.
    pub compute_units: Option<u32>,
    /// The device's UUID.
    pub uuid: Option<String>,
}

/// Everything about an adapter; the caller sets `index`.
pub(super) fn describe(adapter: &Adapter) -> DeviceInfo {
    let info = adapter.get_info();
    let limits = adapter.limits();
    let features = adapter.features();
    let facts = driver_facts(adapter);
    let kind = kind(info.device_type);
    DeviceInfo {
        backend: "wgpu".into(),
        vendor: vendor(info.vendor),
        kind,
        driver: driver(&info),
        api: facts.api.clone().unwrap_or_else(|| api_name(info.backend).into()),
        language: Language::Wgsl,
        memory: facts.memory,
        max_buffer: whole_words(limits.max_buffer_size),
        max_binding: whole_words(limits.max_storage_buffer_binding_size),
        max_storage_buffers: limits.max_storage_buffers_per_shader_stage,
        compute_units: facts.compute_units,
        max_group_size: limits.max_compute_invocations_per_workgroup,
        max_group_dims: group_dims(&limits),
        max_groups: [limits.max_compute_workgroups_per_dimension; 3],
        local_memory: Bytes(limits.max_compute_workgroup_storage_size.into()),
        queues: 1,
        timestamp_resolution: features
            .contains(Features::TIMESTAMP_QUERY)
            .then(|| facts.tick.or_else(|| context::tick(adapter)))
            .flatten()
            .filter(|seconds| is_tick(*seconds)),
        subgroup: features
            .contains(Features::SUBGROUP)
            .then_some([info.subgroup_min_size, info.subgroup_max_size]),
        offset_alignment: Bytes(u64::from(limits.min_storage_buffer_offset_alignment).max(4)),
        host_memory: host_memory(features, kind, &facts),
        pci: Some(info.device_pci_bus_id).filter(|pci| !pci.is_empty()),
        uuid: facts.uuid,
        features: feature_names(features),
        name: info.name,
        ..DeviceInfo::default()
    }
}

/// Vulkan, then Metal, then DirectX 12.
pub(super) fn api_rank(adapter: &Adapter) -> u8 {
    match adapter.get_info().backend {
        Backend::Vulkan => 0,
        Backend::Metal => 1,
        _ => 2,
    }
}

fn kind(device_type: DeviceType) -> DeviceKind {
    match device_type {
        DeviceType::DiscreteGpu => DeviceKind::Discrete,
        DeviceType::IntegratedGpu => DeviceKind::Integrated,
        DeviceType::VirtualGpu => DeviceKind::Virtual,
        DeviceType::Cpu => DeviceKind::Cpu,
        DeviceType::Other => DeviceKind::Other,
    }
}

fn driver(info: &AdapterInfo) -> String {
    format!("{} {}", info.driver, info.driver_info).trim().to_owned()
}

fn api_name(backend: Backend) -> &'static str {
    match backend {
        Backend::Vulkan => "Vulkan",
        Backend::Metal => "Metal",
        Backend::Dx12 => "DirectX 12",
        _ => "WebGPU",
    }
}

/// Buffers and bindings are multiples of four bytes; wgpu caps some limits at `i32::MAX`.
pub(crate) fn whole_words(limit: u64) -> Bytes {
    Bytes(limit - limit % 4)
}

fn group_dims(limits: &Limits) -> [u32; 3] {
    [
        limits.max_compute_workgroup_size_x,
        limits.max_compute_workgroup_size_y,
        limits.max_compute_workgroup_size_z,
    ]
}

/// Pinned memory must be both source and destination of copies, and mapped memory must be the
/// device's own: both need buffers that plain WebGPU does not allow.
fn host_memory(features: Features, kind: DeviceKind, facts: &DriverFacts) -> Vec<MemoryKind> {
    let mut kinds = vec![MemoryKind::Pageable];
    if features.contains(Features::MAPPABLE_PRIMARY_BUFFERS) {
        kinds.push(MemoryKind::Pinned);
        let shared = matches!(kind, DeviceKind::Integrated | DeviceKind::Cpu);
        if shared || facts.host_reaches_memory {
            kinds.push(MemoryKind::Mapped);
        }
    }
    kinds
}

fn feature_names(features: Features) -> Vec<String> {
    let names = [
        ("f16", Features::SHADER_F16),
        ("f64", Features::SHADER_F64),
        ("subgroups", Features::SUBGROUP),
        ("f32_atomics", Features::SHADER_FLOAT32_ATOMIC),
        ("i64_atomics", Features::SHADER_INT64_ATOMIC_ALL_OPS),
    ];
    names
        .into_iter()
        .filter(|&(_, feature)| features.contains(feature))
        .map(|(name, _)| name.to_owned())
        .collect()
}

#[cfg(any(windows, target_os = "linux", target_os = "android", target_os = "freebsd"))]
fn driver_facts(adapter: &Adapter) -> DriverFacts {
    super::vulkan::facts(adapter).unwrap_or_default()
}

#[cfg(not(any(windows, target_os = "linux", target_os = "android", target_os = "freebsd")))]
fn driver_facts(_: &Adapter) -> DriverFacts {
    DriverFacts::default()
}
