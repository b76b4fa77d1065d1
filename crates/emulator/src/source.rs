//! A kernel's text, read by naga.

use super::overrides;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::KernelSource;
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{EntryPoint, Module, ShaderStage, Span};

/// A kernel as naga understands it, with what messages need.
pub(super) struct Source {
    pub(super) module: Module,
    pub(super) info: ModuleInfo,
    pub(super) text: String,
    pub(super) file: String,
    entry: usize,
}

impl Source {
    pub(super) fn read(kernel: &KernelSource) -> Result<Self> {
        let text = kernel.wgsl()?;
        let file = kernel.origin.file().to_owned();
        let failed =
            |log: String| Error::Build { kernel: format!("{} in {file}", kernel.entry), log };
        let module = naga::front::wgsl::parse_str(&overrides::as_constants(&text))
            .map_err(|error| failed(error.emit_to_string_with_path(&text, &file)))?;
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
        Ok(Self { module, info, text, file, entry })
    }

    /// The position of the entry point, and the entry point.
    pub(super) fn entry(&self) -> (usize, &EntryPoint) {
        (self.entry, &self.module.entry_points[self.entry])
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
