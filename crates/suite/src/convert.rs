//! A workload's spec becomes a checked workload; what is wrong with it is reported where it stands.

use super::Expr;
use super::data;
use super::decode::{At, Diagnostics};
use super::file;
use super::keywords::{Family, Kind};
use super::source::{Root, Source};
use super::suggest::suggest;
use super::types::{Kernel, Work, Workload};
use super::values::{Expression, Verification};
use gpubench_core::gpu::{Language, MemoryKind, Scalar};
use gpubench_core::workload::{Measure, Verify};
use std::collections::{BTreeMap, HashSet};

/// Converts the workloads of one file.
pub struct Converter<'a> {
    /// Where the suite's files lie.
    pub root: &'a Root,
    /// Names of all references.
    pub references: &'a [&'a str],
    /// Hashes of all files that the suite was made of, by their identity.
    pub files: &'a mut BTreeMap<String, String>,
    /// Kernels from files that were read, by the file that names each and what it calls it.
    pub texts: &'a mut BTreeMap<(String, String), Source>,
    /// Whether this file is an embedded suite, which gives shipped kernels no wrong sizes.
    pub trusted: bool,
    /// What is wrong with this file.
    pub diagnostics: &'a mut Diagnostics,
}

/// Parameters: name, value over the sizes, type.
pub type Params = Vec<(String, Expr, Scalar)>;

impl Converter<'_> {
    /// The workload `name`. `None`: there were diagnostics, and they have been reported.
    pub fn workload(&mut self, name: &At<String>, spec: &file::Workload) -> Option<Workload> {
        let before = self.diagnostics.count();
        let name_fits = self.workload_name(name);
        let measure = self.measure(spec, name);
        let kernel = self.kernel(spec);
        let sizes = self.sizes(spec);
        let passes = sizes.as_ref().and_then(|sizes| self.passes(spec, sizes));
        let params = sizes.as_ref().and_then(|sizes| self.params(spec, sizes));
        let buffers =
            params.as_ref().and_then(|params| self.buffers(spec, sizes.as_ref()?, params));
        let names =
            params.as_ref().zip(sizes.as_ref()).map(|(p, s)| data::launch_names(spec, s, p));
        let grid = names.as_ref().and_then(|names| self.grid(spec, names));
        let work = names.as_ref().and_then(|names| self.work(spec, names));
        if let (Some(grid), Some(measure), Some(params)) = (&grid, &measure, &params) {
            self.check_occupancy_grid(spec, measure, grid, params);
        }
        let verify = self.verify(spec, name, kernel.as_ref().and_then(Option::as_ref));
        let divide = params.as_ref().and_then(|params| self.divide(spec, params));
        let co_running = measure.as_ref().map(|measure| self.co_running(spec, measure));
        let copies = measure.as_ref().and_then(|measure| self.copies(spec, measure));
        let host_memory = measure.as_ref().and_then(|measure| self.host_memory(spec, measure));
        let given = params.as_ref().zip(sizes.as_ref()).map(|(p, s)| data::given_names(s, p));
        let layout = measure.as_ref().zip(given.as_ref());
        let layout = layout.and_then(|(measure, given)| self.layout(spec, measure, given));
        let halo = measure.as_ref().zip(given.as_ref());
        let halo = halo.and_then(|(measure, given)| self.halo(spec, measure, given));
        if let (Some(Some(kernel)), Some(buffers), Some(params)) = (&kernel, &buffers, &params) {
            let params: Vec<_> = params.iter().map(|(n, _, s)| (n.clone(), *s)).collect();
            self.fit(spec, kernel, buffers, &params);
        }
        let (measure, work) = (measure?, work?);
        let workload = Workload {
            name: name.value.clone(),
            tags: spec.tags.iter().flatten().map(|tag| tag.value.clone()).collect(),
            family: family(spec, &measure, &work).name().to_owned(),
            kernel: kernel?,
            sizes: sizes?,
            buffers: buffers?,
            params: params?,
            passes: passes?,
            grid: grid?,
            work,
            verify: verify?,
            measure,
            host_memory: host_memory?,
            divide: divide?,
            co_running: co_running?,
            copies: copies?,
            layout: layout?,
            halo: halo?,
            place: self.diagnostics.source().place(&name.at),
        };
        self.evaluate(spec, &workload);
        (name_fits && self.diagnostics.count() == before).then_some(workload)
    }

    /// An occupancy sweep needs a number of groups that a size sets.
    fn check_occupancy_grid(
        &mut self,
        spec: &file::Workload,
        measure: &[Measure],
        grid: &[Expr; 3],
        params: &Params,
    ) {
        let Some(At { at, .. }) = &spec.grid else { return };
        let constants = spec.kernel.as_ref().and_then(|k| k.value.constants.as_ref());
        let fixed = |name: &str| match params.iter().find(|(param, _, _)| param == name) {
            Some((_, value, _)) => value.names().next().is_none(),
            None => {
                name.starts_with("GROUP_")
                    || constants.is_some_and(|all| all.0.iter().any(|(n, _)| n.value == name))
            }
        };
        let depends = |expr: &Expr| expr.names().any(|(name, _)| !fixed(name));
        if measure.contains(&Measure::Occupancy) && !grid.iter().any(depends) {
            let help = "let a size say how many groups there are, such as `grid: [groups*64]`";
            let message = "an occupancy sweep varies the number of groups, and no size sets it";
            self.diagnostics.push(at, message, Some(help.to_owned()));
        }
    }

    fn workload_name(&mut self, name: &At<String>) -> bool {
        let fits = |part: &str| {
            !part.is_empty()
                && part.chars().all(|c| c.is_ascii_alphanumeric() || "_-.+".contains(c))
        };
        if name.value.split('/').all(fits) {
            return true;
        }
        let message = format!("`{}` cannot name a workload", name.value);
        let help = "letters, digits, `_`, `-`, `.` and `+`; the slash stands before a variant";
        self.diagnostics.push(&name.at, message, Some(help.to_owned()));
        false
    }

    fn measure(&mut self, spec: &file::Workload, name: &At<String>) -> Option<Vec<Measure>> {
        let Some(At { value: listed, at }) = &spec.measure else {
            if spec.kernel.is_none() {
                let help = "give it a `kernel`, or `measure: [upload, download]` for transfers";
                self.diagnostics.push(
                    &name.at,
                    "there is nothing to measure",
                    Some(help.to_owned()),
                );
                return None;
            }
            return Some(vec![Measure::Kernel]);
        };
        if listed.is_empty() {
            self.diagnostics.push(at, "there is nothing to measure", None);
            return None;
        }
        let mut all = vec![];
        for At { value, at } in listed {
            if all.contains(value) {
                self.diagnostics.push(at, "this is measured twice", None);
            }
            if let Some(missing) = missing_key(spec, *value) {
                self.diagnostics.push(at, missing, None);
                return None;
            }
            all.push(*value);
        }
        Some(all)
    }

    fn verify(
        &mut self,
        spec: &file::Workload,
        name: &At<String>,
        kernel: Option<&Kernel>,
    ) -> Option<Verify> {
        let Some(At { value, at }) = &spec.verify else {
            if spec.kernel.is_none() {
                return Some(Verify::Nothing);
            }
            let help = "name a `reference`, a `file`, another device or the emulator; `verify: none` is allowed, \
                        but such results are never ranked";
            let message = "it is not said how the result is verified";
            self.diagnostics.push(&name.at, message, Some(help.to_owned()));
            return None;
        };
        match value {
            Verification::Nothing => Some(Verify::Nothing),
            Verification::Device(how) => Some(Verify::Device(*how)),
            Verification::Emulator(how) => {
                // A kernel with diagnostics of its own is reported elsewhere.
                if kernel.is_some_and(|kernel| kernel.text(Language::Wgsl).is_none()) {
                    let message = "the emulator runs WGSL, and the kernel has no such source";
                    let help = "add `wgsl:` to the kernel, or verify against `device`";
                    self.diagnostics.push(at, message, Some(help.to_owned()));
                    return None;
                }
                Some(Verify::Emulator(*how))
            }
            Verification::Reference(name, how)
                if self.references.contains(&name.value.as_str()) =>
            {
                Some(Verify::Reference(name.value.clone(), *how))
            }
            Verification::Reference(name, _) => {
                let help = suggest(&name.value, self.references.iter().copied());
                let message = format!("there is no reference `{}`", name.value);
                self.diagnostics.push(&name.at, message, help);
                None
            }
            Verification::File(file, how) => {
                match self.root.locate(self.diagnostics.source(), &file.value) {
                    Ok(path) => Some(Verify::File(path, *how)),
                    Err(why) => {
                        let message =
                            format!("cannot read the expected result `{}`: {why}", file.value);
                        self.diagnostics.push(&file.at, message, None);
                        None
                    }
                }
            }
        }
    }

    fn divide(&mut self, spec: &file::Workload, params: &Params) -> Option<Option<String>> {
        let Some(At { value: name, at }) = &spec.divide else { return Some(None) };
        let known = params.iter().map(|(param, _, _)| param.as_str());
        if known.clone().any(|param| param == name) {
            return Some(Some(name.clone()));
        }
        self.diagnostics.push(at, format!("there is no parameter `{name}`"), suggest(name, known));
        None
    }

    fn host_memory(
        &mut self,
        spec: &file::Workload,
        measure: &[Measure],
    ) -> Option<Vec<MemoryKind>> {
        let Some(At { value: kinds, at }) = &spec.host_memory else {
            let transfers =
                measure.iter().any(|m| matches!(m, Measure::Upload | Measure::Download));
            let all = [Kind::Pageable, Kind::Pinned, Kind::Mapped].map(Into::into);
            return Some(if transfers { all.into() } else { vec![] });
        };
        let unique: HashSet<_> = kinds.iter().map(|kind| kind.value).collect();
        if kinds.is_empty() || unique.len() < kinds.len() {
            self.diagnostics.push(at, "name each kind of host memory once, and at least one", None);
            return None;
        }
        Some(kinds.iter().map(|kind| kind.value.into()).collect())
    }

    /// Reports every name in an expression that is not among `known`.
    pub fn names(&mut self, expression: &Expression, known: &[&str], rule: &str) -> Option<()> {
        let mut all_known = true;
        for (name, part) in expression.expr.names() {
            if !known.contains(&name) {
                let help = suggest(name, known.iter().copied()).unwrap_or_else(|| rule.to_owned());
                let message = format!("there is no `{name}` here");
                self.diagnostics.push(&expression.part(&part), message, Some(help));
                all_known = false;
            }
        }
        all_known.then_some(())
    }
}

/// What a measure needs and `spec` does not have.
fn missing_key(spec: &file::Workload, measure: Measure) -> Option<&'static str> {
    use Measure::{Download, Overlap, Schedule, Split, Transfer, TransferStates, Upload};
    let no_buffers = spec.buffers.as_ref().is_none_or(|buffers| buffers.value.0.is_empty());
    if spec.kernel.is_none() && !matches!(measure, Upload | Download | Transfer | TransferStates) {
        Some("there is no kernel to measure")
    } else if no_buffers && matches!(measure, Upload | Download | Overlap | Schedule | Split) {
        Some("there are no buffers to transfer")
    } else if spec.divide.is_none() && matches!(measure, Overlap | Schedule | Split) {
        Some("this cuts the problem into chunks, so the workload needs `divide`")
    } else if spec.layout.is_none() && measure == Measure::Layout {
        Some("this compares strided accesses with contiguous ones, so the workload needs `layout`")
    } else if spec.halo.is_none() && measure == Measure::Halo {
        Some("this cuts a domain into parts that exchange halos, so the workload needs `halo`")
    } else if spec.passes.is_none() && measure == Measure::Checkpoint {
        Some("this saves the state between passes, so the workload needs `passes`")
    } else if spec.passes.is_some()
        && !matches!(measure, Measure::Kernel | Measure::Halo | Measure::Checkpoint)
    {
        Some("a workload of several passes is measured by `kernel`, `halo` and `checkpoint` alone")
    } else {
        None
    }
}

/// The family the file names, or the one that the measures and the work suggest.
fn family(spec: &file::Workload, measure: &[Measure], work: &Work) -> Family {
    match (&spec.family, measure.first()) {
        (Some(family), _) => family.value,
        (
            None,
            Some(Measure::Upload | Measure::Download | Measure::Transfer | Measure::TransferStates),
        ) => Family::Transfer,
        (None, Some(Measure::Overlap | Measure::Schedule)) => Family::Overlap,
        (None, Some(Measure::Concurrency | Measure::Occupancy | Measure::Split)) => {
            Family::Concurrency
        }
        (None, Some(Measure::Layout | Measure::Halo)) => Family::Memory,
        (None, Some(Measure::Checkpoint)) => Family::Overlap,
        _ if work.flops.is_number(0.0) => Family::Memory,
        _ => Family::Compute,
    }
}

/// The longest name that a compiler is given.
const MAX_NAME: usize = 64;
/// What a name is made of.
pub const NAME_RULE: &str = "letters, digits and `_`, at most 64, not beginning with a digit";

/// Whether every compiler takes `text` as a name.
pub fn is_name(text: &str) -> bool {
    text.len() <= MAX_NAME
        && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
