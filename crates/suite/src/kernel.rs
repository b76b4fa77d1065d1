//! A workload's kernel: its texts found, its constants read, its declaration held against the
//! buffers and parameters it will be given.

use super::convert::{Converter, NAME_RULE, is_name};
use super::decode::{At, Entries};
use super::file;
use super::headers::{Headers, Mistake, headers};
use super::misfit::{About, Misfit};
use super::source::Source;
use super::suggest::suggest;
use super::types::{Buffer, Fallback, Kernel, KernelText};
use super::values::{self, Group};
use super::{assets, wgsl};
use gpubench_core::gpu::{Binding, Constant, Expanded, KernelSource, Language, Origin, Scalar};
use gpubench_core::hash::sha256_hex;
use std::ops::Range;
use std::sync::Arc;

/// Optional features that a kernel can ask for.
const FEATURES: [&str; 3] = ["subgroups", "f16", "f64"];

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
            settings: settings?,
            places: vec![],
        }))
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

    fn texts(
        &mut self,
        kernel: &file::Kernel,
        entry: &str,
        at: &Range<usize>,
    ) -> Option<Vec<KernelText>> {
        let own = [(Language::Opencl, &kernel.opencl), (Language::Wgsl, &kernel.wgsl)];
        match &kernel.family {
            Some(family) if own.iter().any(|(_, file)| file.is_some()) => {
                let message =
                    "a kernel is a shipped one by its family, or one from files, not both";
                self.diagnostics.reject(&family.at, message, None)
            }
            Some(family) => self.shipped(family, entry, kernel),
            None if own.iter().all(|(_, file)| file.is_none()) => {
                let help = "name a shipped kernel by `family` and `entry`, or files by `opencl` and `wgsl`";
                self.diagnostics.reject(at, "the kernel has no text", Some(help))
            }
            None => own
                .into_iter()
                .filter_map(|(language, file)| file.as_ref().map(|file| self.own(language, file)))
                .collect::<Vec<_>>()
                .into_iter()
                .collect(),
        }
    }

    fn shipped(
        &mut self,
        family: &At<String>,
        entry: &str,
        kernel: &file::Kernel,
    ) -> Option<Vec<KernelText>> {
        let mut texts = vec![];
        for language in [Language::Opencl, Language::Wgsl] {
            if let Some((path, text)) = assets::kernel(&family.value, entry, language) {
                let path = format!("shaders/{path}");
                let text: Arc<str> = text.into();
                self.files.insert(format!("shipped {path}"), sha256_hex(text.as_bytes()));
                let origin = match self.trusted {
                    true => Origin::Shipped(path),
                    false => Origin::Lent(path),
                };
                texts.push(KernelText { language, origin, text, expanded: None });
            }
        }
        if texts.is_empty() {
            let wanted = format!("{}/{entry}", family.value);
            let at = kernel.entry.as_ref().map_or(&family.at, |entry| &entry.at);
            let message = format!("gpubench ships no kernel `{wanted}`");
            return self.diagnostics.reject(
                at,
                message,
                suggest(&wanted, relatives(&family.value)).as_deref(),
            );
        }
        Some(texts)
    }

    fn own(&mut self, language: Language, file: &At<String>) -> Option<KernelText> {
        let known = (self.diagnostics.source().path.clone(), file.value.clone());
        let read = match self.texts.get(&known) {
            Some(source) => Ok(source.clone()),
            None => self.root.read(self.diagnostics.source(), &file.value),
        };
        match read {
            Ok(source) => {
                let origin = Origin::User(source.file.to_string());
                let text = source.text.clone();
                let expanded = match language {
                    Language::Opencl => self.with_headers(&source)?,
                    Language::Wgsl => None,
                };
                self.files.insert(source.path.clone(), sha256_hex(text.as_bytes()));
                self.texts.insert(known, source);
                Some(KernelText { language, origin, text, expanded })
            }
            Err(why) => {
                let message = format!("cannot read the kernel `{}`: {why}", file.value);
                self.diagnostics.reject(&file.at, message, None)
            }
        }
    }

    /// The kernel with its headers, which belong to the suite; reports where it would have the compiler
    /// look for files of this machine. The outer `None`: there were mistakes.
    fn with_headers(&mut self, source: &Source) -> Option<Option<Expanded>> {
        match headers(self.root, source) {
            Ok(Headers { expanded, sources }) => {
                for header in sources {
                    self.files.insert(header.path.clone(), sha256_hex(header.text.as_bytes()));
                }
                Some(expanded)
            }
            Err(Mistake { source, at, message, help }) => {
                self.diagnostics.add(source.place(&at).diagnostic(message, help));
                None
            }
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
            let known = FEATURES.contains(&need.value.as_str());
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
        let Some(text) = kernel.text(Language::Wgsl) else { return };
        let Some(mut source) = first_variant(kernel, text, buffers, params.len()) else { return };
        // A number for each parameter that the text has as an `override`, whatever it will be.
        let overridden = source.overridable();
        let given = params.iter().filter(|(name, _)| overridden.contains(name));
        source.constants.extend(given.map(|(name, _)| (name.clone(), Constant::Int(1))));
        for misfit in wgsl::misfits(&source, params) {
            self.report_misfit(spec, text, misfit);
        }
    }

    fn report_misfit(&mut self, spec: &file::Workload, text: &KernelText, misfit: Misfit) {
        let Some(At { value: kernel, at: kernel_at }) = &spec.kernel else { return };
        let buffers = spec.buffers.as_ref();
        let at = match misfit.about {
            About::Text(range) if range.end <= text.text.len() => {
                let diagnostic = gpubench_core::error::Located {
                    file: text.origin.file().to_owned(),
                    text: text.text.clone(),
                    offset: range.start,
                    len: range.len(),
                    message: misfit.message,
                    help: misfit.help,
                };
                return self.diagnostics.add(diagnostic);
            }
            // The suite's constants stand behind the kernel's text.
            About::Text(_) => None,
            About::Entry => kernel.entry.as_ref().map(|entry| &entry.at),
            About::Group => kernel.group.as_ref().map(|group| &group.at),
            About::Buffer(i) => buffers.and_then(|b| b.value.0.get(i)).map(|(name, _)| &name.at),
            About::Buffers => buffers.map(|buffers| &buffers.at),
            About::Argument(i) => {
                kernel.args.as_ref().and_then(|args| args.value.get(i)).map(|arg| &arg.at)
            }
            About::Params => spec.params.as_ref().map(|params| &params.at),
        };
        self.diagnostics.push(at.unwrap_or(kernel_at), misfit.message, misfit.help.as_deref());
    }
}

/// The shipped kernels of a family; all, where there is no such family.
fn relatives(family: &str) -> Vec<&'static str> {
    let all = assets::kernels();
    let of_family = |kernel: &&str| kernel.split('/').next() == Some(family);
    let relatives: Vec<_> = all.iter().copied().filter(of_family).collect();
    if relatives.is_empty() { all } else { relatives }
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
        settings: kernel.settings(text),
    };
    source.unsupported_argument().is_none().then_some(source)
}
