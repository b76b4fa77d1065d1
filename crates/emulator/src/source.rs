//! A kernel's text, read by naga.

use super::overrides;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{Argument, KernelSource};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{AddressSpace, EntryPoint, Module, ResourceBinding, ShaderStage, Span, StorageAccess};

/// A kernel as naga understands it, with what messages need.
pub(super) struct Source {
    pub(super) module: Module,
    pub(super) info: ModuleInfo,
    pub(super) text: String,
    pub(super) file: String,
    entry: usize,
    /// Of each uniform that is one of several arguments: its binding, and its first byte in the
    /// launch's parameters.
    uniforms: Vec<(u32, u32)>,
}

impl Source {
    pub(super) fn read(kernel: &KernelSource) -> Result<Self> {
        let text = kernel.wgsl()?;
        let file = kernel.origin.file().to_owned();
        let failed =
            |log: String| Error::Build { kernel: format!("{} in {file}", kernel.entry), log };
        let mut module = naga::front::wgsl::parse_str(&overrides::as_constants(&text))
            .map_err(|error| failed(error.emit_to_string_with_path(&text, &file)))?;
        let uniforms = bind(&mut module, &kernel.arguments());
        // A barrier in divergent flow is found where it happens, with the work-items that miss.
        let flags = ValidationFlags::all() - ValidationFlags::CONTROL_FLOW_UNIFORMITY;
        let info = Validator::new(flags, Capabilities::all())
            .validate(&module)
            .map_err(|error| failed(error.emit_to_string_with_path(&text, &file)))?;
        let is_entry = |e: &EntryPoint| e.name == kernel.entry && e.stage == ShaderStage::Compute;
        let entry =
            module.entry_points.iter().position(is_entry).ok_or_else(|| {
                failed(format!("there is no compute entry point `{}`", kernel.entry))
            })?;
        Ok(Self { module, info, text, file, entry, uniforms })
    }

    /// The position of the entry point, and the entry point.
    pub(super) fn entry(&self) -> (usize, &EntryPoint) {
        (self.entry, &self.module.entry_points[self.entry])
    }

    /// The first byte of a uniform in the launch's parameters.
    pub(super) fn uniform(&self, binding: u32) -> u32 {
        self.uniforms.iter().find(|(known, _)| *known == binding).map_or(0, |(_, first)| *first)
    }

    /// The line, from 1, where `span` begins; 0 where naga does not know.
    pub(super) fn line(&self, span: Span) -> u32 {
        span.to_range().map_or(0, |_| span.location(&self.text).line_number)
    }

    /// The emulator has no way to do `what`, which the kernel asks for at `span`.
    pub(super) fn unknown(&self, what: &str, span: Span) -> Error {
        Error::Unsupported(format!(
            "{}:{}: the emulator does not know {what}",
            self.file,
            self.line(span)
        ))
    }
}

/// Binds every buffer by its position among the buffers of a launch, and every other argument
/// behind them all. Returns where the uniforms lie.
fn bind(module: &mut Module, arguments: &[Argument]) -> Vec<(u32, u32)> {
    let mut uniforms = vec![];
    for (_, variable) in module.global_variables.iter_mut() {
        let Some(ResourceBinding { group: 0, binding }) = &mut variable.binding else { continue };
        match (variable.space, arguments.get(*binding as usize)) {
            (AddressSpace::Storage { .. }, Some(Argument::Buffer(i))) => *binding = *i,
            // A buffer in constant memory is read like any other.
            (AddressSpace::Uniform, Some(Argument::Buffer(i))) => {
                *binding = *i;
                variable.space = AddressSpace::Storage { access: StorageAccess::LOAD };
            }
            (AddressSpace::Uniform, Some(argument)) => {
                *binding += arguments.len() as u32;
                let first = argument.bytes().map_or(0, |(first, _)| first);
                uniforms.push((*binding, first as u32));
            }
            // Images and samplers, which are refused with their line.
            (AddressSpace::Handle, Some(_)) => *binding += arguments.len() as u32,
            _ => {}
        }
    }
    uniforms
}
