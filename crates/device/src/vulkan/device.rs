//! The seam: what the rest of the program sees of a Vulkan device.

use super::commands::Pools;
use super::context::Context;
use super::info::Found;
use super::kernel::{self, Kernel};
use super::memory::Memory;
use super::params::Params;
use super::prepare::Parts;
use super::run::{self, Semaphores};
use super::spirv::validator;
use super::timestamps::Queries;
use crate::Device;
use crate::wgpu::examine;
use gpubench_core::error::Result;
use gpubench_core::gpu::{
    BufferId, BuildReport, DeviceInfo, KernelId, KernelSource, MemoryKind, Recording, Timeline,
};
use gpubench_core::units::Bytes;
use std::collections::HashMap;
use std::rc::Rc;

/// An open device with its kernels and buffers, each of which holds the context.
pub(super) struct VulkanDevice {
    info: DeviceInfo,
    kernels: HashMap<KernelId, Kernel>,
    memory: Memory,
    params: Params,
    queries: Queries,
    semaphores: Semaphores,
    pools: Pools,
    context: Rc<Context>,
}

impl VulkanDevice {
    /// Opens a device.
    ///
    /// # Errors
    /// As [`Context::open`].
    pub fn open(found: Found) -> Result<Self> {
        let (context, info) = Context::open(found)?;
        Ok(Self {
            info,
            kernels: HashMap::new(),
            memory: Memory::new(&context),
            params: Params::new(&context),
            queries: Queries::default(),
            semaphores: Semaphores::default(),
            pools: Pools::new(&context),
            context,
        })
    }

    /// Descriptor sets may name buffers that are gone.
    fn unbind(&mut self) {
        self.kernels.values_mut().for_each(Kernel::unbind);
    }
}

impl Device for VulkanDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn build(&mut self, id: KernelId, source: &KernelSource) -> Result<BuildReport> {
        self.kernels.remove(&id);
        let validator = validator(self.context.abilities.capabilities());
        let examined = examine(source, &self.info, validator)?;
        let (kernel, report) = kernel::build(&self.context, source, &examined)?;
        self.kernels.insert(id, kernel);
        Ok(report)
    }

    fn alloc(&mut self, id: BufferId, bytes: Bytes, kind: MemoryKind) -> Result<()> {
        self.unbind();
        self.memory.alloc(&mut self.pools, &self.info, (id, bytes, kind))
    }

    fn write(&mut self, id: BufferId, data: &[u8]) -> Result<()> {
        // An image has what its buffer held when it was bound.
        self.kernels.values_mut().filter(|kernel| kernel.has_images()).for_each(Kernel::unbind);
        self.memory.write(&mut self.pools, id, data)
    }

    fn read(&mut self, id: BufferId) -> Result<Vec<u8>> {
        self.memory.read(&mut self.pools, id)
    }

    fn holds(&mut self, id: BufferId, bytes: &[u8]) -> Result<bool> {
        self.memory.holds(&mut self.pools, id, bytes)
    }

    fn run(&mut self, recording: &Recording) -> Result<Timeline> {
        let mut parts = Parts {
            context: &self.context,
            info: &self.info,
            kernels: &mut self.kernels,
            memory: &mut self.memory,
            params: &mut self.params,
            pools: &mut self.pools,
        };
        run::run(&mut parts, &mut self.queries, &mut self.semaphores, recording)
    }

    fn reset(&mut self) {
        self.kernels.retain(|id, _| id.is_lasting());
        self.unbind();
        self.memory.clear();
    }
}
