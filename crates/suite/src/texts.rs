//! The texts of a workload's kernel: shipped, or from files of the suite's folder.

use super::assets;
use super::convert::Converter;
use super::decode::At;
use super::file;
use super::headers::{Headers, Mistake, headers};
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
            Err(Mistake { source, at, message, help }) => {
                self.diagnostics.add(source.place(&at).diagnostic(message, help));
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
mod tests {
    use super::*;
    use crate::testing::{SUITE, load_with, message, mistake};

    const KERNEL: &str = "opencl: k.cl, wgsl: k.wgsl, entry: copy";

    #[test]
    fn a_kernel_is_shipped_or_comes_from_files() {
        for (kernel, message, at) in [
            (
                "family: filters, wgsl: k.wgsl, entry: sepia",
                "a kernel is a shipped one by its family, or one from files, not both",
                "filters",
            ),
            (
                "family: filters, spirv: k.spv, entry: sepia",
                "a kernel is a shipped one by its family, or one from files, not both",
                "filters",
            ),
            (
                "library: clblast, opencl: k.cl, entry: gemm",
                "a kernel is a library's or has a text, not both",
                "clblast",
            ),
            (
                "library: clblast, entry: gemm, defines: { FAST: 1 }",
                "a library's routine takes no `defines` and no `options`",
                "clblast",
            ),
            (
                "library: clblast, entry: gemm, options: [-cl-mad-enable]",
                "a library's routine takes no `defines` and no `options`",
                "clblast",
            ),
            ("entry: copy", "the kernel has no text", "kernel"),
            (
                "family: ceilings, entry: matrix_i8",
                "shaders/ceilings/matrix_i8.spv is for gpubench's own suites: nothing bounds what it accesses",
                "ceilings",
            ),
            (
                "family: ceilings, entry: matrix_i8, precision: f64",
                "a module in SPIR-V has the types that it is written with",
                "f64",
            ),
            ("family: filters, entry: sepai", "gpubench ships no kernel `filters/sepai`", "sepai"),
            (
                "opencl: none.cl, entry: copy",
                "cannot read the kernel `none.cl`: there is no such file",
                "none.cl",
            ),
            (
                "spirv: none.spv, entry: copy",
                "cannot read the kernel `none.spv`: there is no such file",
                "none.spv",
            ),
            (
                "spirv: k.cl, entry: copy",
                "cannot read the kernel `k.cl`: it is no SPIR-V: that begins with the number 0x07230203",
                "k.cl",
            ),
        ] {
            let (said, place) = mistake(KERNEL, kernel, &[]);
            assert_eq!((&said[..], &place[..]), (message, at), "{kernel}");
        }
    }

    #[test]
    fn no_api_is_given_two_texts() {
        let (said, at) =
            mistake(KERNEL, "wgsl: k.wgsl, glsl: k.glsl, entry: copy", &[("k.glsl", "")]);
        assert!(
            said.contains("k.wgsl` and `")
                && said.ends_with("k.glsl` are both for Vulkan and wgpu: give one of them"),
            "{said}"
        );
        assert_eq!(at, "k.glsl");
        let folder = tempfile::tempdir().unwrap();
        let kernel: Vec<u8> = [0x0723_0203u32, 0x0001_0300, 0, 1, 0, 2 << 16 | 17, 6]
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        let suite = |kernel: &str| SUITE.replace(KERNEL, kernel);
        std::fs::write(folder.path().join("k.spv"), &kernel).unwrap();
        std::fs::write(folder.path().join("k.cl"), crate::testing::CL).unwrap();
        let load = |kernel: &str| {
            let path = folder.path().join("s.yaml");
            std::fs::write(&path, suite(kernel)).unwrap();
            crate::load(&path.to_string_lossy(), &["copy"], &crate::testing::KINDS)
        };
        let why =
            load("opencl: k.cl, spirv: k.spv, entry: copy").map(|_| ()).unwrap_err().to_string();
        assert!(why.contains("are both for OpenCL: give one of them"), "{why}");
        let suite = load("spirv: k.spv, entry: copy").unwrap();
        let kernel = suite.workloads[0].kernel.as_ref().unwrap();
        assert!(
            kernel.settings(&kernel.texts[0], &[]).spirv
                && kernel.texts[0].language == Language::Opencl
        );
        let other: Vec<u8> = [0x0723_0203u32, 0x0001_0300, 0, 2, 0, 2 << 16 | 17, 6]
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        std::fs::write(folder.path().join("k.spv"), other).unwrap();
        assert_ne!(load("spirv: k.spv, entry: copy").unwrap().hash, suite.hash);
    }

    #[test]
    fn a_shipped_kernel_has_its_texts_in_both_languages() {
        let from = "    kernel: { opencl: k.cl, wgsl: k.wgsl, entry: copy, group: [64] }";
        let to = "    kernel: { family: filters, entry: sepia, group: [64] }";
        let found = load_with(from, to, &[]);
        let found = found.map(|_| ()).unwrap_err();
        assert!(found.iter().all(|one| !one.message.contains("ships no kernel")), "{found:?}");
        assert_eq!(
            message("k.cl", "../k.cl", &[]),
            "cannot read the kernel `../k.cl`: it lies outside the suite's folder"
        );
    }

    #[test]
    fn the_kernels_of_a_family_are_suggested() {
        let all = relatives("filters");
        assert!(
            all.contains(&"filters/sepia") && all.iter().all(|name| name.starts_with("filters/")),
            "{all:?}"
        );
        assert_eq!(relatives("none"), assets::kernels());
    }
}
