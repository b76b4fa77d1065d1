//! The one place where a number becomes text that people read.
//!
//! Whatever finite number comes in, a short text goes out: what no prefix reaches is written with
//! an exponent, so that nothing reads `0.00 ps` or runs over hundreds of digits.

use super::{Quantity, Unit};
use gpubench_core::units::{Bytes, with_prefix};

/// A value and its interval.
pub(super) fn quantity(quantity: Quantity, unit: Unit) -> String {
    let (value, text) = (quantity.value(), number(quantity.value(), unit));
    let Some([low, high]) = quantity.interval() else { return text };
    let percent = 100.0 * (high / value - 1.0).max(1.0 - low / value);
    if !unit.is_relative() || value <= 0.0 || !percent.is_finite() {
        return format!("{text} ({} to {})", number(low, unit), number(high, unit));
    }
    match percent {
        ..9.95 => format!("{text} ±{percent:.1} %"),
        ..999.5 => format!("{text} ±{percent:.0} %"),
        _ => format!("{text} ±>999 %"),
    }
}

/// `value` at an axis: as elsewhere, without zeros behind the point.
pub fn tick(value: f64, unit: Unit) -> String {
    let text = number(value, unit);
    let (number, rest) = text.split_once(' ').unwrap_or((&text, ""));
    let number = match number.contains('.') && !number.contains('e') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    };
    let rest = if value == 0.0 { "" } else { rest };
    format!("{number} {rest}").trim_end().to_owned()
}

/// `value` as people read it; `–` where it is not finite.
pub fn number(value: f64, unit: Unit) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    match unit {
        Unit::Seconds
        | Unit::BytesPerSecond
        | Unit::FlopsPerSecond
        | Unit::OperationsPerSecond
        | Unit::PerSecond
        | Unit::Hertz
        | Unit::Watts
        | Unit::Joules => with_prefix(value, unit.symbol()),
        // A prefix of a quotient reads badly: 0.083 FLOP/B, not 83 mFLOP/B.
        Unit::FlopsPerByte => format!("{} FLOP/B", plain(value)),
        Unit::Bytes => bytes(value),
        Unit::Fraction => percent(value, false),
        Unit::Change => percent(value, true),
        Unit::Ratio => format!("{} ×", ratio(value, 2)),
        Unit::Relative => ratio(value, 3),
        Unit::Celsius => format!("{} °C", plain(value)),
        Unit::Count | Unit::None => plain(value),
    }
}

fn bytes(value: f64) -> String {
    const LARGEST: f64 = (1u64 << 60) as f64;
    let size = value.abs();
    let sign = if value < 0.0 { "-" } else { "" };
    match size {
        ..1024.0 => format!("{} B", plain(value)),
        ..LARGEST => format!("{sign}{}", Bytes(size.round() as u64)),
        _ => format!("{value:.2e} B"),
    }
}

/// A share in hundredths.
fn percent(share: f64, signed: bool) -> String {
    let percent = 100.0 * share;
    let digits = match percent.abs() {
        0.0 => return "0 %".to_owned(),
        ..0.005 => return "≈0 %".to_owned(),
        ..0.995 => 2,
        ..9.95 => 1,
        ..99.95 if !signed => 1,
        ..99_999.5 => 0,
        // In hundredths the largest numbers would not be finite.
        _ => return format!("{share:.2e} ×"),
    };
    match signed {
        true => format!("{percent:+.digits$} %"),
        false => format!("{percent:.digits$} %"),
    }
}

fn ratio(value: f64, digits: usize) -> String {
    match value.abs() {
        0.0995..9.995 => format!("{value:.digits$}"),
        _ => plain(value),
    }
}

/// Three digits or more, whole numbers in full.
fn plain(value: f64) -> String {
    let whole = value.fract() == 0.0;
    match value.abs() {
        0.0 => "0".to_owned(),
        ..1e15 if whole => format!("{value:.0}"),
        ..9.995e-4 => format!("{value:.2e}"),
        ..0.009_995 => format!("{value:.5}"),
        ..0.099_95 => format!("{value:.4}"),
        ..0.999_5 => format!("{value:.3}"),
        ..9.995 => format!("{value:.2}"),
        ..99.95 => format!("{value:.1}"),
        ..999_999.5 => format!("{value:.0}"),
        _ => format!("{value:.2e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everyday_numbers_read_as_a_colleague_would_say_them() {
        for (value, unit, text) in [
            (1.234e-3, Unit::Seconds, "1.23 ms"),
            (0.0, Unit::Seconds, "0 s"),
            (1536.0, Unit::Bytes, "1.50 KiB"),
            (17.0, Unit::Bytes, "17 B"),
            (-4096.0, Unit::Bytes, "-4.00 KiB"),
            (2.5e10, Unit::BytesPerSecond, "25.0 GB/s"),
            (3.42e11, Unit::FlopsPerSecond, "342 GFLOP/s"),
            (0.5, Unit::Fraction, "50.0 %"),
            (0.012_34, Unit::Fraction, "1.2 %"),
            (0.0004, Unit::Fraction, "0.04 %"),
            (0.12, Unit::Change, "+12 %"),
            (-0.031, Unit::Change, "-3.1 %"),
            (2.0, Unit::Ratio, "2.00 ×"),
            (1.0254, Unit::Relative, "1.025"),
            (0.0042, Unit::Relative, "0.00420"),
            (12_345.0, Unit::Count, "12345"),
            (2e12, Unit::PerSecond, "2.00 T/s"),
            (1.5e9, Unit::Hertz, "1.50 GHz"),
            (45.25, Unit::Celsius, "45.2 °C"),
            (0.934, Unit::None, "0.934"),
        ] {
            assert_eq!(number(value, unit), text);
        }
    }

    #[test]
    fn no_number_prints_nonsense() {
        let mut values = vec![f64::MIN_POSITIVE, 5e-324, f64::MAX, 1e-290, 4.9e-15, 9.999e14, 1e15];
        values.extend((-307..308).map(|d| 9.996 * 10f64.powi(d)));
        for unit in Unit::ALL {
            for value in values.iter().flat_map(|v| [*v, -*v]) {
                for text in [number(value, unit), tick(value, unit)] {
                    assert!(text.chars().count() <= 24, "{value:e} {unit:?}: {text}");
                    assert!(!text.contains("inf") && !text.contains("NaN"), "{text}");
                    let digits = text.split(' ').next().unwrap_or("");
                    assert!(
                        digits.contains('≈') || digits.parse::<f64>().unwrap() != 0.0,
                        "{value:e} {text}"
                    );
                }
            }
        }
        assert_eq!(number(f64::NAN, Unit::Seconds), "–");
        assert_eq!(number(1e-290, Unit::Seconds), "1.00e-290 s");
    }

    #[test]
    fn intervals_read_in_per_cent_of_what_has_a_size() {
        let text =
            |value, interval, unit| quantity(Quantity::between(value, interval).unwrap(), unit);
        assert_eq!(text(1e-3, [0.99e-3, 1.02e-3], Unit::Seconds), "1.00 ms ±2.0 %");
        assert_eq!(text(1e-3, [0.0, 1.0], Unit::Seconds), "1.00 ms ±>999 %");
        assert_eq!(text(0.0, [-1e-3, 1e-3], Unit::Seconds), "0 s (-1.00 ms to 1.00 ms)");
        assert_eq!(text(0.5, [0.4, 0.6], Unit::Fraction), "50.0 % (40.0 % to 60.0 %)");
        assert_eq!(text(1e-300, [0.0, 1e300], Unit::Seconds), "1.00e-300 s (0 s to 1.00e300 s)");
    }

    #[test]
    fn ticks_are_short() {
        assert_eq!(tick(1e-3, Unit::Seconds), "1 ms");
        assert_eq!(tick(0.0, Unit::BytesPerSecond), "0");
        assert_eq!(tick(100.0, Unit::Count), "100");
        assert_eq!(tick(1.5, Unit::Ratio), "1.5 ×");
        assert_eq!(tick(1.0, Unit::Relative), "1");
        assert_eq!(tick(10_485_760.0, Unit::Bytes), "10 MiB");
    }
}
