//! Which of a search's variants are tried again: in later rounds the one that won an earlier round, and the next two by
//! their first launches; at a larger size all but those that were far behind at a smaller one, or, where there was no time to
//! try all of these, the same three. To try all again takes time that measuring has a better use for.

use gpubench_core::record::{Built, Record};
use gpubench_core::workload::CaseKey;
use gpubench_experiments::KERNEL_DOMINATED_SECONDS;
use gpubench_experiments::plan::{Candidate, Case};
use std::collections::HashMap;

/// Variants that a later round tries.
const FINALISTS: usize = 3;
/// So many times as long as the best takes what is not tried at a larger size.
const FAR: f64 = 3.0;

/// `case` with the variants that are worth trying, by the device's `records`.
pub(super) fn narrowed<'r>(case: Case, records: impl Iterator<Item = &'r Record>) -> Case {
    let ran = records.filter(|record| record.outcome.ran());
    let searched = ran.filter_map(|record| Some((&record.key, searched(record)?)));
    let mut smaller: Vec<(&CaseKey, &Built)> = vec![];
    for (key, kernel) in searched {
        if *key == case.key {
            return finalists(case, kernel);
        }
        // Of several rounds of one size, the first: it tried the most.
        if key.is_no_larger_than(&case.key) && smaller.iter().all(|(known, _)| *known != key) {
            smaller.push((key, kernel));
        }
    }
    smaller.into_iter().fold(case, |case, (_, kernel)| at_a_larger_size(case, kernel))
}

/// A record's kernel, where it was searched for.
pub(super) fn searched(record: &Record) -> Option<&Built> {
    record.kernel.as_ref().filter(|kernel| !kernel.tried.is_empty())
}

/// Seconds of a launch of each variant that ran.
fn seconds(kernel: &Built) -> HashMap<&str, f64> {
    let tried = kernel.tried.iter();
    tried.filter_map(|(label, seconds)| Some((label.as_str(), (*seconds)?))).collect()
}

/// `case` without the variants that were far behind at a smaller size, in launches that were mostly the kernel's own time, and
/// without those that a search had no time for if the winner's was such a launch; as it is where the winner is not among its variants.
fn at_a_larger_size(case: Case, kernel: &Built) -> Case {
    let seconds = seconds(kernel);
    let took = |one: &Candidate| seconds.get(&one.label[..]).copied();
    let winner = case.candidates.iter().find(|one| one.label == kernel.variant);
    let Some((launch, work)) = winner.and_then(|one| Some((took(one)?, one.work()))) else {
        return case;
    };
    if kernel.untried > 0 && launch >= KERNEL_DOMINATED_SECONDS {
        let left = finalists(case.clone(), kernel).candidates;
        let is_left = |one: &Candidate| left.iter().any(|other| other.label == one.label);
        let why = "a smaller size's search had no time for all, and others were ahead";
        // In their own order, in which the winner is tried first.
        let others_dropped = keeping(case, is_left, why);
        return Case { candidates: left, ..others_dropped };
    }
    let best = launch / work;
    let is_behind = |one: &Candidate| {
        took(one).is_some_and(|seconds| {
            seconds >= KERNEL_DOMINATED_SECONDS && seconds / one.work() > FAR * best
        })
    };
    keeping(case, |one| !is_behind(one), "it was far behind at a smaller size")
}

/// `case` with some of its variants; `why` the others are not tried.
fn keeping(case: Case, is_kept: impl Fn(&Candidate) -> bool, why: &str) -> Case {
    let (candidates, others): (Vec<_>, Vec<_>) = case.candidates.into_iter().partition(is_kept);
    let others = others.into_iter().map(|one| (one.label, why.to_owned()));
    Case { candidates, dropped: case.dropped.into_iter().chain(others).collect(), ..case }
}

/// `case` with the variants that did best in a round; as it is where the winner is not among its variants.
fn finalists(case: Case, kernel: &Built) -> Case {
    let is_winner = |one: &Candidate| one.label == kernel.variant;
    if !case.candidates.iter().any(is_winner) {
        return case;
    }
    let seconds = seconds(kernel);
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
        let built = Built { variant: winner.into(), tried, ..built };
        (record.kernel, record.outcome) = (Some(built), outcome);
        let other = sample::record(sample::key("another", 1), 1.0);
        let case = narrowed(case, [other, record].iter());
        case.candidates.iter().map(|one| one.label.as_str()).collect()
    }

    /// A round of the case of five variants at another size: its labels have these times, 0 where it did not run.
    fn round(name: &str, smaller_by: i64, times: [f64; 5]) -> Record {
        let mut key = plan::search(&["a"]).key;
        key.size[0].1 -= smaller_by;
        key.workload = name.into();
        let labels = ["a", "b", "c", "d", "e"].map(String::from);
        let tried = labels.into_iter().zip(times.map(|one| (one > 0.0).then_some(one)));
        let built = Built { variant: "b".into(), tried: tried.collect(), ..sample::built("x") };
        Record { kernel: Some(built), ..sample::record(key, 1.0) }
    }

    /// What these rounds leave.
    fn after(rounds: &[Record]) -> String {
        let case = narrowed(plan::search(&["a", "b", "c", "d", "e"]), rounds.iter());
        case.candidates.iter().map(|one| one.label.as_str()).collect()
    }

    #[test]
    fn at_a_larger_size_those_far_behind_are_not_tried() {
        let far = [0.011, 0.003, 0.009, 0.0, 0.004];
        let left = |name, by, times| after(&[round(name, by, times)]);
        let name = plan::search(&["a"]).key.workload;
        assert_eq!(left(&name, 1, far), "bcde", "of one that did not run nothing is known");
        assert_eq!(left(&name, -1, far), "abcde", "at a smaller size");
        assert_eq!(left("another", 1, far), "abcde");
        assert_eq!(left(&name, 1, far.map(|one| one * 2.0)), "bcde");
        assert_eq!(left(&name, 1, [0.011, 1e-4, 9e-4, 0.0, 2e-4]), "bcde", "it was itself long");
        assert_eq!(left(&name, 1, far.map(|one| one / 10.0)), "abcde", "mostly launching");
    }

    #[test]
    fn a_larger_size_searches_on_only_where_launching_took_most_of_the_smaller_ones_time() {
        let name = plan::search(&["a"]).key.workload;
        let left = |times: [f64; 5]| {
            let mut record = round(&name, 1, times);
            record.kernel.as_mut().unwrap().untried = 7;
            let case = narrowed(plan::search(&["a", "b", "c", "d", "e"]), [&record].into_iter());
            assert_eq!(case.candidates.len() + case.dropped.len(), 5, "a record names all");
            after(&[record])
        };
        assert_eq!(left([0.007, 0.003, 0.005, 0.0, 0.004]), "bec");
        assert_eq!(left([0.007, 0.001, 0.005, 0.0, 0.004]), "bd");
    }

    #[test]
    fn neither_a_later_round_nor_a_larger_size_brings_a_variant_back() {
        let name = &plan::search(&["a"]).key.workload;
        let smallest = round(name, 2, [0.011, 0.003, 0.004, 0.0, 0.004]);
        let later = round(name, 2, [0.0, 0.003, 0.004, 0.0, 0.0]);
        let middle = round(name, 1, [0.0, 0.012, 0.1, 0.02, 0.02]);
        assert_eq!(after(&[smallest.clone(), later]), "bcde");
        assert_eq!(after(&[smallest, middle]), "bde");
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
