//! Many result files, read at the same time.

use super::read::open;
use super::run_file::RunFile;
use gpubench_analysis::{ResultMatrix, RunRounds, derive_flags};
use gpubench_core::error::Result;
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::{Header, Line};
use gpubench_experiments::registry::PROFILING;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// Totals over many files.
#[derive(Debug, Default)]
pub struct LoadedRuns {
    /// Their records.
    pub matrix: ResultMatrix,
    /// What could not be used, file by file.
    pub warnings: Vec<String>,
    /// Devices that are characterised in them.
    pub characterised: Vec<CharacterisedIn>,
}

/// A device that a file characterises.
#[derive(Clone, Debug)]
pub struct CharacterisedIn {
    /// The file.
    pub file: RunFile,
    /// When its run began, RFC 3339 in UTC.
    pub started: String,
    /// The device.
    pub device: DeviceInfo,
}

/// Reads `files` at the same time, dropping raw samples on the way, and takes them in one after the other: the
/// outcome does not depend on how many threads there are.
///
/// # Errors
/// As [`open`], for the first file that cannot be used.
pub fn load(files: &[RunFile]) -> Result<LoadedRuns> {
    let loading = Mutex::new(Loading::default());
    // Handed out in their order, so that few wait for one before them.
    files.iter().enumerate().par_bridge().try_for_each(|(place, file)| {
        let run = SummarisedRun::read(file);
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
    fn read(file: &RunFile) -> Result<Self> {
        let (header, mut lines) = open(file)?;
        let (mut records, mut warnings) = (RunRounds::default(), vec![]);
        let mut characterises: BTreeSet<usize> = BTreeSet::new();
        while let Some(line) = lines.next() {
            match line {
                Ok(Line::Record(record)) => {
                    if record.detail.as_ref().is_some_and(|detail| detail.kind() == PROFILING) {
                        characterises.insert(record.device);
                    }
                    records.add(&header, *record, lines.case());
                }
                Ok(_) => {}
                Err(flaw) => warnings.push(flaw.to_string()),
            }
        }
        if records.rounds.is_empty() {
            warnings.push(format!("{}: no record in it", file.path.display()));
        }
        derive_flags(&header, &mut records.rounds);
        let known = characterises.into_iter().filter_map(|device| header.devices.get(device));
        let of = |device: &DeviceInfo| CharacterisedIn {
            file: file.clone(),
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
    use crate::store::find::{Found, find};
    use gpubench_core::record::sample::{device, header, key, record};

    #[test]
    fn a_folder_is_its_results_and_each_is_read() {
        let folder = tempfile::tempdir().unwrap();
        for n in 0..5 {
            let header = Header { seed: n as u64, ..header(vec![device("opencl")]) };
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
        assert_eq!((all.matrix.entries[0].runs, all.matrix.cases.len()), (5, 4));
        assert_eq!(all.matrix.cell(0, 0).unwrap().rounds().count, 4);
        assert_eq!(all.warnings.len(), 1, "the empty run: {:?}", all.warnings);
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let nowhere = folder.path().join("nowhere.jsonl");
        let error = load(&find(&[nowhere]).unwrap().files).unwrap_err().to_string();
        assert!(error.contains("nowhere.jsonl"), "{error}");
    }
}
