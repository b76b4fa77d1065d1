//! Whether a comparison passes: what a build may not lose.

use super::compare::{Comparison, Exclusion, Row, Verdict};
use serde::Serialize;

/// What fails a build.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Gate {
    /// A case that is slower by more than this: 0.05 is 5 %.
    pub slower: Option<f64>,
    /// A case that the baseline verified, and that is wrong or failed now.
    pub unverified: bool,
    /// A case that the baseline verified, and that has no verdict now.
    pub missing: bool,
    /// A case of which too little is known.
    pub unsure: bool,
}

impl Default for Gate {
    fn default() -> Self {
        Self { slower: Some(0.0), unverified: true, missing: true, unsure: false }
    }
}

impl Gate {
    /// One at which nothing fails yet.
    pub const OPEN: Self = Self { slower: None, unverified: false, missing: false, unsure: false };

    /// Whether a case is slower by more than is let through, whatever of it the device's speed may explain.
    pub fn is_too_slow(&self, row: &Row) -> bool {
        let is_above = |allowed: f64| row.unexplained_ratio > 1.0 + allowed;
        row.verdict == Verdict::Slower && self.slower.is_some_and(is_above)
    }

    /// What comes of comparisons at this gate.
    pub fn evaluate<'a>(&self, all: impl Iterator<Item = &'a Comparison> + Clone) -> Judgement {
        let rows = || all.clone().flat_map(|one| &one.rows);
        let verdicts = |wanted: fn(&Verdict) -> bool| rows().filter(|r| wanted(&r.verdict)).count();
        let excluded = |exclusion| {
            all.clone().flat_map(|one| &one.skipped).filter(|s| s.exclusion == exclusion).count()
        };
        let counts = Counts {
            slower: verdicts(|verdict| *verdict == Verdict::Slower),
            too_slow: rows().filter(|row| self.is_too_slow(row)).count(),
            faster: verdicts(|verdict| *verdict == Verdict::Faster),
            same: verdicts(|verdict| *verdict == Verdict::Same),
            unsure: verdicts(|verdict| matches!(verdict, Verdict::Unsure { .. })),
            unverified: excluded(Exclusion::Unverified),
            missing: excluded(Exclusion::Missing),
            new: excluded(Exclusion::New),
        };
        let found = [
            (Failure::Unverified, self.unverified && counts.unverified > 0),
            (Failure::Slower, counts.too_slow > 0),
            (Failure::Missing, self.missing && counts.missing > 0),
            (Failure::Unsure, self.unsure && counts.unsure > 0),
            (Failure::NothingCompared, rows().next().is_none()),
        ];
        let failures = found.into_iter().filter(|(_, is)| *is).map(|(failure, _)| failure);
        Judgement { failures: failures.collect(), counts }
    }
}

/// Why a comparison fails, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// Some case is wrong or failed that was right before.
    Unverified,
    /// Some case is slower.
    Slower,
    /// Some case has no verdict that was verified before.
    Missing,
    /// Too little is known of some case.
    Unsure,
    /// Not one case could be compared.
    NothingCompared,
}

/// How many cases came to what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Slower.
    pub slower: usize,
    /// Of these, slower by more than the gate lets through.
    pub too_slow: usize,
    /// Faster.
    pub faster: usize,
    /// The same.
    pub same: usize,
    /// Unsure.
    pub unsure: usize,
    /// Wrong or failed, and verified before.
    pub unverified: usize,
    /// Without a verdict, and verified before.
    pub missing: usize,
    /// Not there before.
    pub new: usize,
}

/// The outcome of comparisons at a gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Judgement {
    /// Why it fails, the gravest first; it passes where there is nothing.
    pub failures: Vec<Failure>,
    /// How many cases came to what.
    pub counts: Counts,
}

impl Judgement {
    /// Whether nothing fails.
    pub fn passes(&self) -> bool {
        self.failures.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, collect, compare};
    use gpubench_core::record::sample::{device, header, key, outcome, record};
    use gpubench_core::record::{Flag, Outcome, Record};

    fn rounds(name: &str, seconds: f64) -> Vec<Record> {
        let one = |round: u32| {
            let wobble = 1.0 + 1e-4 * f64::from(round * 3 % 5);
            Record { round, ..record(key(name, 1), seconds * wobble) }
        };
        (0..5).map(one).collect()
    }

    fn compared(old: &[Vec<Record>], new: &[Vec<Record>]) -> Comparison {
        let header = header(vec![device("opencl")]);
        let run = |all: &[Vec<Record>]| collect(&header, &all.concat()).remove(0);
        compare(&run(old), &run(new), &Options::default())
    }

    fn failures(gate: Gate, comparison: &Comparison) -> Vec<Failure> {
        gate.evaluate([comparison].into_iter()).failures
    }

    #[test]
    fn what_the_speed_may_explain_does_not_fail() {
        let old = [rounds("a", 1.0)];
        let mut comparison = compared(&old, &[rounds("a", 1.4)]);
        let gate = Gate { slower: Some(0.05), ..Gate::default() };
        assert!(gate.is_too_slow(&comparison.rows[0]));
        // A new driver on a device that is slower by 1.38.
        comparison.rows[0].unexplained_ratio = 1.4 / 1.38;
        assert!(!gate.is_too_slow(&comparison.rows[0]), "less than 1.05");
    }

    #[test]
    fn what_was_verified_and_is_wrong_or_gone_fails() {
        let mut wrong = rounds("b", 1.0);
        wrong[2] = Record { round: 2, ..outcome(key("b", 1), Outcome::Timeout("launch".into())) };
        let mut impossible = rounds("c", 1.0);
        for record in &mut impossible {
            record.flags = vec![Flag::Implausible("above the roof".into())];
        }
        let skipped = vec![outcome(key("e", 1), Outcome::Skipped("no time".into()))];
        let before = ["a", "b", "c", "d", "e"].map(|name| rounds(name, 1.0));
        let now = [rounds("a", 1.0), wrong, impossible, skipped, rounds("f", 1.0)];
        let comparison = compared(&before, &now);
        let judgement = Gate::default().evaluate([&comparison].into_iter());
        assert_eq!(judgement.failures, [Failure::Unverified, Failure::Missing]);
        let counts = judgement.counts;
        assert_eq!((counts.unverified, counts.missing, counts.new, counts.same), (2, 2, 1, 1));
        assert!(failures(Gate::OPEN, &comparison).is_empty());
        // What was wrong before is no loss.
        let comparison = compared(&[rounds("a", 1.0), now[1].clone()], &[rounds("a", 1.0)]);
        assert!(failures(Gate::default(), &comparison).is_empty());
    }

    #[test]
    fn a_slowdown_fails_above_what_is_let_through() {
        let comparison = compared(&[rounds("a", 1.0)], &[rounds("a", 1.1)]);
        let by = |share| Gate { slower: Some(share), ..Gate::default() };
        assert_eq!(failures(by(0.0), &comparison), [Failure::Slower]);
        assert_eq!(failures(by(0.09), &comparison), [Failure::Slower]);
        assert!(failures(by(0.11), &comparison).is_empty());
        assert!(failures(Gate { slower: None, ..Gate::default() }, &comparison).is_empty());
    }

    #[test]
    fn unsure_fails_where_that_is_wanted_and_nothing_at_all_always() {
        let restless = |seconds: f64| -> Vec<Record> {
            let one = |(round, record): (usize, Record)| {
                let factor = 1.0 + 0.1 * (round as f64 - 2.0);
                Record { round: round as u32, ..record_of(&record, factor) }
            };
            rounds("a", seconds).into_iter().enumerate().map(one).collect()
        };
        let comparison = compared(&[restless(1.0)], &[restless(1.05)]);
        assert!(failures(Gate::default(), &comparison).is_empty());
        let strict = Gate { unsure: true, ..Gate::default() };
        assert_eq!(failures(strict, &comparison), [Failure::Unsure]);
        let nothing = compared(&[rounds("a", 1.0)], &[rounds("b", 1.0)]);
        assert_eq!(
            failures(Gate::default(), &nothing),
            [Failure::Missing, Failure::NothingCompared]
        );
    }

    fn record_of(record: &Record, factor: f64) -> Record {
        let mut record = record.clone();
        if let Some(measured) = &mut record.measured {
            measured.samples.iter_mut().for_each(|sample| *sample *= factor);
        }
        record
    }

    #[test]
    fn every_verdict_is_counted_as_what_it_is() {
        let all = |factors: [f64; 4]| {
            ["a", "b", "c", "d"]
                .iter()
                .zip(factors)
                .map(|(name, by)| rounds(name, by))
                .collect::<Vec<_>>()
        };
        let comparison = compared(&all([1.0; 4]), &all([1.1, 1.2, 0.8, 1.0]));
        let judgement = Gate::default().evaluate([&comparison].into_iter());
        let Counts { slower, too_slow, faster, same, unsure, .. } = judgement.counts;
        assert_eq!((slower, too_slow, faster, same, unsure), (2, 2, 1, 1, 0));
        assert!(!judgement.passes());
        let strict = Gate { unsure: true, ..Gate::default() };
        let alike = strict.evaluate([&compared(&all([1.0; 4]), &all([1.0; 4]))].into_iter());
        assert!(alike.passes() && alike.failures.is_empty(), "{alike:?}");
        // Up to the limit itself is let through.
        let mut comparison = compared(&all([1.0; 4]), &all([1.1; 4]));
        comparison.rows[0].unexplained_ratio = 1.05;
        let gate = Gate { slower: Some(0.05), ..Gate::default() };
        assert!(!gate.is_too_slow(&comparison.rows[0]) && gate.is_too_slow(&comparison.rows[1]));
    }
}
