//! What a type of number can be filled with.

use gpubench_core::gpu::Scalar;
use gpubench_core::units::quoted;
use gpubench_core::workload::Fill;

/// What is wrong with a fill's number, or its bounds.
pub fn wrong_fill(fill: &Fill, scalar: Scalar) -> Option<String> {
    let (bounds, range) = match fill {
        Fill::Uniform(bounds) => (bounds, scalar.range()),
        Fill::Whole(bounds) => (bounds, Some(scalar.whole_range())),
        Fill::Constant(number) => return does_not_fit(*number, scalar),
        Fill::RandomBits | Fill::Index | Fill::Cycle => return None,
    };
    if range.is_none()
        && let Some(wrong) = bounds.iter().find_map(|bound| does_not_fit(*bound, scalar))
    {
        return Some(wrong);
    }
    wrong_bounds(*bounds, scalar.name(), range)
}

fn does_not_fit(number: f64, scalar: Scalar) -> Option<String> {
    let fits = match scalar.range() {
        Some([low, high]) => number.fract() == 0.0 && (low..=high).contains(&number),
        // Infinity is meant where it is written, and a mistake where a number becomes it.
        None => !number.is_finite() || scalar.holds(number),
    };
    (!fits).then(|| format!("{} does not fit into {}", quoted(number), scalar.name()))
}

/// Why nothing can be drawn between two bounds: whole numbers where there is a range of them.
fn wrong_bounds([low, high]: [f64; 2], name: &str, range: Option<[f64; 2]>) -> Option<String> {
    if !(low < high && (high - low).is_finite()) {
        let [low, high] = [low, high].map(quoted);
        return Some(format!(
            "a fill between bounds needs a low and a higher one, not {low} and {high}"
        ));
    }
    let [min, max] = range?;
    let range = [min, max + 1.0];
    if low < range[0] || high > range[1] {
        Some(format!(
            "{name} holds numbers from {} below {}, not {} to {}",
            range[0],
            range[1],
            quoted(low),
            quoted(high)
        ))
    } else if high - low < 2.0 {
        let [low, high] = [low, high].map(quoted);
        Some(format!(
            "whole numbers from {low} below {high} are all alike: {name} needs bounds 2 apart"
        ))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_a_fill_are_apart_and_within_the_type() {
        let wrong = |bounds, scalar| wrong_fill(&Fill::Uniform(bounds), scalar).unwrap_or_default();
        for (bounds, scalar) in [
            ([0.0, 1.0], Scalar::F32),
            ([-1e-9, 1e-9], Scalar::F64),
            ([-128.0, 128.0], Scalar::I8),
            ([0.0, 256.0], Scalar::U8),
            ([-1.0, 1.0], Scalar::I32),
        ] {
            assert_eq!(wrong(bounds, scalar), "", "{bounds:?}");
        }
        for (bounds, scalar, said) in [
            ([1.0, 1.0], Scalar::F32, "a low and a higher one, not 1 and 1"),
            ([2.0, 1.0], Scalar::F32, "a low and a higher one, not 2 and 1"),
            ([-1e308, 1e308], Scalar::F64, "a low and a higher one"),
            ([-129.0, 5.0], Scalar::I8, "i8 holds numbers from -128 below 128, not -129 to 5"),
            ([0.0, 257.0], Scalar::U8, "u8 holds numbers from 0 below 256, not 0 to 257"),
            ([0.0, 1.5], Scalar::U8, "whole numbers from 0 below 1.5 are all alike"),
            ([0.0, 1e39], Scalar::F32, "1e39 does not fit into f32"),
            ([0.0, 1e5], Scalar::F16, "100000 does not fit into f16"),
        ] {
            assert!(wrong(bounds, scalar).contains(said), "{}", wrong(bounds, scalar));
        }
        let constant = |number, scalar| wrong_fill(&Fill::Constant(number), scalar);
        for (number, scalar) in [
            (255.0, Scalar::U8),
            (0.1, Scalar::F32),
            (-3.0, Scalar::I32),
            (2f64.powi(64), Scalar::U64),
            (-(2f64.powi(63)), Scalar::I64),
            (f64::INFINITY, Scalar::F32),
        ] {
            assert_eq!(constant(number, scalar), None, "{number}");
        }
        for (number, scalar) in
            [(300.0, Scalar::U8), (-1.0, Scalar::U8), (1.5, Scalar::I32), (1e39, Scalar::F32)]
        {
            assert!(constant(number, scalar).unwrap().contains("does not fit into"), "{number}");
        }
    }
}
