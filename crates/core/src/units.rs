//! Quantities and how people read them: bytes, seconds, and rates with a prefix.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A number of bytes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl Bytes {
    /// `n` binary kilobytes.
    pub const fn kib(n: u64) -> Self {
        Self(n << 10)
    }

    /// `n` binary megabytes.
    pub const fn mib(n: u64) -> Self {
        Self(n << 20)
    }

    /// The number as a length of host memory, saturating where `usize` is too small.
    pub fn as_usize(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
        if self.0 < 1024 {
            return f.pad(&format!("{} B", self.0));
        }
        let mut value = self.0 as f64 / 1024.0;
        let mut name = 0;
        while value >= 1024.0 && name + 1 < NAMES.len() {
            value /= 1024.0;
            name += 1;
        }
        f.pad(&format!("{} {}", three_digits(value), NAMES[name]))
    }
}

/// Two numbers of bytes that are compared: in full where their short forms read alike.
pub fn apart(one: Bytes, other: Bytes) -> [String; 2] {
    let short = [one, other].map(|bytes| bytes.to_string());
    if one != other && short[0] == short[1] {
        return [one, other].map(|Bytes(n)| format!("{n} B"));
    }
    short
}

/// A time in seconds, with the prefix that leaves one to three digits before the point.
pub fn seconds(s: f64) -> String {
    with_prefix(s, "s")
}

/// Floating-point operations per second.
pub fn flops(rate: f64) -> String {
    with_prefix(rate, "FLOP/s")
}

/// Operations per second of a type: of whole numbers they are no floating-point operations.
pub fn operations(rate: f64, of_floats: bool) -> String {
    if of_floats { flops(rate) } else { with_prefix(rate, "OP/s") }
}

/// Bytes per second, decimal, as vendors state bandwidths.
pub fn bandwidth(rate: f64) -> String {
    with_prefix(rate, "B/s")
}

/// `value` with an SI prefix from pico to tera and `unit` behind it. What no prefix reaches is written
/// with an exponent, so that nothing reads `0.00 ps` or runs over hundreds of digits.
pub fn with_prefix(value: f64, unit: &str) -> String {
    const PREFIXES: [(&str, f64); 9] = [
        ("p", 1e-12),
        ("n", 1e-9),
        ("µ", 1e-6),
        ("m", 1e-3),
        ("", 1.0),
        ("k", 1e3),
        ("M", 1e6),
        ("G", 1e9),
        ("T", 1e12),
    ];
    /// Below this, not even pico leaves two digits; from the second on, tera leaves too many.
    const REACH: [f64; 2] = [1e-14, 9.995e14];
    if !value.is_finite() {
        return "–".to_owned();
    }
    if value == 0.0 {
        return format!("0 {unit}");
    }
    if !(REACH[0]..REACH[1]).contains(&value.abs()) {
        return format!("{value:.2e} {unit}");
    }
    // Rounding to three digits must not print 1000 of a smaller unit.
    let (prefix, scale) = PREFIXES
        .into_iter()
        .find(|&(_, scale)| value.abs() / scale < 999.5)
        .unwrap_or(PREFIXES[PREFIXES.len() - 1]);
    format!("{} {prefix}{unit}", three_digits(value / scale))
}

/// `value` with so many digits behind the point, as tables that are compared with printed ones have
/// it; with an exponent where that would take more than fifteen before the point.
pub fn fixed(value: f64, digits: usize) -> String {
    match value.abs() {
        ..1e15 => format!("{value:.digits$}"),
        _ if value.is_finite() => format!("{value:.digits$e}"),
        _ => "–".to_owned(),
    }
}

/// A number of somebody else, to be named in a message: in full, with an exponent where it would have more
/// than sixteen digits.
pub fn quoted(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        1e-6..1e16 => value.to_string(),
        _ => format!("{value:e}"),
    }
}

fn three_digits(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude >= 99.95 {
        format!("{value:.0}")
    } else if magnitude >= 9.995 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_unit_takes_what_is_larger() {
        assert_eq!(Bytes(3 << 50).to_string(), "3.00 PiB");
        assert_eq!(Bytes(2048 << 50).to_string(), "2048 PiB");
    }

    #[test]
    fn bytes_read_in_binary_units() {
        assert_eq!(Bytes(17).to_string(), "17 B");
        assert_eq!(Bytes::kib(4).to_string(), "4.00 KiB");
        assert_eq!(Bytes::mib(1536).to_string(), "1.50 GiB");
    }

    #[test]
    fn three_digits_with_a_prefix() {
        assert_eq!(seconds(0.001_234), "1.23 ms");
        assert_eq!(seconds(0.999_9), "1.00 s");
        assert_eq!(flops(3.42e11), "342 GFLOP/s");
        assert_eq!(bandwidth(0.0), "0 B/s");
    }

    #[test]
    fn no_number_reads_as_nonsense() {
        assert_eq!(seconds(f64::NAN), "–");
        assert_eq!(bandwidth(f64::INFINITY), "–");
        assert_eq!(seconds(5e-324), "4.94e-324 s");
        assert_eq!(bandwidth(1e28), "1.00e28 B/s");
        assert_eq!(seconds(-0.0), "0 s");
        assert_eq!(fixed(1.2345, 3), "1.234");
        assert_eq!(fixed(-1e308, 2), "-1.00e308");
        assert_eq!(fixed(f64::NAN, 1), "–");
        assert_eq!(
            [-5.0, 0.25, 1e308, 1e-290, 0.0].map(quoted),
            ["-5", "0.25", "1e308", "1e-290", "0"]
        );
    }

    #[test]
    fn three_digits_are_never_four() {
        for (value, text) in [
            (9.994, "9.99 s"),
            (9.995, "10.0 s"),
            (99.94, "99.9 s"),
            (99.95, "100 s"),
            (999.4, "999 s"),
            (999.5, "1.00 ks"),
            (0.9995, "1.00 s"),
            (-0.9995, "-1.00 s"),
            (9.994e14, "999 Ts"),
            (9.996e14, "1.00e15 s"),
            (1e-14, "0.01 ps"),
            (9.9e-15, "9.90e-15 s"),
        ] {
            assert_eq!(seconds(value), text, "{value:e}");
        }
        let prefixes = ["p", "n", "µ", "m", "", "k", "M", "G", "T"];
        for (exponent, prefix) in (-12..).step_by(3).zip(prefixes) {
            let value = format!("2.5e{exponent}").parse().unwrap();
            assert_eq!(with_prefix(value, "B"), format!("2.50 {prefix}B"));
        }
        assert_eq!([1023, 1024].map(|n| Bytes(n).to_string()), ["1023 B", "1.00 KiB"]);
        assert_eq!(Bytes::kib(3).as_usize(), 3072);
        assert_eq!([1e15, 9e14].map(|x| fixed(x, 0)), ["1e15", "900000000000000"]);
        assert_eq!(
            [1e-6, 9e-7, 1e16, 9e15].map(quoted),
            ["0.000001", "9e-7", "1e16", "9000000000000000"]
        );
    }

    #[test]
    fn what_is_compared_reads_apart() {
        let read = |one, other| apart(Bytes(one), Bytes(other));
        assert_eq!(read(4096, 8192), ["4.00 KiB", "8.00 KiB"]);
        assert_eq!(read(4096, 4096), ["4.00 KiB", "4.00 KiB"]);
        assert_eq!(read(1 << 30, (1 << 30) + 1), ["1073741824 B", "1073741825 B"]);
    }
}
