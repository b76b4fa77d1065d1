//! What an OpenCL device says of itself.

use super::device_buffer::HOST_POINTER_ALIGNMENT;
use super::query::{Query, platform_text, saturating};
use super::status::checked;
use super::subgroup_size;
use gpubench_core::error::Result;
use gpubench_core::gpu::{
    DeviceInfo, DeviceKind, EMBEDDED, FLUSH_TO_ZERO, Language, MemoryKind, ROUND_TO_ZERO, SPIRV,
    SUBGROUP_SIZE, ZeroCopy,
};
use gpubench_core::hash::hex;
use gpubench_core::record::{is_clock_rate, is_tick};
use gpubench_core::units::Bytes;
use opencl3::command_queue::CL_QUEUE_PROFILING_ENABLE;
use opencl3::device as cl;
use opencl3::error_codes::{CL_PLATFORM_NOT_FOUND_KHR, ClError, DLOPEN_RUNTIME_LOAD_FAILED};
use opencl3::platform::platform::CL_PLATFORM_NAME;
use opencl3::platform::{Platform, get_platforms};
use std::sync::{Mutex, PoisonError};

/// OpenCL sets no limit to the number of queues; recordings want a few dozen at most.
const MAX_QUEUES: u32 = 32;

/// Megahertz that some drivers report who do not know the clock, or less.
const NO_CLOCK: u64 = 1;

// Queries that the bindings do not name.
const CL_DEVICE_PCI_DOMAIN_ID_NV: u32 = 0x400A;
const CL_DEVICE_SUB_GROUP_SIZES_INTEL: u32 = 0x4108;

/// A usable device and its handle.
pub(super) struct Found {
    pub(super) id: cl::cl_device_id,
    pub(super) info: DeviceInfo,
}

/// All usable devices of all platforms, in the loader's order. None where no OpenCL is installed.
pub(super) fn all() -> Result<Vec<Found>> {
    // Drivers set themselves up when first asked, and not all do so safely in two threads
    // (PoCL 3.1 crashes). The lock guards no data, so that a panic leaves nothing half-done.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let platforms = match get_platforms() {
        Err(ClError(DLOPEN_RUNTIME_LOAD_FAILED | CL_PLATFORM_NOT_FOUND_KHR)) => return Ok(vec![]),
        platforms => checked("listing OpenCL platforms", platforms)?,
    };
    let mut found = vec![];
    for platform in platforms {
        let ids = platform.get_devices(cl::CL_DEVICE_TYPE_ALL).unwrap_or_else(|error| {
            tracing::debug!(code = error.0, "an OpenCL platform does not list its devices");
            vec![]
        });
        for id in ids {
            let device = Query(cl::Device::new(id));
            if let Some(reason) = unusable(device) {
                tracing::debug!(reason, "skipping an OpenCL device");
                continue;
            }
            found.push(Found { id, info: describe(platform, device, found.len()) });
        }
    }
    Ok(found)
}

fn unusable(device: Query) -> Option<&'static str> {
    if !device.yes(cl::CL_DEVICE_AVAILABLE) {
        Some("the driver calls it unavailable")
    } else if !device.yes(cl::CL_DEVICE_COMPILER_AVAILABLE) {
        Some("it has no compiler")
    } else if version(device) < Some((1, 1)) {
        Some("it is older than OpenCL 1.1")
    } else {
        None
    }
}

/// Major and minor version from `OpenCL 3.0 …`.
fn version(device: Query) -> Option<(u32, u32)> {
    let text = device.text(cl::CL_DEVICE_VERSION)?;
    let (major, minor) = text.split(' ').nth(1)?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn describe(platform: Platform, device: Query, index: usize) -> DeviceInfo {
    let bytes = |what| device.number(what).map(Bytes);
    let memory = bytes(cl::CL_DEVICE_GLOBAL_MEM_SIZE);
    let max_buffer = bytes(cl::CL_DEVICE_MAX_MEM_ALLOC_SIZE).or(memory).unwrap_or_default();
    let extensions = device.text(cl::CL_DEVICE_EXTENSIONS).unwrap_or_default();
    let driver = [platform_text(platform, CL_PLATFORM_NAME), device.text(cl::CL_DRIVER_VERSION)];
    DeviceInfo {
        backend: "opencl".into(),
        index,
        name: device.text(cl::CL_DEVICE_NAME).unwrap_or_else(|| "unnamed device".into()),
        vendor: device.text(cl::CL_DEVICE_VENDOR).unwrap_or_else(|| "unknown vendor".into()),
        kind: kind(device),
        driver: driver.into_iter().flatten().collect::<Vec<_>>().join(" "),
        api: api(device),
        language: Language::Opencl,
        memory,
        max_buffer,
        max_binding: max_buffer,
        max_storage_buffers: max_storage_buffers(device),
        compute_units: device.number32(cl::CL_DEVICE_MAX_COMPUTE_UNITS).filter(|&n| n > 0),
        clock_hz: device
            .number(cl::CL_DEVICE_MAX_CLOCK_FREQUENCY)
            .filter(|&mhz| mhz > NO_CLOCK)
            .map(|mhz| mhz as f64 * 1e6)
            .filter(|hertz| is_clock_rate(*hertz)),
        max_group_size: device.number32(cl::CL_DEVICE_MAX_WORK_GROUP_SIZE).unwrap_or(1),
        max_group_dims: max_group_dims(device),
        max_groups: max_groups(device),
        local_memory: bytes(cl::CL_DEVICE_LOCAL_MEM_SIZE).unwrap_or_default(),
        cache: last_level_cache(device),
        queues: MAX_QUEUES,
        timestamp_resolution: device
            .number(cl::CL_DEVICE_PROFILING_TIMER_RESOLUTION)
            .filter(|&ns| ns > 0 && has_profiling(device))
            .map(|ns| ns as f64 * 1e-9)
            .filter(|seconds| is_tick(*seconds)),
        subgroup: subgroup(device),
        offset_alignment: offset_alignment(device),
        host_memory: vec![MemoryKind::Pageable, MemoryKind::Pinned, MemoryKind::Mapped],
        zero_copy: zero_copy(device),
        pci: pci(device),
        uuid: device.bytes(cl::CL_DEVICE_UUID_KHR).and_then(|bytes| uuid(&bytes)),
        features: features(device, &extensions),
        ..DeviceInfo::default()
    }
}

/// NVIDIA among the vendors of PCI.
const NVIDIA: u64 = 0x10de;

/// The last level of cache. NVIDIA's driver reports the sum of its units' first levels instead.
fn last_level_cache(device: Query) -> Option<Bytes> {
    let is_nvidia = device.number(cl::CL_DEVICE_VENDOR_ID) == Some(NVIDIA);
    let size = device.number(cl::CL_DEVICE_GLOBAL_MEM_CACHE_SIZE).map(Bytes);
    size.filter(|&size| size > Bytes(0) && !is_nvidia)
}

/// Every driver has both flags; whether it copies behind them all the same, times show. Host memory must be aligned
/// as it wants.
fn zero_copy(device: Query) -> Vec<ZeroCopy> {
    let alignment = HOST_POINTER_ALIGNMENT;
    let host_pointer = (offset_alignment(device) <= alignment).then(|| ZeroCopy {
        memory: MemoryKind::HostPointer,
        allocation: format!("CL_MEM_USE_HOST_PTR at a multiple of {alignment}"),
    });
    let allocation = "CL_MEM_ALLOC_HOST_PTR".into();
    let allocated = ZeroCopy { memory: MemoryKind::ZeroCopy, allocation };
    [allocated].into_iter().chain(host_pointer).collect()
}

/// `OpenCL 3.0`, and the profile where it is not the full one.
fn api(device: Query) -> String {
    let version = version(device).map_or("OpenCL".into(), |(a, b)| format!("OpenCL {a}.{b}"));
    if is_embedded(device) { version + " embedded profile" } else { version }
}

/// Whether it promises less than the full profile: no 64-bit integers, coarser rounding, smaller limits.
fn is_embedded(device: Query) -> bool {
    device.text(cl::CL_DEVICE_PROFILE).is_some_and(|profile| profile == "EMBEDDED_PROFILE")
}

/// Whether it says that its queues take timestamps; some refuse them all the same, which shows when it is opened.
fn has_profiling(device: Query) -> bool {
    let properties = device.number(cl::CL_DEVICE_QUEUE_ON_HOST_PROPERTIES);
    properties.is_none_or(|properties| properties & CL_QUEUE_PROFILING_ENABLE != 0)
}

fn kind(device: Query) -> DeviceKind {
    let kind = device.number(cl::CL_DEVICE_TYPE).unwrap_or(0);
    if kind & cl::CL_DEVICE_TYPE_CPU != 0 {
        DeviceKind::Cpu
    } else if kind & cl::CL_DEVICE_TYPE_GPU == 0 {
        DeviceKind::Other
    } else if device.yes(cl::CL_DEVICE_HOST_UNIFIED_MEMORY) {
        DeviceKind::Integrated
    } else {
        DeviceKind::Discrete
    }
}

/// A buffer argument takes a pointer's width of the parameter space, of which OpenCL
/// guarantees 1,024 bytes; the rest is kept for the parameter block.
fn max_storage_buffers(device: Query) -> u32 {
    let space = device.number(cl::CL_DEVICE_MAX_PARAMETER_SIZE).unwrap_or(1024);
    saturating((space / 2 / 8).max(1))
}

fn max_group_dims(device: Query) -> [u32; 3] {
    let sizes = device.sizes(cl::CL_DEVICE_MAX_WORK_ITEM_SIZES).unwrap_or_default();
    [0, 1, 2].map(|i| sizes.get(i).map_or(1, |&n| saturating(n)))
}

/// OpenCL itself limits only the work-items along a dimension, to what the device's `size_t`
/// holds. NVIDIA's driver maps groups onto CUDA's grid, whose y and z end at 65,535.
fn max_groups(device: Query) -> [u32; 3] {
    let max_groups = u32::try_from(i32::MAX).unwrap_or(u32::MAX);
    if device.number(cl::CL_DEVICE_WARP_SIZE_NV).is_some() {
        [max_groups, 65_535, 65_535]
    } else {
        [max_groups; 3]
    }
}

fn subgroup(device: Query) -> Option<[u32; 2]> {
    let range =
        |sizes: Vec<u64>| Some([*sizes.iter().min()?, *sizes.iter().max()?].map(saturating));
    let single = |what| device.number32(what).map(|n| [n, n]);
    device
        .sizes(CL_DEVICE_SUB_GROUP_SIZES_INTEL)
        .and_then(range)
        .or_else(|| single(cl::CL_DEVICE_WARP_SIZE_NV))
        .or_else(|| single(cl::CL_DEVICE_WAVEFRONT_WIDTH_AMD))
        .filter(|&[smallest, _]| smallest > 0)
}

/// The driver states it in bits; a multiple of 4 bytes keeps every element aligned.
fn offset_alignment(device: Query) -> Bytes {
    let bits = device.number(cl::CL_DEVICE_MEM_BASE_ADDR_ALIGN).unwrap_or(0);
    Bytes((bits / 8).max(4))
}

/// The place of the GPU on the bus: by the Khronos query, else NVIDIA's or AMD's own.
fn pci(device: Query) -> Option<String> {
    khronos_pci(device).or_else(|| nvidia_pci(device)).or_else(|| amd_pci(device))
}

fn khronos_pci(device: Query) -> Option<String> {
    match device.numbers32(cl::CL_DEVICE_PCI_BUS_INFO_KHR)?[..] {
        [domain, bus, slot, function] => Some(address(domain, bus, slot, function)),
        _ => None,
    }
}

/// NVIDIA packs device and function into the slot number, three bits of function last.
fn nvidia_pci(device: Query) -> Option<String> {
    let bus = device.number32(cl::CL_DEVICE_PCI_BUS_ID_NV)?;
    let slot = device.number32(cl::CL_DEVICE_PCI_SLOT_ID_NV)?;
    let domain = device.number32(CL_DEVICE_PCI_DOMAIN_ID_NV).unwrap_or(0);
    Some(address(domain, bus, slot >> 3, slot & 7))
}

/// AMD's answer is a type (1: PCI Express), 17 unused bytes, then bus, device and function.
fn amd_pci(device: Query) -> Option<String> {
    let bytes = device.bytes(cl::CL_DEVICE_TOPOLOGY_AMD)?;
    let is_pci = bytes.get(..4).and_then(super::query::number) == Some(1);
    match bytes.get(21..24)? {
        &[bus, slot, function] if is_pci => {
            Some(address(0, u32::from(bus), u32::from(slot), u32::from(function)))
        }
        _ => None,
    }
}

fn address(domain: u32, bus: u32, slot: u32, function: u32) -> String {
    format!("{domain:04x}:{bus:02x}:{slot:02x}.{function:x}")
}

fn uuid(bytes: &[u8]) -> Option<String> {
    let known = bytes.len() == 16 && bytes.iter().any(|&b| b != 0);
    known.then(|| hex(bytes))
}

fn features(device: Query, extensions: &str) -> Vec<String> {
    let has = |name: &str| extensions.split(' ').any(|extension| extension == name);
    let counts_subgroups = device.yes(cl::CL_DEVICE_MAX_NUM_SUB_GROUPS);
    let intermediate = device.text(cl::CL_DEVICE_IL_VERSION).unwrap_or_default();
    // Of `f32` a driver lists here what it can; one that lists nothing says nothing.
    let single = device.number(cl::CL_DEVICE_SINGLE_FP_CONFIG).filter(|config| *config != 0);
    let lacks = |bit: u64| single.is_some_and(|config| config & bit == 0);
    let table = [
        ("f16", has("cl_khr_fp16")),
        ("f64", has("cl_khr_fp64") || device.yes(cl::CL_DEVICE_DOUBLE_FP_CONFIG)),
        (SPIRV, intermediate.contains("SPIR-V")),
        ("subgroups", has_subgroups(has, version(device), counts_subgroups)),
        (SUBGROUP_SIZE, has(subgroup_size::EXTENSION)),
        ("i64_atomics", has("cl_khr_int64_base_atomics")),
        (EMBEDDED, is_embedded(device)),
        ("i64", is_embedded(device) && has("cles_khr_int64")),
        (FLUSH_TO_ZERO, lacks(cl::CL_FP_DENORM)),
        (ROUND_TO_ZERO, lacks(cl::CL_FP_ROUND_TO_NEAREST)),
    ];
    table.into_iter().filter(|&(_, has)| has).map(|(name, _)| name.to_owned()).collect()
}

/// Whether there are the operations that shipped kernels use: a name says no more than the driver lists. Subgroups themselves
/// are an extension of OpenCL 2, which some drivers of OpenCL 3.0 do not list any more; `counts_subgroups` is whether
/// `CL_DEVICE_MAX_NUM_SUB_GROUPS` is above zero.
fn has_subgroups(
    has: impl Fn(&str) -> bool,
    version: Option<(u32, u32)>,
    counts_subgroups: bool,
) -> bool {
    let listed = has("cl_khr_subgroups") || (version >= Some((3, 0)) && counts_subgroups);
    listed && has("cl_khr_subgroup_shuffle") && has("cl_khr_subgroup_ballot")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subgroups_are_listed_or_of_opencl_3() {
        let has = |absent: &'static str| {
            move |name: &str| name.starts_with("cl_khr_subgroup") && name != absent
        };
        assert!(has_subgroups(has(""), Some((2, 0)), false));
        assert!(has_subgroups(has("cl_khr_subgroups"), Some((3, 0)), true));
        assert!(!has_subgroups(has("cl_khr_subgroups"), Some((3, 0)), false));
        assert!(!has_subgroups(has("cl_khr_subgroups"), Some((2, 1)), true));
        assert!(!has_subgroups(has("cl_khr_subgroup_ballot"), Some((3, 1)), true));
    }

    #[test]
    fn addresses_and_uuids_are_written_as_other_tools_write_them() {
        assert_eq!(address(0, 0x65, 0, 0), "0000:65:00.0");
        assert_eq!(uuid(&[0; 16]), None);
        assert_eq!(uuid(&[0xab; 16]), Some("ab".repeat(16)));
        assert_eq!(uuid(&[1; 8]), None);
    }
}
