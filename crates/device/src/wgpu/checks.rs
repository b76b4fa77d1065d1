//! A kernel is examined before it is built: WGSL's rules, the device's limits, and what the
//! suite says of its arguments. wgpu itself finds some of this late, in its own words, and local
//! memory beyond the limit not at all.

use super::located::Located;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{Access, DeviceInfo, KernelSource, Language};
use gpubench_core::units::Bytes;
use naga::proc::Layouter;
use naga::valid::{FunctionInfo, ModuleInfo, Validator};
use naga::{AddressSpace, GlobalVariable, Handle, Module, ShaderStage, Span, StorageAccess};

/// What the examination found out.
pub(crate) struct Examined {
    /// The text with its constants.
    pub text: String,
    /// Local memory of one group.
    pub local: Bytes,
}

/// Examines a kernel for the device that `info` describes.
///
/// # Errors
/// `Build` with a log that names file and line, `Unsupported` where the device's limits do not
/// allow the kernel.
pub(crate) fn examine(
    source: &KernelSource,
    info: &DeviceInfo,
    mut validator: Validator,
) -> Result<Examined> {
    if source.language != Language::Wgsl {
        return Err(Error::Unsupported("wgpu takes kernels in WGSL only".into()));
    }
    check_group(source, info)?;
    let text = source.wgsl()?;
    let located = Located(source);
    let failed = |log| Error::Build { kernel: name(source), log };
    let module = naga::front::wgsl::parse_str(&text).map_err(|error| {
        let notes = error.notes().map(|note| format!("note: {note}"));
        failed(located.mistake(error.message(), error.labels(), notes))
    })?;
    let valid = validator.validate(&module).map_err(|error| failed(located.invalid(&error)))?;
    let kernel = Kernel::find(&module, &valid, source).map_err(failed)?;
    check_bindings(source, &kernel, &located).map_err(failed)?;
    let local = local_memory(&kernel);
    if local > info.local_memory {
        return Err(Error::Unsupported(format!(
            "{} needs {local} of local memory per group; the device has {}",
            name(source),
            info.local_memory
        )));
    }
    Ok(Examined { text, local })
}

/// Entry point and file, as the user knows them.
pub(super) fn name(source: &KernelSource) -> String {
    format!("{} ({})", source.entry, source.origin.file())
}

fn check_group(source: &KernelSource, info: &DeviceInfo) -> Result<()> {
    let size = source.group_size();
    if size > info.max_group_size.into() {
        return Err(Error::Unsupported(format!(
            "a group of {size} work-items; the device takes {}",
            info.max_group_size
        )));
    }
    for (axis, (group, limit)) in
        ["x", "y", "z"].iter().zip(source.group.iter().zip(info.max_group_dims))
    {
        if *group > limit {
            return Err(Error::Unsupported(format!(
                "a group of {group} work-items along {axis}; the device takes {limit}"
            )));
        }
    }
    let buffers = source.bindings.len();
    if buffers > info.max_storage_buffers as usize {
        return Err(Error::Unsupported(format!(
            "{buffers} buffers; the device takes {} in one kernel",
            info.max_storage_buffers
        )));
    }
    Ok(())
}

/// The entry point within its module.
struct Kernel<'a> {
    module: &'a Module,
    uses: &'a FunctionInfo,
    layouts: Layouter,
}

impl<'a> Kernel<'a> {
    /// The compute entry point that the suite names, with the group size that the suite says.
    fn find(
        module: &'a Module,
        valid: &'a ModuleInfo,
        source: &KernelSource,
    ) -> Result<Self, String> {
        let index = module
            .entry_points
            .iter()
            .position(|e| e.stage == ShaderStage::Compute && e.name == source.entry)
            .ok_or_else(|| {
                let names: Vec<_> =
                    module.entry_points.iter().map(|e| format!("`{}`", e.name)).collect();
                format!(
                    "error: no compute entry point `{}`; there is {}",
                    source.entry,
                    or_none(&names)
                )
            })?;
        let size = module.entry_points[index].workgroup_size;
        if size != source.group {
            return Err(format!(
                "error: @workgroup_size is {size:?}, but the suite's group is {:?}; \
                 write @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)",
                source.group
            ));
        }
        let mut layouts = Layouter::default();
        layouts.update(module.to_ctx()).map_err(|error| format!("error: {error}"))?;
        Ok(Self { module, uses: valid.get_entry_point(index), layouts })
    }

    fn is_used(&self, variable: Handle<GlobalVariable>) -> bool {
        !self.uses[variable].is_empty()
    }

    fn size(&self, variable: &GlobalVariable) -> u64 {
        self.layouts[variable.ty].size.into()
    }

    /// The variable at `@group(0) @binding(number)`; one that this entry point uses comes first.
    fn bound(&self, number: usize) -> Option<(Handle<GlobalVariable>, &GlobalVariable)> {
        self.module
            .global_variables
            .iter()
            .filter(|(_, variable)| place(variable) == Some((0, number)))
            .max_by_key(|&(handle, _)| self.is_used(handle))
    }

    fn span(&self, variable: Handle<GlobalVariable>) -> Span {
        self.module.global_variables.get_span(variable)
    }
}

fn or_none(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// Group and number.
fn place(variable: &GlobalVariable) -> Option<(u32, usize)> {
    variable.binding.map(|binding| (binding.group, binding.binding as usize))
}

/// Local memory that the entry point uses, each variable rounded up as drivers lay them out.
fn local_memory(kernel: &Kernel<'_>) -> Bytes {
    let variables = kernel.module.global_variables.iter();
    let local = variables
        .filter(|(_, variable)| variable.space == AddressSpace::WorkGroup)
        .filter(|&(handle, _)| kernel.is_used(handle))
        .map(|(_, variable)| kernel.size(variable).next_multiple_of(16));
    Bytes(local.sum())
}

fn check_bindings(
    source: &KernelSource,
    kernel: &Kernel<'_>,
    located: &Located<'_>,
) -> Result<(), String> {
    for (number, binding) in source.bindings.iter().enumerate() {
        let (handle, variable) = kernel.bound(number).ok_or_else(|| {
            format!(
                "error: the suite's buffer `{}` is binding {number}, which the kernel lacks",
                binding.name
            )
        })?;
        let found = match variable.space {
            AddressSpace::Storage { access } if access.contains(StorageAccess::STORE) => {
                "read_write"
            }
            AddressSpace::Storage { .. } => "read",
            _ => "no storage buffer",
        };
        let wanted = match binding.access {
            Access::Read => "read",
            Access::Write | Access::ReadWrite => "read_write",
        };
        if found != wanted {
            let message = format!(
                "the suite's buffer `{}` is binding {number} and needs `var<storage, {wanted}>`",
                binding.name
            );
            return Err(located.mistake(&message, [(kernel.span(handle), found)], []));
        }
    }
    check_params(source, kernel, located)?;
    check_unknown_bindings(source, kernel, located)
}

/// The parameter block is one uniform buffer behind the others, of the size that the suite says.
fn check_params(
    source: &KernelSource,
    kernel: &Kernel<'_>,
    located: &Located<'_>,
) -> Result<(), String> {
    let number = source.bindings.len();
    let bytes = u64::from(source.params_bytes);
    if bytes == 0 {
        return Ok(());
    }
    let (handle, variable) = kernel.bound(number).ok_or_else(|| {
        format!(
            "error: the suite has parameters, but the kernel lacks `@binding({number}) var<uniform>`"
        )
    })?;
    let size = kernel.size(variable);
    let layout = kernel.layouts[variable.ty];
    let is_uniform = variable.space == AddressSpace::Uniform;
    if is_uniform && layout.alignment.round_up(source.params_bytes) == layout.size {
        return Ok(());
    }
    let found = if is_uniform { format!("{size} bytes") } else { "no uniform buffer".to_owned() };
    let message = format!("the parameters are binding {number}, a `var<uniform>` of {bytes} bytes");
    Err(located.mistake(&message, [(kernel.span(handle), found.as_str())], []))
}

/// Bindings that the kernel uses and the suite does not have.
fn check_unknown_bindings(
    source: &KernelSource,
    kernel: &Kernel<'_>,
    located: &Located<'_>,
) -> Result<(), String> {
    let count = source.bindings.len() + usize::from(source.params_bytes > 0);
    for (handle, variable) in kernel.module.global_variables.iter() {
        let Some((group, number)) = place(variable) else { continue };
        if kernel.is_used(handle) && (group != 0 || number >= count) {
            let message = format!(
                "the kernel uses @group({group}) @binding({number}), \
                 but the suite has {count} bindings in group 0"
            );
            return Err(located.mistake(&message, [(kernel.span(handle), "not in the suite")], []));
        }
    }
    Ok(())
}
