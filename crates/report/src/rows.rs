//! Records of all rounds, put together by case and device.

use gpubench_core::record::{Flag, Measured, Outcome, Record};
use gpubench_core::workload::CaseKey;
use gpubench_stats::{Overall, overall};
use std::collections::BTreeMap;

/// A case on a device over all rounds.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// The case.
    pub key: &'a CaseKey,
    /// Position of the device in the header.
    pub device: usize,
    /// What came of it: the worst of all rounds.
    pub outcome: &'a Outcome,
    /// Rounds that failed, of how many that ran.
    pub failed: (usize, usize),
    /// Its value; `None` where nothing was measured, a round failed, or it cannot be believed.
    pub time: Option<Overall>,
    /// Work per second.
    pub rate: Option<Rate>,
    /// What the reader should know, each once.
    pub flags: Vec<&'a Flag>,
    /// The rounds' records.
    pub records: Vec<&'a Record>,
}

impl<'a> Row<'a> {
    /// Whether it was not run: unsupported, or skipped by a budget or filter.
    pub fn is_skipped(&self) -> bool {
        self.outcome.is_skipped()
    }

    /// The rounds whose samples may be shown.
    pub fn rounds(&self) -> impl Iterator<Item = &'a Measured> + use<'a, '_> {
        let shown = self.time.is_some();
        self.records
            .iter()
            .filter(move |r| shown && may_show(r))
            .filter_map(|r| r.measured.as_ref())
    }
}

/// Work per second, in the unit that says most of the case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rate {
    /// Floating-point operations per second.
    Flops(f64),
    /// Bytes per second.
    Bandwidth(f64),
}

/// One row for every case and device, ordered by case, then device.
pub fn rows(records: &[Record]) -> Vec<Row<'_>> {
    rows_of(records.iter().map(|record| (record.device, record)))
}

/// As [`rows`], of several runs: each record with the number of its device among all of them.
pub fn rows_of<'a>(records: impl IntoIterator<Item = (usize, &'a Record)>) -> Vec<Row<'a>> {
    let mut groups: BTreeMap<(&CaseKey, usize), Vec<&Record>> = BTreeMap::new();
    for (device, record) in records {
        groups.entry((&record.key, device)).or_default().push(record);
    }
    groups.into_iter().map(|((key, device), records)| row(key, device, records)).collect()
}

fn may_show(record: &Record) -> bool {
    matches!(record.outcome, Outcome::Ok | Outcome::Unchecked)
}

fn row<'a>(key: &'a CaseKey, device: usize, records: Vec<&'a Record>) -> Row<'a> {
    let failures = records.iter().filter(|r| r.outcome.is_failure()).count();
    let ran = records.iter().filter(|r| severity(&r.outcome) != SKIPPED).count();
    // A case left out of some rounds keeps the value of the others.
    let worst = records.iter().map(|r| &r.outcome).max_by_key(|outcome| severity(outcome));
    let samples: Vec<_> =
        records.iter().filter(|r| may_show(r)).filter_map(|r| r.measured.as_ref()).collect();
    let believed = !records.iter().flat_map(|r| &r.flags).any(Flag::is_implausible);
    let time = match failures {
        0 if believed => overall(samples.iter().map(|m| m.samples.as_slice())),
        _ => None,
    };
    let rate = time.zip(samples.first()).and_then(|(time, measured)| {
        rate(&records[0].family, measured.flops, measured.bytes, time.value)
    });
    let mut flags: Vec<&Flag> = Vec::new();
    for flag in records.iter().flat_map(|r| &r.flags) {
        if !flags.contains(&flag) {
            flags.push(flag);
        }
    }
    Row {
        key,
        device,
        outcome: worst.unwrap_or(&Outcome::Ok),
        failed: (failures, ran),
        time,
        rate,
        flags,
        records,
    }
}

const SKIPPED: u8 = 0;

fn severity(outcome: &Outcome) -> u8 {
    match outcome {
        Outcome::Skipped(_) | Outcome::Unsupported(_) => SKIPPED,
        Outcome::Ok => 1,
        Outcome::Unchecked => 2,
        _ => 3,
    }
}

/// Bytes where the case is about memory or has no operations; nothing where it has neither.
fn rate(family: &str, flops: f64, bytes: f64, seconds: f64) -> Option<Rate> {
    let by_bytes = family == "memory" || flops <= 0.0;
    let work = if by_bytes { bytes } else { flops };
    let value = work / seconds;
    (work > 0.0 && value.is_finite()).then_some(if by_bytes {
        Rate::Bandwidth(value)
    } else {
        Rate::Flops(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::sample::{key, outcome, record};

    #[test]
    fn rounds_make_one_row() {
        let mut records = vec![record(key("a", 1), 1.0), record(key("a", 1), 4.0)];
        records[1].round = 1;
        let rows = rows(&records);
        assert_eq!(rows.len(), 1);
        let value = rows[0].time.expect("measured").value;
        assert!((value - 2.0).abs() < 1e-9, "geometric mean of 1 and 4, not {value}");
        assert_eq!(rows[0].rate, Some(Rate::Flops(1e6 / value)));
    }

    #[test]
    fn a_failed_round_hides_the_figure_and_a_skipped_one_does_not() {
        let skipped = outcome(key("a", 1), Outcome::Skipped("budget".into()));
        let failed = outcome(key("b", 1), Outcome::Timeout("build".into()));
        let records = [record(key("a", 1), 1.0), skipped, record(key("b", 1), 1.0), failed];
        let rows = rows(&records);
        assert!(rows[0].time.is_some() && rows[0].outcome.is_ok());
        assert!(rows[1].time.is_none());
        assert_eq!(rows[1].failed, (1, 2));
        assert_eq!(rows[1].outcome.label(), "timeout");
    }

    #[test]
    fn the_rate_is_of_what_the_case_is_about() {
        assert_eq!(rate("compute", 10.0, 20.0, 2.0), Some(Rate::Flops(5.0)));
        assert_eq!(rate("memory", 10.0, 20.0, 2.0), Some(Rate::Bandwidth(10.0)));
        assert_eq!(rate("compute", 0.0, 20.0, 2.0), Some(Rate::Bandwidth(10.0)));
        assert_eq!(rate("compute", 0.0, 0.0, 2.0), None);
    }
}
