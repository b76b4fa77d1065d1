//! Finds a suite, its includes and its kernels, and checks all of them.

use super::convert::Converter;
use super::decode::{At, Clean, Decode, Diagnostics};
use super::experiment_kind::{ExperimentKind, Partner};
use super::file::{self, File};
use super::source::{Root, Source};
use super::suggest::suggest;
use super::types::{Budget, Suite, Workload};
use super::{assets, merge, questions, select};
use gpubench_core::error::{Error, Located, Result};
use gpubench_core::hash::sha256_hex;
use gpubench_core::units::quoted;
use gpubench_core::yaml::{Node, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::mem::take;
use std::ops::RangeInclusive;
use std::path::Path;

/// More suite files than this are an error.
const MAX_FILES: usize = 100;
/// Seconds that a run or a case can be given.
pub const SECONDS: RangeInclusive<f64> = 1e-3..=1e6;
/// Rounds that a run can have.
pub const ROUNDS: RangeInclusive<u32> = 1..=10_000;
/// More cases than this are an error: no run would end.
const MAX_CASES: usize = 10_000;

/// Loads a suite: the file at a path, else the embedded one of that name (`quick`,
/// `suites/quick.yaml`). `references` are the names by which a suite may ask for verification, `kinds`
/// the experiments that it may ask for.
///
/// # Errors
/// [`Error::Suite`] with every diagnostic of all its files, [`Error::Usage`] when there is neither
/// such a file nor such a suite.
pub fn load(
    path_or_name: &str,
    references: &[&str],
    kinds: &[&'static dyn ExperimentKind],
) -> Result<Suite> {
    let (root, source) = find(path_or_name)?;
    let mut loader = Loader {
        root,
        references,
        kinds,
        files: BTreeMap::new(),
        suites: BTreeSet::new(),
        read: 0,
        texts: BTreeMap::new(),
        cases: 0,
        open: vec![],
        workloads: vec![],
        diagnostics: vec![],
    };
    let stem = Path::new(&source.path).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let file = loader.file(source);
    loader.unique_names();
    loader.partners();
    let Loader { files, workloads, diagnostics, .. } = loader;
    match file {
        Some(file) if diagnostics.is_empty() => Ok(Suite {
            name: file.name.map(|name| name.value).or(stem).unwrap_or_default(),
            hash: hash(&files),
            layers: file.layers.is_some_and(|layers| layers.value),
            budget: file.budget.map(|budget| Budget::from(&budget)).unwrap_or_default(),
            workloads,
        }),
        _ => Err(Error::Suite(diagnostics)),
    }
}

fn find(path_or_name: &str) -> Result<(Root, Source)> {
    let path = Path::new(path_or_name);
    let embedded = path_or_name.strip_prefix("suites/").unwrap_or(path_or_name);
    let embedded = format!("{}.yaml", embedded.strip_suffix(".yaml").unwrap_or(embedded));
    if !path.is_file()
        && let Some(text) = assets::suite_file(&embedded)
    {
        let file = assets::shown(&embedded).into();
        return Ok((Root::Embedded, Source { path: embedded, file, text: text.into() }));
    }
    if path.exists() {
        let help = "name a file in YAML, or one of the embedded suites";
        let unreadable = |why| Error::Usage(format!("{path_or_name}: {why} ({help})"));
        return Root::open(path).map_err(unreadable);
    }
    let help =
        suggest(path_or_name, assets::suites()).map_or(String::new(), |help| format!("; {help}"));
    Err(Error::Usage(format!("there is no file and no suite `{path_or_name}`{help}")))
}

/// Equal files make equal hashes, wherever they lie.
fn hash(files: &BTreeMap<String, String>) -> String {
    let lines: Vec<_> = files.iter().map(|(path, hash)| format!("{hash} {path}\n")).collect();
    sha256_hex(lines.concat())
}

struct Loader<'a> {
    root: Root,
    references: &'a [&'a str],
    kinds: &'a [&'static dyn ExperimentKind],
    /// Hashes of all files read so far, kernels among them, by their identity.
    files: BTreeMap<String, String>,
    /// Identities of the suite files whose workloads are there already.
    suites: BTreeSet<String>,
    /// How many suite files were read.
    read: usize,
    /// Kernels from files that were read, by the file that names each and what it calls it.
    texts: BTreeMap<(String, String), Source>,
    /// Cases so far.
    cases: usize,
    /// The files that include the one being read, outermost first.
    open: Vec<String>,
    workloads: Vec<Workload>,
    diagnostics: Vec<Located>,
}

impl Loader<'_> {
    /// Reads one file: its includes first, then its own workloads.
    fn file(&mut self, source: Source) -> Option<File> {
        self.files.insert(source.path.clone(), sha256_hex(source.text.as_bytes()));
        self.suites.insert(source.path.clone());
        self.read += 1;
        self.open.push(source.path.clone());
        let mut diagnostics = Diagnostics::new(source);
        let file = parse(&mut diagnostics);
        if let Some(file) = &file {
            match &file.select {
                None => self.includes(file, &mut diagnostics),
                Some(select) => self.selection(file, select, &mut diagnostics),
            }
            self.convert(file, &mut diagnostics);
        }
        self.open.pop();
        // A file that is read twice, by a selection and on its own, reports its diagnostics once.
        for diagnostic in diagnostics.into_found() {
            if !self.diagnostics.contains(&diagnostic) {
                self.diagnostics.push(diagnostic);
            }
        }
        file
    }

    /// The includes of a file that selects from them. They are read for it alone, so that what
    /// it leaves out is not missing elsewhere, and what others include is not missing here.
    fn selection(&mut self, file: &File, select: &select::Select, diagnostics: &mut Diagnostics) {
        let outer = (take(&mut self.suites), take(&mut self.workloads), self.cases);
        self.includes(file, diagnostics);
        let included = take(&mut self.workloads);
        (self.suites, self.workloads, self.cases) = outer;
        // What an error kept from being included cannot be selected.
        if self.diagnostics.is_empty() {
            let selected = select::select(included, select, diagnostics);
            self.cases += selected.iter().map(Workload::cases).sum::<usize>();
            self.workloads.extend(selected);
        }
    }

    fn includes(&mut self, file: &File, diagnostics: &mut Diagnostics) {
        for include in file.include.iter().flatten() {
            let source = match self.root.read(diagnostics.source(), &include.value) {
                Ok(source) => source,
                Err(why) => {
                    let message = format!("cannot include `{}`: {why}", include.value);
                    diagnostics.push(&include.at, message, None);
                    continue;
                }
            };
            if self.open.contains(&source.path) {
                let message =
                    format!("`{}` includes itself: {}", source.path, self.open.join(" → "));
                diagnostics.push(&include.at, message, None);
            } else if self.read >= MAX_FILES {
                diagnostics.push(
                    &include.at,
                    format!("a suite includes at most {MAX_FILES} files"),
                    None,
                );
            } else if !self.suites.contains(&source.path) {
                self.file(source);
            }
        }
    }

    fn convert(&mut self, file: &File, diagnostics: &mut Diagnostics) {
        let defaults = match &file.defaults {
            Some(At { value: Clean(None), .. }) => return,
            Some(At { value: Clean(Some(defaults)), .. }) => Some(defaults),
            None => None,
        };
        let mut converter = Converter {
            root: &self.root,
            references: self.references,
            kinds: self.kinds,
            files: &mut self.files,
            texts: &mut self.texts,
            trusted: assets::is_suite(&diagnostics.source().text),
            diagnostics,
        };
        for (name, spec) in file.workloads.iter().flat_map(|all| &all.0) {
            let Clean(Some(spec)) = spec else { continue };
            for (name, spec) in merge::expand(name, spec, defaults, converter.diagnostics) {
                let Some(workload) = converter.workload(&name, &spec) else { continue };
                self.cases = self.cases.saturating_add(workload.cases());
                if self.cases > MAX_CASES {
                    let message = format!("a suite has at most {MAX_CASES} cases");
                    return converter.diagnostics.push(&name.at, message, None);
                }
                self.workloads.push(workload);
            }
        }
    }

    /// Reports every partner that names no workload with a kernel. Where something else is wrong,
    /// that workload may be missing for it.
    fn partners(&mut self) {
        if !self.diagnostics.is_empty() {
            return;
        }
        let mut partners = vec![];
        for workload in &self.workloads {
            let sizes: Vec<_> = names_of(workload).map(str::to_owned).collect();
            for requested in &workload.measure {
                let named = requested.experiment.partners(&requested.options).into_iter();
                partners.extend(named.map(|partner| (partner, sizes.clone())));
            }
        }
        for (partner, sizes) in &partners {
            let Partner { name, place, .. } = partner;
            match self.workloads.iter().find(|other| other.name == *name) {
                Some(other) => {
                    if let Some(why) = unfit(other, partner, sizes) {
                        self.diagnostics.push(place.diagnostic(format!("`{name}` {why}"), None));
                    }
                }
                None => {
                    let help =
                        suggest(name, self.workloads.iter().map(|other| other.name.as_str()));
                    let message = format!("there is no workload called `{name}` in this suite");
                    self.diagnostics.push(place.diagnostic(message, help.as_deref()));
                }
            }
        }
    }

    fn unique_names(&mut self) {
        let mut known: BTreeMap<&str, &Workload> = BTreeMap::new();
        for workload in &self.workloads {
            if let Some(first) = known.insert(&workload.name, workload) {
                let (line, _) = first.place.diagnostic("", None).line_column();
                let message = format!("there are two workloads called `{}`", workload.name);
                let help = format!("the other one stands in {}:{line}", first.place.file);
                self.diagnostics.push(workload.place.diagnostic(message, Some(&help)));
            }
        }
    }
}

/// Why `other` cannot be the partner of a workload with these `sizes`.
fn unfit(other: &Workload, partner: &Partner, sizes: &[String]) -> Option<String> {
    let same_sizes = || sizes.iter().map(String::as_str).eq(names_of(other));
    if other.kernel.is_none() {
        Some(format!("has no kernel to {}", partner.purpose))
    } else if other.passes.is_some() {
        Some("has several passes, and here one launch is all".into())
    } else if partner.same_sizes && !same_sizes() {
        Some("has not the sizes of this workload".into())
    } else {
        None
    }
}

/// Names of a workload's sizes.
fn names_of(workload: &Workload) -> impl Iterator<Item = &str> {
    workload.sizes.iter().take(1).flatten().map(|(name, _)| name.as_str())
}

fn parse(diagnostics: &mut Diagnostics) -> Option<File> {
    let node = match Node::parse(&diagnostics.source().file, &diagnostics.source().text) {
        Ok(node) => node,
        Err(diagnostic) => {
            diagnostics.add(diagnostic);
            return None;
        }
    };
    if matches!(node.value, Value::Null) {
        let help = "a suite begins with `version: 1` and `workloads:`";
        return diagnostics.reject(&(0..0), "the file is empty", Some(help));
    }
    // Whatever else is wrong may follow from what is not answered yet.
    if questions::report(&node, diagnostics) {
        return None;
    }
    let file = File::decode(&node, diagnostics)?;
    let At { value: version, at } = &file.version;
    if *version != 1 {
        let help = "a newer gpubench may know it";
        let message = format!("this gpubench knows version 1 of suites, not {version}");
        return diagnostics.reject(at, message, Some(help));
    }
    if let Some(At { value: Clean(Some(defaults)), at }) = &file.defaults
        && defaults.variants.is_some()
    {
        diagnostics.push(at, "defaults have no variants", None);
    }
    if let Some(budget) = &file.budget {
        check(budget, diagnostics);
    }
    if file.workloads.is_none() && file.include.is_none() {
        diagnostics.push(&(0..0), "the suite has no workloads", None);
    }
    Some(file)
}

fn check(budget: &file::Budget, diagnostics: &mut Diagnostics) {
    for At { value, at } in [&budget.total, &budget.case].into_iter().flatten() {
        if !SECONDS.contains(value) {
            let (min_seconds, max_seconds) = (SECONDS.start(), SECONDS.end());
            let message = format!(
                "a budget is {min_seconds} to {max_seconds} seconds, not {}",
                quoted(*value)
            );
            diagnostics.push(at, message, None);
        }
    }
    if let Some(At { value, at }) = &budget.target
        && !(*value > 0.0 && value.is_finite())
    {
        diagnostics.push(
            at,
            format!("a target is a positive number, not {}", quoted(*value)),
            None,
        );
    }
    if let Some(At { value, at }) = &budget.rounds
        && !ROUNDS.contains(value)
    {
        let message = format!("a run has 1 to {} rounds, not {value}", ROUNDS.end());
        diagnostics.push(at, message, None);
    }
}

impl From<&file::Budget> for Budget {
    fn from(spec: &file::Budget) -> Self {
        Self {
            total: spec.total.as_ref().map(|at| at.value),
            case: spec.case.as_ref().map(|at| at.value),
            memory: spec.memory.as_ref().map(|at| at.value.0),
            process: spec.process.as_ref().map(|at| at.value.0),
            rounds: spec.rounds.as_ref().map(|at| at.value),
            target: spec.target.as_ref().map(|at| at.value),
        }
    }
}

#[cfg(test)]
mod tests;
