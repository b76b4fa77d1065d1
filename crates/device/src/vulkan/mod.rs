//! Vulkan devices with all their queues, without a layer in between. The loader is looked for when the first
//! device is requested: gpubench starts where there is none.
//!
//! | file | idea |
//! |---|---|
//! | `instance`, `info`, `facts` | the loader, the devices, what they say of themselves |
//! | `abilities`, `subgroups`, `matrices` | what is used where a device has it |
//! | `topology` | the device's queues, and which of them a recording's become |
//! | `context` | an open device; owners of what is made from it |
//! | `spirv`, `layout`, `module`, `bindings`, `kernel`, `descriptors`, `statistics` | from WGSL, or a module, to pipelines and their descriptor sets |
//! | `images` | buffers that a kernel reads as images |
//! | `buffer`, `imported`, `memory`, `params` | buffers of every kind, and the host's way into them |
//! | `prepare`, `pieces`, `plan`, `encode`, `commands` | a recording is checked, cut, divided into batches, becomes commands |
//! | `run`, `timestamps` | commands are executed against the clock |
//! | `device` | the seam: [`crate::Device`] |

mod abilities;
mod bfloat16;
mod bindings;
mod buffer;
mod commands;
mod context;
mod descriptors;
mod device;
mod encode;
pub(crate) mod facts;
mod images;
mod imported;
mod info;
mod instance;
mod kernel;
mod layout;
mod matrices;
mod memory;
mod module;
mod params;
mod pieces;
mod plan;
mod prepare;
mod run;
mod spirv;
mod statistics;
mod status;
mod subgroups;
mod timestamps;
mod topology;

pub(super) use spirv::validator;
pub use topology::{DeviceQueue, Topology};

use super::{Backend, Device, nth};
use gpubench_core::error::Result;
use gpubench_core::gpu::DeviceInfo;
use info::Found;

/// The backend's name.
const NAME: &str = "vulkan";
/// Its name where several queues of a recording may share one of the device: results say so by it.
const SHARING: &str = "vulkan-share";

/// The Vulkan backend.
#[derive(Clone, Debug, Default)]
pub struct Vulkan {
    /// Whether several queues of a recording may become one of the device.
    pub share_queues: bool,
    /// Queues to be used in place of those that the device has, each of which must be one of them: in
    /// tests, other machines' queues on the only one of this machine's.
    pub queues: Option<Vec<DeviceQueue>>,
}

impl Vulkan {
    /// The usable devices.
    fn found(&self) -> Result<Vec<Found>> {
        let (mut found, _) = info::all(|own| self.topology(own))?;
        found.iter_mut().for_each(|found| found.info.backend = self.name().into());
        Ok(found)
    }

    fn topology(&self, own: Topology) -> Topology {
        let queues = self.queues.clone().unwrap_or(own.queues);
        Topology { queues, shared: self.share_queues }
    }
}

impl Backend for Vulkan {
    fn name(&self) -> &'static str {
        if self.share_queues { SHARING } else { NAME }
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>> {
        Ok(self.found()?.into_iter().map(|found| found.info).collect())
    }

    fn open(&self, index: usize) -> Result<Box<dyn Device>> {
        let found = nth(self.name(), self.found()?, index)?;
        Ok(Box::new(device::VulkanDevice::open(found)?))
    }

    fn environment(&self) -> &'static [&'static str] {
        &["LP_", "MESA_", "NVK_", "RADV_", "VK_"]
    }
}
