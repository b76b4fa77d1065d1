//! The one truth about a case over its rounds: its outcome, its value and what to know of them.
//! Terminal, reports, comparison, ranking and fits ask it, so that none says otherwise than another.
//!
//! A case's outcome is that of its worst round ([`Severity`](gpubench_core::record::Severity) has the
//! order); rounds that were left out say nothing where others ran. One failed round takes the value
//! away. `docs/METHODOLOGY.md` states the rules.

mod rate;
mod rounds;

pub use rate::Rate;
pub(crate) use rounds::{Tally, shown};

use gpubench_core::record::{Built, Flag, Grade, Measured, Outcome, Record};
use gpubench_core::workload::CaseKey;
use gpubench_stats::{Overall, overalls};
use std::collections::{BTreeMap, HashSet};

/// A case on a device over all its rounds.
#[derive(Clone, Debug)]
pub struct Aggregate<'a> {
    /// The case.
    pub key: &'a CaseKey,
    /// Position of the device in the header.
    pub device: usize,
    /// Which ranking family it counts in.
    pub family: &'a str,
    /// The worst outcome of all rounds; of equally bad ones the first.
    pub outcome: &'a Outcome,
    /// Rounds that failed, of how many that ran.
    pub failed: (usize, usize),
    /// Its value; `None` where nothing was measured, a round failed, or it cannot be believed.
    pub time: Option<Overall>,
    /// Why its value is not compared, ranked or fitted to, in a word or two; `None` where it is.
    pub exclusion: Option<&'static str>,
    /// Work per second.
    pub rate: Option<Rate>,
    /// What the reader should know, each once.
    pub flags: Vec<&'a Flag>,
    /// The rounds' records.
    pub records: Vec<&'a Record>,
    tally: Tally,
}

impl<'a> Aggregate<'a> {
    /// Of the rounds of one case on one device, its interval by these alone; `None` where there is none.
    fn of(device: usize, records: Vec<&'a Record>) -> Option<Self> {
        let first = *records.first()?;
        let mut tally = Tally::default();
        let mut flags: Vec<&Flag> = Vec::new();
        let mut known = HashSet::new();
        for record in &records {
            tally.merge(&Tally::of(record));
            for flag in &record.flags {
                if known.insert(flag) {
                    flags.push(flag);
                }
            }
        }
        let mut outcomes = records.iter().map(|record| &record.outcome);
        let worst = outcomes.find(|outcome| outcome.severity() == tally.worst());
        let time = tally.time();
        let mut aggregate = Self {
            key: &first.key,
            device,
            family: &first.family,
            outcome: worst.unwrap_or(&first.outcome),
            failed: tally.failed(),
            time: None,
            exclusion: tally.exclusion(),
            rate: None,
            flags,
            records,
            tally,
        };
        aggregate.set_time(time);
        Some(aggregate)
    }

    /// The ends of its rate's interval, the lowest first; `None` where it has no rate.
    pub fn rate_interval(&self) -> Option<[f64; 2]> {
        let (rate, time) = (self.rate?.value(), self.time?);
        let [shortest, longest] = time.interval;
        Some([longest, shortest].map(|seconds| rate * time.value / seconds))
    }

    /// Gives it a value, and the rate that follows.
    fn set_time(&mut self, time: Option<Overall>) {
        let measured = self.records.iter().find_map(|record| shown(record));
        self.time = time;
        self.rate = time.zip(measured).and_then(|(t, m)| Rate::of(self.family, m, t.value));
    }

    /// The worst that is to be known before believing its value; a wrong result has none to believe.
    /// A warning of fewer than half of the rounds is a note.
    pub fn grade(&self) -> Option<Grade> {
        let wrong = matches!(self.outcome, Outcome::Unverified(_)).then_some(Grade::Hidden);
        let worst = self.flags.iter().map(|flag| flag.grade()).chain(wrong).max();
        match worst {
            Some(Grade::Warning) if !self.tally.is_doubtful() => Some(Grade::Note),
            worst => worst,
        }
    }

    /// Whether its value is marked `!`: who reads it without the warning is misled.
    pub fn is_doubtful(&self) -> bool {
        self.grade() == Some(Grade::Warning)
    }

    /// Whether it was not run: unsupported, or skipped by a budget or filter.
    pub fn is_skipped(&self) -> bool {
        self.outcome.is_skipped()
    }

    /// The rounds whose samples may be shown: record and measurement.
    pub fn shown(&self) -> impl Iterator<Item = (&'a Record, &'a Measured)> + use<'a, '_> {
        let records = self.records.iter().filter(|_| self.time.is_some());
        records.filter_map(|record| Some((*record, shown(record)?)))
    }

    /// The measurements that may be shown.
    pub fn rounds(&self) -> impl Iterator<Item = &'a Measured> + use<'a, '_> {
        self.shown().map(|(_, measured)| measured)
    }

    /// The record that says what the case is: the first whose samples may be shown, else the first that was not skipped. What
    /// was skipped has no kernel and no work.
    pub fn described_by(&self) -> &'a Record {
        let ran = || self.records.iter().find(|record| !record.outcome.is_skipped());
        let first = || *ran().unwrap_or(&self.records[0]);
        self.shown().next().map_or_else(first, |(record, _)| record)
    }

    /// The kernel as its first round built it.
    pub fn kernel(&self) -> Option<&'a Built> {
        self.records.iter().find_map(|record| record.kernel.as_ref())
    }
}

/// Every case and device of a run, ordered by case, then device.
pub fn aggregate(records: &[Record]) -> Vec<Aggregate<'_>> {
    aggregate_numbered(records.iter().map(|record| (record.device, record)))
}

/// As [`aggregate`], of several runs: each record with the number of its device among all of them.
pub fn aggregate_numbered<'a>(
    records: impl IntoIterator<Item = (usize, &'a Record)>,
) -> Vec<Aggregate<'a>> {
    let mut all = group(records);
    moderate(&mut all);
    all
}

/// The same, each by itself: without what the rounds of its device's other cases say.
pub(crate) fn group<'a>(
    records: impl IntoIterator<Item = (usize, &'a Record)>,
) -> Vec<Aggregate<'a>> {
    let mut cases: BTreeMap<(&CaseKey, usize), Vec<&Record>> = BTreeMap::new();
    for (device, record) in records {
        cases.entry((&record.key, device)).or_default().push(record);
    }
    let cases = cases.into_iter();
    cases.filter_map(|((_, device), records)| Aggregate::of(device, records)).collect()
}

/// Gives each case the value and the interval that the rounds of its device's other cases suggest.
fn moderate(all: &mut [Aggregate]) {
    let mut devices: BTreeMap<usize, Vec<&mut Aggregate>> = BTreeMap::new();
    for case in all {
        devices.entry(case.device).or_default().push(case);
    }
    for cases in devices.into_values() {
        let rounds: Vec<_> = cases.iter().map(|case| case.tally.believed()).collect();
        for (case, time) in cases.into_iter().zip(overalls(&rounds)) {
            case.set_time(time);
        }
    }
}

#[cfg(test)]
mod tests;
