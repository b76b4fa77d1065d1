//! Does a WGSL kernel fit the workload that names it? Found before anything runs.

mod textures;

use super::chains;
use super::misfit::{About, Misfit};
use super::suggest::suggest;
use gpubench_core::gpu::{
    Access, Argument, KernelSource, Scalar, ValueType, order_misfit, original_group, place_in_suite,
};
use naga::valid::{Capabilities, FunctionInfo, ModuleInfo, ValidationFlags, Validator};
use naga::{AddressSpace, EntryPoint, GlobalVariable, Handle, Module, ScalarKind, TypeInner};

/// Every way in which `source` does not fit its bindings, and `params`, its parameter block.
pub fn misfits(source: &KernelSource, params: &[(String, Scalar)]) -> Vec<Misfit> {
    // A constant that WGSL cannot spell refuses this source of the kernel, not the workload.
    let Ok(text) = source.wgsl() else { return vec![] };
    let (module, info) = match parse(&text) {
        Ok(parsed) => parsed,
        Err(misfit) => return vec![misfit.moved_back(source.directives().len())],
    };
    let Some(index) = module.entry_points.iter().position(|e| e.name == source.entry) else {
        let names: Vec<_> = module.entry_points.iter().map(|e| e.name.as_str()).collect();
        let message = format!("{} has no entry point `{}`", source.origin.file(), source.entry);
        return vec![Misfit::new(About::Entry, message, suggest(&source.entry, names))];
    };
    let check = Check {
        module: &module,
        entry: &module.entry_points[index],
        used: info.get_entry_point(index),
        source,
    };
    let mut found: Vec<_> = check.group().into_iter().collect();
    let arguments = source.arguments();
    for (binding, argument) in arguments.iter().enumerate() {
        match argument {
            Argument::Buffer(i) => found.extend(check.buffer(binding, *i as usize)),
            Argument::Block(_) => found.extend(check.params(binding, params)),
            Argument::Value { r#type, .. } => {
                let place = place_in_suite(&arguments, binding);
                found.extend(check.value(binding, place, *r#type));
            }
            Argument::Local(_) => {}
            Argument::Sampler(i) => found.extend(check.sampler(binding, *i as usize)),
        }
    }
    found.extend(check.without_value());
    found.extend(check.unknown_bindings(arguments.len()));
    if source.args.is_none() {
        found.extend(check.order());
    }
    found
}

/// The module that `text` is, and what its functions use.
///
/// # Errors
/// What is wrong, and where.
pub(super) fn parse(text: &str) -> Result<(Module, ModuleInfo), Misfit> {
    chains::check(text)?;
    let module = naga::front::wgsl::parse_str(text).map_err(|error| {
        let notes: Vec<_> = error.notes().collect();
        let labels = error.labels().filter(|(_, label)| !label.is_empty());
        let label = labels.map(|(_, label)| format!(": {label}")).next().unwrap_or_default();
        let at = error.labels().find_map(|(span, _)| span.to_range());
        let message = format!("{}{label}", error.message());
        let help = (!notes.is_empty()).then(|| notes.join("; "));
        Misfit::new(About::Text(at.unwrap_or_default()), message, help)
    })?;
    let info = validated(&module)?;
    Ok((module, info))
}

/// What a module's functions use.
///
/// # Errors
/// What is wrong, and where.
pub(super) fn validated(module: &Module) -> Result<ModuleInfo, Misfit> {
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
    validator.validate(module).map_err(|error| {
        let at = error.spans().find_map(|(span, _)| span.to_range());
        let message = chain(error.as_inner());
        Misfit::new(About::Text(at.unwrap_or_default()), message, None)
    })
}

/// An error with its causes, which naga keeps apart.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text += &format!(": {error}");
        cause = error.source();
    }
    text
}

struct Check<'a> {
    module: &'a Module,
    entry: &'a EntryPoint,
    used: &'a FunctionInfo,
    source: &'a KernelSource,
}

impl Check<'_> {
    fn group(&self) -> Option<Misfit> {
        let (is, wanted) = (self.entry.workgroup_size, self.source.group);
        let message = format!(
            "the kernel's work-group is {is:?} in {}, and {wanted:?} here",
            self.source.origin.file()
        );
        let help = "write @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z), so that it follows the suite; in GLSL, layout(local_size_x = GROUP_X) in";
        let fits = is == wanted || self.entry.workgroup_size_overrides.is_some();
        (!fits).then(|| Misfit::new(About::Group, message, Some(help.to_owned())))
    }

    /// What the entry point has at `binding` of group 0. A file with several entry points may
    /// declare several variables there, of which this one uses one.
    fn at(&self, binding: usize) -> Option<&GlobalVariable> {
        let here = |(_, variable): &(Handle<GlobalVariable>, &GlobalVariable)| {
            variable.binding.is_some_and(|b| b.group == 0 && b.binding as usize == binding)
        };
        let declared: Vec<_> = self.module.global_variables.iter().filter(here).collect();
        let used = declared.iter().find(|(handle, _)| !self.used[*handle].is_empty());
        used.or(declared.first()).map(|&(_, variable)| variable)
    }

    fn place(&self, binding: usize) -> String {
        let [group, binding] = self.source.settings.binding(binding);
        format!("@group({group}) @binding({binding}) in {}", self.source.origin.file())
    }

    /// The buffers whose names are those of the kernel's variables, but in another order.
    fn order(&self) -> Option<Misfit> {
        let declared = |i| Some(self.at(i)?.name.clone().unwrap_or_default());
        let arguments = self.source.arguments();
        let is_buffer = |i: &usize| matches!(arguments[*i], Argument::Buffer(_));
        let theirs: Vec<_> = (0..arguments.len()).filter(is_buffer).filter_map(declared).collect();
        let message = order_misfit(self.source, &theirs)?;
        let help = "a suite's buffers stand in the kernel's order; `args` maps them on purpose";
        Some(Misfit::new(About::Buffers, message, Some(help.to_owned())))
    }

    fn buffer(&self, binding: usize, i: usize) -> Option<Misfit> {
        let buffer = &self.source.bindings[i];
        let place = self.place(binding);
        let declaration = |access| format!("declare var<storage, {access}> at binding {binding}");
        let wanted = if buffer.access == Access::Read { "read" } else { "read_write" };
        let misfit = |message, help| Some(Misfit::new(About::Buffer(i), message, help));
        let Some(variable) = self.at(binding) else {
            let message = format!("there is no {place} for buffer `{}`", buffer.name);
            return misfit(message, Some(declaration(wanted)));
        };
        if buffer.image.is_some() {
            return self.image(binding, i, variable);
        }
        let is = match variable.space {
            AddressSpace::Storage { access } if access.contains(naga::StorageAccess::STORE) => {
                "read_write"
            }
            AddressSpace::Storage { .. } => "read",
            // An array there is constant memory.
            AddressSpace::Uniform if self.held(variable).is_some() => "read",
            _ => {
                let message = format!(
                    "buffer `{}` meets something else: {place} is no storage buffer",
                    buffer.name
                );
                let help = match self.module.types[variable.ty].inner {
                    TypeInner::Image { .. } => "an image has `image: { width: … }` in the suite",
                    TypeInner::Sampler { .. } => "a sampler stands behind an image with a `filter`",
                    _ => "buffers come first, in the suite's order; the parameters follow",
                };
                return misfit(message, Some(help.to_owned()));
            }
        };
        if is != wanted {
            let message = format!("buffer `{}` is {wanted} here, but {is} as {place}", buffer.name);
            return misfit(message, Some(declaration(wanted)));
        }
        let held = self.held(variable)?;
        if held != in_naga(buffer.element.scalar) {
            let message = format!(
                "buffer `{}` holds {}, but {place} holds {}",
                buffer.name,
                String::from(buffer.element),
                spelled(held)
            );
            return misfit(message, None);
        }
        None
    }

    /// A variable's type; that of the only member, where it is a struct of one: GLSL has no others.
    fn inner(&self, variable: &GlobalVariable) -> &TypeInner {
        let types = &self.module.types;
        match &types[variable.ty].inner {
            TypeInner::Struct { members, .. } if members.len() == 1 => &types[members[0].ty].inner,
            inner => inner,
        }
    }

    /// What a plain array holds; `None` for structs, atomics and all that may mean several things.
    fn held(&self, variable: &GlobalVariable) -> Option<naga::Scalar> {
        let types = &self.module.types;
        let TypeInner::Array { base, .. } = *self.inner(variable) else { return None };
        match types[base].inner {
            TypeInner::Scalar(scalar) | TypeInner::Vector { scalar, .. } => Some(scalar),
            _ => None,
        }
    }

    /// A scalar or a vector, the suite's `argument`, must meet a uniform of its type.
    fn value(&self, binding: usize, argument: usize, wanted: ValueType) -> Option<Misfit> {
        let place = self.place(binding);
        let misfit = |message| Some(Misfit::new(About::Argument(argument), message, None));
        let uniform = self.at(binding).filter(|v| v.space == AddressSpace::Uniform);
        let Some(variable) = uniform else {
            return misfit(format!("there is no var<uniform> {place} for this argument"));
        };
        let scalar = in_naga(wanted.scalar);
        let fits = match *self.inner(variable) {
            TypeInner::Scalar(is) => is == scalar && wanted.width == 1,
            TypeInner::Vector { size, scalar: is } => is == scalar && size as u8 == wanted.width,
            _ => false,
        };
        let wanted = String::from(wanted);
        (!fits).then(|| misfit(format!("`{wanted}` is not the type of {place}"))).flatten()
    }

    fn params(&self, binding: usize, params: &[(String, Scalar)]) -> Vec<Misfit> {
        let place = self.place(binding);
        let misfit = |message| {
            let fields: Vec<_> = params
                .iter()
                .map(|(name, scalar)| format!("{name}: {}", format!("{scalar:?}").to_lowercase()))
                .collect();
            let help = format!(
                "declare struct Params {{ {} }} and var<uniform> at binding {binding}",
                fields.join(", ")
            );
            vec![Misfit::new(About::Params, message, Some(help))]
        };
        let variable = match self.at(binding) {
            _ if params.is_empty() => return vec![],
            Some(variable) if variable.space == AddressSpace::Uniform => variable,
            _ => return misfit(format!("there is no var<uniform> {place} for the parameters")),
        };
        let inner = self.inner(variable);
        let TypeInner::Struct { members, .. } = inner else {
            return self.bare(inner, &place, params).map(misfit).unwrap_or_default();
        };
        if members.len() != params.len() {
            return misfit(format!(
                "there are {} parameters here, but {} fields in the struct at {place}",
                params.len(),
                members.len()
            ));
        }
        let wrong =
            members.iter().zip(params).enumerate().find_map(|(i, (member, (name, scalar)))| {
                let field = member.name.as_deref().unwrap_or_default();
                let is = &self.module.types[member.ty].inner;
                let fits = matches!(is, TypeInner::Scalar(s) if *s == in_naga(*scalar));
                // Other names are the author's business; the name of another parameter is a mix-up.
                let mixed = field != name && params.iter().any(|(other, _)| other == field);
                if mixed {
                    Some(format!(
                        "parameter {i} is `{name}` here, but `{field}` in the struct at {place}"
                    ))
                } else if !fits || member.offset as usize != 4 * i {
                    Some(format!("parameter `{name}` is another type in the struct at {place}"))
                } else {
                    None
                }
            });
        wrong.map(misfit).unwrap_or_default()
    }

    /// Why a scalar or a vector, or a struct of nothing else, is not the block of `params`.
    fn bare(&self, is: &TypeInner, place: &str, params: &[(String, Scalar)]) -> Option<String> {
        if is.size(self.module.to_ctx()) as usize != 4 * params.len() {
            return Some(format!("{place} is no struct of {} fields", params.len()));
        }
        let held = is.scalar()?;
        let (name, _) = params.iter().find(|(_, wanted)| in_naga(*wanted) != held)?;
        Some(format!("parameter `{name}` is another type at {place}"))
    }

    /// What the text lets others set, and nobody does.
    fn without_value(&self) -> Vec<Misfit> {
        let misfit = |(handle, declared): (Handle<naga::Override>, &naga::Override)| {
            let name = declared.name.clone().unwrap_or_default();
            let at = self.module.overrides.get_span(handle).to_range().unwrap_or_default();
            let message = format!("`{name}` has no value here");
            let help = "give it one in `constants`, or name a parameter so".to_owned();
            Misfit::new(About::Text(at), message, Some(help))
        };
        self.module.overrides.iter().map(misfit).collect()
    }

    /// Bindings that the kernel uses, but the workload does not fill.
    fn unknown_bindings(&self, bound: usize) -> Vec<Misfit> {
        let unknown_binding = |(handle, variable): (Handle<GlobalVariable>, &GlobalVariable)| {
            let binding = variable.binding?;
            let known = binding.group == 0 && (binding.binding as usize) < bound;
            if known || self.used[handle].is_empty() {
                return None;
            }
            let name = variable.name.as_deref().unwrap_or("a variable");
            let message = format!(
                "the kernel uses `{name}` at @group({}) @binding({}) in {}, for which there is \
                 no buffer here",
                original_group(binding.group),
                binding.binding,
                self.source.origin.file()
            );
            Some(Misfit::new(About::Buffers, message, None))
        };
        self.module.global_variables.iter().filter_map(unknown_binding).collect()
    }
}

/// A text has the bits of bf16.
fn in_naga(scalar: Scalar) -> naga::Scalar {
    let kind = match scalar {
        Scalar::F16 | Scalar::F32 | Scalar::F64 => ScalarKind::Float,
        Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 | Scalar::Bf16 => ScalarKind::Uint,
        Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => ScalarKind::Sint,
    };
    naga::Scalar { kind, width: scalar.size() as u8 }
}

/// The name of a type that suites have, too.
pub(super) fn spelled(scalar: naga::Scalar) -> String {
    let kind = match scalar.kind {
        ScalarKind::Float => 'f',
        ScalarKind::Uint => 'u',
        ScalarKind::Sint => 'i',
        _ => '?',
    };
    format!("{kind}{}", 8 * scalar.width)
}

#[cfg(test)]
mod tests;
