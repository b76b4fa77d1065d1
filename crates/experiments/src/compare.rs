//! A result against the expected one, scalar by scalar.

use gpubench_core::record::{ErrorNorms, Mismatch};
use gpubench_core::units::quoted;
use gpubench_core::workload::Comparison;
use gpubench_reference::{Data, parallel_map};
use std::ops::Range;

/// Compares `found` with `expected`: every number must lie within
/// `absolute + relative · |expected|`, and integers must be equal. How far they are apart, and the
/// first wrong scalar with the number of all. A NaN is wrong unless one is expected.
pub fn compare(
    buffer: &str,
    expected: &Data,
    found: &Data,
    allowed: Comparison,
    when: &str,
) -> (ErrorNorms, Option<Mismatch>) {
    if expected.scalar() == found.scalar() && expected.as_bytes() == found.as_bytes() {
        return (ErrorNorms::default(), None);
    }
    let exact = Comparison { relative: 0.0, absolute: 0.0 };
    let allowed = if expected.scalar().is_float() { allowed } else { exact };
    let count = expected.len().max(found.len());
    let part = |range: Range<usize>| part(expected, found, allowed, range);
    let Part { norms, first, wrong, .. } = in_parallel(count, part);
    let mismatch = first.map(|index| Mismatch {
        buffer: buffer.to_owned(),
        index: index as u64,
        found: shown(found.get(index)),
        expected: shown(expected.get(index)),
        wrong,
        of: count as u64,
        when: when.to_owned(),
    });
    (norms, mismatch)
}

/// What comparing some scalars shows.
#[derive(Default)]
struct Part {
    norms: ErrorNorms,
    /// Sums of squares: of the differences, and of what was expected.
    squares: [f64; 2],
    first: Option<usize>,
    wrong: u64,
}

fn part(expected: &Data, found: &Data, allowed: Comparison, range: Range<usize>) -> Part {
    let mut part = Part::default();
    // Not every integer of 64 bits is a number here.
    let whole = !expected.scalar().is_float();
    let equal = |i| expected.bytes_of(i) == found.bytes_of(i);
    for i in range {
        let (want, have) = (expected.get(i), found.get(i));
        if !(if whole { equal(i) } else { within(want, have, allowed) }) {
            part.first.get_or_insert(i);
            part.wrong += 1;
        }
        if let (Some(want), Some(have)) = (want, have)
            && want.is_finite()
            && have.is_finite()
        {
            let difference = (have - want).abs();
            part.norms.max_absolute = part.norms.max_absolute.max(difference);
            if want != 0.0 {
                part.norms.max_relative = part.norms.max_relative.max(difference / want.abs());
            }
            part.squares[0] += difference * difference;
            part.squares[1] += want * want;
        }
    }
    part
}

/// All of `count` scalars, on all cores of the host.
fn in_parallel(count: usize, part: impl Fn(Range<usize>) -> Part + Send + Sync) -> Part {
    const SHARE: usize = 1 << 16;
    let share = |i: usize| part(i * SHARE..count.min((i + 1) * SHARE));
    let parts = parallel_map(count.div_ceil(SHARE), share);
    let mut whole = Part::default();
    for part in parts {
        whole.norms.max_absolute = whole.norms.max_absolute.max(part.norms.max_absolute);
        whole.norms.max_relative = whole.norms.max_relative.max(part.norms.max_relative);
        whole.squares = [whole.squares[0] + part.squares[0], whole.squares[1] + part.squares[1]];
        whole.first = whole.first.or(part.first);
        whole.wrong += part.wrong;
    }
    if whole.squares[1] > 0.0 {
        whole.norms.l2 = (whole.squares[0] / whole.squares[1]).sqrt();
    }
    whole
}

fn within(want: Option<f64>, have: Option<f64>, allowed: Comparison) -> bool {
    match (want, have) {
        (Some(want), Some(have)) if want.is_nan() => have.is_nan(),
        (Some(want), Some(have)) if want.is_infinite() => have == want,
        (Some(want), Some(have)) => {
            (have - want).abs() <= allowed.absolute + allowed.relative * want.abs()
        }
        _ => false,
    }
}

fn shown(value: Option<f64>) -> String {
    value.map_or_else(|| "nothing".to_owned(), quoted)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIGHT: Comparison = Comparison { relative: 1e-6, absolute: 0.0 };

    fn check(expected: &[f32], found: &[f32], allowed: Comparison) -> Option<Mismatch> {
        let (expected, found) = (Data::F32(expected.into()), Data::F32(found.into()));
        compare("out", &expected, &found, allowed, "first launch").1
    }

    #[test]
    fn equal_results_have_no_error() {
        let data = Data::F32(vec![1.0, -2.0]);
        let (norms, mismatch) = compare("out", &data, &data, TIGHT, "first launch");
        assert_eq!((norms, mismatch), (ErrorNorms::default(), None));
    }

    #[test]
    fn the_first_wrong_scalar_is_named_and_all_are_counted() {
        let mismatch = check(&[1.0, 2.0, 3.0], &[1.0, 2.5, 3.5], TIGHT).unwrap();
        assert_eq!((mismatch.index, mismatch.wrong, mismatch.of), (1, 2, 3));
        assert_eq!((mismatch.found.as_str(), mismatch.expected.as_str()), ("2.5", "2"));
    }

    #[test]
    fn nan_is_right_only_where_expected() {
        assert!(check(&[f32::NAN], &[f32::NAN], TIGHT).is_none());
        assert!(check(&[1.0], &[f32::NAN], Comparison { relative: 1e9, absolute: 1e9 }).is_some());
        assert!(check(&[f32::INFINITY], &[3.0e38], TIGHT).is_some());
    }

    #[test]
    fn a_missing_scalar_is_wrong() {
        assert_eq!(check(&[1.0, 2.0], &[1.0], TIGHT).unwrap().found, "nothing");
    }

    #[test]
    fn integers_are_equal_or_wrong() {
        let loose = Comparison { relative: 1.0, absolute: 1.0 };
        let off_by_one = compare("out", &Data::U32(vec![7]), &Data::U32(vec![8]), loose, "x");
        assert!(off_by_one.1.is_some());
        let large = |x: u64| Data::from_bytes(gpubench_core::gpu::Scalar::U64, &x.to_ne_bytes());
        assert!(compare("out", &large(u64::MAX), &large(u64::MAX - 1), loose, "x").1.is_some());
        assert!(compare("out", &large(u64::MAX), &large(u64::MAX), loose, "x").1.is_none());
    }
}
