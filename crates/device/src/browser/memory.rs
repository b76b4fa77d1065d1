//! What was allocated and built on the page, so that mistakes of a recording are found before they travel.

use crate::image_limits::ImageLimits;
use crate::validation::{self, no_buffer, no_kernel};
use crate::wgpu::ConstantMemory;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{
    Argument, BufferId, DeviceInfo, ImageOf, KernelId, KernelSource, MemoryKind, Op, Recording,
    Slice,
};
use gpubench_core::units::Bytes;
use std::collections::HashMap;

/// Kernels and buffers of a session.
#[derive(Default)]
pub(super) struct Memory {
    kernels: HashMap<KernelId, Kernel>,
    buffers: HashMap<BufferId, (u64, MemoryKind)>,
}

/// What is known of a kernel.
struct Kernel {
    /// Buffers and bytes of parameters that it takes.
    takes: (usize, usize),
    arguments: Vec<Argument>,
    constant_memory: ConstantMemory,
    /// The images that its buffers are read as, by position.
    images: Vec<Option<ImageOf>>,
}

/// Pages copy rows into images by words of four bytes.
fn whole_words((image, element): ImageOf) -> Result<()> {
    let row = u64::from(image.width) * element.size().0;
    match row.is_multiple_of(4) {
        true => Ok(()),
        false => Err(Error::Unsupported(format!(
            "an image with rows of {row} bytes; a page takes multiples of 4"
        ))),
    }
}

impl Memory {
    /// Notes a kernel that was built.
    pub fn built(&mut self, id: KernelId, source: &KernelSource, constant_memory: ConstantMemory) {
        let takes = (source.bindings.len(), source.params_bytes as usize);
        let arguments = source.arguments();
        let images = source.images();
        self.kernels.insert(id, Kernel { takes, arguments, constant_memory, images });
    }

    /// Forgets a kernel.
    pub fn forget(&mut self, id: KernelId) {
        self.kernels.remove(&id);
    }

    /// Notes a buffer that is about to be allocated.
    ///
    /// # Errors
    /// `Unsupported` beyond the device's limits.
    pub fn alloc(
        &mut self,
        info: &DeviceInfo,
        id: BufferId,
        bytes: Bytes,
        kind: MemoryKind,
    ) -> Result<()> {
        self.buffers.remove(&id);
        validation::allocation(bytes, kind, info)?;
        self.buffers.insert(id, (bytes.0, kind));
        Ok(())
    }

    /// The bytes of a buffer.
    pub fn len(&self, id: BufferId) -> Result<u64> {
        self.get(id).map(|(len, _)| len)
    }

    /// Checks that so many bytes can fill a buffer from its beginning.
    pub fn check_filling(&self, id: BufferId, bytes: usize) -> Result<()> {
        let (len, kind) = self.get(id)?;
        validation::filling(id, bytes, len, kind == MemoryKind::Device)
    }

    /// Frees all but lasting kernels.
    pub fn reset(&mut self) {
        self.buffers.clear();
        self.kernels.retain(|id, _| id.is_lasting());
    }

    /// Checks a recording.
    ///
    /// # Errors
    /// `Unsupported` where WebGPU cannot do what is requested, `Usage` where the recording names what is
    /// not there.
    pub fn check(
        &self,
        recording: &Recording,
        info: &DeviceInfo,
        (uniform_alignment, image_limits): (u32, ImageLimits),
    ) -> Result<()> {
        let queues = recording.queues();
        if queues > 1 {
            return Err(Error::Unsupported(format!("{queues} queues: WebGPU has one queue")));
        }
        for (position, step) in recording.steps.iter().enumerate() {
            validation::order(position, step)?;
            match &step.op {
                Op::Dispatch { kernel, groups, buffers, params } => {
                    let kernel = self.kernels.get(kernel).ok_or_else(|| no_kernel(*kernel))?;
                    validation::launch(*groups, (buffers.len(), params.len()), kernel.takes, info)?;
                    for slice in buffers {
                        self.slice(slice, true)?;
                        validation::argument(slice, info)?;
                    }
                    for (binding, argument) in (0..).zip(&kernel.arguments) {
                        if let Argument::Buffer(i) = argument {
                            let part = buffers[*i as usize];
                            kernel.constant_memory.bound(binding, part, uniform_alignment)?;
                            if let Some(kind) = kernel.images[*i as usize] {
                                image_limits.shape(part, kind)?;
                                whole_words(kind)?;
                            }
                        }
                    }
                }
                Op::Upload { from, to } => self.copy((from, false), (to, true))?,
                Op::Download { from, to } => self.copy((from, true), (to, false))?,
                Op::Copy { from, to } if from.buffer == to.buffer => {
                    let reason = "WebGPU does not copy within one buffer";
                    return Err(Error::Unsupported(reason.into()));
                }
                Op::Copy { from, to } => self.copy((from, true), (to, true))?,
                Op::Map { .. } | Op::Unmap { .. } => return Err(validation::no_zero_copy()),
            }
        }
        Ok(())
    }

    /// Checks a copy between slices that are to be on the device or not.
    fn copy(&self, from: (&Slice, bool), to: (&Slice, bool)) -> Result<()> {
        self.slice(from.0, from.1)?;
        self.slice(to.0, to.1)?;
        validation::copy(from.0, to.0)
    }

    fn slice(&self, slice: &Slice, on_device: bool) -> Result<()> {
        let (len, kind) = self.get(slice.buffer)?;
        if (kind == MemoryKind::Device) != on_device {
            return Err(no_buffer(slice.buffer, if on_device { "device " } else { "host " }));
        }
        validation::within(slice, len)?;
        validation::alignment(slice)
    }

    fn get(&self, id: BufferId) -> Result<(u64, MemoryKind)> {
        self.buffers.get(&id).copied().ok_or_else(|| no_buffer(id, ""))
    }
}
