//! A workload's kernel: its texts found, its constants read, its declaration held against the
//! buffers and parameters it will be given.

use super::convert::{Converter, NAME_RULE, is_name};
use super::decode::{At, Entries};
use super::directive;
use super::file;
use super::headers::REJECTED;
use super::misfit::{About, Misfit};
use super::reading::reading;
use super::spirv;
use super::suggest::suggest;
use super::types::{Buffer, Fallback, Kernel, KernelText, Written};
use super::values::{self, Group};
use super::wgsl;
use gpubench_core::error::Located;
use gpubench_core::gpu::{
    Binding, Constant, Image, KernelSource, Language, MatrixProduct, Scalar, Settings,
};
use std::ops::Range;

/// Optional features that a kernel can ask for; products of matrices are others.
const FEATURES: [&str; 5] = ["subgroups", "f16", "f64", "f32_atomics", "i64_atomics"];

impl Converter<'_> {
    /// The kernel of `spec`, if it has one; the outer `None`: there was an error.
    pub fn kernel(&mut self, spec: &file::Workload) -> Option<Option<Kernel>> {
        let Some(At { value: kernel, at }) = &spec.kernel else {
            if let Some(search) = &spec.search {
                return self.diagnostics.reject(
                    &search.at,
                    "there is no kernel to search the best variant of",
                    None,
                );
            }
            return Some(None);
        };
        let entry = self.entry(kernel, at);
        let texts = entry.as_ref().and_then(|entry| self.texts(kernel, &entry.value, at));
        let constants = self.constants(kernel.constants.as_ref());
        let search =
            spec.search.as_ref().map(|search| self.search(&search.value, &search.at, kernel));
        let group = self.group(kernel, at, spec.search.as_ref().map(|search| &search.value));
        let fallback = self.fallback(kernel);
        let needs = self.needs(kernel);
        let settings = self.settings(kernel);
        self.joined_with_definitions(texts.as_deref()?, settings.as_ref()?, at)?;
        let all = (constants.as_deref()?, fallback.as_deref()?);
        let subgroup = self.subgroup(spec, kernel, all);
        let search = match search {
            Some(search) => Some(search?),
            None => None,
        };
        Some(Some(Kernel {
            entry: entry?.value,
            texts: texts?,
            group: group?,
            fallback: fallback?,
            constants: constants?,
            args: None,
            variant: String::new(),
            search,
            needs: needs?,
            subgroup: subgroup?,
            settings: settings?,
            places: vec![],
        }))
    }

    /// A macro may join what stands in the text with what is defined.
    fn joined_with_definitions(
        &mut self,
        texts: &[KernelText],
        settings: &Settings,
        at: &Range<usize>,
    ) -> Option<()> {
        let values: Vec<&str> = settings.defines.iter().map(|(_, value)| value.as_str()).collect();
        let values = values.join(" ");
        let joins = |text: &KernelText| {
            let whole = text.expanded.as_ref().map_or(&*text.text, |expanded| &expanded.text);
            text.language == Language::Opencl && directive::joins_with(whole, &values)
        };
        if settings.defines.is_empty() || !texts.iter().any(joins) {
            return Some(());
        }
        self.diagnostics.reject(at, format!("together with its definitions {REJECTED}"), None)
    }

    fn entry(&mut self, kernel: &file::Kernel, at: &Range<usize>) -> Option<At<String>> {
        match &kernel.entry {
            Some(entry) if is_name(&entry.value) => Some(entry.clone()),
            Some(entry) => self.diagnostics.reject(
                &entry.at,
                format!("`{}` is no name of a function", entry.value),
                Some(NAME_RULE),
            ),
            None => self.diagnostics.reject(
                at,
                "the kernel needs an `entry`: the function's name",
                None,
            ),
        }
    }

    fn group(
        &mut self,
        kernel: &file::Kernel,
        at: &Range<usize>,
        search: Option<&file::Search>,
    ) -> Option<Group> {
        let own = kernel.group.as_ref().map(|group| group.value.all());
        let searched = search.and_then(|search| search.group.as_ref());
        let group = own.or(searched.map(|groups| groups.value.0.clone()));
        if group.is_none() {
            let help = "for example `group: [64]` or `group: [16, 16]`";
            self.diagnostics.push(
                at,
                "the kernel needs a `group`: the size of its work-groups",
                Some(help),
            );
        }
        group?.first().copied()
    }

    fn fallback(&mut self, kernel: &file::Kernel) -> Option<Vec<Fallback>> {
        let mut all = vec![];
        let own = kernel.constants.as_ref().map_or(&[][..], |entries| &entries.0);
        for At { value: fallback, .. } in kernel.fallback.iter().flatten() {
            for (name, _) in &fallback.constants.0 {
                if own.iter().all(|(known, _)| known.value != name.value) {
                    let message = format!("the kernel has no constant `{}`", name.value);
                    let help = "a fallback changes constants that the kernel has";
                    self.diagnostics.push(&name.at, message, Some(help));
                }
            }
            let constants = self.constants(Some(&fallback.constants));
            all.push(constants.map(|constants| Fallback { group: fallback.group, constants }));
        }
        all.into_iter().collect()
    }

    fn constants(
        &mut self,
        given: Option<&Entries<At<values::Constant>>>,
    ) -> Option<Vec<(String, Constant)>> {
        let mut all = vec![];
        for (name, value) in given.map_or(&[][..], |entries| &entries.0) {
            all.push(self.constant_name(name).map(|name| (name, value.value.0.clone())));
        }
        all.into_iter().collect()
    }

    /// Names of constants reach the compiler's command line, so they are names and nothing else.
    pub fn constant_name(&mut self, name: &At<String>) -> Option<String> {
        if is_name(&name.value) && !name.value.starts_with("GROUP_") {
            return Some(name.value.clone());
        }
        let help = format!("{NAME_RULE} or with `GROUP_`");
        let message = format!("`{}` cannot name a constant", name.value);
        self.diagnostics.reject(&name.at, message, Some(&help))
    }

    fn needs(&mut self, kernel: &file::Kernel) -> Option<Vec<String>> {
        let mut all = vec![];
        for need in kernel.needs.iter().flatten() {
            let is_product = MatrixProduct::try_from(need.value.clone()).is_ok();
            let known = is_product || FEATURES.contains(&need.value.as_str());
            if !known {
                let message = format!("no device has a feature called `{}`", need.value);
                self.diagnostics.push(&need.at, message, suggest(&need.value, FEATURES).as_deref());
            }
            all.push(known.then(|| need.value.clone()));
        }
        all.into_iter().collect()
    }

    /// Holds the kernel in WGSL against the buffers and parameters; OpenCL C is the driver's to read.
    pub fn fit(
        &mut self,
        spec: &file::Workload,
        kernel: &Kernel,
        buffers: &[Buffer],
        params: &[(String, Scalar)],
    ) {
        let block = usize::from(!params.is_empty());
        self.bindings_fit(spec, kernel, buffers.len() + block);
        if !self.images_fit(spec, kernel) {
            return;
        }
        let Some(text) = kernel.text(Language::Wgsl) else { return };
        let Some(mut source) = first_variant(kernel, text, buffers, params.len()) else { return };
        if text.is_module() {
            let found = spirv::misfits(&source, kernel.subgroup.as_ref());
            return found.into_iter().for_each(|one| self.report_misfit(spec, text, one));
        }
        let translate = || kernel.translated(text, source.group, &source.constants, buffers.len());
        match reading(self.unreadable(spec, text), translate) {
            Ok(translated) => source.text = translated,
            Err(misfit) => return self.report_misfit(spec, text, misfit),
        }
        // A number for each parameter that the text has as an `override`, whatever it will be.
        let overridden = source.overridable();
        let given = params.iter().filter(|(name, _)| overridden.contains(name));
        source.constants.extend(given.map(|(name, _)| (name.clone(), Constant::Int(1))));
        for misfit in wgsl::misfits(&source, params) {
            // A translation has no lines of the user's file.
            let about = match misfit.about {
                About::Text(_) if text.written != Written::Plain => About::File,
                about => about,
            };
            self.report_misfit(spec, text, Misfit { about, ..misfit });
        }
    }

    /// What it means where naga panics.
    fn unreadable(&self, spec: &file::Workload, text: &KernelText) -> Located {
        let file = spec.kernel.as_ref().and_then(|kernel| own_file(&kernel.value));
        let at = file.map_or(0..0, |file| file.at.clone());
        let message =
            format!("naga, which reads GLSL and SPIR-V, fails on `{}`", text.origin.file());
        self.diagnostics.place(&at).diagnostic(message, None)
    }

    fn report_misfit(&mut self, spec: &file::Workload, text: &KernelText, misfit: Misfit) {
        let Some(At { value: kernel, at: kernel_at }) = &spec.kernel else { return };
        let buffers = spec.buffers.as_ref();
        let at = match misfit.about {
            About::Text(range) if range.end <= text.text.len() => {
                let (file, help) = (text.origin.file(), misfit.help.as_deref());
                let whole = text.text.clone();
                return self.diagnostics.add(Located::at(file, whole, range, misfit.message, help));
            }
            About::File => own_file(kernel).map(|file| &file.at),
            // The suite's constants stand behind the kernel's text.
            About::Text(_) => None,
            About::Entry => kernel.entry.as_ref().map(|entry| &entry.at),
            About::Group => kernel.group.as_ref().map(|group| &group.at),
            About::Buffer(i) => buffers.and_then(|b| b.value.0.get(i)).map(|(name, _)| &name.at),
            About::Buffers => buffers.map(|buffers| &buffers.at),
            About::Argument(i) => {
                kernel.args.as_ref().and_then(|args| args.value.get(i)).map(|arg| &arg.at)
            }
            About::Constant(name) => kernel.constants.as_ref().and_then(|all| {
                all.0.iter().find(|(known, _)| known.value == name).map(|(known, _)| &known.at)
            }),
            About::Params => spec.params.as_ref().map(|params| &params.at),
        };
        self.diagnostics.push(at.unwrap_or(kernel_at), misfit.message, misfit.help.as_deref());
    }
}

/// The file of a kernel for Vulkan and wgpu.
fn own_file(kernel: &file::Kernel) -> Option<&At<String>> {
    [&kernel.wgsl, &kernel.glsl, &kernel.spirv].into_iter().find_map(Option::as_ref)
}

/// The kernel in the first variant of its search that its language can spell; `None` where the
/// language has not all of its arguments.
fn first_variant(
    kernel: &Kernel,
    text: &KernelText,
    buffers: &[Buffer],
    params: usize,
) -> Option<KernelSource> {
    let mut constants = kernel.constants.clone();
    for (name, values) in kernel.searched_in_run().iter().flat_map(|search| &search.constants) {
        let spelled = |value: &&Constant| match value {
            Constant::Type(r#type) => r#type.spelled(text.language).is_some(),
            Constant::Matrix(product) => {
                text.is_module() || product.spelled(name, text.language).is_ok()
            }
            _ => true,
        };
        if let Some(value) = values.iter().find(spelled) {
            constants.retain(|(known, _)| known != name);
            constants.push((name.clone(), value.clone()));
        }
    }
    let binding = |buffer: &Buffer| Binding {
        name: buffer.name.clone(),
        element: buffer.element,
        access: buffer.access,
        // How wide is not known before the size is.
        image: buffer.image.as_ref().map(|image| Image { width: 1, filter: image.filter }),
    };
    let block = 4 * u32::try_from(params).unwrap_or(u32::MAX / 4);
    let source = KernelSource {
        language: text.language,
        text: text.text.to_string(),
        entry: kernel.entry.clone(),
        origin: text.origin.clone(),
        group: kernel.group,
        constants,
        bindings: buffers.iter().map(binding).collect(),
        params_bytes: block,
        args: kernel.placed(block),
        meaning: None,
        settings: kernel.settings(text, &kernel.constants),
    };
    source.unsupported_argument().is_none().then_some(source)
}

#[cfg(test)]
mod tests;
