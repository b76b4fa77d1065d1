//! Variants of a kernel that end their worker: a compiler that never returns or crashes, a first launch that does. Such a
//! variant costs a search itself and no more. A lost device, and what only verifies, ends the case as ever.

use gpubench_core::record::{Flag, Outcome};
use gpubench_core::workload::CaseKey;
use gpubench_experiments::plan::Case;
use std::collections::BTreeMap;

/// Variants that a case is measured without, at most: each may have taken the longest that a build may.
const MAX_SPARED: usize = 3;

/// What a device's run knows of them, by case: what sets each apart, and how it ended the worker.
#[derive(Debug, Default)]
pub(super) struct FatalVariants(BTreeMap<CaseKey, Vec<(String, String)>>);

impl FatalVariants {
    /// The case without those that are known.
    pub fn spare(&self, case: &Case) -> Case {
        let mut case = case.clone();
        if let Some(known) = self.0.get(&case.key) {
            case.candidates.retain(|one| known.iter().all(|(label, _)| *label != one.label));
            case.dropped.extend_from_slice(known);
        }
        case
    }

    /// Learns from how the worker ended at a `variant` of a case; whether to measure that without another one.
    pub fn learn(&mut self, case: &Case, variant: Option<usize>, outcome: &Outcome) -> bool {
        let how = match outcome {
            Outcome::Timeout(how) | Outcome::Crash { how, .. } => how,
            _ => return false,
        };
        let Some(variant) = variant.and_then(|position| case.candidates.get(position)) else {
            return false;
        };
        let known = self.0.entry(case.key.clone()).or_default();
        if known.len() >= MAX_SPARED {
            return false;
        }
        known.push((variant.label.clone(), how.clone()));
        true
    }

    /// What a reader of the case's record should know.
    pub fn flags(&self, case: &Case) -> impl Iterator<Item = Flag> {
        let known = self.0.get(&case.key).into_iter().flatten();
        known.map(|(label, how)| Flag::FatalVariant(format!("`{label}`: {how}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_experiments::plan::sample;

    fn hung() -> Outcome {
        Outcome::Timeout("building the kernel took longer than 120 s".into())
    }

    #[test]
    fn only_a_variant_at_which_the_worker_ended_is_spared() {
        let case = sample::search(&["x=1", "x=2", "x=3"]);
        let mut fatal = FatalVariants::default();
        assert!(!fatal.learn(&case, None, &hung()), "at none of them");
        assert!(!fatal.learn(&case, Some(1), &Outcome::Ok), "no fault");
        assert!(!fatal.learn(&case, Some(9), &hung()), "no such variant");
        assert_eq!(fatal.spare(&case), case);
        assert!(fatal.learn(&case, Some(1), &hung()));
        let left = fatal.spare(&case);
        let labels: Vec<&str> = left.candidates.iter().map(|one| one.label.as_str()).collect();
        assert_eq!(labels, ["x=1", "x=3"]);
        assert_eq!(left.dropped[0].0, "x=2");
        let flags: Vec<Flag> = fatal.flags(&case).collect();
        assert!(
            matches!(&flags[..], [Flag::FatalVariant(how)] if how.starts_with("`x=2`: building"))
        );
        let other = sample::case("compute", "other", 1);
        assert_eq!(fatal.spare(&other), other, "of another case nothing is known");
    }

    #[test]
    fn no_more_than_a_few_are_spared() {
        let case = sample::search(&["x=1", "x=2", "x=3", "x=4", "x=5"]);
        let mut fatal = FatalVariants::default();
        let learnt = (0..5).filter(|_| fatal.learn(&fatal.spare(&case), Some(0), &hung()));
        assert_eq!(learnt.count(), MAX_SPARED);
        let left = fatal.spare(&case).candidates;
        assert_eq!(left.iter().map(|one| one.label.as_str()).collect::<Vec<_>>(), ["x=4", "x=5"]);
    }
}
