//! Many result files: found below the paths that a user names, and read at the same time.

use super::provenance::Provenance;
use super::read::open;
use gpubench_analysis::{ResultMatrix, RunRounds, derive_flags};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::{Detail, Header, Line};
use gpubench_experiments::registry::PROFILING;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Totals over many files.
#[derive(Debug, Default)]
pub struct LoadedRuns {
    /// Their records.
    pub matrix: ResultMatrix,
    /// What could not be used, file by file.
    pub warnings: Vec<String>,
    /// Files that were read.
    pub files: usize,
    /// Devices that are characterised in them.
    pub characterised: Vec<CharacterisedIn>,
}

/// A device that a file characterises.
#[derive(Clone, Debug)]
pub struct CharacterisedIn {
    /// The file.
    pub path: PathBuf,
    /// When its run began, RFC 3339 in UTC.
    pub started: String,
    /// The device.
    pub device: DeviceInfo,
}

/// Result files.
#[derive(Debug, Default)]
pub struct Found {
    /// Files that were named, and those of folders that begin as a result does.
    pub files: Vec<PathBuf>,
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
/// begins as a result does, by name. Of each run and each baseline one file.
///
/// # Errors
/// `Io` where a path cannot be read; `Usage` where nothing in a folder has a result's name.
pub fn find(paths: &[PathBuf]) -> Result<Found> {
    named(paths).map(|found| each_once(found, |one, other| one.is_baseline == other.is_baseline))
}

/// As [`find`], without the baselines that were made of runs that are found, too.
///
/// # Errors
/// As [`find`].
pub fn find_each_once(paths: &[PathBuf]) -> Result<Found> {
    named(paths).map(|found| each_once(found, |_, _| true))
}

fn named(paths: &[PathBuf]) -> Result<Found> {
    let mut found = Found::default();
    for path in paths {
        if !path.is_dir() {
            found.files.push(path.clone());
            continue;
        }
        for file in inside(path)? {
            match open(&file) {
                Ok(_) => found.files.push(file),
                Err(error @ Error::Io { .. }) => return Err(error),
                Err(error) => found.foreign.push(error),
            }
        }
    }
    Ok(found)
}

/// A record that counted twice would seem to have been measured twice, with the same result to the bit. Of files that
/// share records, as far as they `compete`, the run with the most of them stays: the others were copied before it was
/// over, cut short, or hold what was made of it. Bytes decide between equals, and where no other file can share any.
fn each_once(found: Found, compete: impl Fn(&Provenance, &Provenance) -> bool) -> Found {
    let files: Vec<Provenance> = found.files.into_iter().map(Provenance::of).collect();
    let mut order: Vec<usize> = (0..files.len()).collect();
    let records = counts(&files);
    order.sort_by_key(|&at| (files[at].is_baseline, Reverse((records[at], files[at].bytes)), at));
    let (mut kept, mut copies) = (Kept::default(), BTreeMap::new());
    for at in order {
        let file = &files[at];
        let same = |&other: &usize| compete(file, &files[other]) && file.shares_with(&files[other]);
        let other = kept.that_may_share(file).find(same);
        match other {
            Some(other) => _ = copies.insert(at, other),
            None => kept.add(at, file),
        }
    }
    let path = |at: usize| files[at].file.clone();
    let copied = |(copy, first): (usize, usize)| Copied {
        file: path(copy),
        kept: path(first),
        missing: files[copy]
            .count_missing_in(kept.that_may_share(&files[copy]).map(|at| &files[at])),
    };
    Found {
        copies: copies.into_iter().map(copied).collect(),
        files: kept.files.iter().copied().map(path).collect(),
        ..found
    }
}

/// Files that are read, by number.
#[derive(Default)]
struct Kept<'a> {
    files: BTreeSet<usize>,
    by_source: HashMap<&'a str, Vec<usize>>,
    imported: Vec<usize>,
}

impl<'a> Kept<'a> {
    fn add(&mut self, at: usize, file: &'a Provenance) {
        self.files.insert(at);
        self.imported.extend(file.is_imported.then_some(at));
        for source in &file.sources {
            self.by_source.entry(source).or_default().push(at);
        }
    }

    /// Those that may hold records of `file`.
    fn that_may_share(&self, file: &Provenance) -> impl Iterator<Item = usize> + Clone {
        let of_source = |source: &String| self.by_source.get(source.as_str());
        let like = file.sources.iter().filter_map(of_source).flatten();
        like.chain(self.imported.iter().filter(|_| file.is_imported)).copied()
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

/// Reads `files` at the same time, dropping raw samples on the way, and takes them in one after the other: the
/// outcome does not depend on how many threads there are.
///
/// # Errors
/// As [`open`], for the first file that cannot be used.
pub fn load(files: &[PathBuf]) -> Result<LoadedRuns> {
    let loading = Mutex::new(Loading::default());
    // Handed out in their order, so that few wait for one before them.
    files.iter().enumerate().par_bridge().try_for_each(|(place, path)| {
        let run = SummarisedRun::read(path);
        loading.lock().unwrap_or_else(PoisonError::into_inner).take_in(place, run)
    })?;
    Ok(loading.into_inner().unwrap_or_else(PoisonError::into_inner).all)
}

/// Files that are taken in in their order.
#[derive(Default)]
struct Loading {
    all: LoadedRuns,
    /// The file whose turn it is.
    next: usize,
    /// Files that were read before their turn.
    waiting: BTreeMap<usize, Result<SummarisedRun>>,
}

impl Loading {
    /// Takes in the file at `place`, and those that waited for it; fails once, with the first that cannot be used.
    fn take_in(&mut self, place: usize, run: Result<SummarisedRun>) -> Result<()> {
        self.waiting.insert(place, run);
        while let Some(run) = self.waiting.remove(&self.next) {
            self.all.take_in(run?);
            self.next += 1;
        }
        Ok(())
    }
}

impl LoadedRuns {
    fn take_in(&mut self, run: SummarisedRun) {
        self.matrix.take_in(&run.header, run.records);
        self.warnings.extend(run.warnings);
        self.characterised.extend(run.characterised);
        self.files += 1;
    }
}

/// A file without its samples.
struct SummarisedRun {
    header: Header,
    records: RunRounds,
    warnings: Vec<String>,
    characterised: Vec<CharacterisedIn>,
}

impl SummarisedRun {
    fn read(path: &Path) -> Result<Self> {
        let (header, mut lines) = open(path)?;
        let (mut records, mut warnings) = (RunRounds::default(), vec![]);
        let mut characterises: BTreeSet<usize> = BTreeSet::new();
        while let Some(line) = lines.next() {
            match line {
                Ok(Line::Record(record)) => {
                    let is_profile = |detail: &Detail| detail.kind() == PROFILING;
                    characterises.extend(
                        record.detail.as_ref().filter(|d| is_profile(d)).map(|_| record.device),
                    );
                    records.add(&header, *record, lines.case());
                }
                Ok(_) => {}
                Err(flaw) => warnings.push(flaw.to_string()),
            }
        }
        if records.rounds.is_empty() {
            warnings.push(format!("{}: no record in it", path.display()));
        }
        derive_flags(&header, &mut records.rounds);
        let known = characterises.into_iter().filter_map(|device| header.devices.get(device));
        let of = |device: &DeviceInfo| CharacterisedIn {
            path: path.to_path_buf(),
            started: header.started.clone(),
            device: device.clone(),
        };
        let characterised = known.map(of).collect();
        Ok(Self { header, records, warnings, characterised })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Writer;
    use gpubench_core::record::sample::{device, header, key, record};
    use gpubench_core::record::{InTurn, Record};
    use serde_json::{Value, json};

    #[test]
    fn a_folder_is_its_results_and_each_is_read() {
        let folder = tempfile::tempdir().unwrap();
        for n in 0..5 {
            let header = header(vec![device("opencl")]);
            let mut writer = Writer::create(folder.path(), &format!("run{n}"), &header).unwrap();
            for case in 0..n {
                let seconds = 1e-3 + 1e-6 * n as f64;
                writer.append(&record(key("a", case), seconds)).unwrap();
            }
            writer.leave().unwrap();
        }
        for (name, text) in
            [("notes.txt", "mine"), ("a.jsonl", "{\"event\":1}\n"), ("torn.jsonl", "{\"head")]
        {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let Found { files, foreign, .. } = find(&[folder.path().to_owned()]).unwrap();
        assert_eq!(files.len(), 5);
        let foreign: Vec<String> = foreign.iter().map(ToString::to_string).collect();
        assert!(foreign[0].contains("a.jsonl") && foreign[0].contains("no result"), "{foreign:?}");
        assert!(foreign[1].contains("torn.jsonl") && foreign.len() == 2, "{foreign:?}");
        let all = load(&files).unwrap();
        assert_eq!((all.files, all.matrix.entries[0].runs, all.matrix.cases.len()), (5, 5, 4));
        assert_eq!(all.matrix.cell(0, 0).unwrap().rounds().count, 4);
        assert_eq!(all.warnings.len(), 1, "the empty run: {:?}", all.warnings);
    }

    #[test]
    fn a_run_counts_once_however_often_it_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let header = header(vec![device("opencl")]);
        let mut paths = vec![];
        for n in 0..2 {
            let mut writer = Writer::create(folder.path(), &format!("run{n}"), &header).unwrap();
            writer.append(&record(key("a", 1), 1e-3 * f64::from(n + 1))).unwrap();
            paths.push(writer.leave().unwrap());
        }
        let copy = folder.path().join("a copy.jsonl");
        std::fs::copy(folder.path().join("run0.jsonl"), &copy).unwrap();
        let run0 = folder.path().join("run0.jsonl");
        let found = find(&[run0.clone(), run0.clone(), folder.path().to_owned()]).unwrap();
        assert_eq!(found.files, [run0.clone(), folder.path().join("run1.jsonl")]);
        assert_eq!(found.copies.len(), 3, "{:?}", found.copies);
        assert!(found.copies.iter().all(|copy| copy.kept == run0), "{:?}", found.copies);

        // A copy that another program wrote again: blanks, other names first, 1 for 1.0, a mark of the order of bytes.
        let text = std::fs::read_to_string(&copy).unwrap();
        let lines = text.lines().map(|line| rewritten(&serde_json::from_str(line).unwrap()));
        let lines: Vec<String> = lines.collect();
        assert!(
            text.contains("1000000000.0") && lines[0].starts_with(r#"{"header" : {"version" : "#)
        );
        std::fs::write(&copy, format!("\u{feff}{}\r\n", lines.join("\r\n"))).unwrap();
        let found = find(&[run0.clone(), copy.clone()]).unwrap();
        assert_eq!(found.files.len(), 1, "{:?}", found.files);
        // By one that keeps thousandths of a second, fifteen digits or seven, or writes what is not there.
        for (exact, other) in [
            ("05Z", "05.000+00:00"),
            ("05Z", "05.0007Z"),
            ("05Z", "04.9997Z"),
            ("0.001", "0.0010000000000000002"),
            ("0.001", "0.0010000000474974513"),
            ("0.001", "0.0010000004999"),
            (r#""measure":"kernel""#, r#""measure":"kernel","host_memory":null"#),
        ] {
            assert!(text.contains(exact), "{exact}: {text}");
            std::fs::write(&copy, text.replace(exact, other)).unwrap();
            let found = find(&[run0.clone(), copy.clone()]).unwrap();
            assert_eq!(found.files.len(), 1, "{other}: {:?}", found.files);
        }
        std::fs::copy(&run0, &copy).unwrap();

        // A copy of what the run was before it went on.
        let whole = std::fs::read_to_string(&run0).unwrap();
        std::fs::write(&run0, format!("{whole}{}\n", whole.lines().nth(1).unwrap())).unwrap();
        let found = find(&[copy.clone(), run0.clone()]).unwrap();
        let copied = Copied { file: copy, kept: run0.clone(), missing: 0 };
        assert_eq!((found.files, found.copies), (vec![run0], vec![copied]));
    }

    #[test]
    fn of_two_copies_the_one_with_more_records_stays_and_not_the_one_with_more_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer =
            Writer::create(folder.path(), "whole", &header(vec![device("opencl")])).unwrap();
        (0..3).for_each(|case| writer.append(&record(key("a", case), 1e-3)).unwrap());
        let whole = writer.leave().unwrap();
        let text = std::fs::read_to_string(&whole).unwrap();
        let two = text.lines().take(3).collect::<Vec<_>>().join("\n");
        let copy = folder.path().join("copy.jsonl");
        // By a program that spends more blanks, or on a disk that lost what followed.
        let blanks = "\":".to_owned() + &" ".repeat(99);
        for longer in [two.replace("\":", &blanks), two + &"\0".repeat(9999)] {
            assert!(longer.len() > text.len());
            std::fs::write(&copy, longer).unwrap();
            let found = find(&[copy.clone(), whole.clone()]).unwrap();
            assert_eq!(found.files, std::slice::from_ref(&whole));
            let copied = Copied { file: copy.clone(), kept: whole.clone(), missing: 0 };
            assert_eq!(found.copies, [copied]);
        }
        // Two parts, of which none is part of the other: what is not read is counted.
        let lines: Vec<&str> = text.lines().collect();
        let part = |name: &str, lines: &[&str]| {
            let file = folder.path().join(name);
            std::fs::write(&file, lines.join("\n") + "\n").unwrap();
            file
        };
        let [first, last] =
            [part("first", &lines[..3]), part("last", &[lines[0], lines[2], lines[3]])];
        let found = find(&[first.clone(), last.clone()]).unwrap();
        let copied = |missing| [Copied { file: last.clone(), kept: first.clone(), missing }];
        assert_eq!(found.copies, copied(1));
        // What a third one holds is read.
        let third = part("third", &[lines[0], lines[3]]);
        let found = find(&[first.clone(), last.clone(), third]).unwrap();
        assert_eq!(found.copies, copied(0));
    }

    #[test]
    fn what_kept_no_samples_counts_once_and_two_runs_in_turn_are_two() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, in_turn: Option<bool>, records: &[&Record]| {
            let in_turn = in_turn.map(|is_old| InTurn { pair: "a pair".into(), is_old });
            let header = Header { in_turn, ..header(vec![device("opencl")]) };
            let mut writer = Writer::create(folder.path(), name, &header).unwrap();
            records.iter().for_each(|record| writer.append(record).unwrap());
            writer.leave().unwrap()
        };
        let verified = Record { measured: None, detail: None, ..record(key("a", 1), 1.0) };
        let one = write("one", None, &[&verified]);
        let copy = folder.path().join("copy.jsonl");
        std::fs::copy(&one, &copy).unwrap();
        assert_eq!(find(&[one, copy]).unwrap().files.len(), 1);
        // Two that began at once, on two nodes, may both lack something.
        let nodes = [("node1", 1.0), ("node2", 1.3)];
        let nodes = nodes
            .map(|(name, seconds)| write(name, None, &[&verified, &record(key("b", 1), seconds)]));
        assert_eq!(find(&nodes).unwrap().files, nodes);
        // A simulated device is as fast twice.
        let measured = record(key("a", 1), 1.0);
        let pair = [("new", false), ("old", true)];
        let pair = pair.map(|(name, is_old)| write(name, Some(is_old), &[&measured]));
        assert_eq!(find(&pair).unwrap().files, pair);
    }

    #[test]
    fn a_table_that_was_corrected_counts_once_and_so_does_a_baseline_of_several() {
        let folder = tempfile::tempdir().unwrap();
        let imported = |name: &str, tables: &[&str], rounds: &[&[f64]]| {
            let imported = tables.iter().map(|table| format!("t.csv, SHA-256 {table}")).collect();
            let header = Header { imported, ..header(vec![device("opencl")]) };
            let mut writer = Writer::create(folder.path(), name, &header).unwrap();
            for (round, seconds) in (0..).zip(rounds) {
                for (n, seconds) in (0..).zip(*seconds) {
                    writer.append(&Record { round, ..record(key("a", n), *seconds) }).unwrap();
                }
            }
            writer.leave().unwrap()
        };
        let files = |paths: [&PathBuf; 2]| find_each_once(&paths.map(Clone::clone)).unwrap().files;
        let one = imported("one", &["aa"], &[&[1.0, 2.0, 3.0]]);
        let corrected = imported("corrected", &["bb"], &[&[1.0, 2.5, 3.0, 4.0]]);
        assert_eq!(files([&one, &corrected]), [corrected]);
        let other = imported("other", &["cc"], &[&[1.0, 2.1, 3.1]]);
        assert_eq!(files([&one, &other]).len(), 2, "one row of few digits is equal by chance");
        // A baseline of both has the header of the first.
        let both = imported("both", &["aa"], &[&[1.0, 2.0, 3.0], &[1.0, 2.1, 3.1]]);
        assert_eq!(files([&other, &both]).len(), 1);
    }

    /// JSON with the last names first, by a program that writes 1 where a number is 1.0.
    fn rewritten(value: &Value) -> String {
        let joined = |parts: Vec<String>| parts.join(" , ");
        match value {
            Value::Object(fields) => {
                let field = |(name, value)| format!("{} : {}", json!(name), rewritten(value));
                format!("{{{}}}", joined(fields.iter().rev().map(field).collect()))
            }
            Value::Array(values) => format!("[{}]", joined(values.iter().map(rewritten).collect())),
            Value::Number(number) if number.is_f64() => number.as_f64().unwrap().to_string(),
            other => other.to_string(),
        }
    }

    #[test]
    fn folders_without_results_and_paths_that_are_not_there_are_said() {
        let folder = tempfile::tempdir().unwrap();
        let error = find(&[folder.path().to_owned()]).unwrap_err().to_string();
        assert!(error.contains("no result file"), "{error}");
        let nowhere = folder.path().join("nowhere.jsonl");
        let error = load(&find(&[nowhere]).unwrap().files).unwrap_err().to_string();
        assert!(error.contains("nowhere.jsonl"), "{error}");
    }
}
