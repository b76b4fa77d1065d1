//! What changed since the last time: the figures of the last pages, kept as a table, against today's.

use crate::results::Table;
use crate::values::Summary;
use gpubench_core::error::{Error, Result};
use gpubench_document::{Unit, number};
use std::collections::BTreeMap;
use std::path::Path;

/// Medians that differ by less are called the same.
const TOLERANCE: f64 = 0.1;
/// Changes that a page lists.
const MAX_LISTED: usize = 12;

const HEADER: [&str; 9] =
    ["capability", "figure", "row", "machine", "target", "try", "value", "unit", "started"];

/// One figure of one try.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Capability, figure, row, machine, target.
    pub key: [String; 5],
    /// The try.
    pub attempt: u32,
    /// The median, or texts.
    pub value: String,
    /// Its unit's symbol.
    pub unit: String,
    /// When it was measured.
    pub started: String,
}

/// The entries of a figure.
pub fn entries(
    capability: &str,
    figure: &str,
    table: &Table,
    started: impl Fn(&crate::results::Column) -> String,
) -> Vec<Entry> {
    let mut all = vec![];
    for (row, columns) in table {
        for (column, summary) in columns {
            let (value, unit) = match summary {
                Summary::Numbers { median, unit, .. } => (format!("{median:?}"), unit.symbol()),
                Summary::Texts(_) => (summary.text(), ""),
            };
            let target = match column.step.as_str() {
                "" => column.target.clone(),
                step => format!("{}, {step}", column.target),
            };
            let key = [capability, figure, row, &column.machine, &target].map(str::to_owned);
            let started = started(column);
            all.push(Entry { key, attempt: column.attempt, value, unit: unit.to_owned(), started });
        }
    }
    all
}

/// Reads the entries of the last time; none where there was none.
///
/// # Errors
/// `Usage` for a file that is no such table.
pub fn read(file: &Path) -> Result<Vec<Entry>> {
    let Ok(text) = std::fs::read_to_string(file) else { return Ok(vec![]) };
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let wrong = |what: String| Error::Usage(format!("{}: {what}", file.display()));
    reader
        .records()
        .map(|record| {
            let record = record.map_err(|error| wrong(error.to_string()))?;
            let cell = |i: usize| record.get(i).unwrap_or_default().to_owned();
            let attempt = cell(5).parse().map_err(|_| wrong(format!("{} is no try", cell(5))))?;
            let key = [cell(0), cell(1), cell(2), cell(3), cell(4)];
            Ok(Entry { key, attempt, value: cell(6), unit: cell(7), started: cell(8) })
        })
        .collect()
}

/// Writes all entries.
///
/// # Errors
/// `Io`.
pub fn write(file: &Path, entries: &[Entry]) -> Result<()> {
    let mut writer = csv::Writer::from_writer(vec![]);
    let io = |source| Error::io(file, source);
    let other = |error: csv::Error| io(std::io::Error::other(error));
    writer.write_record(HEADER).map_err(other)?;
    for entry in entries {
        let attempt = entry.attempt.to_string();
        let rest = [&attempt, &entry.value, &entry.unit, &entry.started];
        writer.write_record(entry.key.iter().chain(rest)).map_err(other)?;
    }
    let text = writer.into_inner().map_err(|error| io(std::io::Error::other(error.to_string())))?;
    std::fs::write(file, text).map_err(io)
}

/// The tries of one figure on one target.
type Tries<'e> = BTreeMap<&'e [String; 5], Vec<&'e Entry>>;

fn tries(entries: &[Entry]) -> Tries<'_> {
    let mut all = Tries::new();
    entries.iter().for_each(|entry| all.entry(&entry.key).or_default().push(entry));
    all
}

/// The ends of numbers; nothing of texts.
fn range(tries: &[&Entry]) -> Option<[f64; 2]> {
    let numbers: Option<Vec<f64>> = tries.iter().map(|one| one.value.parse().ok()).collect();
    let numbers = numbers?;
    let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    low.is_finite().then_some([low, high])
}

/// Whether the tries of then and now have no number in common and lie further apart than the tolerance.
fn differ([low, high]: [f64; 2], [new_low, new_high]: [f64; 2]) -> bool {
    let apart = |below: f64, above: f64| above - below > TOLERANCE * below.abs().max(above.abs());
    (new_low > high && apart(high, new_low)) || (new_high < low && apart(new_high, low))
}

/// Those of a capability.
pub fn of(capability: &str, entries: &[Entry]) -> Vec<Entry> {
    entries.iter().filter(|entry| entry.key[0] == capability).cloned().collect()
}

/// Lines of a page: what of `capability` changed between two times; `None` where today's results are
/// those of the last time.
pub fn changes(capability: &str, old: &[Entry], new: &[Entry]) -> Option<Vec<String>> {
    let (old, new) = (of(capability, old), of(capability, new));
    if old.is_empty() {
        return Some(vec!["This is the first time.".to_owned()]);
    }
    if old == new {
        return None;
    }
    let last = old.iter().map(|entry| entry.started.as_str()).max().unwrap_or_default();
    let (before, now) = (tries(&old), tries(&new));
    let (mut compared, mut lines) = (0, vec![]);
    for (key, now) in &now {
        let Some(before) = before.get(key) else { continue };
        compared += 1;
        if let Some(line) = line(key, before, now) {
            lines.push(line);
        }
    }
    let missing = before.keys().filter(|key| !now.contains_key(*key)).count();
    let added = now.keys().filter(|key| !before.contains_key(*key)).count();
    let mut all = vec![format!(
        "Last time: {}. Of {compared} figures that both have, {} changed: their tries of then and now \
         have no value in common and lie more than {:.0} % apart. {missing} are missing now, {added} are new.",
        date(last),
        lines.len(),
        100.0 * TOLERANCE
    )];
    let more = lines.len().saturating_sub(MAX_LISTED);
    all.extend(lines.into_iter().take(MAX_LISTED).map(|line| format!("- {line}")));
    if more > 0 {
        all.push(format!("- and {more} more"));
    }
    Some(all)
}

fn line(key: &[String; 5], before: &[&Entry], now: &[&Entry]) -> Option<String> {
    let [_, figure, row, _, target] = key;
    let place = format!("{figure}, {row} ({target})").replace(", (", " (");
    match (range(before), range(now)) {
        (Some(old), Some(new)) => {
            let symbol = &now.first()?.unit;
            let unit = Unit::ALL.into_iter().find(|unit| unit.symbol() == symbol)?;
            let text = |[low, high]: [f64; 2]| match low == high {
                true => number(low, unit),
                false => format!("{} to {}", number(low, unit), number(high, unit)),
            };
            differ(old, new).then(|| format!("{place}: {}, was {}", text(new), text(old)))
        }
        _ => {
            let texts = |tries: &[&Entry]| {
                let mut all: Vec<String> = tries.iter().map(|one| one.value.clone()).collect();
                all.sort();
                all.dedup();
                all.join(" / ")
            };
            let (old, new) = (texts(before), texts(now));
            (old != new).then(|| format!("{place}: {new}, was {old}"))
        }
    }
}

/// The day and minute of a time.
pub fn date(started: &str) -> String {
    started.get(..16).unwrap_or(started).replace('T', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(row: &str, attempt: u32, value: &str) -> Entry {
        Entry {
            key: ["a", "x", row, "vm", "opencl:0"].map(str::to_owned),
            attempt,
            value: value.into(),
            unit: "s".into(),
            started: format!("2026-11-2{attempt}T01:02:03Z"),
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("figures.csv");
        assert_eq!(read(&file).unwrap(), vec![]);
        let all = vec![entry("a, b", 1, "0.5"), entry("c", 2, "A 3 ×")];
        write(&file, &all).unwrap();
        assert_eq!(read(&file).unwrap(), all);
        std::fs::write(&file, "a\nb\n").unwrap();
        assert!(read(&file).is_err());
    }

    #[test]
    fn a_change_is_more_than_tries_scatter() {
        let old =
            [entry("a", 1, "1.0"), entry("a", 2, "1.2"), entry("b", 1, "1"), entry("t", 1, "A")];
        let near = [entry("a", 1, "1.19"), entry("a", 2, "1.5"), entry("b", 1, "1.05")];
        let text = changes("a", &old, &near).unwrap().join("\n");
        assert!(text.contains("Of 2 figures that both have, 0 changed"), "{text}");
        assert!(text.contains("1 are missing now, 0 are new"), "{text}");
        let far =
            [entry("a", 1, "1.4"), entry("a", 2, "1.5"), entry("t", 1, "C"), entry("n", 1, "1")];
        let text = changes("a", &old, &far).unwrap().join("\n");
        assert!(
            text.contains("- x, a (opencl:0): 1.40 s to 1.50 s, was 1.00 s to 1.20 s"),
            "{text}"
        );
        assert!(text.contains("- x, t (opencl:0): C, was A"), "{text}");
        assert!(changes("a", &old, &old).is_none());
        assert_eq!(changes("a", &[], &old).unwrap(), ["This is the first time."]);
    }
}
