//! A kernel's bindings are those that the suite gives it: Vulkan itself does not look.

use super::images;
use crate::wgpu::layouts;
use gpubench_core::gpu::{Access, Argument, ImageOf, KernelSource};
use naga::valid::ModuleInfo;
use naga::{AddressSpace, GlobalVariable, Module, StorageAccess, TypeInner};

/// Checks every binding that the entry point uses.
///
/// # Errors
/// The first that differs, and how.
pub(super) fn check(
    module: &Module,
    info: &ModuleInfo,
    source: &KernelSource,
) -> Result<(), String> {
    let layouts = layouts(module)?;
    let entry = module.entry_points.iter().position(|entry| entry.name == source.entry);
    let Some(entry) = entry else { return Ok(()) };
    let (uses, arguments) = (info.get_entry_point(entry), source.arguments());
    for (handle, variable) in module.global_variables.iter() {
        if variable.binding.is_some() && !uses[handle].is_empty() {
            let r#type = (&module.types[variable.ty].inner, layouts[variable.ty].size);
            check_one(variable, r#type, source, &arguments)?;
        }
    }
    Ok(())
}

/// How a kernel uses the buffer that an argument is.
fn argument_access(argument: &Argument, source: &KernelSource) -> Option<Access> {
    let Argument::Buffer(i) = argument else { return None };
    source.bindings.get(*i as usize).map(|buffer| buffer.access)
}

/// The image as which the kernel reads a buffer.
fn image(source: &KernelSource, i: u32) -> Option<ImageOf> {
    source.images().get(i as usize).copied().flatten()
}

fn check_one(
    variable: &GlobalVariable,
    (inner, size): (&TypeInner, u32),
    source: &KernelSource,
    arguments: &[Argument],
) -> Result<(), String> {
    let Some(place) = variable.binding else { return Ok(()) };
    let argument = arguments.get(place.binding as usize).filter(|_| place.group == 0);
    let why = match (variable.space, argument) {
        (_, Some(Argument::Buffer(i))) if let Some(kind) = image(source, *i) => {
            if images::is_texture_of(inner, kind) {
                return Ok(());
            }
            "is no texture of the suite's image".to_owned()
        }
        (_, Some(Argument::Sampler(_))) => {
            if *inner == (TypeInner::Sampler { comparison: false }) {
                return Ok(());
            }
            "is no sampler, the suite gives one".to_owned()
        }
        (_, None) => "is none of the suite's arguments".to_owned(),
        (AddressSpace::Storage { access }, Some(argument @ Argument::Buffer(_))) => {
            let only_read = argument_access(argument, source).is_none_or(|a| a == Access::Read);
            if !(only_read && access.contains(StorageAccess::STORE)) {
                return Ok(());
            }
            "is read_write, but the suite's buffer is only read".to_owned()
        }
        (AddressSpace::Uniform, Some(argument)) => match argument.bytes() {
            Some((_, len)) if size as usize <= len.next_multiple_of(16) => return Ok(()),
            Some((_, len)) => format!("takes {size} bytes, the suite gives {len}"),
            None => match argument_access(argument, source) {
                Some(Access::Read) => return Ok(()),
                _ => "is a uniform, but the suite's buffer is written".to_owned(),
            },
        },
        (AddressSpace::Handle, Some(_)) => {
            "is an image or a sampler, the suite gives none".to_owned()
        }
        (_, Some(_)) => "is a buffer, the suite gives a parameter".to_owned(),
    };
    let name = variable.name.as_deref().unwrap_or("a variable");
    Err(format!("error: `{name}` (group: {}, binding: {}) {why}", place.group, place.binding))
}
