//! A kernel is examined before it is built: WGSL's rules, the device's limits, and what the
//! suite says of its arguments. wgpu itself finds some of this late, in its own words, and local
//! memory beyond the limit not at all.

use super::constant_memory::ConstantMemory;
use super::features::{lacking, lacking_matrices};
use crate::validation;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{DeviceInfo, KernelSource, Language, SPIRV};
use gpubench_core::units::Bytes;
use naga::proc::Layouter;
use naga::valid::{Capabilities, FunctionInfo, ValidationFlags, Validator};
use naga::{AddressSpace, EntryPoint, Module, ShaderStage};

/// What the examination found out.
#[derive(Default)]
pub(crate) struct Examined {
    /// The text with its constants.
    pub text: String,
    /// Local memory of one group.
    pub local: Bytes,
    /// The buffers that are read from constant memory.
    pub constant_memory: ConstantMemory,
}

/// Examines a kernel for the device that `info` describes. That its bindings are those of the suite was
/// checked when that was loaded.
///
/// # Errors
/// `Build` with a log that names file and line, `Unsupported` where the device's limits do not
/// allow the kernel, or it lacks what that needs.
pub(crate) fn examine(
    source: &KernelSource,
    info: &DeviceInfo,
    mut validator: Validator,
) -> Result<Examined> {
    if source.language != Language::Wgsl {
        return Err(Error::Unsupported("this API takes kernels in WGSL only".into()));
    }
    validation::group(source, info)?;
    if let Some(why) = source.unsupported_argument() {
        return Err(Error::Unsupported(why));
    }
    let buffers = source.buffer_count();
    if buffers > info.max_storage_buffers as usize {
        return Err(Error::Unsupported(format!(
            "{buffers} buffers; the device takes {} in one kernel",
            info.max_storage_buffers
        )));
    }
    if source.settings.spirv && info.features.iter().any(|has| has == SPIRV) {
        // What it declares is held against the device where it is built.
        return Ok(Examined::default());
    }
    let (text, file) = (source.wgsl()?, source.origin.file());
    let failed = |log| Error::Build { kernel: name(source), log };
    let module = naga::front::wgsl::parse_str(&text)
        .map_err(|error| failed(error.emit_to_string_with_path(&text, file)))?;
    let valid =
        validator.validate(&module).map_err(|error| match lacking(&module, source, info) {
            Some(why) => Error::Unsupported(why),
            None => failed(error.emit_to_string_with_path(&text, file)),
        })?;
    if let Some(why) = lacking_matrices(&module, &valid, source, info) {
        return Err(Error::Unsupported(why));
    }
    let entry = entry(&module, source).map_err(failed)?;
    let (layouts, uses) = (layouts(&module).map_err(failed)?, valid.get_entry_point(entry));
    let local = local_memory(&module, &layouts, uses);
    if local > info.local_memory {
        return Err(Error::Unsupported(format!(
            "{} needs {local} of local memory per group; the device has {}",
            name(source),
            info.local_memory
        )));
    }
    let constant_memory = ConstantMemory::of(&module, &layouts, uses, &source.arguments());
    Ok(Examined { text, local, constant_memory })
}

/// Local memory of one group of a kernel in WGSL; `None` where it does not parse, which building it reports.
pub fn local_bytes(source: &KernelSource) -> Option<Bytes> {
    let module = naga::front::wgsl::parse_str(&source.wgsl().ok()?).ok()?;
    let valid =
        Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module).ok()?;
    let entry = entry(&module, source).ok()?;
    Some(local_memory(&module, &layouts(&module).ok()?, valid.get_entry_point(entry)))
}

/// Entry point and file, as the user knows them.
pub(crate) fn name(source: &KernelSource) -> String {
    format!("{} ({})", source.entry, source.origin.file())
}

/// The compute entry point that the suite names, with the group size that the suite says.
fn entry(module: &Module, source: &KernelSource) -> Result<usize, String> {
    let entries = || module.entry_points.iter();
    let is_it = |e: &EntryPoint| e.stage == ShaderStage::Compute && e.name == source.entry;
    let Some(index) = entries().position(is_it) else {
        let names: Vec<_> = entries().map(|e| format!("`{}`", e.name)).collect();
        let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        return Err(format!("error: no compute entry point `{}`; there is {names}", source.entry));
    };
    let size = module.entry_points[index].workgroup_size;
    if size != source.group {
        return Err(format!(
            "error: @workgroup_size is {size:?}, but the suite's group is {:?}; \
             write @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)",
            source.group
        ));
    }
    Ok(index)
}

/// How a module's types lie in memory.
pub(crate) fn layouts(module: &Module) -> Result<Layouter, String> {
    let mut layouts = Layouter::default();
    layouts.update(module.to_ctx()).map_err(|error| format!("error: {error}"))?;
    Ok(layouts)
}

/// Local memory that the entry point uses, each variable rounded up as drivers lay them out.
fn local_memory(module: &Module, layouts: &Layouter, uses: &FunctionInfo) -> Bytes {
    let used = module.global_variables.iter().filter(|(handle, variable)| {
        variable.space == AddressSpace::WorkGroup && !uses[*handle].is_empty()
    });
    let local = used.map(|(_, v)| u64::from(layouts[v.ty].size).next_multiple_of(16));
    Bytes(local.sum())
}
