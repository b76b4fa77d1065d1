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
    records: OnceCell<RecordMarks>,
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
            return self.common_with(other).next().is_some();
        }
        self.is_imported && other.is_imported && {
            let records = [self.records().len(), other.records().len()];
            is_copy(self.common_with(other).count(), records)
        }
    }

    /// How many measured records it has, each once, and how many others; it reads the file.
    pub fn counts(&self) -> [usize; 2] {
        [self.marks().measured.len(), self.marks().others.len()]
    }

    /// How many of its records stand in none of the other files; it reads them.
    pub fn count_missing_in<'a>(&self, others: impl Iterator<Item = &'a Self> + Clone) -> usize {
        let is_in = |mark: &RecordMark, other: &Self| {
            mark.near().any(|near| other.records().contains(&near))
        };
        let is_there = |mark: &&RecordMark| others.clone().any(|other| is_in(mark, other));
        self.records().len() - self.records().iter().filter(is_there).count()
    }

    /// The records of this file that stand in the other, too.
    fn common_with(&self, other: &Self) -> impl Iterator<Item = &RecordMark> {
        let theirs = other.records();
        self.records().iter().filter(|mark| mark.near().any(|near| theirs.contains(&near)))
    }

    /// What came to nothing may be the same in any two runs: it counts where a file has nothing else.
    fn records(&self) -> &HashSet<RecordMark> {
        let RecordMarks { measured, others } = self.marks();
        if measured.is_empty() { others } else { measured }
    }

    fn marks(&self) -> &RecordMarks {
        self.records.get_or_init(|| marks(&self.file, self.version).unwrap_or_default())
    }
}

/// Marks of a file's records.
#[derive(Debug, Default)]
struct RecordMarks {
    measured: HashSet<RecordMark>,
    /// Of those that came to nothing.
    others: HashSet<RecordMark>,
}

/// What sets a record apart from another one of its case: how many figures it has, and where the smallest, the median
/// and the largest lie, by steps of a millionth. A program that keeps seven digits moves each by a step at most, and two
/// runs that began at once do not share all three.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct RecordMark {
    case: [u8; 32],
    steps: [i64; 3],
}

impl RecordMark {
    /// Of a case and its figures, in order.
    fn new(case: Value, figures: &[f64]) -> Self {
        let at = |index: usize| figures.get(index).map_or(0, |figure| step(*figure));
        let last = figures.len().saturating_sub(1);
        let case = plain(json!([case, figures.len()]));
        Self { case: sha256(case.to_string()), steps: [0, last / 2, last].map(at) }
    }

    /// It and its neighbours.
    fn near(&self) -> impl Iterator<Item = Self> {
        (0..27).map(|neighbour| {
            let away = [neighbour % 3, neighbour / 3 % 3, neighbour / 9].map(|step| step - 1);
            let mut near = self.clone();
            near.steps.iter_mut().zip(away).for_each(|(step, away)| *step += away);
            near
        })
    }
}

/// Where a number lies, by steps of a millionth of it.
fn step(number: f64) -> i64 {
    match number == 0.0 {
        true => 0,
        // A number has at most 745 as its log.
        false => (number.abs().ln() * 1e6).round() as i64,
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

/// The first line that is not blank; `None` where there is none, or nothing that has lines.
pub(super) fn first(path: &Path) -> Option<Vec<u8>> {
    let mut lines = lines(path, 2 * LONGEST as u64)?;
    loop {
        let line = lines.next_line().ok()??.0.into_bytes();
        let line = without_mark(&line);
        if !line.trim_ascii().is_empty() {
            return Some(line.to_vec());
        }
    }
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

/// A mark of each record, without the place that it has in the file, and however another program wrote it again.
fn marks(path: &Path, version: u32) -> Option<RecordMarks> {
    let mut lines = lines(path, u64::MAX)?;
    let RecordMarks { mut measured, mut others } = RecordMarks::default();
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
        let case =
            json!([device.map(|device| [&device["backend"], &device["name"]]), record["key"]]);
        match figures(record) {
            Some(figures) => measured.insert(RecordMark::new(case, &figures)),
            None => others.insert(RecordMark::new(json!([case, record["outcome"]]), &[])),
        };
    }
    Some(RecordMarks { measured, others })
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

/// What was measured of a record: its samples, or the figures of an experiment that keeps none.
fn figures(record: &Value) -> Option<Vec<f64>> {
    let mut found = vec![];
    numbers(&record["measured"]["samples"], &mut found);
    if found.is_empty() {
        numbers(&record["detail"], &mut found);
        // Sizes and counts are the same in every run.
        let has_fractions = found.iter().any(|number| number.fract() != 0.0);
        found.retain(|number| !has_fractions || number.fract() != 0.0);
    }
    found.sort_by(f64::total_cmp);
    (!found.is_empty()).then_some(found)
}

/// All numbers in a value.
fn numbers(value: &Value, found: &mut Vec<f64>) {
    match value {
        Value::Number(number) => found.extend(number.as_f64()),
        Value::Array(values) => values.iter().for_each(|value| numbers(value, found)),
        Value::Object(values) => values.values().for_each(|value| numbers(value, found)),
        _ => {}
    }
}

/// A number's first twelve digits, as text: more than two measurements share by chance.
pub fn rounded(number: f64) -> String {
    format!("{number:.11e}")
}

/// The same with every number as a program writes it that knows one kind of numbers: 1 and 1.0 are one.
fn plain(value: Value) -> Value {
    match value {
        Value::Number(number) => {
            number.as_f64().map_or(Value::Number(number), |number| rounded(number).into())
        }
        Value::Array(values) => values.into_iter().map(plain).collect(),
        Value::Object(values) => values.into_iter().map(|(k, value)| (k, plain(value))).collect(),
        other => other,
    }
}
