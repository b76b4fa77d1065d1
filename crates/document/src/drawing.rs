//! The sorts of chart. How a sort looks, and what it says where nothing can be drawn, is its file's in the report.

use super::{Plot, Timeline};
use schemars::JsonSchema;
use serde::Serialize;

/// A chart.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "part", rename_all = "snake_case")]
pub enum Drawing {
    /// Values along an axis or over names.
    Plot(Plot),
    /// What ran when.
    Timeline(Timeline),
}

impl Drawing {
    /// The name that programs read.
    pub(super) fn key(&mut self) -> &mut String {
        match self {
            Self::Plot(plot) => &mut plot.key,
            Self::Timeline(timeline) => &mut timeline.key,
        }
    }
}
