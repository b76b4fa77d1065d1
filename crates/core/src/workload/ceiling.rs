//! What a workload that is a ceiling bounds.

use serde::{Deserialize, Serialize};

/// Which of a device's rates a workload is the measure of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ceiling {
    /// Operations a second: nothing computes faster.
    Flops,
    /// Operations a second of an instruction that does several at once: a dot product's, a matrix unit's. Nothing of
    /// their type computes faster; how much faster it is than other instructions is not known.
    DotProduct,
    /// Bytes a second, at each size that it is measured at: nothing moves more from there.
    Bandwidth,
}

impl Ceiling {
    /// Whether it bounds arithmetic.
    pub fn is_of_arithmetic(self) -> bool {
        self != Self::Bandwidth
    }
}
