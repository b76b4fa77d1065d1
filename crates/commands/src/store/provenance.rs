//! Where the records of a result file come from, so that none counts twice that stands in two files.

use super::lines::{Lines, Piece};
use super::read::LONGEST;
use gpubench_core::hash::sha256;
use gpubench_core::record::{Line, VERSION};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};
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

    /// Whether both hold parts of one run: its records can be read as those of one file.
    pub fn is_of_run(&self, other: &Self) -> bool {
        let is_run = |file: &Self| !file.is_baseline && !file.is_imported;
        let is_same = !self.sources.is_disjoint(&other.sources);
        is_same && is_run(self) && is_run(other) && self.marks().devices == other.marks().devices
    }

    /// How many measured records it has, each once, and how many others; it reads the file.
    pub fn counts(&self) -> [usize; 2] {
        [self.marks().measured.len(), self.marks().others.len()]
    }

    /// How many of its records stand in none of the other files; it reads them.
    pub fn count_missing_in<'a>(&self, others: impl Iterator<Item = &'a Self> + Clone) -> usize {
        let is_there = |mark: &&RecordMark| {
            others.clone().any(|other| mark.near().any(|near| other.records().contains_key(&near)))
        };
        self.records().len() - self.records().keys().filter(is_there).count()
    }

    /// The lines of its records that stand in none of the other files, which hold parts of the same run.
    pub fn lines_missing_in<'a>(
        &self,
        others: impl Iterator<Item = &'a Self> + Clone,
    ) -> BTreeSet<u64> {
        let is_in = |marks: Option<&Vec<Place>>, round| {
            marks.is_some_and(|places| places.iter().any(|place| place.round == round))
        };
        let is_there = |mark: &RecordMark, round: u64| {
            others.clone().map(Self::marks).any(|marks| {
                mark.near().any(|near| is_in(marks.measured.get(&near), round))
                    || is_in(marks.others.get(mark), round)
            })
        };
        let RecordMarks { measured, others: without, .. } = self.marks();
        let all = measured.iter().chain(without);
        let all = all.flat_map(|(mark, places)| places.iter().map(move |place| (mark, place)));
        all.filter(|(mark, place)| !is_there(mark, place.round))
            .map(|(_, place)| place.line)
            .collect()
    }

    /// The records of this file that stand in the other, too.
    fn common_with(&self, other: &Self) -> impl Iterator<Item = &RecordMark> {
        let theirs = other.records();
        self.records().keys().filter(|mark| mark.near().any(|near| theirs.contains_key(&near)))
    }

    /// What came to nothing may be the same in any two runs: it counts where a file has nothing else.
    fn records(&self) -> &HashMap<RecordMark, Vec<Place>> {
        let RecordMarks { measured, others, .. } = self.marks();
        if measured.is_empty() { others } else { measured }
    }

    fn marks(&self) -> &RecordMarks {
        self.records.get_or_init(|| marks(&self.file, self.version).unwrap_or_default())
    }
}

/// Marks of a file's records, and where these stand.
#[derive(Debug, Default)]
struct RecordMarks {
    /// API and name of each device.
    devices: Vec<[Value; 2]>,
    measured: HashMap<RecordMark, Vec<Place>>,
    /// Of those that came to nothing.
    others: HashMap<RecordMark, Vec<Place>>,
}

/// A record's line, from 1, and its round.
#[derive(Clone, Copy, Debug)]
struct Place {
    line: u64,
    round: u64,
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

/// A mark of each record, however another program wrote it again.
fn marks(path: &Path, version: u32) -> Option<RecordMarks> {
    let mut lines = lines(path, u64::MAX)?;
    let mut marks = RecordMarks::default();
    let mut at = 0;
    while let Ok(Some((line, _))) = lines.next_line() {
        at += 1;
        let Piece::Whole(line) = line else { continue };
        let Some(value) = as_written_today(without_mark(&line), version) else { continue };
        if let Value::Array(devices) = &value["header"]["devices"] {
            let name = |device: &Value| ["backend", "name"].map(|field| device[field].clone());
            marks.devices = devices.iter().map(name).collect();
        }
        marks.add(&value["record"], at);
    }
    Some(marks)
}

impl RecordMarks {
    /// Takes in the record of a line; nothing where it has none.
    fn add(&mut self, record: &Value, line: u64) {
        if !record.is_object() {
            return;
        }
        let device =
            record["device"].as_u64().and_then(|at| self.devices.get(usize::try_from(at).ok()?));
        let case = json!([device, record["key"]]);
        let (marks, mark) = match figures(record) {
            Some(figures) => (&mut self.measured, RecordMark::new(case, &figures)),
            None => (&mut self.others, RecordMark::new(json!([case, record["outcome"]]), &[])),
        };
        let round = record["round"].as_u64().unwrap_or(0);
        marks.entry(mark).or_default().push(Place { line, round });
    }
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
