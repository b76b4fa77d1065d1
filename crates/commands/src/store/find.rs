//! Which result files are read, and each record in them once.

use super::provenance::Provenance;
use super::read::open;
use super::record_mark::RunRecords;
use super::run_file::{Part, RunFile};
use gpubench_core::error::{Error, Result};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// Result files.
#[derive(Debug, Default)]
pub struct Found {
    /// Files that were named, and those of folders that begin as a result does.
    pub files: Vec<RunFile>,
    /// What else lies in the folders under a result's name, and why it is none.
    pub foreign: Vec<Error>,
    /// Files left out because they hold the same run as another one.
    pub copies: Vec<Copied>,
}

/// A file that is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    /// The file.
    pub file: PathBuf,
    /// The one with the same run that is read.
    pub kept: PathBuf,
    /// How many of its records are in no file that is read.
    pub missing: usize,
}

/// The result files that `paths` mean: files as they are, of folders every `.jsonl` in them that
/// begins as a result does, by name. Of each run and each baseline one file; parts of one run are one, too.
///
/// # Errors
/// `Io` where a path cannot be read; `Usage` where nothing in a folder has a result's name.
pub fn find(paths: &[PathBuf]) -> Result<Found> {
    let (files, foreign) = named(paths)?;
    Ok(each_once(files, foreign, |one, other| one.is_baseline == other.is_baseline))
}

/// As [`find`], without the baselines that were made of runs that are found, too.
///
/// # Errors
/// As [`find`].
pub fn find_each_once(paths: &[PathBuf]) -> Result<Found> {
    let (files, foreign) = named(paths)?;
    Ok(each_once(files, foreign, |_, _| true))
}

/// The files, and why others are none.
fn named(paths: &[PathBuf]) -> Result<(Vec<PathBuf>, Vec<Error>)> {
    let (mut files, mut foreign) = (vec![], vec![]);
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        for file in inside(path)? {
            if is_link_to_nothing(&file) {
                foreign.push(Error::Usage(format!("{}: a link to nothing", file.display())));
                continue;
            }
            match open(&file) {
                Ok(_) => files.push(file),
                Err(error @ Error::Io { .. }) => return Err(error),
                Err(error) => foreign.push(error),
            }
        }
    }
    Ok((files, foreign))
}

/// Whoever made it expects results there.
fn is_link_to_nothing(path: &Path) -> bool {
    path.is_symlink() && !path.exists()
}

fn inside(folder: &Path) -> Result<Vec<PathBuf>> {
    let io = |source| Error::io(folder, source);
    let (mut found, mut has_packed) = (vec![], false);
    for entry in std::fs::read_dir(folder).map_err(io)? {
        let path = entry.map_err(io)?.path();
        has_packed |= path.to_string_lossy().ends_with(".jsonl.gz");
        let is_result = path.extension().is_some_and(|extension| extension == "jsonl");
        if is_result && (path.is_file() || is_link_to_nothing(&path)) {
            found.push(path);
        }
    }
    if found.is_empty() {
        let packed = if has_packed { ": unpack what is there with gunzip first" } else { "" };
        let message = format!("{}: no result file (.jsonl) in it{packed}", folder.display());
        return Err(Error::Usage(message));
    }
    found.sort();
    Ok(found)
}

/// A record that counted twice would seem to have been measured twice, with the same result to the bit. Files of one run
/// are read as one, that with the most records first. Of others that share records, as far as they `compete`, that one
/// alone is read: the rest hold what was made of it. Bytes decide between equals, and where no other file can share any.
fn each_once(
    files: Vec<PathBuf>,
    foreign: Vec<Error>,
    compete: impl Fn(&Provenance, &Provenance) -> bool,
) -> Found {
    let files: Vec<Provenance> = files.into_iter().map(Provenance::of).collect();
    let mut order: Vec<usize> = (0..files.len()).collect();
    let records = counts(&files);
    order.sort_by_key(|&at| (files[at].is_baseline, Reverse((records[at], files[at].bytes)), at));
    let (mut kept, mut copies) = (Kept { files: &files, ..Kept::default() }, BTreeMap::new());
    for at in order {
        let file = &files[at];
        let same = |&other: &usize| {
            let other = &files[other];
            compete(file, other) && (file.is_of_run(other) || file.shares_with(other))
        };
        let other = kept.that_may_share(file).find(same);
        let Some(other) = other else {
            kept.add(at);
            continue;
        };
        // A baseline is no part: its records have rounds and a device of their own.
        let is_part = !file.is_baseline && file.is_of_run(&files[other]);
        if !(is_part && kept.add_part(at, other)) {
            copies.insert(at, (kept.named_as(file).unwrap_or(other), is_part));
        }
    }
    let copied = |(copy, (first, is_part)): (usize, (usize, bool))| {
        let others = kept.that_may_share(&files[copy]).map(|at| &files[at]);
        let others: Vec<&Provenance> = others.collect();
        // A part that is left out has nothing of its own.
        let missing = if is_part { 0 } else { files[copy].count_missing_in(&others) };
        Copied { file: files[copy].file.clone(), kept: files[first].file.clone(), missing }
    };
    Found { copies: copies.into_iter().map(copied).collect(), files: kept.run_files(), foreign }
}

/// Files that are read, by number.
#[derive(Default)]
struct Kept<'a> {
    files: &'a [Provenance],
    /// Of each first file of a run the others, and which lines of them are read.
    parts: BTreeMap<usize, Vec<(usize, BTreeSet<u64>)>>,
    /// Of each of these the first file.
    first: HashMap<usize, usize>,
    /// What they hold, where there are several of a run.
    records: HashMap<usize, RunRecords>,
    by_source: HashMap<&'a str, Vec<usize>>,
    imported: Vec<usize>,
}

impl Kept<'_> {
    fn add(&mut self, at: usize) {
        self.parts.insert(at, vec![]);
        self.list(at, at);
    }

    fn list(&mut self, at: usize, first: usize) {
        let file = &self.files[at];
        self.first.insert(at, first);
        self.imported.extend(file.is_imported.then_some(at));
        for source in &file.sources {
            self.by_source.entry(source).or_default().push(at);
        }
    }

    /// Adds what a file has that the others of its run, of which `other` is one, have not; whether there is anything.
    fn add_part(&mut self, at: usize, other: usize) -> bool {
        let first = self.first[&other];
        let records = self.records.entry(first).or_insert_with(|| {
            let mut records = RunRecords::default();
            self.files[first].all().iter().for_each(|record| _ = records.add(record));
            records
        });
        let mut lines = BTreeSet::new();
        for record in self.files[at].all() {
            if records.add(record) {
                lines.insert(record.line);
            }
        }
        let adds = !lines.is_empty();
        if adds {
            self.parts.entry(first).or_default().push((at, lines));
            self.list(at, first);
        }
        adds
    }

    /// Those that may hold records of `file`.
    fn that_may_share(&self, file: &Provenance) -> impl Iterator<Item = usize> {
        let of_source = |source: &String| self.by_source.get(source.as_str());
        let like = file.sources.iter().filter_map(of_source).flatten();
        like.chain(self.imported.iter().filter(|_| file.is_imported)).copied()
    }

    /// The file itself, where it was named twice.
    fn named_as(&self, file: &Provenance) -> Option<usize> {
        self.that_may_share(file).find(|&at| self.files[at].file == file.file)
    }

    /// In the order in which they were named.
    fn run_files(&self) -> Vec<RunFile> {
        let path = |at: usize| self.files[at].file.clone();
        let part =
            |(at, lines): &(usize, BTreeSet<u64>)| Part { path: path(*at), lines: lines.clone() };
        let run = |(first, parts): (&usize, &Vec<_>)| RunFile {
            path: path(*first),
            parts: parts.iter().map(part).collect(),
        };
        self.parts.iter().map(run).collect()
    }
}

/// How many records each file has, measured and others; none where it cannot share any with another file, and need not
/// be read for that.
fn counts(files: &[Provenance]) -> Vec<[usize; 2]> {
    let mut holders: HashMap<&str, usize> = HashMap::new();
    let sources = files.iter().flat_map(|file| &file.sources);
    sources.for_each(|source| *holders.entry(source.as_str()).or_default() += 1);
    let are_imported = files.iter().filter(|file| file.is_imported).count() > 1;
    let may_share = |file: &Provenance| {
        file.is_imported && are_imported
            || file.sources.iter().any(|source| holders[source.as_str()] > 1)
    };
    files.iter().map(|file| if may_share(file) { file.counts() } else { [0, 0] }).collect()
}

#[cfg(test)]
mod tests;
