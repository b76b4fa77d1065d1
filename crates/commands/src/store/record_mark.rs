//! What sets a record apart from others, however another program wrote its file again.

use gpubench_core::hash::sha256;
use gpubench_core::record::{Header, Record, Severity};
use serde_json::{Value, json};
use std::collections::HashMap;

/// What sets a record apart from another one of its case: how many figures it has, and where the smallest, the median
/// and the largest lie, by steps of a ten-thousandth. A program that keeps five digits moves each by a step at most, and
/// two runs that began at once hardly share all three.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RecordMark {
    case: [u8; 32],
    content: Content,
}

/// What a record holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Content {
    Figures { count: usize, steps: [i64; 3] },
    Unmeasured(Severity),
}

impl RecordMark {
    /// Of a record of the run with this header.
    pub fn new(header: &Header, record: &Record) -> Self {
        let device = header.devices.get(record.device);
        let case = json!([device.map(|device| [&device.backend, &device.name]), record.key]);
        let figures = figures(record);
        let last = figures.len().saturating_sub(1);
        let content = match figures.is_empty() {
            true => Content::Unmeasured(record.outcome.severity()),
            false => Content::Figures {
                count: figures.len(),
                steps: [0, last / 2, last].map(|at| step(figures[at])),
            },
        };
        Self { case: sha256(plain(case).to_string()), content }
    }

    /// Whether the record has figures.
    pub fn is_measured(&self) -> bool {
        matches!(self.content, Content::Figures { .. })
    }

    /// It and its neighbours.
    pub fn near(&self) -> Vec<Self> {
        let Content::Figures { count, steps } = self.content else { return vec![self.clone()] };
        let near = (0..27).map(|neighbour| {
            let away = [neighbour % 3, neighbour / 3 % 3, neighbour / 9].map(|step| step - 1);
            let steps = [0, 1, 2].map(|at| steps[at] + away[at]);
            Self { case: self.case, content: Content::Figures { count, steps } }
        });
        near.collect()
    }
}

/// A record in its file.
#[derive(Clone, Debug)]
pub struct RecordInFile {
    /// Its line, from 1.
    pub line: u64,
    /// Position of its device in the header.
    pub device: usize,
    /// Its round.
    pub round: u32,
    /// What it says.
    pub mark: RecordMark,
}

/// The records of a run that stand in the files read so far.
#[derive(Debug, Default)]
pub struct RunRecords(HashMap<(usize, [u8; 32], u32), Vec<Content>>);

impl RunRecords {
    /// Adds a record of another file of the run; whether it was not there. A run has one record of a device's case in a
    /// round. It has another one where a copy was resumed by itself: with other figures, or with another failure.
    pub fn add(&mut self, record: &RecordInFile) -> bool {
        let RecordMark { case, content } = &record.mark;
        let there = self.0.entry((record.device, *case, record.round)).or_default();
        let says_nothing = *content == Content::Unmeasured(Severity::Skipped) && !there.is_empty();
        let is_new = !says_nothing && !there.iter().any(|other| content.is_same(other));
        if is_new {
            there.push(content.clone());
        }
        is_new
    }
}

impl Content {
    /// Whether both are of one record: those of [`RecordMark::near`].
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Figures { count, steps }, Self::Figures { count: others, steps: other }) => {
                let near = |(one, other): (&i64, &i64)| one.abs_diff(*other) <= 1;
                count == others && steps.iter().zip(other).all(near)
            }
            _ => self == other,
        }
    }
}

/// Where a number lies, by steps of a ten-thousandth of it.
fn step(number: f64) -> i64 {
    match number == 0.0 {
        true => 0,
        // A number has at most 745 as its log.
        false => (number.abs().ln() * 1e4).round() as i64,
    }
}

/// What was measured of a record, in order: its samples, or the figures of an experiment that keeps none.
fn figures(record: &Record) -> Vec<f64> {
    let mut found = record.measured.as_ref().map_or(vec![], |measured| measured.samples.clone());
    if found.is_empty() {
        numbers(&serde_json::to_value(&record.detail).unwrap_or_default(), &mut found);
        // Sizes and counts are the same in every run.
        let has_fractions = found.iter().any(|number| number.fract() != 0.0);
        found.retain(|number| !has_fractions || number.fract() != 0.0);
    }
    found.sort_by(f64::total_cmp);
    found
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
pub fn plain(value: Value) -> Value {
    match value {
        Value::Number(number) => {
            number.as_f64().map_or(Value::Number(number), |number| rounded(number).into())
        }
        Value::Array(values) => values.into_iter().map(plain).collect(),
        Value::Object(values) => values.into_iter().map(|(k, value)| (k, plain(value))).collect(),
        other => other,
    }
}
