//! Kernels in GLSL, and in SPIR-V for Vulkan, as WGSL: naga reads them, and everything behind it
//! knows one language.

use super::chains;
use super::misfit::{About, Misfit};
use super::reading::{carried, reading};
use super::types::{Argument, Kernel, KernelText, Written};
use super::wgsl::validated;
use gpubench_core::error::Located;
use gpubench_core::gpu::{Constant, Language, Origin};
use gpubench_core::hash::from_hex;
use naga::back::wgsl::{WriterFlags, write_string};
use naga::front::{glsl, spv};
use naga::{AddressSpace, Module, ResourceBinding, ShaderStage, TypeInner};

/// What a translation depends on besides the text.
struct Build<'a> {
    entry: &'a str,
    group: [u32; 3],
    /// Constants, and what else GLSL's preprocessor replaces.
    constants: &'a [(String, Constant)],
    defines: &'a [(String, String)],
    /// The position of the parameter block among the arguments.
    block: usize,
}

impl Kernel {
    /// `text`, one of its own, as an API takes it: in WGSL where it is written in GLSL, or in SPIR-V for
    /// Vulkan; `buffers` are those of the workload.
    ///
    /// # Errors
    /// Why naga does not read it.
    pub fn built_text(
        &self,
        text: &KernelText,
        group: [u32; 3],
        constants: &[(String, Constant)],
        buffers: usize,
    ) -> Result<String, String> {
        self.translated(text, group, constants, buffers)
            .map_err(|misfit| format!("{}: {}", text.origin.file(), misfit.message))
    }

    /// As [`Kernel::built_text`], with what a mistake is about.
    pub(super) fn translated(
        &self,
        text: &KernelText,
        group: [u32; 3],
        constants: &[(String, Constant)],
        buffers: usize,
    ) -> Result<String, Misfit> {
        let params = |args: &Vec<Argument>| args.iter().position(|arg| *arg == Argument::Params);
        let block = self.args.as_ref().map_or(Some(buffers), params).unwrap_or(buffers);
        let defines = &self.settings.defines;
        text.translated(&Build { entry: &self.entry, group, constants, defines, block })
    }
}

impl KernelText {
    /// Where the text that an API takes came from: lines of a translation are not those of the file.
    pub fn built_origin(&self) -> Origin {
        match (self.written, self.language) {
            (Written::Glsl, _) | (Written::Spirv, Language::Wgsl) => {
                Origin::User(format!("{} as WGSL", self.origin.file()))
            }
            _ => self.origin.clone(),
        }
    }

    /// The text as a device's API takes it: GLSL, and SPIR-V for Vulkan, in WGSL.
    ///
    /// # Errors
    /// What is wrong with it, in the file or with all of it.
    fn translated(&self, build: &Build<'_>) -> Result<String, Misfit> {
        match (self.written, self.language) {
            (Written::Glsl, _) | (Written::Spirv, Language::Wgsl) => {}
            _ => return Ok(self.text.to_string()),
        }
        // naga goes down what is nested by calling itself; the text that comes out has limits of its own.
        let text = reading(self.unreadable(), || on_large_stack(|| self.rewritten(build)))?;
        match chains::check(&text) {
            Ok(()) => Ok(text),
            Err(deep) => Err(Misfit::new(About::File, deep.message, deep.help)),
        }
    }

    /// What it means where naga panics, in whatever variant that is.
    fn unreadable(&self) -> Located {
        let file = self.origin.file();
        let message = format!("naga, which reads GLSL and SPIR-V, fails on `{file}`");
        Located::at(file, "", 0..0, message, None)
    }

    fn rewritten(&self, build: &Build<'_>) -> Result<String, Misfit> {
        let module = match self.written {
            Written::Glsl => from_glsl(&self.text, build)?,
            _ => from_spirv(&self.text)?,
        };
        let module = with_names(with_block(module, build.block));
        let unreadable = |misfit: Misfit| match self.written {
            Written::Spirv => Misfit::new(About::File, misfit.message, misfit.help),
            _ => misfit,
        };
        let info = validated(&module).map_err(unreadable)?;
        let text = write_string(&module, &info, WriterFlags::empty());
        let text = text.map_err(|error| Misfit::new(About::File, error.to_string(), None))?;
        let text = if self.written == Written::Glsl { with_one_barrier(&text) } else { text };
        Ok(with_entry(text, build.entry))
    }
}

/// Translates on a stack that what fits a kernel's file does not use up. It is reserved, not taken.
fn on_large_stack(work: impl FnOnce() -> Result<String, Misfit> + Send) -> Result<String, Misfit> {
    const STACK: usize = if cfg!(target_pointer_width = "64") { 1 << 30 } else { 1 << 26 };
    std::thread::scope(|scope| {
        let thread =
            std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, carried(work));
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(done)) => done,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => {
                Err(Misfit::new(About::File, format!("no thread to read it: {error}"), None))
            }
        }
    })
}

fn from_glsl(text: &str, build: &Build<'_>) -> Result<Module, Misfit> {
    chains::check_glsl(text)?;
    let group = ["GROUP_X", "GROUP_Y", "GROUP_Z"].into_iter().zip(build.group);
    let group = group.map(|(name, size)| (name.to_owned(), size.to_string()));
    let mut options = glsl::Options::from(ShaderStage::Compute);
    options.defines.extend(group);
    for (name, value) in build.constants {
        options.defines.insert(name.clone(), spelled(name, value)?);
    }
    options.defines.extend(build.defines.iter().cloned());
    glsl::Frontend::default().parse(&options, text).map_err(|errors| {
        let first = errors.errors.first();
        let at = first.and_then(|error| error.meta.to_range()).unwrap_or_default();
        let why = first.map_or_else(|| errors.to_string(), |error| error.kind.to_string());
        Misfit::new(About::Text(at), why, None)
    })
}

/// A constant as GLSL's preprocessor puts it into the text.
fn spelled(name: &str, value: &Constant) -> Result<String, Misfit> {
    match value {
        Constant::Int(number) => Ok(number.to_string()),
        Constant::Float(number) => Ok(format!("{number:?}")),
        Constant::Type(_) | Constant::Matrix(_) => {
            let is =
                if matches!(value, Constant::Type(_)) { "type" } else { "product of matrices" };
            let why = format!("`{name}` is a {is}, and a kernel in GLSL has numbers as constants");
            Err(Misfit::new(About::File, why, None))
        }
    }
}

fn from_spirv(text: &str) -> Result<Module, Misfit> {
    let options = spv::Options { adjust_coordinate_space: false, ..spv::Options::default() };
    let read = from_hex(text).map(|bytes| spv::parse_u8_slice(&bytes, &options));
    let module = read.ok_or("it is no SPIR-V".to_owned()).and_then(|module| {
        module.map_err(|error| format!("naga, which reads SPIR-V for Vulkan, says: {error}"))
    });
    module.map_err(|why| Misfit::new(About::File, why, None))
}

/// Push constants as a uniform buffer, where a suite's parameter block stands.
fn with_block(mut module: Module, block: usize) -> Module {
    for (_, variable) in module.global_variables.iter_mut() {
        if variable.space == AddressSpace::Immediate {
            variable.space = AddressSpace::Uniform;
            variable.binding = Some(ResourceBinding { group: 0, binding: block as u32 });
        }
    }
    module
}

/// The module with a name for each buffer without one: that of the only member of its block.
fn with_names(mut module: Module) -> Module {
    let types = &module.types;
    for (_, variable) in module.global_variables.iter_mut().filter(|(_, v)| v.name.is_none()) {
        if let TypeInner::Struct { members, .. } = &types[variable.ty].inner
            && let [member] = &members[..]
        {
            variable.name.clone_from(&member.name);
        }
    }
    module
}

/// The text without what naga adds to a `barrier()`: one of the work-group is one of its subgroups, and
/// there are no textures.
fn with_one_barrier(text: &str) -> String {
    let mut kept: Vec<&str> = vec![];
    for line in text.lines() {
        let more = matches!(line.trim(), "subgroupBarrier();" | "textureBarrier();");
        let behind = kept.last().is_some_and(|last| last.trim() == "workgroupBarrier();");
        if !(more && behind) {
            kept.push(line);
        }
    }
    kept.join("\n") + "\n"
}

/// The text with the entry point's own name: naga appends `_` to a name that ends in a digit.
fn with_entry(text: String, entry: &str) -> String {
    let (renamed, own) = (format!("fn {entry}_("), format!("fn {entry}("));
    match text.contains(&own) {
        true => text,
        false => text.replace(&renamed, &own),
    }
}

#[cfg(test)]
mod tests;
