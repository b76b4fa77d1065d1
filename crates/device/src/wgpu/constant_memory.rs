//! Buffers that a kernel reads from constant memory: its text has `var<uniform>` at the place of a buffer.

use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{Argument, Slice};
use gpubench_core::units::Bytes;
use naga::proc::Layouter;
use naga::valid::FunctionInfo;
use naga::{AddressSpace, Module};
use std::collections::BTreeMap;

/// The buffers that an entry point reads from constant memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConstantMemory {
    /// By binding, the bytes of the variable there.
    variables: BTreeMap<u32, Bytes>,
    /// Blocks of parameters, which are uniform buffers too.
    blocks: usize,
}

/// What a device allows of constant memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConstantLimits {
    /// Bytes of one buffer.
    pub max_bytes: Bytes,
    /// Buffers of one kernel, its blocks of parameters among them.
    pub max_buffers: u32,
    /// Of what the place where one begins is a multiple.
    pub alignment: u32,
}

impl ConstantMemory {
    /// Those of an entry point that uses `uses`.
    pub fn of(
        module: &Module,
        layouts: &Layouter,
        uses: &FunctionInfo,
        arguments: &[Argument],
    ) -> Self {
        let used = module.global_variables.iter().filter(|(handle, variable)| {
            variable.space == AddressSpace::Uniform && !uses[*handle].is_empty()
        });
        let variables = used.filter_map(|(_, variable)| {
            let place = variable.binding.filter(|place| place.group == 0)?;
            let argument = arguments.get(place.binding as usize)?;
            let bytes = Bytes(layouts[variable.ty].size.into());
            matches!(argument, Argument::Buffer(_)).then_some((place.binding, bytes))
        });
        let blocks = arguments.iter().filter(|argument| argument.bytes().is_some()).count();
        Self { variables: variables.collect(), blocks }
    }

    /// The bytes that are read from there of the buffer at `binding`; `None` of one that is elsewhere.
    pub fn bytes(&self, binding: u32) -> Option<Bytes> {
        self.variables.get(&binding).copied()
    }

    /// Whether a device with these limits takes the kernel called `kernel`.
    ///
    /// # Errors
    /// `Unsupported` where it reads more from there.
    pub fn check(&self, kernel: &str, limits: ConstantLimits) -> Result<()> {
        let ConstantLimits { max_bytes, max_buffers, .. } = limits;
        if let Some(bytes) = self.variables.values().find(|bytes| **bytes > max_bytes) {
            return Err(Error::Unsupported(format!(
                "{kernel} reads {bytes} of constant memory; the device has {max_bytes} of one buffer there"
            )));
        }
        let (buffers, blocks) = (self.variables.len(), self.blocks);
        if buffers > 0 && buffers + blocks > max_buffers as usize {
            return Err(Error::Unsupported(format!(
                "{kernel} has {buffers} buffers in constant memory and {blocks} blocks of parameters; the device takes {max_buffers} of both"
            )));
        }
        Ok(())
    }

    /// What to bind of the part of a buffer that a launch gives: no more than is read.
    ///
    /// # Errors
    /// `Usage` where it is less than what is read, `Unsupported` where it does not begin at a multiple of the device's
    /// `alignment`.
    pub fn bound(&self, binding: u32, part: Slice, alignment: u32) -> Result<Slice> {
        let Some(bytes) = self.variables.get(&binding) else { return Ok(part) };
        if part.len < *bytes {
            return Err(Error::Usage(format!(
                "the kernel reads {bytes} of constant memory at binding {binding}, where the suite's buffer has {}",
                part.len
            )));
        }
        if !part.offset.0.is_multiple_of(alignment.into()) {
            return Err(Error::Unsupported(format!(
                "constant memory begins at byte {} of a buffer; the device wants multiples of {alignment}",
                part.offset.0
            )));
        }
        Ok(Slice { len: *bytes, ..part })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::gpu::BufferId;

    /// Buffers of so many bytes at these bindings, and so many blocks of parameters.
    fn memory(variables: &[(u32, u64)], blocks: usize) -> ConstantMemory {
        let variables = variables.iter().map(|&(binding, bytes)| (binding, Bytes(bytes)));
        ConstantMemory { variables: variables.collect(), blocks }
    }

    /// What is wrong.
    fn wrong<T>(found: Result<T>) -> String {
        found.err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn a_buffer_is_bound_as_far_as_it_is_read() {
        let memory = memory(&[(1, 512)], 1);
        let part =
            |offset, len| Slice { buffer: BufferId(0), offset: Bytes(offset), len: Bytes(len) };
        assert_eq!(memory.bound(0, part(4, 8), 256).unwrap(), part(4, 8), "it is elsewhere");
        assert_eq!(memory.bound(1, part(256, 4096), 256).unwrap(), part(256, 512));
        assert!(wrong(memory.bound(1, part(0, 508), 256)).contains("512 B of constant memory"));
        assert!(wrong(memory.bound(1, part(64, 512), 256)).contains("multiples of 256"));
        assert_eq!((memory.bytes(0), memory.bytes(1)), (None, Some(Bytes(512))));
    }

    #[test]
    fn what_a_device_has_is_not_exceeded() {
        let check = |memory: ConstantMemory, bytes, max_buffers| {
            let limits = ConstantLimits { max_bytes: Bytes(bytes), max_buffers, alignment: 256 };
            wrong(memory.check("f (mine.wgsl)", limits))
        };
        let two = |blocks| memory(&[(0, 32), (1, 512)], blocks);
        assert_eq!(check(two(1), 512, 3), "");
        let why = check(two(1), 511, 3);
        assert!(why.contains("f (mine.wgsl) reads 512 B") && why.contains("has 511 B"), "{why}");
        let why = check(two(2), 512, 3);
        assert!(why.contains("2 buffers in constant memory and 2 blocks"), "{why}");
        assert_eq!(check(memory(&[], 9), 512, 3), "", "its parameters are not its matter");
    }
}
