//! A search's variants in later rounds: the one that won an earlier round, and the next two by their first launches.
//! To try all again takes time that measuring has a better use for.

use gpubench_core::record::Record;
use gpubench_experiments::plan::{Candidate, Case};
use std::collections::HashMap;

/// Variants that a later round tries.
const FINALISTS: usize = 3;

/// `case` with the variants that did best in the first of the device's `records` of it that had a search; as it is
/// where the winner is not among its variants.
pub(super) fn narrowed<'r>(case: Case, mut records: impl Iterator<Item = &'r Record>) -> Case {
    let searched = |record: &'r Record| {
        let kernel = record.kernel.as_ref().filter(|kernel| !kernel.tried.is_empty())?;
        (record.key == case.key && record.outcome.ran()).then_some(kernel)
    };
    let Some(kernel) = records.find_map(searched) else { return case };
    let is_winner = |one: &Candidate| one.label == kernel.variant;
    if !case.candidates.iter().any(is_winner) {
        return case;
    }
    let seconds: HashMap<&str, f64> = kernel
        .tried
        .iter()
        .filter_map(|(label, seconds)| Some((&label[..], (*seconds)?)))
        .collect();
    let cost = |one: &Candidate| match is_winner(one) {
        true => 0.0,
        false => seconds.get(&one.label[..]).map_or(f64::INFINITY, |seconds| seconds / one.work()),
    };
    let mut candidates = case.candidates;
    candidates.retain(|one| cost(one).is_finite());
    candidates.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
    candidates.truncate(FINALISTS);
    Case { candidates, ..case }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::{Outcome, sample};
    use gpubench_experiments::plan::sample as plan;

    /// The labels that are left of five variants, of which `tried` had these times.
    fn left(winner: &str, tried: &[(&str, Option<f64>)], outcome: Outcome) -> String {
        let case = plan::search(&["a", "b", "c", "d", "e"]);
        let mut record = sample::record(case.key.clone(), 1.0);
        let tried = tried.iter().map(|&(label, seconds)| (label.to_owned(), seconds)).collect();
        let built = sample::built("x");
        let built = gpubench_core::record::Built { variant: winner.into(), tried, ..built };
        (record.kernel, record.outcome) = (Some(built), outcome);
        let other = sample::record(sample::key("another", 1), 1.0);
        let case = narrowed(case, [other, record].iter());
        case.candidates.iter().map(|one| one.label.as_str()).collect()
    }

    #[test]
    fn the_winner_and_the_next_two_are_left() {
        let tried =
            [("a", Some(3.0)), ("b", None), ("c", Some(1.0)), ("d", Some(2.0)), ("e", Some(4.0))];
        assert_eq!(left("e", &tried, Outcome::Ok), "ecd", "the winner was found by more launches");
        assert_eq!(left("a", &[("a", Some(3.0)), ("b", None)], Outcome::Ok), "a");
        assert_eq!(left("a", &[], Outcome::Ok), "abcde", "there was no search");
        assert_eq!(left("z", &tried, Outcome::Ok), "abcde", "the winner is not there any more");
        assert_eq!(left("e", &tried, Outcome::Failed("no".into())), "abcde");
    }
}
