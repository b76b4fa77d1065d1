//! Which of a search's variants are tried again: in later rounds the one that won an earlier round, and the next two by
//! their first launches; at a larger size all but those that were far behind at a smaller one. To try all again takes
//! time that measuring has a better use for.

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
pub(super) fn narrowed<'r>(case: Case, records: impl Iterator<Item = &'r Record> + Clone) -> Case {
    let mut same = records.clone().filter(|record| record.key == case.key && record.outcome.ran());
    if let Some(kernel) = same.find_map(searched) {
        return finalists(case, kernel);
    }
    let is_smaller = |one: &CaseKey, other: &CaseKey| one != other && one.is_no_larger_than(other);
    let smaller = records.filter(|one| is_smaller(&one.key, &case.key) && one.outcome.ran());
    let smaller = smaller.filter_map(|record| Some((record, searched(record)?)));
    // Of rounds of one size the first one tried most.
    let largest =
        smaller.reduce(|one, other| if is_smaller(&one.0.key, &other.0.key) { other } else { one });
    match largest {
        Some((_, kernel)) => without_those_behind(case, kernel),
        None => case,
    }
}

/// A record's kernel, where it was searched for.
fn searched(record: &Record) -> Option<&Built> {
    record.kernel.as_ref().filter(|kernel| !kernel.tried.is_empty())
}

/// Seconds of a launch of each variant that ran.
fn seconds(kernel: &Built) -> HashMap<&str, f64> {
    let tried = kernel.tried.iter();
    tried.filter_map(|(label, seconds)| Some((label.as_str(), (*seconds)?))).collect()
}

/// `case` without the variants that were far behind at a smaller size, in launches that were mostly the kernel's own time; as
/// it is where the winner is not among its variants.
fn without_those_behind(case: Case, kernel: &Built) -> Case {
    let seconds = seconds(kernel);
    let took = |one: &Candidate| seconds.get(&one.label[..]).copied();
    let cost = |one: &Candidate| Some(took(one)? / one.work());
    let winner = case.candidates.iter().find(|one| one.label == kernel.variant);
    let Some(best) = winner.and_then(cost) else { return case };
    let is_behind = |one: &Candidate| {
        took(one).is_some_and(|seconds| seconds >= KERNEL_DOMINATED_SECONDS)
            && cost(one).is_some_and(|cost| cost > FAR * best)
    };
    let (behind, candidates): (Vec<_>, Vec<_>) = case.candidates.into_iter().partition(is_behind);
    let why = || "it was far behind at a smaller size".to_owned();
    let behind = behind.into_iter().map(|one| (one.label, why()));
    Case { candidates, dropped: case.dropped.into_iter().chain(behind).collect(), ..case }
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

    #[test]
    fn at_a_larger_size_those_far_behind_are_not_tried() {
        let left = |name: &str, n: i64, times: [f64; 5]| {
            let case = plan::search(&["a", "b", "c", "d", "e"]);
            let mut key = case.key.clone();
            (key.workload, key.size[0].1) = (name.into(), n);
            let labels = ["a", "b", "c", "d", "e"].map(String::from);
            let tried = labels.into_iter().zip(times.map(|one| (one > 0.0).then_some(one)));
            let built = Built { variant: "b".into(), tried: tried.collect(), ..sample::built("x") };
            let first = Record { kernel: Some(built), ..sample::record(key, 1.0) };
            let mut later = first.clone();
            later.kernel.iter_mut().for_each(|kernel| kernel.tried.truncate(2));
            let case = narrowed(case, [first, later].iter());
            case.candidates.iter().map(|one| one.label.as_str()).collect::<String>()
        };
        let (name, n) = {
            let key = plan::search(&["a"]).key;
            (key.workload.clone(), key.size[0].1)
        };
        let far = [0.011, 0.003, 0.009, 0.0, 0.004];
        assert_eq!(left(&name, n - 1, far), "bcde", "of one that did not run nothing is known");
        assert_eq!(left(&name, n + 1, far), "abcde", "at a smaller size");
        assert_eq!(left("another", n - 1, far), "abcde");
        assert_eq!(left(&name, n - 1, far.map(|one| one * 2.0)), "bcde");
        assert_eq!(
            left(&name, n - 1, [0.011, 1e-4, 9e-4, 0.0, 2e-4]),
            "bcde",
            "it was itself long"
        );
        assert_eq!(left(&name, n - 1, far.map(|one| one / 10.0)), "abcde", "mostly launching");
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
