//! What a case takes besides measuring: building, preparing, verifying. As it took in an earlier round,
//! else as cases of its size did so far.

use gpubench_core::record::Record;
use gpubench_core::workload::CaseKey;
use gpubench_experiments::plan::Case;
use std::collections::HashMap;

/// Seconds for a case that moves next to nothing, before any was seen.
const FIXED: f64 = 0.15;
/// Seconds a byte of its buffers, before any was seen.
const RATE: f64 = 5e-9;
/// How much these count: as so many cases, and as so many bytes.
const PRIOR: (f64, f64) = (2.0, 32e6);
/// Buffers of fewer bytes take no time of their own.
const SMALL: f64 = 1e6;

/// What was learnt of one device.
#[derive(Clone, Debug)]
pub(super) struct Overheads {
    known: HashMap<CaseKey, f64>,
    /// Seconds of cases with small buffers, and their number.
    fixed: (f64, f64),
    /// Seconds of the others beyond that, and their bytes.
    moving: (f64, f64),
}

impl Default for Overheads {
    fn default() -> Self {
        let (cases, bytes) = PRIOR;
        Self { known: HashMap::new(), fixed: (FIXED * cases, cases), moving: (RATE * bytes, bytes) }
    }
}

impl Overheads {
    /// Seconds that `case` is expected to take besides measuring.
    pub fn of(&self, case: &Case) -> f64 {
        self.known.get(&case.key).copied().unwrap_or_else(|| self.expected(bytes(case)))
    }

    fn expected(&self, bytes: f64) -> f64 {
        let moving = if bytes < SMALL { 0.0 } else { bytes * self.moving.0 / self.moving.1 };
        self.fixed.0 / self.fixed.1 + moving
    }

    /// Learns from what `case` took. A failure says nothing of what success takes: a timeout lasts as long as its
    /// deadline.
    pub fn learn(&mut self, case: &Case, record: &Record) {
        if !record.outcome.ran() {
            return;
        }
        let (seconds, bytes) = (seconds(record), bytes(case));
        match bytes < SMALL {
            true => self.fixed = (self.fixed.0 + seconds, self.fixed.1 + 1.0),
            false => {
                let more = (seconds - self.fixed.0 / self.fixed.1).max(0.0);
                self.moving = (self.moving.0 + more, self.moving.1 + bytes);
            }
        }
        self.recall(record);
    }

    /// As [`Overheads::learn`], where only the record is left.
    pub fn recall(&mut self, record: &Record) {
        if record.measured.is_some() {
            self.known.insert(record.key.clone(), seconds(record));
        }
    }
}

fn seconds(record: &Record) -> f64 {
    record.wall.around() + record.wall.reference_kernel
}

fn bytes(case: &Case) -> f64 {
    case.buffers.iter().map(|buffer| buffer.bytes().0 as f64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::Outcome;
    use gpubench_core::record::sample::record as sample_record;
    use gpubench_experiments::plan::sample;

    #[test]
    fn large_cases_are_expected_to_take_longer_as_they_did() {
        let mut overheads = Overheads::default();
        let before = overheads.expected(1e8);
        assert!((overheads.expected(1e3) - FIXED).abs() < 1e-12 && before > 0.4);
        overheads.moving = (overheads.moving.0 + 10.0, overheads.moving.1 + 1e9);
        assert!(overheads.expected(1e8) > 1.5 * before);
        assert_eq!(overheads.expected(1e3), Overheads::default().expected(1e3));
    }

    #[test]
    fn a_failure_says_nothing_of_what_a_case_takes() {
        let of = |outcome: Outcome| {
            let case = sample::case("memory", "copy", 10);
            let mut record = sample_record(case.key.clone(), 1.0);
            (record.outcome, record.wall.verify) = (outcome, 60.0);
            let mut overheads = Overheads::default();
            overheads.learn(&case, &record);
            overheads.expected(1e3)
        };
        let failures = [
            Outcome::Timeout("launch".into()),
            Outcome::Crash { how: "killed by SIGSEGV".into(), stderr: vec![] },
            Outcome::Failed("no".into()),
            Outcome::OutOfMemory("no".into()),
            Outcome::Skipped("too long".into()),
        ];
        for failure in failures {
            assert!((of(failure.clone()) - FIXED).abs() < 1e-12, "{failure:?}");
        }
        for right in [Outcome::Ok, Outcome::Unchecked] {
            assert!(of(right.clone()) > 20.0, "{right:?}");
        }
    }
}
