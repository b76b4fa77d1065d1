//! Finds a suite, its includes and its kernels, and checks all of them.

use super::convert::Converter;
use super::decode::{At, Clean, Decode, Mistakes};
use super::file::{self, File};
use super::nearest::meant;
use super::source::{Root, Source};
use super::tree::{Node, Value};
use super::types::{Budget, Suite, Workload};
use super::{assets, merge, only};
use gpubench_core::error::{Error, Located, Result};
use gpubench_core::hash::sha256_hex;
use std::collections::{BTreeMap, BTreeSet};
use std::mem::take;
use std::ops::RangeInclusive;
use std::path::Path;

/// More suite files than this are a mistake.
const MAX_FILES: usize = 100;
/// Seconds that a run or a case can be given.
pub const SECONDS: RangeInclusive<f64> = 1e-3..=1e6;
/// Rounds that a run can have.
pub const ROUNDS: RangeInclusive<u32> = 1..=10_000;
/// More cases than this are a mistake: no run would end.
const MAX_CASES: usize = 10_000;

/// Loads a suite: the file at a path, else the embedded one of that name (`quick`,
/// `suites/quick.yaml`). `references` are the names by which a suite may ask for verification.
///
/// # Errors
/// [`Error::Suite`] with every mistake of all its files, [`Error::Usage`] when there is neither
/// such a file nor such a suite.
pub fn load(path_or_name: &str, references: &[&str]) -> Result<Suite> {
    let (root, source) = find(path_or_name)?;
    let mut loader = Loader {
        root,
        references,
        files: BTreeMap::new(),
        suites: BTreeSet::new(),
        read: 0,
        texts: BTreeMap::new(),
        cases: 0,
        open: vec![],
        workloads: vec![],
        mistakes: vec![],
    };
    let stem = Path::new(&source.path).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let file = loader.file(source);
    loader.unique_names();
    loader.partners();
    let Loader { files, workloads, mistakes, .. } = loader;
    match file {
        Some(file) if mistakes.is_empty() => Ok(Suite {
            name: file.name.map(|name| name.value).or(stem).unwrap_or_default(),
            hash: hash(&files),
            budget: file.budget.map(|budget| Budget::from(&budget)).unwrap_or_default(),
            workloads,
        }),
        _ => Err(Error::Suite(mistakes)),
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
        meant(path_or_name, assets::suites()).map_or(String::new(), |help| format!("; {help}"));
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
    mistakes: Vec<Located>,
}

impl Loader<'_> {
    /// Reads one file: its includes first, then its own workloads.
    fn file(&mut self, source: Source) -> Option<File> {
        self.files.insert(source.path.clone(), sha256_hex(source.text.as_bytes()));
        self.suites.insert(source.path.clone());
        self.read += 1;
        self.open.push(source.path.clone());
        let mut mistakes = Mistakes::new(source);
        let file = parse(&mut mistakes);
        if let Some(file) = &file {
            match &file.only {
                None => self.includes(file, &mut mistakes),
                Some(only) => self.selection(file, only, &mut mistakes),
            }
            self.convert(file, &mut mistakes);
        }
        self.open.pop();
        // A file that is read twice, by a selection and beside it, tells its mistakes once.
        for mistake in mistakes.into_found() {
            if !self.mistakes.contains(&mistake) {
                self.mistakes.push(mistake);
            }
        }
        file
    }

    /// The includes of a file that selects from them. They are read for it alone, so that what
    /// it leaves out is not missing elsewhere, and what others include is not missing here.
    fn selection(&mut self, file: &File, only: &only::Only, mistakes: &mut Mistakes) {
        let outer = (take(&mut self.suites), take(&mut self.workloads), self.cases);
        self.includes(file, mistakes);
        let included = take(&mut self.workloads);
        (self.suites, self.workloads, self.cases) = outer;
        // What a mistake kept from being included cannot be selected.
        if self.mistakes.is_empty() {
            let selected = only::select(included, only, mistakes);
            self.cases += selected.iter().map(Workload::cases).sum::<usize>();
            self.workloads.extend(selected);
        }
    }

    fn includes(&mut self, file: &File, mistakes: &mut Mistakes) {
        for include in file.include.iter().flatten() {
            let source = match self.root.read(mistakes.source(), &include.value) {
                Ok(source) => source,
                Err(why) => {
                    let message = format!("cannot include `{}`: {why}", include.value);
                    mistakes.tell(&include.at, message, None);
                    continue;
                }
            };
            if self.open.contains(&source.path) {
                let message =
                    format!("`{}` includes itself: {}", source.path, self.open.join(" → "));
                mistakes.tell(&include.at, message, None);
            } else if self.read >= MAX_FILES {
                mistakes.tell(
                    &include.at,
                    format!("a suite includes at most {MAX_FILES} files"),
                    None,
                );
            } else if !self.suites.contains(&source.path) {
                self.file(source);
            }
        }
    }

    fn convert(&mut self, file: &File, mistakes: &mut Mistakes) {
        let defaults = match &file.defaults {
            Some(At { value: Clean(None), .. }) => return,
            Some(At { value: Clean(Some(defaults)), .. }) => Some(defaults),
            None => None,
        };
        let mut converter = Converter {
            root: &self.root,
            references: self.references,
            files: &mut self.files,
            texts: &mut self.texts,
            trusted: assets::is_suite(&mistakes.source().text),
            mistakes,
        };
        for (name, form) in file.workloads.iter().flat_map(|all| &all.0) {
            let Clean(Some(form)) = form else { continue };
            for (name, form) in merge::expand(name, form, defaults, converter.mistakes) {
                let Some(workload) = converter.workload(&name, &form) else { continue };
                self.cases = self.cases.saturating_add(workload.cases());
                if self.cases > MAX_CASES {
                    let message = format!("a suite has at most {MAX_CASES} cases");
                    return converter.mistakes.tell(&name.at, message, None);
                }
                self.workloads.push(workload);
            }
        }
    }

    /// Tells every partner that names no workload with a kernel. Where something else is wrong,
    /// that workload may be missing for it.
    fn partners(&mut self) {
        if !self.mistakes.is_empty() {
            return;
        }
        let rearranged = |workload: &Workload| {
            let sizes: Vec<_> = names_of(workload).map(str::to_owned).collect();
            let named =
                workload.rearrange.iter().flat_map(|how| [how.by.clone(), how.then.clone()]);
            named.map(|partner| (partner, Some(sizes.clone()))).collect::<Vec<_>>()
        };
        let beside = self.workloads.iter().flat_map(|workload| &workload.beside);
        let beside = beside.map(|partner| (partner.clone(), None));
        let halo = self.workloads.iter().filter_map(|workload| workload.halo.as_ref());
        let halo = halo.flat_map(|how| [how.pack.clone(), how.unpack.clone()]);
        let others = beside.chain(halo.map(|partner| (partner, None)));
        let partners: Vec<_> = others.chain(self.workloads.iter().flat_map(rearranged)).collect();
        for ((name, place), sizes) in &partners {
            match self.workloads.iter().find(|other| other.name == *name) {
                Some(other) => {
                    if let Some(why) = unfit(other, sizes.as_deref()) {
                        self.mistakes.push(place.mistake(format!("`{name}` {why}"), None));
                    }
                }
                None => {
                    let help = meant(name, self.workloads.iter().map(|other| other.name.as_str()));
                    let message = format!("there is no workload called `{name}` in this suite");
                    self.mistakes.push(place.mistake(message, help.as_deref()));
                }
            }
        }
    }

    fn unique_names(&mut self) {
        let mut known: BTreeMap<&str, &Workload> = BTreeMap::new();
        for workload in &self.workloads {
            if let Some(first) = known.insert(&workload.name, workload) {
                let (line, _) = first.place.mistake("", None).line_column();
                let message = format!("there are two workloads called `{}`", workload.name);
                let help = format!("the other one stands in {}:{line}", first.place.file);
                self.mistakes.push(workload.place.mistake(message, Some(&help)));
            }
        }
    }
}

/// Why `other` cannot be run beside another workload, or cannot rearrange for one with these
/// `sizes` or use what was rearranged.
fn unfit(other: &Workload, sizes: Option<&[String]>) -> Option<&'static str> {
    let differ = |sizes: &[String]| !sizes.iter().map(String::as_str).eq(names_of(other));
    if other.kernel.is_none() && sizes.is_some() {
        Some("has no kernel to rearrange a buffer or to use it then")
    } else if other.kernel.is_none() {
        Some("has no kernel to run beside another or to pack what is exchanged")
    } else if other.passes.is_some() {
        Some("has several passes, and here one launch is all")
    } else if sizes.is_some_and(differ) {
        Some("has not the sizes of this workload")
    } else {
        None
    }
}

/// Names of a workload's sizes.
fn names_of(workload: &Workload) -> impl Iterator<Item = &str> {
    workload.sizes.iter().take(1).flatten().map(|(name, _)| name.as_str())
}

fn parse(mistakes: &mut Mistakes) -> Option<File> {
    let node = match Node::parse(mistakes.source()) {
        Ok(node) => node,
        Err(mistake) => {
            mistakes.add(mistake);
            return None;
        }
    };
    if matches!(node.value, Value::Null) {
        let help = "a suite begins with `version: 1` and `workloads:`";
        mistakes.tell(&(0..0), "the file is empty", Some(help.to_owned()));
        return None;
    }
    let file = File::decode(&node, mistakes)?;
    let At { value: version, at } = &file.version;
    if *version != 1 {
        let help = "a newer gpubench may know it";
        let message = format!("this gpubench knows version 1 of suites, not {version}");
        mistakes.tell(at, message, Some(help.to_owned()));
        return None;
    }
    if let Some(At { value: Clean(Some(defaults)), at }) = &file.defaults
        && defaults.variants.is_some()
    {
        mistakes.tell(at, "defaults have no variants", None);
    }
    if let Some(budget) = &file.budget {
        check(budget, mistakes);
    }
    if file.workloads.is_none() && file.include.is_none() {
        mistakes.tell(&(0..0), "the suite has no workloads", None);
    }
    Some(file)
}

fn check(budget: &file::Budget, mistakes: &mut Mistakes) {
    for At { value, at } in [&budget.total, &budget.case].into_iter().flatten() {
        if !SECONDS.contains(value) {
            let (least, most) = (SECONDS.start(), SECONDS.end());
            let message = format!("a budget is {least} to {most} seconds, not {value}");
            mistakes.tell(at, message, None);
        }
    }
    if let Some(At { value, at }) = &budget.target
        && !(*value > 0.0 && value.is_finite())
    {
        mistakes.tell(at, format!("a target is a positive number, not {value}"), None);
    }
    if let Some(At { value, at }) = &budget.rounds
        && !ROUNDS.contains(value)
    {
        let message = format!("a run has 1 to {} rounds, not {value}", ROUNDS.end());
        mistakes.tell(at, message, None);
    }
}

impl From<&file::Budget> for Budget {
    fn from(form: &file::Budget) -> Self {
        Self {
            total: form.total.as_ref().map(|at| at.value),
            case: form.case.as_ref().map(|at| at.value),
            memory: form.memory.as_ref().map(|at| at.value.0),
            rounds: form.rounds.as_ref().map(|at| at.value),
            target: form.target.as_ref().map(|at| at.value),
        }
    }
}
