//! An open OpenCL device.

use super::clblast;
use super::info::Found;
use super::kernel;
use super::memory::Memory;
use super::object::{self, Owned};
use super::prepare::prepare;
use super::programs::Programs;
use super::run::{Built, Kernels, Run};
use crate::Device;
use gpubench_core::error::Result;
use gpubench_core::gpu::{
    BufferId, BuildReport, DeviceInfo, KernelId, KernelSource, Library, MemoryKind, Recording,
    Timeline,
};
use gpubench_core::units::Bytes;
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::types::cl_device_id;
use std::rc::Rc;

/// A device with its context. Fields are dropped in the order written: what depends on the
/// context goes before it.
pub(super) struct OpenclDevice {
    info: DeviceInfo,
    id: cl_device_id,
    kernels: Kernels,
    programs: Programs,
    memory: Memory,
    /// One command queue for each queue of a recording, created when a recording first uses it.
    queues: Vec<Rc<Owned<CommandQueue>>>,
    context: Owned<Context>,
}

impl OpenclDevice {
    pub(super) fn open(found: Found) -> Result<Self> {
        let context = object::context(found.id)?;
        let mut device = Self {
            programs: Programs::new(found.info.memory),
            info: found.info,
            id: found.id,
            kernels: Kernels::new(),
            memory: Memory::default(),
            queues: vec![],
            context,
        };
        device.need_queues(1)?;
        Ok(device)
    }

    fn need_queues(&mut self, count: usize) -> Result<()> {
        while self.queues.len() < count {
            let (queue, has_timestamps) = object::queue(&self.context, self.id)?;
            if !has_timestamps {
                // What it reports of its timer means nothing: the host's clock it is.
                self.info.timestamp_resolution = None;
            }
            self.queues.push(Rc::new(queue));
        }
        Ok(())
    }

    /// Kernels hold no reference to the buffers they were last given.
    fn unbind_all(&mut self) {
        self.kernels.values_mut().for_each(Built::unbind);
    }
}

impl Device for OpenclDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn build(&mut self, id: KernelId, source: &KernelSource) -> Result<BuildReport> {
        self.kernels.remove(&id);
        let (built, report) = match source.settings.library {
            Some(Library::Clblast) => {
                let (gemm, report) = clblast::build(source)?;
                (Built::Routine(gemm), report)
            }
            None => {
                let place = (&*self.context, self.id);
                let (kernel, report) =
                    kernel::build(&mut self.programs, place, &self.info, source)?;
                (Built::Compiled(kernel), report)
            }
        };
        self.kernels.insert(id, built);
        Ok(report)
    }

    fn alloc(&mut self, id: BufferId, bytes: Bytes, kind: MemoryKind) -> Result<()> {
        self.unbind_all();
        let place = (&*self.context, &self.queues[0]);
        self.memory.alloc(place, &self.info, (id, bytes, kind))
    }

    fn write(&mut self, id: BufferId, data: &[u8]) -> Result<()> {
        if self.memory.images.forget(id) {
            self.unbind_all();
        }
        if data.is_empty() || self.memory.write_host(id, data)? {
            return Ok(());
        }
        self.memory.write_device(&self.queues[0], id, data)
    }

    fn read(&mut self, id: BufferId) -> Result<Vec<u8>> {
        let on_device = self.memory.read_device(&self.queues[0], id);
        on_device.unwrap_or_else(|| self.memory.host(id).map(|host| host.bytes().to_vec()))
    }

    fn holds(&mut self, id: BufferId, bytes: &[u8]) -> Result<bool> {
        match self.memory.host(id) {
            Ok(host) => Ok(host.bytes() == bytes),
            Err(_) => Ok(self.read(id)? == bytes),
        }
    }

    fn run(&mut self, recording: &Recording) -> Result<Timeline> {
        let prepared = prepare(
            recording,
            &self.info,
            &self.kernels,
            (&mut self.memory, &self.context, &self.queues[0]),
        );
        // Also where it failed: what was turned until then is no longer what kernels are bound to.
        if self.memory.has_turned {
            self.unbind_all();
        }
        prepared?;
        let queue_count = recording.queues() as usize;
        self.need_queues(queue_count)?;
        let run = Run {
            info: &self.info,
            queues: &self.queues[..queue_count],
            kernels: &mut self.kernels,
            memory: &self.memory,
        };
        run.execute(recording)
    }

    fn reset(&mut self) {
        self.kernels.retain(|id, _| id.is_lasting());
        self.kernels.values_mut().for_each(Built::unbind);
        self.memory.clear();
    }
}
