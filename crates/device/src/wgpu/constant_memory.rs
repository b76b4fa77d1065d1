//! Buffers that a kernel reads from constant memory: its text has `var<uniform>` at the place of a buffer.

use super::checks::name;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{Argument, KernelSource, Slice};
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
        Self { variables: variables.collect() }
    }

    /// The bytes that are read from there of the buffer at `binding`; `None` of one that is elsewhere.
    pub fn bytes(&self, binding: u32) -> Option<Bytes> {
        self.variables.get(&binding).copied()
    }

    /// A device binds `max` uniform buffers, of which `values` are parameters.
    ///
    /// # Errors
    /// `Unsupported` where the kernel has more.
    pub fn check_count(&self, source: &KernelSource, values: usize, max: u32) -> Result<()> {
        let buffers = self.variables.len();
        if buffers == 0 || buffers + values <= max as usize {
            return Ok(());
        }
        Err(Error::Unsupported(format!(
            "{} has {buffers} buffers in constant memory and {values} blocks of parameters; the device takes {max} of both",
            name(source)
        )))
    }

    /// A device reads `max` of one buffer from there.
    ///
    /// # Errors
    /// `Unsupported` where the kernel reads more.
    pub fn check_limit(&self, source: &KernelSource, max: Bytes) -> Result<()> {
        match self.variables.values().find(|bytes| **bytes > max) {
            None => Ok(()),
            Some(bytes) => Err(Error::Unsupported(format!(
                "{} reads {bytes} of constant memory; the device has {max} of one buffer there",
                name(source)
            ))),
        }
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
    use gpubench_core::gpu::{BufferId, Language, Origin};

    fn source() -> KernelSource {
        KernelSource {
            language: Language::Wgsl,
            text: String::new(),
            entry: "f".into(),
            origin: Origin::User("mine.wgsl".into()),
            group: [1; 3],
            constants: vec![],
            bindings: vec![],
            params_bytes: 0,
            args: None,
            meaning: None,
            settings: Default::default(),
        }
    }

    /// What is wrong.
    fn wrong<T>(found: Result<T>) -> String {
        found.err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn a_buffer_is_bound_as_far_as_it_is_read() {
        let memory = ConstantMemory { variables: BTreeMap::from([(1, Bytes(512))]) };
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
        let memory =
            ConstantMemory { variables: BTreeMap::from([(0, Bytes(32)), (1, Bytes(512))]) };
        assert!(memory.check_limit(&source(), Bytes(512)).is_ok());
        let why = wrong(memory.check_limit(&source(), Bytes(511)));
        assert!(why.contains("f (mine.wgsl) reads 512 B") && why.contains("has 511 B"), "{why}");
        assert!(memory.check_count(&source(), 1, 3).is_ok());
        let why = wrong(memory.check_count(&source(), 2, 3));
        assert!(why.contains("2 buffers in constant memory and 2 blocks"), "{why}");
        assert!(ConstantMemory::default().check_count(&source(), 9, 3).is_ok(), "not its matter");
    }
}
