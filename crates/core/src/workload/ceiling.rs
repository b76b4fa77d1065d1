//! What a workload that is a ceiling bounds.

use serde::{Deserialize, Serialize};

/// Which of a device's rates a workload is the measure of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ceiling {
    /// Operations a second: nothing computes faster.
    Flops,
    /// Bytes a second, at each size that it is measured at: nothing moves more from there.
    Bandwidth,
}
