//! What a device says of itself through one API.

use super::MemoryKind;
use super::language::Language;
use crate::text::{printable, slug};
use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// The feature by which a device of OpenCL's embedded profile is known: it has 64-bit integers only where it has the
/// feature `i64` too.
pub const EMBEDDED: &str = "embedded";
/// The feature of a device that takes kernels in SPIR-V as they are.
pub const SPIRV: &str = "spirv";
/// The feature of a device of which a kernel can ask how many work-items its subgroups have.
pub const SUBGROUP_SIZE: &str = "subgroup_size";
/// The feature of a device that says that it takes numbers next to zero (denormals, of `f32`) for zero.
pub const FLUSH_TO_ZERO: &str = "flush_to_zero";
/// The feature of a device that says that it rounds `f32` towards zero, and not to the nearest.
pub const ROUND_TO_ZERO: &str = "round_to_zero";

/// No GPU has larger subgroups.
pub const MAX_SUBGROUP: u32 = 128;

/// What sort of processor the device is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceKind {
    /// A GPU with memory of its own.
    Discrete,
    /// A GPU that shares the host's memory.
    Integrated,
    /// A GPU handed through by a hypervisor.
    Virtual,
    /// An implementation on the host's processor.
    Cpu,
    /// A simulated GPU: nothing was measured.
    Simulated,
    /// Measured by another program and imported: gpubench has not seen it.
    Imported,
    /// Anything else, such as an accelerator.
    #[default]
    Other,
}

/// One device as seen through one API.
///
/// Limits are what the API grants to a program that asks for the most; an optional field is
/// `None` where the API does not report it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceInfo {
    /// The name of the API that it is seen through.
    pub backend: String,
    /// The machine that it is in, as the command line names it; `None`: this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
    /// Position among the backend's devices; stable while drivers do not change.
    pub index: usize,
    /// The device's name as the driver gives it.
    pub name: String,
    /// The vendor's name.
    pub vendor: String,
    /// What sort of processor it is.
    pub kind: DeviceKind,
    /// The driver's name and version.
    pub driver: String,
    /// The API's version on this device, such as `OpenCL 3.0` or `Vulkan 1.3.230`.
    pub api: String,
    /// The language it takes kernels in.
    pub language: Language,
    /// Memory on the device (for an integrated or CPU device, what the driver lets it use).
    pub memory: Option<Bytes>,
    /// The largest cache in front of the memory, where the API reports it.
    pub cache: Option<Bytes>,
    /// The largest single buffer.
    pub max_buffer: Bytes,
    /// The largest part of a buffer that one kernel argument may see.
    pub max_binding: Bytes,
    /// How many storage buffers one kernel may see.
    pub max_storage_buffers: u32,
    /// Compute units (streaming multiprocessors, cores), where the API reports it.
    pub compute_units: Option<u32>,
    /// The core clock in hertz, where the API reports it.
    pub clock_hz: Option<f64>,
    /// Most work-items in a work-group.
    pub max_group_size: u32,
    /// Most work-items along each dimension of a work-group.
    pub max_group_dims: [u32; 3],
    /// Most work-groups along each dimension of one dispatch.
    pub max_groups: [u32; 3],
    /// Local (work-group) memory for one group.
    pub local_memory: Bytes,
    /// Registers of 32 bits of a compute unit, where they are known: no API reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registers: Option<u32>,
    /// How many in-order queues a recording may use.
    pub queues: u32,
    /// Resolution of device timestamps in seconds; `None` where it has none.
    pub timestamp_resolution: Option<f64>,
    /// Smallest and largest subgroup (warp, wavefront), where the API reports it.
    pub subgroup: Option<[u32; 2]>,
    /// Buffer offsets handed to a kernel are multiples of this.
    pub offset_alignment: Bytes,
    /// Kinds of host memory that transfers can be measured with.
    pub host_memory: Vec<MemoryKind>,
    /// Kinds of zero-copy memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub zero_copy: Vec<ZeroCopy>,
    /// The kinds of memory that it has, in the API's words, where the API reports them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory_types: Vec<String>,
    /// PCI address as `dddd:bb:dd.f`.
    pub pci: Option<String>,
    /// The device's UUID in lower-case hexadecimal.
    pub uuid: Option<String>,
    /// Optional features, by the names suites use (`f16`, `f64`, `subgroups`).
    pub features: Vec<String>,
}

/// A kind of memory that kernels use where the host maps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZeroCopy {
    /// The kind.
    pub memory: MemoryKind,
    /// How it is allocated, in the API's words: `CL_MEM_ALLOC_HOST_PTR`.
    pub allocation: String,
}

impl DeviceInfo {
    /// Whether what is measured on it is a GPU's: it is no CPU implementation, no simulation, and measured here.
    pub fn is_gpu(&self) -> bool {
        !matches!(self.kind, DeviceKind::Cpu | DeviceKind::Simulated | DeviceKind::Imported)
    }

    /// `opencl:0`, in another machine `opencl:0@board`: how tables name a device, and how `--device` takes it.
    pub fn label(&self) -> String {
        let label = format!("{}:{}", printable(&self.backend, 12), self.index);
        match &self.remote {
            Some(remote) => format!("{label}@{}", printable(remote, 40)),
            None => label,
        }
    }

    /// Work-items that execute one instruction at a time: those of the largest subgroup, where it is known. Drivers for
    /// CPUs that let a subgroup be any part of a group have no such number.
    pub fn warp(&self) -> Option<u32> {
        let [smallest, largest] = self.subgroup?;
        let is_any = self.kind == DeviceKind::Cpu && smallest < largest;
        Some(largest).filter(|size| !is_any && size.is_power_of_two() && *size <= MAX_SUBGROUP)
    }

    /// Whether both are the same position of one API in one machine.
    pub fn is_at(&self, other: &Self) -> bool {
        (&self.backend, self.index, &self.remote) == (&other.backend, other.index, &other.remote)
    }

    /// A stable, file-safe name: vendor, device and backend in lower case, joined by dashes.
    pub fn slug(&self) -> String {
        slug(&[&self.vendor, &self.name, &self.backend], 96)
    }
}

#[test]
fn what_a_device_is_called_and_whether_it_is_a_gpu() {
    use crate::record::sample::device;
    let of = |kind| DeviceInfo { kind, ..device("opencl") };
    use DeviceKind::{Cpu, Imported, Simulated};
    assert_eq!([Cpu, Imported, Simulated].map(|kind| of(kind).is_gpu()), [false; 3]);
    assert!(of(DeviceKind::Virtual).is_gpu());
    let here = DeviceInfo { name: "GTX (TM) 260".into(), vendor: "N".into(), ..of(Cpu) };
    assert_eq!(here.slug(), "n-gtx-tm-260-opencl");
    let there = DeviceInfo { remote: Some("board".into()), ..here.clone() };
    assert_eq!((here.label(), there.label()), ("opencl:0".into(), "opencl:0@board".into()));
    assert!(here.is_at(&here.clone()) && !here.is_at(&there) && there.is_at(&there));
    assert!(!here.is_at(&DeviceInfo { index: here.index + 1, ..here.clone() }));
}

#[test]
fn a_warp_is_the_largest_subgroup_but_for_drivers_to_which_any_part_of_a_group_is_one() {
    use crate::record::sample::device;
    let warp = |kind, subgroup| DeviceInfo { kind, subgroup, ..device("vulkan") }.warp();
    use DeviceKind::{Cpu, Discrete};
    assert_eq!(warp(Discrete, Some([32, 64])), Some(64));
    assert_eq!(warp(Cpu, Some([8, 8])), Some(8));
    assert_eq!((warp(Cpu, Some([1, 64])), warp(Discrete, Some([1, 512]))), (None, None));
    assert_eq!((warp(Discrete, None), warp(Discrete, Some([33, 33]))), (None, None));
}
