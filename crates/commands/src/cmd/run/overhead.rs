//! What a case takes besides measuring: building, preparing, verifying. As it took in an earlier round,
//! else as a smaller size of its workload did, else as cases of its size did so far.

use super::finalists::searched;
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
/// Seconds of cases in their first round, and of the same ones in a later one, before any was seen: a second time,
/// compilers and references have nothing left to do.
const REPEATED: (f64, f64) = (1.0, 0.5);

/// What was learnt of one device.
#[derive(Clone, Debug)]
pub(super) struct Overheads {
    known: HashMap<CaseKey, Known>,
    /// By workload: of each of its measures and kinds of host memory the largest size that has run.
    largest: HashMap<String, Vec<Largest>>,
    /// Seconds of cases in their first round, and of the same ones in a later one.
    repeated: (f64, f64),
    /// Seconds of cases with small buffers, and their number.
    fixed: (f64, f64),
    /// Seconds of the others beyond that, and their bytes.
    moving: (f64, f64),
}

/// What a case took when it was last run.
#[derive(Clone, Copy, Debug)]
struct Known {
    seconds: f64,
    is_first: bool,
}

/// What the largest size of a workload took in its first round.
#[derive(Clone, Debug)]
struct Largest {
    key: CaseKey,
    bytes: f64,
    seconds: f64,
}

impl Default for Overheads {
    fn default() -> Self {
        let (cases, bytes) = PRIOR;
        let (fixed, moving) = ((FIXED * cases, cases), (RATE * bytes, bytes));
        Self { known: HashMap::new(), largest: HashMap::new(), repeated: REPEATED, fixed, moving }
    }
}

impl Overheads {
    /// Seconds that `case` is expected to take besides measuring, the next time.
    pub fn of(&self, case: &Case) -> f64 {
        match self.known.get(&case.key) {
            Some(known) if known.is_first => known.seconds * self.repetition(),
            Some(known) => known.seconds,
            None => self.first(case),
        }
    }

    /// The same in a round after the next.
    pub fn later(&self, case: &Case) -> f64 {
        let is_known = self.known.contains_key(&case.key);
        self.of(case) * if is_known { 1.0 } else { self.repetition() }
    }

    /// The share of a first round's time that a later one takes.
    fn repetition(&self) -> f64 {
        self.repeated.1 / self.repeated.0
    }

    /// Seconds that `case` is expected to take in its first round.
    fn first(&self, case: &Case) -> f64 {
        let bytes = bytes(case);
        let of_workload = self.largest.get(&case.key.workload);
        let mut siblings = of_workload.into_iter().flatten();
        match siblings.find(|sibling| sibling.key.is_sibling_of(&case.key)) {
            Some(sibling) => sibling.seconds + self.rate() * (bytes - sibling.bytes).max(0.0),
            None => self.expected(bytes),
        }
    }

    /// Seconds a byte.
    fn rate(&self) -> f64 {
        self.moving.0 / self.moving.1
    }

    fn expected(&self, bytes: f64) -> f64 {
        let moving = if bytes < SMALL { 0.0 } else { bytes * self.rate() };
        self.fixed.0 / self.fixed.1 + moving
    }

    /// Learns from what `case` took. A failure says nothing of what success takes: a timeout lasts as long as its
    /// deadline.
    pub fn learn(&mut self, case: &Case, record: &Record) {
        if !record.outcome.ran() {
            return;
        }
        let (seconds, bytes) = (seconds(record), bytes(case));
        if !self.known.contains_key(&case.key) {
            self.learn_largest(Largest { key: case.key.clone(), bytes, seconds });
        }
        match bytes < SMALL {
            // What others are expected to take is a first time.
            _ if self.known.contains_key(&case.key) => {}
            // What a search takes says nothing of others, nor does a compiler's time of bytes.
            _ if searched(record).is_some() => {}
            true => self.fixed = (self.fixed.0 + seconds, self.fixed.1 + 1.0),
            false => {
                let fixed = record.wall.build.max(self.fixed.0 / self.fixed.1);
                let more = (seconds - fixed).max(0.0);
                self.moving = (self.moving.0 + more, self.moving.1 + bytes);
            }
        }
        self.recall(record);
    }

    fn learn_largest(&mut self, size: Largest) {
        let of_workload = self.largest.entry(size.key.workload.clone()).or_default();
        match of_workload.iter_mut().find(|other| other.key.is_sibling_of(&size.key)) {
            Some(other) if other.bytes > size.bytes => {}
            Some(other) => *other = size,
            None => of_workload.push(size),
        }
    }

    /// As [`Overheads::learn`], where only the record is left.
    pub fn recall(&mut self, record: &Record) {
        if record.measured.is_none() {
            return;
        }
        let seconds = seconds(record);
        let before = self.known.get(&record.key).copied();
        let is_first = before.is_none();
        self.known.insert(record.key.clone(), Known { seconds, is_first });
        if let Some(before) = before.filter(|before| before.is_first) {
            self.repeated = (self.repeated.0 + before.seconds, self.repeated.1 + seconds);
        }
    }
}

/// Seconds of a case that were not measuring.
fn seconds(record: &Record) -> f64 {
    record.wall.around() + record.wall.reference_kernel
}

fn bytes(case: &Case) -> f64 {
    case.working_set().0 as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::sample::{built as sample_built, record as sample_record};
    use gpubench_core::record::{Built, Outcome};
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
    fn neither_a_search_nor_a_compiler_makes_bytes_slow() {
        let large = sample::case("memory", "copy", 100_000_000);
        let rate = |tried: usize, build, verify| {
            let mut overheads = Overheads::default();
            let mut record = sample_record(large.key.clone(), 1.0);
            (record.wall.build, record.wall.verify) = (build, verify);
            let tried = vec![("a".to_owned(), Some(1.0)); tried];
            record.kernel = Some(Built { tried, ..sample_built("x") });
            overheads.learn(&large, &record);
            overheads.rate()
        };
        assert!(rate(0, 0.0, 9.0) > 2.0 * rate(0, 0.0, 0.1));
        assert!(rate(0, 9.0, 0.0) < 0.5 * rate(0, 0.0, 9.0));
        assert_eq!(rate(2, 0.0, 9.0), RATE);
    }

    #[test]
    fn later_rounds_take_the_share_that_they_were_seen_to_take() {
        let mut overheads = Overheads::default();
        let [a, b] = [10, 20].map(|n| sample::case("memory", "copy", n));
        let took = |case: &Case, verify| {
            let mut record = sample_record(case.key.clone(), 1.0);
            record.wall.verify = verify;
            record
        };
        assert!((overheads.later(&a) - 0.5 * overheads.of(&a)).abs() < 1e-12, "nothing is known");
        let [first, other] = [took(&a, 9.0), took(&b, 4.0)];
        [&first, &other].into_iter().for_each(|record| overheads.recall(record));
        assert_eq!(overheads.of(&a), 0.5 * seconds(&first), "half, as long as none was repeated");
        let second = took(&a, 1.0);
        overheads.recall(&second);
        let share = (0.5 + seconds(&second)) / (1.0 + seconds(&first));
        assert_eq!(overheads.of(&a), seconds(&second));
        assert!((overheads.of(&b) - share * seconds(&other)).abs() < 1e-12, "as the other's");
        assert_eq!(overheads.later(&b), overheads.of(&b));
    }

    #[test]
    fn a_size_is_expected_to_take_what_a_smaller_one_of_its_workload_did() {
        let mut overheads = Overheads::default();
        let [small, medium, large] =
            [10, 1000, 100_000_000].map(|n| sample::case("memory", "copy", n));
        let took = |case: &Case, verify| {
            let mut record = sample_record(case.key.clone(), 1.0);
            record.wall.verify = verify;
            record
        };
        let other = sample::case("compute", "matmul", 10);
        overheads.learn(&other, &took(&other, 9.0));
        assert!(overheads.of(&medium) > 2.0, "as all small ones");
        let record = took(&small, 0.01);
        overheads.learn(&small, &record);
        assert!((overheads.of(&medium) - seconds(&record)).abs() < 1e-3);
        let further = overheads.of(&large) - overheads.of(&medium);
        let more = bytes(&large) - bytes(&medium);
        assert!((further - RATE * more).abs() < 1e-9, "{further}");
        let unlike = Case {
            key: CaseKey { workload: "read".into(), ..medium.key.clone() },
            ..medium.clone()
        };
        assert!(overheads.of(&unlike) > 2.0, "another workload");
        // A repetition says nothing of first rounds.
        overheads.learn(&small, &took(&small, 5.0));
        assert!((overheads.of(&medium) - seconds(&record)).abs() < 1e-3);
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
