//! The sorts of chart. How one is drawn, and what it says where nothing can be, stands in a file of its own in the report.

use super::{Part, Plot, Section, Timeline};
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

impl Section {
    /// Adds a plot, unless it is empty.
    pub fn plot(self, plot: Plot) -> Self {
        if plot.all().is_empty() { self } else { self.part(Part::Drawing(Drawing::Plot(plot))) }
    }

    /// Adds a timeline, where there is one.
    pub fn timeline(self, timeline: impl Into<Option<Timeline>>) -> Self {
        match timeline.into() {
            Some(timeline) => self.part(Part::Drawing(Drawing::Timeline(timeline))),
            None => self,
        }
    }
}
