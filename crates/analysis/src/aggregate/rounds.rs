//! What rounds say together, taken in one by one in any order.

use gpubench_core::record::{Flag, Grade, Measured, Record, Severity};
use gpubench_stats::{Overall, Rounds, Summary};

/// The rounds of a case, their samples forgotten.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    worst: Option<Severity>,
    failed: usize,
    ran: usize,
    warned: usize,
    hidden: bool,
    rounds: Rounds,
}

impl Tally {
    /// Of one record.
    pub fn of(record: &Record) -> Self {
        let summary = shown(record).and_then(|measured| Summary::of(&measured.samples));
        Self::of_round(record.outcome.severity(), &record.flags, summary.as_ref())
    }

    /// Of a round that ended so, with the samples that may be shown.
    pub fn of_round(severity: Severity, flags: &[Flag], shown: Option<&Summary>) -> Self {
        let has = |grade| flags.iter().any(|flag| flag.grade() == grade);
        let mut rounds = Rounds::default();
        if let Some(summary) = shown {
            rounds.add(summary);
        }
        Self {
            worst: Some(severity),
            failed: usize::from(severity.is_failure()),
            ran: usize::from(!severity.is_skipped()),
            warned: usize::from(!severity.is_skipped() && has(Grade::Warning)),
            hidden: has(Grade::Hidden),
            rounds,
        }
    }

    /// Takes in further rounds.
    pub fn merge(&mut self, other: &Self) {
        self.worst = self.worst.max(other.worst);
        self.failed += other.failed;
        self.ran += other.ran;
        self.warned += other.warned;
        self.hidden |= other.hidden;
        self.rounds.merge(&other.rounds);
    }

    /// The worst of all rounds; of none, that they were skipped.
    pub fn worst(&self) -> Severity {
        self.worst.unwrap_or(Severity::Skipped)
    }

    /// Rounds that failed, of how many that ran.
    pub fn failed(&self) -> (usize, usize) {
        (self.failed, self.ran)
    }

    /// Whether a warning is of half of its rounds or more. One of fewer is a note: those differ from the
    /// others, and the interval over rounds shows it.
    pub fn is_doubtful(&self) -> bool {
        self.warned > 0 && 2 * self.warned >= self.ran
    }

    /// The rounds whose samples count.
    pub fn rounds(&self) -> &Rounds {
        &self.rounds
    }

    /// As [`Tally::rounds`]; none where a round failed, or a figure cannot be believed.
    pub fn believed(&self) -> Rounds {
        if self.failed > 0 || self.hidden { Rounds::default() } else { self.rounds.clone() }
    }

    /// The value over all rounds by themselves; `None` where nothing was measured, a round failed, or a
    /// figure cannot be believed.
    pub fn time(&self) -> Option<Overall> {
        self.believed().overall()
    }

    /// Why the value is not compared, ranked or fitted to, in a word or two; `None` where it is.
    pub fn exclusion(&self) -> Option<&'static str> {
        let worst = self.worst();
        if worst != Severity::Ok {
            Some(worst.label())
        } else if self.hidden {
            Some("implausible")
        } else if self.rounds.count == 0 {
            Some("not measured")
        } else if !self.rounds.has_value() {
            Some("no usable time")
        } else {
            None
        }
    }
}

/// What a round measured, where nothing of it went wrong.
pub(crate) fn shown(record: &Record) -> Option<&Measured> {
    let right = record.outcome.ran();
    record.measured.as_ref().filter(|_| right)
}
