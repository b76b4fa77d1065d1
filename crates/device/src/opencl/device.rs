//! An open OpenCL device.

use super::info::Found;
use super::kernel;
use super::memory::{Memory, too_long};
use super::object::{self, Owned};
use super::prepare::prepare;
use super::run::{Kernels, Run};
use super::status::checked;
use crate::Device;
use crate::validation::no_buffer;
use gpubench_core::error::Result;
use gpubench_core::gpu::{
    BufferId, BuildReport, DeviceInfo, KernelId, KernelSource, MemoryKind, Recording, Timeline,
};
use gpubench_core::units::Bytes;
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::types::{CL_BLOCKING, cl_device_id};
use std::rc::Rc;

/// A device with its context. Fields are dropped in the order written: what depends on the
/// context goes before it.
pub(super) struct OpenclDevice {
    info: DeviceInfo,
    id: cl_device_id,
    kernels: Kernels,
    memory: Memory,
    /// One command queue for each queue of a recording, created when a recording first uses it.
    queues: Vec<Rc<Owned<CommandQueue>>>,
    context: Owned<Context>,
}

impl OpenclDevice {
    pub(super) fn open(found: Found) -> Result<Self> {
        let context = object::context(found.id)?;
        let mut device = Self {
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
            self.queues.push(Rc::new(object::queue(&self.context, self.id)?));
        }
        Ok(())
    }

    /// Kernels hold no reference to the buffers they were last given.
    fn unbind_all(&mut self) {
        self.kernels.values_mut().for_each(kernel::Kernel::unbind);
    }
}

impl Device for OpenclDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn build(&mut self, id: KernelId, source: &KernelSource) -> Result<BuildReport> {
        self.kernels.remove(&id);
        let (kernel, report) = kernel::build(&self.context, self.id, &self.info, source)?;
        self.kernels.insert(id, kernel);
        Ok(report)
    }

    fn alloc(&mut self, id: BufferId, bytes: Bytes, kind: MemoryKind) -> Result<()> {
        self.unbind_all();
        let place = (&*self.context, &self.queues[0]);
        self.memory.alloc(place, &self.info, (id, bytes, kind))
    }

    #[expect(unsafe_code, reason = "OpenCL call")]
    fn write(&mut self, id: BufferId, data: &[u8]) -> Result<()> {
        if data.is_empty() || self.memory.write_host(id, data)? {
            return Ok(());
        }
        let (buffer, len) = self.memory.whole_mut(id).ok_or_else(|| no_buffer(id, ""))?;
        if data.len() > len.as_usize() {
            return Err(too_long(data, len));
        }
        // SAFETY: the buffer holds `data.len()` bytes; the call blocks.
        let event =
            unsafe { self.queues[0].enqueue_write_buffer(buffer, CL_BLOCKING, 0, data, &[]) };
        checked("writing a buffer", event).map(Owned::new).map(drop)
    }

    #[expect(unsafe_code, reason = "OpenCL call")]
    fn read(&mut self, id: BufferId) -> Result<Vec<u8>> {
        let Some((buffer, len)) = self.memory.whole_mut(id) else {
            return self.memory.host(id).map(|host| host.bytes().to_vec());
        };
        let mut data = vec![0_u8; len.as_usize()];
        // SAFETY: buffer and `data` have the same length; the call blocks.
        let event =
            unsafe { self.queues[0].enqueue_read_buffer(buffer, CL_BLOCKING, 0, &mut data, &[]) };
        checked("reading a buffer", event).map(Owned::new).map(drop)?;
        Ok(data)
    }

    fn run(&mut self, recording: &Recording) -> Result<Timeline> {
        prepare(recording, &self.info, &self.kernels, &mut self.memory)?;
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
        self.kernels.values_mut().for_each(kernel::Kernel::unbind);
        self.memory.clear();
    }
}
