//! A number that was measured, and how far it may be off.

use crate::checked::checked;
use crate::units::quoted;
use serde::{Deserialize, Deserializer, Serialize};

/// A positive number and an interval that holds it with 95 % confidence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Value {
    /// The number.
    pub value: f64,
    /// The interval's ends.
    pub interval: [f64; 2],
}

/// A value before its number and its interval are held against each other.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    #[serde(deserialize_with = "positive")]
    value: f64,
    #[serde(deserialize_with = "ends")]
    interval: [f64; 2],
}

impl TryFrom<Unchecked> for Value {
    type Error = String;

    fn try_from(Unchecked { value, interval }: Unchecked) -> Result<Self, String> {
        match interval {
            [low, high] if low <= value && value <= high => Ok(Self { value, interval }),
            interval => {
                let [value, low, high] = [value, interval[0], interval[1]].map(quoted);
                Err(format!("{value} is not within its interval {low} to {high}"))
            }
        }
    }
}

impl Value {
    /// This, a given number of times.
    pub fn times(self, factor: f64) -> Self {
        Self { value: self.value * factor, interval: self.interval.map(|end| end * factor) }
    }

    /// A number of something per time: a rate.
    pub fn rate(self, amount: f64) -> Self {
        let [low, high] = self.interval;
        Self { value: amount / self.value, interval: [amount / high, amount / low] }
    }

    /// Half the interval's width relative to the number.
    pub fn relative_half_width(self) -> f64 {
        (self.interval[1] - self.interval[0]) / 2.0 / self.value
    }
}

fn positive<'de, D: Deserializer<'de>>(d: D) -> Result<f64, D::Error> {
    let why = |x| format!("{} is no positive number", quoted(x));
    checked(f64::deserialize(d)?, |x| x > 0.0 && x.is_finite(), why)
}

fn ends<'de, D: Deserializer<'de>>(d: D) -> Result<[f64; 2], D::Error> {
    let is_right = |[low, high]: [f64; 2]| low > 0.0 && low <= high && high.is_finite();
    let why =
        |ends: [f64; 2]| format!("{} is no interval above zero", ends.map(quoted).join(" to "));
    checked(<[f64; 2]>::deserialize(d)?, is_right, why)
}

#[cfg(test)]
mod tests {
    use super::Value;

    #[test]
    fn a_value_is_scaled_with_its_interval() {
        let value = Value { value: 4.0, interval: [2.0, 5.0] };
        assert_eq!(value.times(3.0), Value { value: 12.0, interval: [6.0, 15.0] });
        assert_eq!(value.rate(20.0), Value { value: 5.0, interval: [4.0, 10.0] });
        assert_eq!(value.relative_half_width(), 0.375);
    }

    #[test]
    fn a_value_is_above_zero_and_within_its_interval() {
        let is_value = |text: &str| serde_json::from_str::<Value>(text).is_ok();
        for (value, low, high, taken) in [
            ("2", "1", "3", true),
            ("1", "1", "1", true),
            ("1", "1", "3", true),
            ("4", "1", "3", false),
            ("0.5", "1", "3", false),
            ("0", "0", "3", false),
            ("1", "0", "3", false),
            ("2", "3", "1", false),
        ] {
            let text = format!("{{\"value\": {value}, \"interval\": [{low}, {high}]}}");
            assert_eq!(is_value(&text), taken, "{text}");
        }
    }
}
