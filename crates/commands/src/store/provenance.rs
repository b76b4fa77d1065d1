//! Where the records of a result file come from, so that none counts twice that stands in two files.

use super::lines::Lines;
use super::read::{LONGEST, open};
use super::record_mark::{RecordInFile, RecordMark, plain};
use gpubench_core::error::Result;
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::{Header, Line};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashSet};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

/// A file, and what it takes to see that another one holds the same records.
#[derive(Debug)]
pub struct Provenance {
    /// The file.
    pub file: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// When each run began that may be in it; what was imported has hashes of the files that it was read from.
    pub sources: BTreeSet<String>,
    /// Whether it is a baseline, which holds records of runs.
    pub is_baseline: bool,
    /// Whether it was imported.
    pub is_imported: bool,
    contents: OnceCell<Contents>,
}

impl Provenance {
    /// Of a file; without a source where it cannot be read or begins with no header, which whoever reads it next will
    /// say.
    pub fn of(file: PathBuf) -> Self {
        let begin = begin(&file).unwrap_or_default();
        let json = |line: Vec<u8>| serde_json::from_slice::<Value>(&line).unwrap_or_default();
        let [header, second] = begin.map(json);
        let noise = &second["noise"];
        Self {
            is_imported: header["header"]["imported"][0].is_string(),
            bytes: file.metadata().map_or(0, |meta| meta.len()),
            sources: sources(&header["header"], noise),
            is_baseline: noise.is_object(),
            contents: OnceCell::new(),
            file,
        }
    }

    /// Whether a record of this file stands in the other, too; of what was imported from other files, whether so many do
    /// that it [`is_copy`].
    pub fn shares_with(&self, other: &Self) -> bool {
        if !self.sources.is_disjoint(&other.sources) {
            return self.common_with(other).next().is_some();
        }
        self.is_imported && other.is_imported && {
            let records = [self.marks().len(), other.marks().len()];
            is_copy(self.common_with(other).count(), records)
        }
    }

    /// Whether both hold records of one run: it began at that moment, with this seed, of this suite, on these devices, or,
    /// where one is a baseline, on its device. It reads the files.
    pub fn is_of_run(&self, other: &Self) -> bool {
        let are_imported = self.is_imported || other.is_imported;
        let are_baselines = self.is_baseline && other.is_baseline;
        if are_imported || are_baselines || self.sources.is_disjoint(&other.sources) {
            return false;
        }
        let [one, other] = [self, other].map(Self::contents);
        let is_on_same = match self.is_baseline {
            true => one.devices.iter().all(|device| other.devices.contains(device)),
            false => one.devices == other.devices,
        };
        one.run.is_some() && one.run == other.run && is_on_same
    }

    /// How many measured records it has, and how many others; it reads the file.
    pub fn counts(&self) -> [usize; 2] {
        let measured = self.all().iter().filter(|record| record.mark.is_measured()).count();
        [measured, self.all().len() - measured]
    }

    /// How many of its records stand in none of the other files; it reads them.
    pub fn count_missing_in(&self, others: &[&Self]) -> usize {
        let is_there = |mark: &&RecordMark| {
            let near = mark.near();
            let is_in = |other: &&Self| {
                near.iter().any(|near| other.marks().contains(near))
                    || !mark.is_measured() && other.all().iter().any(|record| record.mark == **mark)
            };
            others.iter().any(is_in)
        };
        self.marks().len() - self.marks().iter().filter(is_there).count()
    }

    /// Its records, in their order; it reads the file.
    pub fn all(&self) -> &[RecordInFile] {
        &self.contents().records
    }

    /// The records of this file that stand in the other, too.
    fn common_with(&self, other: &Self) -> impl Iterator<Item = &RecordMark> {
        let theirs = other.marks();
        self.marks().iter().filter(|mark| mark.near().iter().any(|near| theirs.contains(near)))
    }

    fn marks(&self) -> &HashSet<RecordMark> {
        &self.contents().marks
    }

    fn contents(&self) -> &Contents {
        self.contents.get_or_init(|| Contents::of(&self.file).unwrap_or_default())
    }
}

/// What a file holds.
#[derive(Debug, Default)]
struct Contents {
    /// What sets its run apart from others that began at once.
    run: Option<Value>,
    devices: Vec<Value>,
    records: Vec<RecordInFile>,
    /// Of those that were measured. What came to nothing may be the same in any two runs: it counts where a file has
    /// nothing else.
    marks: HashSet<RecordMark>,
}

impl Contents {
    /// Of a file, as whoever reads it next will see it.
    fn of(path: &Path) -> Result<Self> {
        let (header, mut lines) = open(path)?;
        let mut records = vec![];
        while let Some(line) = lines.next() {
            if let Ok(Line::Record(record)) = line {
                let mark = RecordMark::new(&header, &record);
                let (device, round) = (record.device, record.round);
                records.push(RecordInFile { line: lines.line(), device, round, mark });
            }
        }
        let any_measured = records.iter().any(|record| record.mark.is_measured());
        let counts = |mark: &&RecordMark| mark.is_measured() || !any_measured;
        let marks = records.iter().map(|record| &record.mark).filter(counts).cloned().collect();
        let Header { host, suite_hash, seed, tuned, .. } = &header;
        let run = plain(json!([host.name, suite_hash, seed, tuned]));
        let devices = header.devices.iter().map(identity).collect();
        Ok(Self { run: Some(run), devices, records, marks })
    }
}

/// What tells a device from the others of its host.
fn identity(device: &DeviceInfo) -> Value {
    let DeviceInfo { remote, backend, index, name, uuid, pci, driver, .. } = device;
    json!([remote, backend, index, name, uuid, pci, driver])
}

/// Whether two tables of so many rows that have `common` ones are one, written again with rows added or corrected: most of
/// the smaller one's are. Fewer may be equal by chance, where times have few digits.
pub fn is_copy(common: usize, rows: [usize; 2]) -> bool {
    2 * common > rows[0].min(rows[1])
}

/// The lines of a file's beginning, long enough for two; `None` where it cannot be read, or is none.
fn lines(path: &Path) -> Option<impl Iterator<Item = Vec<u8>>> {
    let meta = std::fs::metadata(path).ok()?;
    if gpubench_core::text::no_file(&meta).is_some() {
        return None;
    }
    let beginning = File::open(path).ok()?.take(2 * LONGEST as u64);
    Some(Lines::new(BufReader::new(beginning), LONGEST).kept())
}

/// The first line that is not blank; `None` where there is none, or nothing that has lines.
pub(super) fn first(path: &Path) -> Option<Vec<u8>> {
    let mut lines = lines(path)?.map(|line| without_mark(&line).to_vec());
    lines.find(|line| !line.trim_ascii().is_empty())
}

/// The first two lines. A file that has no end is not searched for one.
fn begin(path: &Path) -> Option<[Vec<u8>; 2]> {
    let mut lines = lines(path)?;
    let (header, second) = (lines.next()?, lines.next().unwrap_or_default());
    Some([without_mark(&header).to_vec(), second])
}

fn sources(header: &Value, noise: &Value) -> BTreeSet<String> {
    let items = |of: &Value| of.as_array().cloned().unwrap_or_default();
    let hash = |of: Value| Some(of.as_str()?.rsplit(' ').next()?.to_owned());
    let imported: BTreeSet<String> =
        items(&header["imported"]).into_iter().filter_map(hash).collect();
    if !imported.is_empty() {
        return imported;
    }
    // Two runs in turn begin at once.
    let half = if header["in_turn"]["is_old"] == json!(true) { ", the older" } else { "" };
    let history = items(&noise["history"]);
    let began = history.iter().chain([header]).map(|run| &run["started"]);
    let began = began.filter_map(Value::as_str).flat_map(instants);
    began.map(|instant| format!("{instant}{half}")).collect()
}

/// When a run began, however another program wrote it again: many keep thousandths of a second, cut or rounded, in
/// which no two runs of a device begin.
fn instants(started: &str) -> Vec<String> {
    match started.parse::<Timestamp>() {
        Ok(time) => [0, 1].map(|more| (time.as_millisecond() + more).to_string()).into(),
        Err(_) => vec![started.to_owned()],
    }
}

/// Whether two texts are when one run began.
pub fn is_same_start(one: &str, other: &str) -> bool {
    let others = instants(other);
    instants(one).iter().any(|instant| others.contains(instant))
}

/// A line without the mark of the order of bytes, with which some programs begin a file.
fn without_mark(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line)
}
