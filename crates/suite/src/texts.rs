//! The texts of a workload's kernel: shipped, or from files of the suite's folder.

use super::assets;
use super::convert::Converter;
use super::decode::At;
use super::file;
use super::headers::{Headers, headers};
use super::keywords::Precision;
use super::precision::doubled;
use super::source::Source;
use super::spirv::{self, Spirv};
use super::suggest::suggest;
use super::types::{KernelText, Written};
use gpubench_core::gpu::{Expanded, Language, Library, Origin};
use gpubench_core::hash::{from_hex, sha256_hex};
use std::ops::Range;
use std::sync::Arc;

impl Converter<'_> {
    /// The texts of `kernel`, whose entry point is `entry`; `None`: there were mistakes.
    pub fn texts(
        &mut self,
        kernel: &file::Kernel,
        entry: &str,
        at: &Range<usize>,
    ) -> Option<Vec<KernelText>> {
        let texts = self.found_texts(kernel, entry, at)?;
        self.translation_fits(kernel, &texts)?;
        Some(texts)
    }

    fn found_texts(
        &mut self,
        kernel: &file::Kernel,
        entry: &str,
        at: &Range<usize>,
    ) -> Option<Vec<KernelText>> {
        let own = [
            (Language::Opencl, Written::Plain, &kernel.opencl),
            (Language::Wgsl, Written::Plain, &kernel.wgsl),
            (Language::Wgsl, Written::Glsl, &kernel.glsl),
        ];
        let own_files = own.iter().any(|(.., file)| file.is_some()) || kernel.spirv.is_some();
        if let Some(library) = &kernel.library {
            return self.routine(library, entry, kernel, own_files);
        }
        match &kernel.family {
            Some(family) if own_files => {
                let message =
                    "a kernel is a shipped one by its family, or one from files, not both";
                self.diagnostics.reject(&family.at, message, None)
            }
            Some(family) => self.shipped(family, entry, kernel),
            None if kernel.precision.is_some() => {
                let at = kernel.precision.as_ref().map_or(at, |precision| &precision.at);
                let message = "a kernel from files has the types that it is written with";
                let help = "`precision` is for a shipped kernel, by its `family`";
                self.diagnostics.reject(at, message, Some(help))
            }
            None if !own_files => {
                let help = "name a shipped kernel by `family` and `entry`, or files by `opencl` and `wgsl`";
                self.diagnostics.reject(at, "the kernel has no text", Some(help))
            }
            None => {
                let plain = own.into_iter().filter_map(|(language, written, file)| {
                    let file = file.as_ref()?;
                    Some((file, self.own(language, written, file)))
                });
                let mut texts: Vec<_> = plain.collect();
                texts.extend(kernel.spirv.as_ref().map(|file| (file, self.spirv(file, kernel))));
                self.one_each(texts)
            }
        }
    }

    /// What stands for the text of a library's routine.
    fn routine(
        &mut self,
        library: &At<Library>,
        entry: &str,
        kernel: &file::Kernel,
        own_files: bool,
    ) -> Option<Vec<KernelText>> {
        let name = library.value.name();
        if own_files || kernel.family.is_some() {
            let message = "a kernel is a library's or has a text, not both";
            return self.diagnostics.reject(&library.at, message, None);
        }
        let has_defines = kernel.defines.as_ref().is_some_and(|defines| !defines.0.is_empty());
        if has_defines || kernel.options.as_ref().is_some_and(|options| !options.is_empty()) {
            let message = "a library's routine takes no `defines` and no `options`";
            let help = "a variant drops those of its workload by `defines: {}` and `options: []`";
            return self.diagnostics.reject(&library.at, message, Some(help));
        }
        let routines = library.value.routines();
        if !routines.contains(&entry) {
            let at = kernel.entry.as_ref().map_or(&library.at, |entry| &entry.at);
            let message = format!("of {name} there is no routine `{entry}` here");
            let help = suggest(entry, routines.iter().copied());
            return self.diagnostics.reject(at, message, help.as_deref());
        }
        let origin = Origin::Shipped(name.to_owned());
        let (language, written) = (Language::Opencl, Written::Library(library.value));
        let (needs, text) = (vec![], "".into());
        Some(vec![KernelText { language, written, needs, origin, text, expanded: None }])
    }

    /// The texts, of which no API takes two; `None` where there was a mistake.
    fn one_each(
        &mut self,
        texts: Vec<(&At<String>, Option<KernelText>)>,
    ) -> Option<Vec<KernelText>> {
        let mut kept: Vec<KernelText> = vec![];
        for (file, text) in texts {
            let text = text?;
            if let Some(other) = kept.iter().find(|other| other.language == text.language) {
                let api = match text.language {
                    Language::Opencl => "OpenCL",
                    Language::Wgsl => "Vulkan and wgpu",
                };
                let message = format!(
                    "`{}` and `{}` are both for {api}: give one of them",
                    other.origin.file(),
                    text.origin.file()
                );
                return self.diagnostics.reject(&file.at, message, None);
            }
            kept.push(text);
        }
        Some(kept)
    }

    /// `translate` is said of a module that becomes WGSL without it.
    fn translation_fits(&mut self, kernel: &file::Kernel, texts: &[KernelText]) -> Option<()> {
        let Some(At { at, .. }) = &kernel.translate else { return Some(()) };
        let is_one = |text: &KernelText| {
            text.language == Language::Wgsl
                && matches!(text.written, Written::Spirv | Written::Module)
        };
        if texts.iter().any(is_one) {
            return Some(());
        }
        let message = "`translate` is for a module in SPIR-V for Vulkan, and here is none";
        self.diagnostics.reject(at, message, None)
    }

    /// A file in SPIR-V.
    fn spirv(&mut self, file: &At<String>, kernel: &file::Kernel) -> Option<KernelText> {
        let as_it_is = kernel.translate.as_ref().filter(|translate| !translate.value);
        let read = self.root.read_bytes(self.diagnostics.source(), &file.value);
        let read = read.and_then(|(path, name, bytes)| {
            let Spirv { digits, language, needs } = spirv::read(&bytes)?;
            self.files.insert(path, sha256_hex(&bytes));
            let written = match as_it_is {
                Some(_) if language == Language::Wgsl => Written::Module,
                _ => Written::Spirv,
            };
            let (origin, text) = (Origin::User(name), digits.into());
            Ok(KernelText { language, written, needs, origin, text, expanded: None })
        });
        let failed = |why| format!("cannot read the kernel `{}`: {why}", file.value);
        read.map_err(|why| self.diagnostics.push(&file.at, failed(why), None)).ok()
    }

    fn shipped(
        &mut self,
        family: &At<String>,
        entry: &str,
        kernel: &file::Kernel,
    ) -> Option<Vec<KernelText>> {
        let mut texts = vec![];
        let is_double = kernel.precision.as_ref().is_some_and(|of| of.value == Precision::F64);
        for language in [Language::Opencl, Language::Wgsl] {
            if let Some((path, text)) = assets::kernel(&family.value, entry, language) {
                let path = format!("shaders/{path}");
                let text = match assets::is_module(&path) {
                    true => self.shipped_module(path, text, (family, kernel))?,
                    false => self.shipped_text(path, text, (language, is_double)),
                };
                texts.push(text);
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

    fn shipped_text(
        &mut self,
        path: String,
        text: &str,
        (language, is_double): (Language, bool),
    ) -> KernelText {
        self.files.insert(format!("shipped {path}"), sha256_hex(text.as_bytes()));
        let (text, needs): (Arc<str>, _) = match is_double {
            true => (doubled(text, language).into(), vec!["f64"]),
            false => (text.into(), vec![]),
        };
        let origin = if self.trusted { Origin::Shipped(path) } else { Origin::Lent(path) };
        KernelText { language, written: Written::Plain, needs, origin, text, expanded: None }
    }

    /// A module in SPIR-V, by its digits. Nothing bounds what it accesses, so that nobody borrows it.
    fn shipped_module(
        &mut self,
        path: String,
        digits: &str,
        (family, kernel): (&At<String>, &file::Kernel),
    ) -> Option<KernelText> {
        if let Some(precision) = &kernel.precision {
            let message = "a module in SPIR-V has the types that it is written with";
            return self.diagnostics.reject(&precision.at, message, None);
        }
        if !self.trusted {
            let message =
                format!("{path} is for gpubench's own suites: nothing bounds what it accesses");
            let help = "name a module of your own by `spirv`, with `translate: false`";
            return self.diagnostics.reject(&family.at, message, Some(help));
        }
        let file = from_hex(digits)?;
        let Spirv { language, needs, .. } = spirv::read(&file).ok()?;
        self.files.insert(format!("shipped {path}"), sha256_hex(&file));
        let (origin, text) = (Origin::Shipped(path), digits.into());
        Some(KernelText { language, written: Written::Module, needs, origin, text, expanded: None })
    }

    fn own(
        &mut self,
        language: Language,
        written: Written,
        file: &At<String>,
    ) -> Option<KernelText> {
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
                let needs = vec![];
                Some(KernelText { language, written, needs, origin, text, expanded })
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
            Err(mistake) => {
                self.diagnostics.add(mistake);
                None
            }
        }
    }
}

/// The shipped kernels of a family; all, where there is no such family.
fn relatives(family: &str) -> Vec<&'static str> {
    let all = assets::kernels();
    let of_family = |kernel: &&str| kernel.split('/').next() == Some(family);
    let relatives: Vec<_> = all.iter().copied().filter(of_family).collect();
    if relatives.is_empty() { all } else { relatives }
}

#[cfg(test)]
mod tests;
