//! The seam: what the rest of the program sees of a wgpu device.

use super::context::Context;
use super::encode::Parts;
use super::kernel::{self, Kernel};
use super::memory::Memory;
use super::params::Params;
use super::timestamps::Queries;
use super::{checks, run};
use crate::Device;
use ::wgpu::{Adapter, DownlevelFlags};
use gpubench_core::error::Result;
use gpubench_core::gpu::{
    BufferId, BuildReport, DeviceInfo, KernelId, KernelSource, MemoryKind, Recording, Timeline,
};
use gpubench_core::units::Bytes;
use std::collections::HashMap;

/// An open device with its kernels and buffers.
pub(super) struct WgpuDevice {
    info: DeviceInfo,
    downlevel: DownlevelFlags,
    kernels: HashMap<KernelId, Kernel>,
    memory: Memory,
    params: Params,
    queries: Queries,
    // Last, so that everything made from it goes first.
    context: Context,
}

impl WgpuDevice {
    /// Opens an adapter.
    ///
    /// # Errors
    /// As [`Context::open`].
    pub fn open(info: DeviceInfo, adapter: &Adapter) -> Result<Self> {
        let context = Context::open(adapter)?;
        Ok(Self {
            info,
            downlevel: adapter.get_downlevel_capabilities().flags,
            kernels: HashMap::new(),
            memory: Memory::default(),
            params: Params::new(adapter.limits().min_uniform_buffer_offset_alignment),
            queries: Queries::new(&context),
            context,
        })
    }

    /// Bind groups keep their buffers alive, and may name ones that are gone.
    fn forget_groups(&mut self) {
        self.kernels.values_mut().for_each(|kernel| kernel.groups.clear());
    }
}

impl Device for WgpuDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn build(&mut self, id: KernelId, source: &KernelSource) -> Result<BuildReport> {
        self.kernels.remove(&id);
        let validator = ::wgpu::wgc::device::create_validator(
            self.context.device.features(),
            self.downlevel,
            naga::valid::ValidationFlags::all(),
        );
        let examined = checks::examine(source, &self.info, validator)?;
        let (kernel, report) = kernel::build(&self.context, source, &examined)?;
        self.kernels.insert(id, kernel);
        Ok(report)
    }

    fn alloc(&mut self, id: BufferId, bytes: Bytes, kind: MemoryKind) -> Result<()> {
        self.forget_groups();
        self.memory.alloc(&self.context, &self.info, id, bytes, kind)
    }

    fn write(&mut self, id: BufferId, data: &[u8]) -> Result<()> {
        // An image has what its buffer held when it was bound.
        let with_images = self.kernels.values_mut().filter(|kernel| kernel.has_images());
        with_images.for_each(|kernel| kernel.groups.clear());
        self.memory.write(&self.context, id, data)
    }

    fn read(&mut self, id: BufferId) -> Result<Vec<u8>> {
        self.memory.read(&self.context, id)
    }

    fn run(&mut self, recording: &Recording) -> Result<Timeline> {
        let mut parts = Parts {
            context: &self.context,
            info: &self.info,
            kernels: &mut self.kernels,
            memory: &mut self.memory,
            params: &mut self.params,
            queries: &mut self.queries,
        };
        run::run(&mut parts, recording)
    }

    fn reset(&mut self) {
        self.kernels.retain(|id, _| id.is_lasting());
        self.forget_groups();
        self.memory = Memory::default();
        // A lost device shows in the next call; here there is nothing left to save.
        let _ = self.context.submit(None);
    }
}
