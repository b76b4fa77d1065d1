//! In which order cases that waited for their time are measured.

use super::expected_launch::expected_launch;
use gpubench_core::record::{Flag, Grade, Record};
use gpubench_core::workload::Ceiling;
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

/// Whether others are held against what a case reaches: it is a ceiling, and one that no smaller size has shown without a
/// warning. Memory has another at every size; arithmetic has not, once launching is little of its time.
pub(super) fn bounds_others(case: &Case, records: &[Record], device: usize) -> bool {
    let is_right = |record: &&Record| {
        let misleads = |flag: &Flag| matches!(flag.grade(), Grade::Warning | Grade::Hidden);
        record.device == device && record.outcome.is_ok() && !record.flags.iter().any(misleads)
    };
    match case.ceiling {
        None => false,
        Some(Ceiling::Bandwidth) => true,
        Some(_) => expected_launch(case, records.iter().filter(is_right)).is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::run::expected_launch::tests::{kernel, measured};
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
        let ceiling = |ceiling, n| Case { ceiling: Some(ceiling), ..kernel("fma", n) };
        let shown = |seconds| [measured("fma", 10, seconds)];
        for (of, seconds, expected) in [
            (Ceiling::Flops, 1e-3, true),
            (Ceiling::Flops, 3e-3, false),
            (Ceiling::Bandwidth, 3e-3, true),
        ] {
            assert_eq!(bounds_others(&ceiling(of, 20), &shown(seconds), 0), expected);
            assert!(bounds_others(&ceiling(of, 5), &shown(seconds), 0), "it is smaller");
            assert!(bounds_others(&ceiling(of, 20), &shown(seconds), 1), "another device");
        }
        let mut misleading = shown(3e-3);
        misleading[0].flags.push(Flag::Drift("30 %".into()));
        assert!(bounds_others(&ceiling(Ceiling::Flops, 20), &misleading, 0));
        assert!(!bounds_others(&kernel("fma", 20), &[], 0));
    }
}
