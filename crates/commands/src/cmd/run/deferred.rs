//! Cases of a device that wait until its others have had their rounds: one turn of theirs takes the time of many.

use gpubench_core::reason::Reason;
use gpubench_core::record::Outcome;
use gpubench_core::workload::CaseKey;
use gpubench_experiments::Policy;
use std::collections::HashMap;

/// The next launch may take so many times as long as the one that was tried.
const SLOWER: f64 = 1.25;

/// Which of a device's cases a round is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// All but the deferred, in the planned rounds.
    Planned,
    /// The deferred, in as many rounds.
    Deferred,
    /// What could be run, in the rounds that follow.
    Following,
}

/// The deferred cases of one device.
#[derive(Clone, Debug, Default)]
pub(super) struct Deferred {
    /// With why one of them was too long for its share, where that was tried.
    cases: HashMap<CaseKey, Option<Outcome>>,
}

impl Deferred {
    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }

    /// Whether this one is.
    pub fn has(&self, key: &CaseKey) -> bool {
        self.cases.contains_key(key)
    }

    /// Defers a case that was too long for its share, or is expected to be.
    pub fn add(&mut self, key: &CaseKey, why: Option<Outcome>) {
        self.cases.insert(key.clone(), why);
    }

    /// Seconds of sampling that a case needs at least, where a launch of it, or of a smaller size, was tried.
    pub fn sampling(&self, key: &CaseKey, policy: &Policy) -> Option<f64> {
        let tried = self.cases.keys().filter(|tried| tried.is_no_larger_than(key));
        let longest = tried.filter_map(|tried| self.needed(tried)).max_by(f64::total_cmp);
        longest.map(|launch| policy.sampling_of(SLOWER * launch))
    }

    fn needed(&self, key: &CaseKey) -> Option<f64> {
        match self.cases.get(key)?.as_ref()? {
            Outcome::Skipped(Reason::OverBudget { needed, .. }) => Some(*needed),
            _ => None,
        }
    }

    /// Why a case is too long for what it gets now, as far as is known without trying again.
    pub fn too_long(&self, key: &CaseKey, policy: &Policy) -> Option<&Outcome> {
        let needed = self.needed(key)?;
        self.cases.get(key)?.as_ref().filter(|_| policy.affordable_launch() < needed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::sample;

    #[test]
    fn what_is_known_to_be_too_long_is_not_tried_again() {
        let [long, large, other] = ["long", "large", "other"].map(|name| sample::key(name, 1));
        let mut deferred = Deferred::default();
        assert!(deferred.is_empty());
        let reason = Reason::OverBudget {
            what: "one launch".into(),
            needed: 0.5,
            available: 0.1,
            option: None,
        };
        let outcome = Outcome::Skipped(reason);
        deferred.add(&long, Some(outcome.clone()));
        deferred.add(&large, None);
        assert!(deferred.has(&long) && deferred.has(&large) && !deferred.has(&other));
        let policy = |seconds| Policy { seconds, ..Policy::default() };
        let sampling = [&long, &large, &other].map(|key| deferred.sampling(key, &policy(1.0)));
        assert_eq!(sampling, [Some(1.25 * 3.75), None, None]);
        let larger = sample::key("long", 2);
        deferred.add(&larger, None);
        assert_eq!(deferred.sampling(&larger, &policy(1.0)), sampling[0], "as the smaller one");
        assert_eq!(deferred.too_long(&long, &policy(3.7)), Some(&outcome));
        assert_eq!(deferred.too_long(&long, &policy(3.8)), None, "15 launches of 0.5 s in 7.6 s");
        assert_eq!(deferred.too_long(&large, &policy(0.1)), None, "nobody knows");
        assert_eq!(deferred.too_long(&other, &policy(0.1)), None);
    }
}
