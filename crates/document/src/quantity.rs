//! Numbers that are finite by construction, and what they count.

use super::Unit;
use super::number_text;
use schemars::JsonSchema;
use serde::Serialize;

/// A finite number, perhaps with an interval of finite ends around it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(into = "Form")]
#[schemars(with = "Form")]
pub struct Quantity {
    value: f64,
    interval: Option<[f64; 2]>,
}

/// What programs read of a quantity.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum Form {
    /// The number alone.
    Number(f64),
    /// The number and the ends of its interval.
    Interval { value: f64, interval: [f64; 2] },
}

impl From<Quantity> for Form {
    fn from(Quantity { value, interval }: Quantity) -> Self {
        interval.map_or(Self::Number(value), |interval| Self::Interval { value, interval })
    }
}

impl Quantity {
    /// `value`; `None` where it is infinite or not a number.
    pub fn new(value: f64) -> Option<Self> {
        // Adding zero turns -0 into 0.
        value.is_finite().then_some(Self { value: value + 0.0, interval: None })
    }

    /// `value` with the ends of its interval.
    pub fn between(value: f64, interval: [f64; 2]) -> Option<Self> {
        Some(Self::new(value)?.with_interval(interval))
    }

    /// The same with an interval; one that is not finite, reversed or not around the value is
    /// no interval, and left out.
    pub fn with_interval(self, [low, high]: [f64; 2]) -> Self {
        let is_valid =
            low.is_finite() && high.is_finite() && low <= self.value && self.value <= high;
        Self { interval: is_valid.then_some([low + 0.0, high + 0.0]), ..self }
    }

    /// The same with an interval that reaches `margin` to either side.
    pub fn plus_minus(self, margin: f64) -> Self {
        self.with_interval([self.value - margin, self.value + margin])
    }

    /// The number itself: for geometry, JSON and CSV. People read [`Figure::text`].
    pub fn value(self) -> f64 {
        self.value
    }

    /// The ends of the interval.
    pub fn interval(self) -> Option<[f64; 2]> {
        self.interval
    }
}

/// A quantity with its unit: the only thing that is ever printed as a number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Figure {
    /// How much.
    #[serde(rename = "value")]
    pub quantity: Quantity,
    /// Of what.
    pub unit: Unit,
}

impl Figure {
    /// `value` of `unit`; `None` where it is not finite.
    pub fn new(value: f64, unit: Unit) -> Option<Self> {
        Some(Self { quantity: Quantity::new(value)?, unit })
    }

    /// As people read it: three digits, a prefix, the unit, and the interval where there is one.
    pub fn text(&self) -> String {
        number_text::quantity(self.quantity, self.unit)
    }

    /// As people read it under a heading that names the unit: the number and its prefix.
    pub fn bare(&self) -> String {
        let text = number_text::number(self.quantity.value(), self.unit);
        text.strip_suffix(self.unit.symbol()).unwrap_or(&text).trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_finite_numbers() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(Quantity::new(bad), None);
            assert_eq!(Quantity::between(1.0, [bad, 2.0]).unwrap().interval(), None);
            assert_eq!(Quantity::new(1.0).unwrap().plus_minus(bad).interval(), None);
        }
        assert_eq!(Quantity::between(1.0, [3.0, 2.0]).unwrap().interval(), None);
        assert_eq!(Quantity::new(2.0).unwrap().plus_minus(0.5).interval(), Some([1.5, 2.5]));
        assert!(Quantity::new(-0.0).unwrap().value().is_sign_positive());
    }
}
