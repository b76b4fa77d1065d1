//! What a launch of a case is expected to take, by a smaller size's.

use gpubench_core::record::{Measured, Record};
use gpubench_experiments::KERNEL_DOMINATED_SECONDS;
use gpubench_experiments::plan::Case;

/// Seconds of a launch of a kernel's `case`, if it does as much in a second as the largest of the smaller sizes among
/// `records`, in launches that were mostly the kernel's own time. `None` where there are none.
pub(super) fn expected_launch<'r>(
    case: &Case,
    records: impl Iterator<Item = &'r Record>,
) -> Option<f64> {
    if !case.key.measure.is_kernel() {
        return None;
    }
    let smaller = records
        .filter(|record| record.key != case.key && record.key.is_no_larger_than(&case.key))
        .filter_map(|record| record.measured.as_ref())
        .filter_map(|measured| Some((work(measured), shortest(measured)?)))
        .filter(|&(work, seconds)| work > 0.0 && seconds >= KERNEL_DOMINATED_SECONDS);
    let (done, seconds) = smaller.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let work = case.candidates.iter().map(|candidate| candidate.work()).reduce(f64::min)?;
    Some(seconds * work / done)
}

/// Operations of a launch, or its bytes where it computes nothing.
fn work(measured: &Measured) -> f64 {
    if measured.flops > 0.0 { measured.flops } else { measured.bytes }
}

fn shortest(measured: &Measured) -> Option<f64> {
    measured.samples.iter().copied().reduce(f64::min)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use gpubench_core::record::sample::record;
    use gpubench_experiments::plan::sample;

    /// A case of `n` operations.
    pub fn kernel(name: &str, n: i64) -> Case {
        let mut candidates = sample::search(&["a"]).candidates;
        candidates[0].flops = n as f64;
        Case { candidates, ..sample::case("compute", name, n) }
    }

    /// What was measured of such a case.
    pub fn measured(name: &str, n: i64, seconds: f64) -> Record {
        let mut record = record(kernel(name, n).key, seconds);
        let measured = record.measured.as_mut().unwrap();
        (measured.flops, measured.bytes) = (n as f64, 0.0);
        record
    }

    #[test]
    fn a_multiple_of_the_work_takes_a_multiple_of_the_time() {
        let case = kernel("fma", 80);
        let expected = |records: &[Record]| expected_launch(&case, records.iter());
        let eighth = measured("fma", 10, 0.004);
        assert_eq!(expected(std::slice::from_ref(&eighth)), Some(0.032));
        let quarter = measured("fma", 20, 0.006);
        assert_eq!(expected(&[quarter, eighth.clone()]), Some(0.024), "by the nearest");
        let (mut moves, mut idle) = (eighth.clone(), eighth);
        for (record, bytes) in [(&mut moves, 40.0), (&mut idle, 0.0)] {
            let measured = record.measured.as_mut().unwrap();
            (measured.flops, measured.bytes) = (0.0, bytes);
        }
        assert_eq!(expected(&[moves]), Some(0.008), "its bytes where it computes nothing");
        for nothing in [
            idle,
            measured("fma", 10, 0.0019),
            measured("fma", 80, 0.004),
            measured("fma", 90, 0.004),
            measured("another", 10, 0.004),
        ] {
            assert_eq!(expected(std::slice::from_ref(&nothing)), None, "{:?}", nothing.measured);
        }
    }
}
