//! In which order cases that waited for their time are measured.

use gpubench_core::record::Record;
use gpubench_core::workload::Ceiling;
use gpubench_experiments::KERNEL_DOMINATED_SECONDS;
use gpubench_experiments::plan::{Case, Turn};

/// Orders deferred cases so that what bounds the others is measured, and most of them fit what is left: that first, then by
/// the seconds of a turn.
pub(super) fn order_deferred(
    cases: &mut [(Turn, Case)],
    bounds: impl Fn(&Case) -> bool,
    seconds: impl Fn(&Case) -> f64,
) {
    cases.sort_by_key(|(turn, _)| *turn);
    cases.sort_by(|(_, a), (_, b)| seconds(a).total_cmp(&seconds(b)));
    cases.sort_by_key(|(_, case)| !bounds(case));
}

/// Whether others are held against what a case reaches: it is a ceiling, and one that no smaller size has shown. Memory has
/// another at every size; arithmetic has not, once launching is little of its time.
pub(super) fn bounds_others(case: &Case, records: &[Record], device: usize) -> bool {
    let has_shown = |record: &Record| {
        let is_smaller = record.device == device && record.key.is_no_larger_than(&case.key);
        let samples = record.measured.iter().flat_map(|measured| measured.samples.iter().copied());
        is_smaller && samples.reduce(f64::min).is_some_and(|s| s >= KERNEL_DOMINATED_SECONDS)
    };
    match case.ceiling {
        None => false,
        Some(Ceiling::Bandwidth) => true,
        Some(_) => !records.iter().any(has_shown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::sample::record;
    use gpubench_experiments::plan::{sample::case, turns};

    #[test]
    fn of_the_deferred_ceilings_go_first_then_short_turns() {
        let mut cases = [30, 10, 20].map(|n| case("memory", "copy", n)).to_vec();
        cases.push(Case { ceiling: Some(Ceiling::Bandwidth), ..case("memory", "read", 40) });
        let mut cases: Vec<_> = turns(&cases).into_iter().zip(cases).collect();
        let seconds = |case: &Case| case.key.size[0].1 as f64;
        order_deferred(&mut cases, |case| bounds_others(case, &[], 0), seconds);
        let sizes: Vec<_> = cases.iter().map(|(_, case)| case.key.size[0].1).collect();
        assert_eq!(sizes, [40, 10, 20, 30]);
    }

    #[test]
    fn arithmetic_that_a_smaller_size_has_shown_bounds_nothing_more() {
        let ceiling = |ceiling, n| Case { ceiling: Some(ceiling), ..case("compute", "fma", n) };
        let shown = |seconds| [record(case("compute", "fma", 10).key, seconds)];
        for (of, seconds, expected) in [
            (Ceiling::Flops, 1e-3, true),
            (Ceiling::Flops, 3e-3, false),
            (Ceiling::Bandwidth, 3e-3, true),
        ] {
            assert_eq!(bounds_others(&ceiling(of, 20), &shown(seconds), 0), expected);
            assert!(bounds_others(&ceiling(of, 5), &shown(seconds), 0), "it is smaller");
            assert!(bounds_others(&ceiling(of, 20), &shown(seconds), 1), "another device");
        }
        assert!(!bounds_others(&case("compute", "fma", 20), &[], 0));
    }
}
