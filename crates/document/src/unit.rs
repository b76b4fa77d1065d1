//! What a number counts, and so how people read it.

use schemars::JsonSchema;
use serde::Serialize;

/// The unit of a number. Numbers are kept in the unit itself, without a prefix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, JsonSchema)]
pub enum Unit {
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
    /// Bytes, read with binary prefixes.
    #[serde(rename = "B")]
    Bytes,
    /// Bytes per second, read with decimal prefixes.
    #[serde(rename = "B/s")]
    BytesPerSecond,
    /// Floating-point operations per second.
    #[serde(rename = "FLOP/s")]
    FlopsPerSecond,
    /// Operations per second, of whole numbers.
    #[serde(rename = "OP/s")]
    OperationsPerSecond,
    /// Floating-point operations per byte: arithmetic intensity.
    #[serde(rename = "FLOP/B")]
    FlopsPerByte,
    /// A part of a whole: 0.25 reads `25 %`.
    #[serde(rename = "fraction")]
    Fraction,
    /// A relative difference: 0.25 reads `+25 %`.
    #[serde(rename = "change")]
    Change,
    /// A quotient of two like quantities: 2 reads `2.00 ×`.
    #[serde(rename = "ratio")]
    Ratio,
    /// A quantity over a reference's: 1.0254 reads `1.025`. Plots over names have a line at 1.
    #[serde(rename = "relative")]
    Relative,
    /// A number of things.
    #[serde(rename = "count")]
    Count,
    /// How often a second: launches, instructions.
    #[serde(rename = "/s")]
    PerSecond,
    /// Cycles per second.
    #[serde(rename = "Hz")]
    Hertz,
    /// Watts.
    #[serde(rename = "W")]
    Watts,
    /// Joules.
    #[serde(rename = "J")]
    Joules,
    /// Degrees Celsius.
    #[serde(rename = "°C")]
    Celsius,
    /// No unit: a bare number, or text.
    #[default]
    #[serde(rename = "")]
    None,
}

impl Unit {
    /// Every unit.
    pub const ALL: [Self; 17] = [
        Self::Seconds,
        Self::Bytes,
        Self::BytesPerSecond,
        Self::FlopsPerSecond,
        Self::OperationsPerSecond,
        Self::FlopsPerByte,
        Self::Fraction,
        Self::Change,
        Self::Ratio,
        Self::Relative,
        Self::Count,
        Self::PerSecond,
        Self::Hertz,
        Self::Watts,
        Self::Joules,
        Self::Celsius,
        Self::None,
    ];

    /// The unit of the raw number, as JSON and CSV name it.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::Bytes => "B",
            Self::BytesPerSecond => "B/s",
            Self::FlopsPerSecond => "FLOP/s",
            Self::OperationsPerSecond => "OP/s",
            Self::FlopsPerByte => "FLOP/B",
            Self::Fraction => "fraction",
            Self::Change => "change",
            Self::Ratio => "ratio",
            Self::Relative => "relative",
            Self::Count => "count",
            Self::PerSecond => "/s",
            Self::Hertz => "Hz",
            Self::Watts => "W",
            Self::Joules => "J",
            Self::Celsius => "°C",
            Self::None => "",
        }
    }

    /// Whether an interval reads as `±1.5 %` of the value; of a percentage or a count it would
    /// mislead, so that its ends are shown.
    pub(super) fn is_relative(self) -> bool {
        !matches!(
            self,
            Self::Fraction
                | Self::Change
                | Self::Ratio
                | Self::Relative
                | Self::Count
                | Self::Celsius
                | Self::None
        )
    }
}

#[cfg(test)]
mod tests {
    use super::Unit;

    #[test]
    fn json_and_csv_name_a_unit_alike() {
        for unit in Unit::ALL {
            assert_eq!(serde_json::to_value(unit).unwrap(), unit.symbol());
        }
    }
}
