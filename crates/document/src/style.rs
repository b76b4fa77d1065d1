//! How a series of a plot looks, and what of it is drawn.

use schemars::JsonSchema;
use serde::Serialize;

/// How a series looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// Marks joined by a line.
    Joined,
    /// A line alone, as for a model.
    Line,
    /// Marks alone.
    Points,
    /// Hollow marks, as for predictions beside measurements.
    Open,
    /// A line that keeps its height up to the next point.
    Steps,
    /// Bars that stand on the axis.
    Bars,
}

/// What is drawn of a series beside its marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// Nothing.
    None,
    /// A line from point to point.
    Line,
    /// A line that keeps its height up to the next point.
    Steps,
    /// A bar from the axis to each point.
    Bars,
}

/// What is drawn at each point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    /// Nothing.
    None,
    /// A mark.
    Filled,
    /// The outline of a mark.
    Hollow,
}

impl Style {
    /// What is drawn beside the marks.
    pub fn stroke(self) -> Stroke {
        match self {
            Self::Joined | Self::Line => Stroke::Line,
            Self::Points | Self::Open => Stroke::None,
            Self::Steps => Stroke::Steps,
            Self::Bars => Stroke::Bars,
        }
    }

    /// What is drawn at each point.
    pub fn marker(self) -> Marker {
        match self {
            Self::Joined | Self::Points => Marker::Filled,
            Self::Open => Marker::Hollow,
            Self::Line | Self::Steps | Self::Bars => Marker::None,
        }
    }
}
