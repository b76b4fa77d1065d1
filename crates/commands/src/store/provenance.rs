//! Where the records of a result file come from, so that none counts twice that stands in two files.

use super::lines::{Lines, Piece};
use super::read::LONGEST;
use gpubench_core::hash::sha256;
use gpubench_core::record::{Line, VERSION};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
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
    /// Of its format.
    version: u32,
    records: OnceCell<HashSet<[u8; 32]>>,
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
            version: version(&header["header"]),
            records: OnceCell::new(),
            file,
        }
    }

    /// Whether a record of this file stands in the other, too; of what was imported from other files, whether so many do
    /// that it [`is_copy`].
    pub fn shares_with(&self, other: &Self) -> bool {
        if !self.sources.is_disjoint(&other.sources) {
            return !self.records().is_disjoint(other.records());
        }
        self.is_imported && other.is_imported && {
            let (mine, theirs) = (self.records(), other.records());
            is_copy(mine.intersection(theirs).count(), [mine.len(), theirs.len()])
        }
    }

    fn records(&self) -> &HashSet<[u8; 32]> {
        self.records.get_or_init(|| records(&self.file, self.version).unwrap_or_default())
    }
}

/// Whether two tables of so many rows that have `common` ones are one, written again with rows added or corrected: most of
/// the smaller one's are. Fewer may be equal by chance, where times have few digits.
pub fn is_copy(common: usize, rows: [usize; 2]) -> bool {
    2 * common > rows[0].min(rows[1])
}

/// The lines of so many bytes of a file at most; `None` where it cannot be read, or is none.
fn lines(path: &Path, max_bytes: u64) -> Option<Lines<impl BufRead>> {
    let meta = std::fs::metadata(path).ok()?;
    if gpubench_core::text::no_file(&meta).is_some() {
        return None;
    }
    Some(Lines::new(BufReader::new(File::open(path).ok()?.take(max_bytes)), LONGEST))
}

/// The first two lines. A file that has no end is not searched for one.
fn begin(path: &Path) -> Option<[Vec<u8>; 2]> {
    let mut lines = lines(path, 2 * LONGEST as u64)?;
    let mut next = || Some(lines.next_line().ok()??.0.into_bytes());
    let (header, second) = (next()?, next().unwrap_or_default());
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

fn version(header: &Value) -> u32 {
    header["version"].as_u64().and_then(|version| version.try_into().ok()).unwrap_or(VERSION)
}

/// A hash of what each record says, without the place that it has in the file, and however another program wrote it
/// again.
fn records(path: &Path, version: u32) -> Option<HashSet<[u8; 32]>> {
    let mut lines = lines(path, u64::MAX)?;
    let mut found = HashSet::new();
    let mut devices = Value::Null;
    while let Ok(Some((line, _))) = lines.next_line() {
        let Piece::Whole(line) = line else { continue };
        let Some(mut value) = as_written_today(without_mark(&line), version) else { continue };
        if value["header"].is_object() {
            devices = value["header"]["devices"].take();
        }
        let record = &value["record"];
        if !record.is_object() {
            continue;
        }
        let device =
            record["device"].as_u64().and_then(|at| devices.get(usize::try_from(at).ok()?));
        let device = device.map(|device| [&device["backend"], &device["name"]]);
        let said = json!([device, record["key"], measured(record)]);
        found.insert(sha256(plain(said).to_string()));
    }
    Some(found)
}

/// A line without the mark of the order of bytes, with which some programs begin a file.
fn without_mark(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line)
}

/// A line of a file of this version as we would write it: an older one calls things otherwise, and another program writes
/// what is not there.
fn as_written_today(line: &[u8], version: u32) -> Option<Value> {
    serde_json::to_value(Line::parse(line, version).ok()?).ok()
}

/// What sets a record apart from another one of its case: its samples, or what it came to where none are kept.
fn measured(record: &Value) -> &Value {
    let samples = &record["measured"]["samples"];
    let has_samples = samples.as_array().is_some_and(|samples| !samples.is_empty());
    match &record["detail"] {
        _ if has_samples => samples,
        Value::Null => &record["outcome"],
        detail => detail,
    }
}

/// A number's first twelve digits, as text: more than two measurements share by chance.
pub fn rounded(number: f64) -> String {
    format!("{number:.11e}")
}

/// The same with every number as a program writes it that knows one kind of numbers, 1 and 1.0 are one, and keeps as few
/// digits as the shortest of its numbers has, which are seven or so. Two runs that began at once share no sample by chance.
fn plain(value: Value) -> Value {
    match value {
        Value::Number(number) => {
            let digits = |number: f64| format!("{number:.5e}").into();
            number.as_f64().map_or(Value::Number(number), digits)
        }
        Value::Array(values) => values.into_iter().map(plain).collect(),
        Value::Object(values) => values.into_iter().map(|(k, value)| (k, plain(value))).collect(),
        other => other,
    }
}
