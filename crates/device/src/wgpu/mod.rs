//! wgpu devices: Vulkan first; Metal and DirectX 12 come with it.
//!
//! | file | idea |
//! |---|---|
//! | `info` | what an adapter says of itself |
//! | `vulkan` | what only the Vulkan driver below wgpu reports |
//! | `doctor` | what may keep a Vulkan device away |
//! | `context` | an open device; every complaint of the API becomes a typed error |
//! | `checks`, `located` | a kernel is examined before it is built, and mistakes are shown in the user's file |
//! | `constant_memory` | buffers that a kernel reads from constant memory |
//! | `images` | buffers that a kernel reads as images |
//! | `features` | what a kernel needs that only some devices offer |
//! | `kernel` | pipelines and their bind groups |
//! | `memory`, `mapping` | buffers of every kind, and the host's way into them |
//! | `params` | parameter blocks in one uniform buffer |
//! | `prepare`, `encode`, `commands` | a recording is checked and becomes commands |
//! | `run` | commands are executed against the clock |
//! | `timestamps` | device timestamps around steps |
//! | `device` | the seam: [`crate::Device`] |

mod checks;
mod commands;
mod constant_memory;
mod context;
mod device;
mod doctor;
mod encode;
mod features;
mod images;
mod info;
mod kernel;
mod mapping;
mod memory;
mod params;
mod prepare;
mod run;
mod timestamps;
#[cfg(any(windows, target_os = "linux", target_os = "android", target_os = "freebsd"))]
mod vulkan;

pub use checks::local_bytes;
pub(super) use checks::{Examined, examine, layouts, name};
pub(super) use constant_memory::{ConstantLimits, ConstantMemory};
pub use context::EXIT_DEVICE_LOST;
pub(super) use info::whole_words;
pub(super) use kernel::{check_values, options};
pub(super) use memory::{reserved, zeroed};

use super::{Backend, Device, kind_rank, nth};
use crate::doctor::{Finding, Machine};
use ::wgpu::{Adapter, Backends, Instance, InstanceDescriptor, InstanceFlags};
use gpubench_core::error::Result;
use gpubench_core::gpu::DeviceInfo;

/// The wgpu backend.
pub struct Wgpu;

impl Backend for Wgpu {
    fn name(&self) -> &'static str {
        "wgpu"
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>> {
        Ok(adapters().into_iter().map(|(info, _)| info).collect())
    }

    fn open(&self, index: usize) -> Result<Box<dyn Device>> {
        let (info, adapter) = nth(self.name(), adapters(), index)?;
        Ok(Box::new(device::WgpuDevice::open(info, &adapter)?))
    }

    fn layer_over(&self) -> Option<&'static str> {
        Some("vulkan")
    }

    fn environment(&self) -> &'static [&'static str] {
        &["GALLIUM_", "LIBGL_", "LP_", "MESA_", "NVK_", "RADV_", "VK_", "WGPU_"]
    }

    fn doctor(&self, machine: &Machine<'_>) -> Vec<Finding> {
        doctor::examine(machine)
    }
}

/// All adapters: by API, then GPUs before CPU implementations, then by PCI address and name, so
/// that an index means the same device in every process.
fn adapters() -> Vec<(DeviceInfo, Adapter)> {
    // OpenGL ES is left out: it lacks timestamps and most of the limits that kernels need.
    let backends = Backends::VULKAN | Backends::METAL | Backends::DX12;
    let instance = Instance::new(InstanceDescriptor {
        backends,
        // No validation layers and no labels: nothing that costs time. Drivers that did not pass
        // the conformance tests are welcome, since every result is verified here.
        flags: InstanceFlags::ALLOW_UNDERLYING_NONCOMPLIANT_ADAPTER,
        ..InstanceDescriptor::new_without_display_handle()
    });
    let mut adapters: Vec<_> = pollster::block_on(instance.enumerate_adapters(backends))
        .into_iter()
        .map(|adapter| (info::describe(&adapter), adapter))
        .collect();
    adapters.sort_by_cached_key(|(info, adapter)| {
        (info::api_rank(adapter), kind_rank(info.kind), info.pci.clone(), info.name.clone())
    });
    adapters
        .into_iter()
        .enumerate()
        .map(|(index, (info, adapter))| (DeviceInfo { index, ..info }, adapter))
        .collect()
}
