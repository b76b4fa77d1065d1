//! What a launch of a case is expected to take, by a smaller size's.

use gpubench_core::reason::Reason;
use gpubench_core::record::{Measured, Outcome, Record};
use gpubench_experiments::Policy;
use gpubench_experiments::plan::Case;

/// Why a case is too long for what it gets, as far as what a device has `measured` of a smaller size shows; `None` where
/// it is not, or nothing does.
pub(super) fn too_long<'r>(
    case: &Case,
    measured: impl Iterator<Item = &'r Record>,
    policy: &Policy,
) -> Option<Outcome> {
    let smaller = measured.filter(|record| record.key.is_no_larger_than(&case.key));
    let expected = smaller.filter_map(|record| seconds(case, record.measured.as_ref()?));
    let needed = expected.reduce(f64::max)?;
    let available = policy.affordable_launch();
    let what = "one launch, by what a smaller size took,".to_owned();
    let reason = Reason::OverBudget { what, needed, available, option: None };
    (needed > available).then_some(Outcome::Skipped(reason))
}

/// Seconds of a launch of `case`, if it does as much in a second as another size of it did.
fn seconds(case: &Case, other: &Measured) -> Option<f64> {
    let work = case.candidates.iter().map(|candidate| candidate.work()).reduce(f64::min)?;
    let done = if other.flops > 0.0 { other.flops } else { other.bytes };
    let took = other.samples.iter().copied().reduce(f64::min)?;
    (done > 0.0).then_some(took * work / done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_core::record::sample::record;
    use gpubench_experiments::plan::sample::case;

    #[test]
    fn so_many_times_the_work_takes_so_many_times_as_long() {
        let large = case("compute", "fma", 80);
        let work = large.candidates[0].work();
        let policy = Policy { seconds: 1.0, ..Policy::default() };
        let affordable = policy.affordable_launch();
        let too_long = |name: &str, n, flops, took| {
            let mut record = record(case("compute", name, n).key, took);
            let measured = record.measured.as_mut().unwrap();
            (measured.flops, measured.bytes) = (flops, 0.0);
            too_long(&large, [record].iter(), &policy)
        };
        let eighth = work / 8.0;
        let Some(Outcome::Skipped(Reason::OverBudget { needed, available, .. })) =
            too_long("fma", 10, eighth, affordable / 4.0)
        else {
            panic!("twice what it may")
        };
        assert!((needed / affordable - 2.0).abs() < 1e-9 && available == affordable);
        assert_eq!(too_long("fma", 10, eighth, affordable / 9.0), None);
        assert_eq!(too_long("fma", 90, eighth, affordable / 4.0), None, "it is larger");
        assert_eq!(too_long("other", 10, eighth, affordable / 4.0), None);
        assert_eq!(too_long("fma", 10, 0.0, affordable / 4.0), None, "it did nothing");
    }
}
