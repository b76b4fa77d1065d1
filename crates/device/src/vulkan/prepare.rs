//! A recording is checked, and what its commands will refer to is brought about, before its clock
//! begins.

use super::commands::Pools;
use super::context::Context;
use super::kernel::Kernel;
use super::memory::Memory;
use super::params::Params;
use super::plan::{How, overlap};
use crate::validation::{self, no_buffer, no_kernel};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{DeviceInfo, KernelId, MemoryKind, Op, Recording, Slice};
use std::collections::HashMap;
use std::rc::Rc;

/// Everything that a recording needs of a device.
pub(super) struct Parts<'a> {
    pub context: &'a Rc<Context>,
    pub info: &'a DeviceInfo,
    pub kernels: &'a mut HashMap<KernelId, Kernel>,
    pub memory: &'a mut Memory,
    pub params: &'a mut Params,
    pub pools: &'a mut Pools,
}

impl Parts<'_> {
    /// Checks and prepares; who does each step.
    ///
    /// # Errors
    /// `Unsupported` where the device cannot do what is requested, `Usage` or `Device` where the
    /// recording names what is not there.
    pub fn prepare(&mut self, recording: &Recording) -> Result<Vec<How>> {
        self.params.blocks.begin();
        let mut hows = Vec::with_capacity(recording.steps.len());
        let mut stale = false;
        let mut before: Option<&Op> = None;
        for (position, step) in recording.steps.iter().enumerate() {
            validation::order(position, step)?;
            self.memory.map_or_use(&step.op)?;
            // A batch repeats one operation: it is checked once.
            if before != Some(&step.op) {
                stale |= self.check(&step.op)?;
                before = Some(&step.op);
            }
            hows.push(self.how(&step.op)?);
        }
        stale |= self.params.upload(self.context)?;
        if stale {
            self.kernels.values_mut().for_each(Kernel::unbind);
        }
        for step in &recording.steps {
            let Op::Dispatch { kernel, buffers, .. } = &step.op else { continue };
            let Some(kernel) = self.kernels.get_mut(kernel) else { continue };
            kernel.bind(self.context, (self.memory, self.pools), self.params, buffers)?;
        }
        Ok(hows)
    }

    /// Makes what staged copies go through.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn make_staging(&mut self, recording: &Recording, hows: &[How]) -> Result<()> {
        for (step, how) in recording.steps.iter().zip(hows) {
            let (Op::Upload { from: host, .. } | Op::Download { to: host, .. }) = &step.op else {
                continue;
            };
            match how {
                How::Staged => self.memory.make_staging(host.buffer)?,
                How::Ring(_) => self.memory.make_ring()?,
                How::Device | How::Direct => {}
            }
        }
        Ok(())
    }

    /// True where descriptors became stale.
    fn check(&mut self, op: &Op) -> Result<bool> {
        match op {
            Op::Dispatch { kernel, groups, buffers, params } => {
                let kernel = self.kernels.get(kernel).ok_or_else(|| no_kernel(*kernel))?;
                let given = (buffers.len(), params.len());
                validation::launch(*groups, given, kernel.takes(), self.info)?;
                if !kernel.pushed {
                    self.params.blocks.place(&kernel.arguments, params);
                }
                buffers.iter().try_for_each(|slice| self.check_binding(*slice)).map(|()| false)
            }
            Op::Upload { from: host, to: device } | Op::Download { from: device, to: host } => {
                self.check_copy(*host, *device)?;
                self.check_kinds(*host, *device)
            }
            Op::Copy { from, to } => {
                self.check_copy(*from, *to)?;
                for slice in [from, to] {
                    self.on_device(*slice)?;
                }
                if overlap(from, to) {
                    let reason = "Vulkan does not copy between parts that overlap";
                    return Err(Error::Unsupported(reason.into()));
                }
                Ok(false)
            }
            Op::Map { part, .. } | Op::Unmap { part } => self.memory.check(*part).map(|()| false),
        }
    }

    fn check_copy(&self, a: Slice, b: Slice) -> Result<()> {
        self.memory.check(a)?;
        self.memory.check(b)?;
        validation::copy(&a, &b)
    }

    fn check_kinds(&mut self, host: Slice, device: Slice) -> Result<bool> {
        self.on_device(device)?;
        match self.memory.kind(host.buffer)? {
            kind if kind.is_for_kernels() => Err(no_buffer(host.buffer, "host ")),
            MemoryKind::Mapped if self.memory.kind(device.buffer)?.is_zero_copy() => {
                let why = "a zero-copy buffer is mapped, not copied to by the host";
                Err(Error::Unsupported(why.into()))
            }
            MemoryKind::Mapped => self.memory.make_direct(self.pools, device.buffer),
            _ => Ok(false),
        }
    }

    fn on_device(&self, slice: Slice) -> Result<()> {
        match self.memory.kind(slice.buffer)?.is_for_kernels() {
            true => Ok(()),
            false => Err(no_buffer(slice.buffer, "device ")),
        }
    }

    fn check_binding(&self, slice: Slice) -> Result<()> {
        self.memory.check(slice)?;
        self.on_device(slice)?;
        validation::argument(&slice, self.info)
    }

    fn how(&self, op: &Op) -> Result<How> {
        let host = match op {
            Op::Dispatch { .. } | Op::Copy { .. } => return Ok(How::Device),
            Op::Map { .. } | Op::Unmap { .. } => return Ok(How::Direct),
            Op::Upload { from: host, .. } | Op::Download { to: host, .. } => host,
        };
        Ok(match self.memory.kind(host.buffer)? {
            MemoryKind::Pageable => How::Staged,
            MemoryKind::Mapped => How::Direct,
            _ => How::Device,
        })
    }
}
