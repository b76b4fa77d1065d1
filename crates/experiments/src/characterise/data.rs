//! What a record holds of it.

use gpubench_core::gpu::Clock;
use gpubench_core::record::Data;
use gpubench_core::workload::Kind;
use serde::{Deserialize, Serialize};

/// Every variant of a kernel with a growing number of work-groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Characterised {
    /// The clock of the points.
    pub clock: Clock,
    /// That clock's resolution in seconds.
    pub resolution: f64,
    /// The variants, in the order of the suite.
    pub variants: Vec<VariantTimes>,
}

impl Data for Characterised {
    const KIND: Kind = Kind::new("characterise");
}

/// One variant of a kernel with a growing number of work-groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VariantTimes {
    /// Constants (a type as its number of components) and parameters, by name.
    pub numbers: Vec<(String, f64)>,
    /// Work-items per group.
    pub group_size: u32,
    /// Number of groups and seconds of one launch, sample by sample, in ascending order.
    pub points: Vec<(u32, Vec<f64>)>,
}

impl VariantTimes {
    /// The constant or parameter `name`.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.numbers.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    /// The seconds of a launch of so many groups.
    pub fn at(&self, groups: u32) -> Option<&[f64]> {
        self.points.iter().find(|(n, _)| *n == groups).map(|(_, samples)| samples.as_slice())
    }
}
