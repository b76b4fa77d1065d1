//! Which result files are read, and each record in them once.

use super::provenance::Provenance;
use super::read::open;
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
            match open(&file) {
                Ok(_) => files.push(file),
                Err(error @ Error::Io { .. }) => return Err(error),
                Err(error) => foreign.push(error),
            }
        }
    }
    Ok((files, foreign))
}

fn inside(folder: &Path) -> Result<Vec<PathBuf>> {
    let io = |source| Error::io(folder, source);
    let mut found = vec![];
    for entry in std::fs::read_dir(folder).map_err(io)? {
        let path = entry.map_err(io)?.path();
        if path.extension().is_some_and(|extension| extension == "jsonl") && path.is_file() {
            found.push(path);
        }
    }
    if found.is_empty() {
        return Err(Error::Usage(format!("{}: no result file (.jsonl) in it", folder.display())));
    }
    found.sort();
    Ok(found)
}

/// A record that counted twice would seem to have been measured twice, with the same result to the bit. Of files that
/// share records, as far as they `compete`, the run with the most of them is read whole. Of the others, those of the same
/// run add what only they hold; what was made of it stays out. Bytes decide between equals, and where no other file can
/// share any.
fn each_once(
    files: Vec<PathBuf>,
    foreign: Vec<Error>,
    compete: impl Fn(&Provenance, &Provenance) -> bool,
) -> Found {
    let files: Vec<Provenance> = files.into_iter().map(Provenance::of).collect();
    let mut order: Vec<usize> = (0..files.len()).collect();
    let records = counts(&files);
    order.sort_by_key(|&at| (files[at].is_baseline, Reverse((records[at], files[at].bytes)), at));
    let (mut kept, mut copies) = (Kept::new(&files), BTreeMap::new());
    for at in order {
        let file = &files[at];
        let same = |&other: &usize| compete(file, &files[other]) && file.shares_with(&files[other]);
        let sharing: Vec<usize> = kept.that_may_share(file).filter(same).collect();
        let Some(&first) = sharing.first() else {
            kept.add(at, at, BTreeSet::new());
            continue;
        };
        if !kept.add_part(at, &sharing) {
            copies.insert(at, kept.part_of[&first].0);
        }
    }
    let copied = |(copy, first): (usize, usize)| Copied {
        file: files[copy].file.clone(),
        kept: files[first].file.clone(),
        missing: files[copy]
            .count_missing_in(kept.that_may_share(&files[copy]).map(|at| &files[at])),
    };
    Found { copies: copies.into_iter().map(copied).collect(), files: kept.run_files(), foreign }
}

/// Files that are read, by number.
struct Kept<'a> {
    files: &'a [Provenance],
    /// Of each file the first one of its run, and which lines are read of any other one.
    part_of: BTreeMap<usize, (usize, BTreeSet<u64>)>,
    by_source: HashMap<&'a str, Vec<usize>>,
    imported: Vec<usize>,
}

impl<'a> Kept<'a> {
    fn new(files: &'a [Provenance]) -> Self {
        let (part_of, by_source) = (BTreeMap::new(), HashMap::new());
        Self { files, part_of, by_source, imported: vec![] }
    }

    fn add(&mut self, at: usize, first: usize, lines: BTreeSet<u64>) {
        let file = &self.files[at];
        self.part_of.insert(at, (first, lines));
        self.imported.extend(file.is_imported.then_some(at));
        for source in &file.sources {
            self.by_source.entry(source).or_default().push(at);
        }
    }

    /// Adds what a file has that those of its run, among the files it shares records with, have not; whether there is
    /// anything.
    fn add_part(&mut self, at: usize, sharing: &[usize]) -> bool {
        let (file, files) = (&self.files[at], self.files);
        let of_run = sharing.iter().copied().filter(|&other| file.is_of_run(&files[other]));
        let Some(first) = self.join(of_run) else { return false };
        let of_run = self.part_of.iter().filter(|(_, (of, _))| *of == first);
        let lines = file.lines_missing_in(of_run.map(|(&other, _)| &files[other]));
        let adds = !lines.is_empty();
        if adds {
            self.add(at, first, lines);
        }
        adds
    }

    /// Makes the runs of these files one, and returns its first file. Two parts that share nothing are two runs, until a
    /// third one shows that they are one.
    fn join(&mut self, files: impl Iterator<Item = usize>) -> Option<usize> {
        let runs: Vec<usize> = files.map(|file| self.part_of[&file].0).collect();
        let first = *runs.first()?;
        if runs.iter().all(|run| *run == first) {
            return Some(first);
        }
        for (&at, (of, lines)) in &mut self.part_of {
            if *of == at && at != first && runs.contains(of) {
                *lines = self.files[at].lines_missing_in(std::iter::empty());
            }
            if runs.contains(of) {
                *of = first;
            }
        }
        Some(first)
    }

    /// Those that may hold records of `file`.
    fn that_may_share(&self, file: &Provenance) -> impl Iterator<Item = usize> + Clone {
        let of_source = |source: &String| self.by_source.get(source.as_str());
        let like = file.sources.iter().filter_map(of_source).flatten();
        like.chain(self.imported.iter().filter(|_| file.is_imported)).copied()
    }

    /// In the order in which they were named.
    fn run_files(&self) -> Vec<RunFile> {
        let path = |at: &usize| self.files[*at].file.clone();
        let mut found: BTreeMap<usize, RunFile> = BTreeMap::new();
        for (at, (first, lines)) in &self.part_of {
            let run = found.entry(*first).or_default();
            match at == first {
                true => run.path = path(at),
                false => run.parts.push(Part { path: path(at), lines: lines.clone() }),
            }
        }
        found.into_values().collect()
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
