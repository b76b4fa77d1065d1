//! `verify:`, where the expected result comes from.

use super::convert::Converter;
use super::decode::{At, Decode, Diagnostics, Entries, SpecReader};
use super::evaluate::Values;
use super::file;
use super::keywords::Other;
use super::suggest::suggest;
use super::tolerances::{Profile, Tolerances};
use super::types::{Buffer, Kernel, Workload};
use gpubench_core::gpu::{Access, Language};
use gpubench_core::hash::sha256_of;
use gpubench_core::npy::Header;
use gpubench_core::units::quoted;
use gpubench_core::workload::{Command, Comparison, Size, Verify};
use gpubench_core::yaml::{Node, Value};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Seconds that a command has unless its suite says otherwise, and those that it can be given: its
/// worker is silent for no longer.
const COMMAND_SECONDS: f64 = 60.0;
const MAX_COMMAND_SECONDS: f64 = 100.0;
/// A header of an array is shorter than this.
const MAX_HEADER: u64 = 1 << 17;

/// How a result is checked, as the file has it.
#[derive(Clone, Debug)]
pub struct Verification {
    /// Against what.
    pub against: Against,
    how: Tolerances,
}

/// What a result is checked against.
#[derive(Clone, Debug)]
pub enum Against {
    Nothing,
    Reference(At<String>),
    /// One file for all written buffers.
    File(At<String>),
    /// An array for each of them.
    Arrays(Entries<At<String>>),
    Command(At<Vec<At<String>>>, f64),
    Device,
    Emulator,
}

/// One file, or one for each buffer.
#[derive(Clone, Debug)]
enum Files {
    One(String),
    Each(Entries<At<String>>),
}

impl Decode for Files {
    fn decode(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        match &node.value {
            Value::Map(_) => Entries::decode(node, diagnostics).map(Self::Each),
            _ => String::decode(node, diagnostics).map(Self::One),
        }
    }
}

impl Decode for Verification {
    fn decode(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        if matches!(&node.value, Value::Text(text) if text == "none") {
            return Some(Self { against: Against::Nothing, how: Tolerances::default() });
        }
        if !matches!(node.value, Value::Map(_)) {
            let wanted = "`none`, or a map with `reference`, `file`, `command` or `against`";
            return diagnostics.unexpected(node, wanted);
        }
        let mut spec = SpecReader::of(node, diagnostics)?;
        let reference: Option<Option<At<String>>> = spec.field("reference", diagnostics);
        let file: Option<Option<At<Files>>> = spec.field("file", diagnostics);
        let command: Option<Option<At<Vec<At<String>>>>> = spec.field("command", diagnostics);
        let seconds: Option<Option<At<f64>>> = spec.field("seconds", diagnostics);
        let against: Option<Option<At<Other>>> = spec.field("against", diagnostics);
        let how = Tolerances::read(&mut spec, diagnostics);
        spec.close(diagnostics);
        let how = how?;
        let seconds = seconds?;
        if let (Some(At { at, .. }), Some(None)) = (&seconds, &command) {
            return diagnostics.reject(at, "`seconds` limit a `command`, and there is none", None);
        }
        let against = match (reference?, file?, command?, against?) {
            (Some(name), None, None, None) => Against::Reference(name),
            (None, Some(At { value: Files::One(value), at }), None, None) => {
                Against::File(At { value, at })
            }
            (None, Some(At { value: Files::Each(files), .. }), None, None) => {
                Against::Arrays(files)
            }
            (None, None, Some(words), None) => {
                Against::Command(words, limit(seconds, diagnostics)?)
            }
            (None, None, None, Some(At { value: Other::Device, .. })) => Against::Device,
            (None, None, None, Some(At { value: Other::Emulator, .. })) => Against::Emulator,
            _ => {
                return diagnostics.reject(
                    &node.at,
                    "say with exactly one of `reference`, `file`, `command` and `against` how to check",
                    Some("or `verify: none` for a result that is shown but never ranked"),
                );
            }
        };
        Some(Self { against, how })
    }
}

/// Seconds that a command may take.
fn limit(given: Option<At<f64>>, diagnostics: &mut Diagnostics) -> Option<f64> {
    match given {
        None => Some(COMMAND_SECONDS),
        Some(At { value, .. }) if value > 0.0 && value <= MAX_COMMAND_SECONDS => Some(value),
        Some(At { value, at }) => {
            let message =
                format!("a command has up to {MAX_COMMAND_SECONDS} seconds, not {}", quoted(value));
            diagnostics.reject(&at, message, None)
        }
    }
}

impl Verification {
    /// How far a result may differ on devices of each profile that has a tolerance of its own.
    pub fn profiles(&self, buffers: &[Buffer]) -> Vec<(Profile, Comparison)> {
        self.how.profiles(written(buffers))
    }
}

impl Converter<'_> {
    /// Where the expected result of a workload comes from.
    pub fn verify(
        &mut self,
        spec: &file::Workload,
        name: &At<String>,
        kernel: Option<&Kernel>,
        buffers: &[Buffer],
    ) -> Option<Verify> {
        let Some(At { value, at }) = &spec.verify else {
            if spec.kernel.is_none() {
                return Some(Verify::Nothing);
            }
            let help = "name a `reference`, a `file`, a `command`, another device or the emulator; \
                        `verify: none` is allowed, but such results are never ranked";
            let message = "it is not said how the result is verified";
            return self.diagnostics.reject(&name.at, message, Some(help));
        };
        let how = value.how.or_defaults(written(buffers));
        match &value.against {
            Against::Nothing => Some(Verify::Nothing),
            Against::Device => Some(Verify::Device(how)),
            Against::Emulator => {
                // A kernel with diagnostics of its own is reported elsewhere.
                let runs = |kernel: &Kernel| {
                    kernel.text(Language::Wgsl).is_some_and(|text| !text.is_module())
                };
                if kernel.is_some_and(|kernel| !runs(kernel)) {
                    let message = "the emulator runs WGSL, and the kernel has no such source";
                    let help = "add `wgsl:` to the kernel, or verify against `device`";
                    return self.diagnostics.reject(at, message, Some(help));
                }
                Some(Verify::Emulator(how))
            }
            Against::Reference(name) if self.references.contains(&name.value.as_str()) => {
                Some(Verify::Reference(name.value.clone(), how))
            }
            Against::Reference(name) => {
                let help = suggest(&name.value, self.references.iter().copied());
                let message = format!("there is no reference `{}`", name.value);
                self.diagnostics.reject(&name.at, message, help.as_deref())
            }
            Against::File(file) => self.file(file, buffers, how),
            Against::Arrays(files) => self.arrays(files, at, buffers, how),
            Against::Command(words, seconds) => self.command(words, *seconds, how),
        }
    }

    fn located(&mut self, file: &At<String>) -> Option<PathBuf> {
        let found = self.root.locate(self.diagnostics.source(), &file.value);
        let say = |why| format!("cannot read the expected result `{}`: {why}", file.value);
        found.map_err(|why| self.diagnostics.push(&file.at, say(why), None)).ok()
    }

    /// One file: an array where there is one written buffer and the name says so.
    fn file(&mut self, file: &At<String>, buffers: &[Buffer], how: Comparison) -> Option<Verify> {
        let path = self.located(file)?;
        if !file.value.ends_with(".npy") {
            return Some(Verify::File(path, how));
        }
        match written(buffers).collect::<Vec<_>>().as_slice() {
            [buffer] => Some(Verify::Arrays(vec![(buffer.name.clone(), path)], how)),
            several => {
                let names = several.iter().map(|b| format!("{0}: {0}.npy", b.name));
                let help = format!("`file: {{ {} }}`", names.collect::<Vec<_>>().join(", "));
                let message = "an array holds one buffer: name a file for each that is written";
                self.diagnostics.reject(&file.at, message, Some(&help))
            }
        }
    }

    /// An array for each written buffer.
    fn arrays(
        &mut self,
        files: &Entries<At<String>>,
        at: &std::ops::Range<usize>,
        buffers: &[Buffer],
        how: Comparison,
    ) -> Option<Verify> {
        let names = || written(buffers).map(|buffer| buffer.name.as_str());
        let mut arrays = vec![];
        for (name, file) in &files.0 {
            if !names().any(|buffer| buffer == name.value) {
                let message = format!("the kernel writes no buffer `{}`", name.value);
                let help = suggest(&name.value, names());
                return self.diagnostics.reject(&name.at, message, help.as_deref());
            }
            arrays.push((name.value.clone(), self.located(file)?));
        }
        if let Some(missing) = names().find(|name| !arrays.iter().any(|(known, _)| known == name)) {
            let message = format!("there is no file for `{missing}`, which the kernel writes");
            return self.diagnostics.reject(at, message, None);
        }
        Some(Verify::Arrays(arrays, how))
    }

    fn command(
        &mut self,
        words: &At<Vec<At<String>>>,
        seconds: f64,
        how: Comparison,
    ) -> Option<Verify> {
        let At { value, at } = words;
        if value.is_empty() {
            let help = "for example `command: [python3, expected.py]`";
            return self.diagnostics.reject(at, "the command has no words", Some(help));
        }
        let Some(folder) = self.root.folder_of(self.diagnostics.source()) else {
            return self.diagnostics.reject(at, "an embedded suite runs no commands", None);
        };
        // What it runs belongs to the suite: trust ends where one of these files changes.
        for word in value {
            if let Ok(path) = self.root.locate(self.diagnostics.source(), &word.value) {
                self.note_file(&path);
            }
        }
        let diagnostic = self.diagnostics.place(at).diagnostic("", None);
        let place = format!("{}:{}", diagnostic.file, diagnostic.line_column().0);
        let words = value.iter().map(|word| word.value.clone()).collect();
        Some(Verify::Command(Command { words, folder, seconds, place }, how))
    }

    /// Has the suite's hash depend on a file.
    fn note_file(&mut self, path: &Path) {
        if let Ok(hash) = File::open(path).and_then(sha256_of) {
            self.files.insert(self.root.identity(path), hash);
        }
    }

    /// A file holds the result of one size, and all of it.
    pub fn expected_files(
        &mut self,
        spec: &file::Workload,
        workload: &Workload,
        size: &Size,
        values: &Values,
    ) {
        let Some(At { at, .. }) = &spec.verify else { return };
        let paths: Vec<&Path> = match &workload.verify {
            Verify::File(path, _) => vec![path],
            Verify::Arrays(files, _) => files.iter().map(|(_, path)| path.as_path()).collect(),
            _ => return,
        };
        if workload.sizes.len() > 1 {
            let help = "make a variant with its own file for each size";
            let message = "a file holds the result of one size, and here are several";
            return self.diagnostics.push(at, message, Some(help));
        }
        let wrong = match &workload.verify {
            Verify::File(path, _) => wrong_length(path, workload, values).into_iter().collect(),
            Verify::Arrays(files, _) => wrong_arrays(files, workload, values),
            _ => vec![],
        };
        for path in paths {
            self.note_file(path);
        }
        for why in wrong {
            self.fails(at, "expected result", size, &why);
        }
    }
}

fn written(buffers: &[Buffer]) -> impl Iterator<Item = &Buffer> + Clone {
    buffers.iter().filter(|buffer| buffer.access != Access::Read)
}

/// Why the bytes of a file are not those of all written buffers.
fn wrong_length(path: &Path, workload: &Workload, values: &Values) -> Option<String> {
    let bytes = |buffer: &Buffer| {
        buffer.element.size().0.saturating_mul(buffer.count.count(values).unwrap_or(0))
    };
    let wanted: u64 = written(&workload.buffers).map(bytes).fold(0, u64::saturating_add);
    match std::fs::metadata(path).map(|data| data.len()) {
        Ok(is) if is == wanted => None,
        Ok(is) => Some(format!("the file has {is} bytes, the written buffers {wanted}")),
        Err(error) => Some(error.to_string()),
    }
}

/// Why arrays are not those of the written buffers, as their headers say.
fn wrong_arrays(files: &[(String, PathBuf)], workload: &Workload, values: &Values) -> Vec<String> {
    let wrong = |(name, path): &(String, PathBuf)| {
        let buffer = workload.buffers.iter().find(|buffer| buffer.name == *name)?;
        let count = buffer.count.count(values).unwrap_or(0);
        let scalars = count.saturating_mul(u64::from(buffer.element.width));
        let mut header = vec![];
        let read = File::open(path).and_then(|file| file.take(MAX_HEADER).read_to_end(&mut header));
        let header = read.map_err(|error| error.to_string()).and_then(|_| Header::parse(&header));
        let why = header.and_then(|header| header.check(buffer.element.scalar, scalars)).err()?;
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Some(format!("`{file}` for buffer `{name}`: {why}"))
    };
    files.iter().filter_map(wrong).collect()
}

#[cfg(test)]
mod tests;
