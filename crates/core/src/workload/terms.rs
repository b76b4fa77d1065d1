//! The terms in which suites describe a workload.

use serde::{Deserialize, Serialize};

/// How a buffer is filled before the first launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fill {
    /// Uniformly between `low` and `high`; a whole number is below `high`, an `f32` may be
    /// rounded up to it.
    Uniform([f64; 2]),
    /// Random bits (for `f32`: random numbers of either sign between 1/2 and 2), which no
    /// memory compression can shrink.
    RandomBits,
    /// Every scalar holds its own position.
    Index,
    /// A random cyclic permutation of the positions: following it visits every position once.
    Cycle,
    /// The same number everywhere.
    Constant(f64),
}

/// Which part of a buffer a chunk of a divided problem sees.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Split {
    /// All of it (the whole buffer is uploaded before the first chunk).
    #[default]
    Broadcast,
    /// Its share, with so many rows of the neighbours on either side.
    Rows {
        /// Rows of either neighbour that the chunk reads.
        halo: u32,
    },
}

/// How far an `f32` may differ from the expected one; integers must be equal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Allowed difference relative to the expected value.
    pub relative: f64,
    /// Allowed absolute difference.
    pub absolute: f64,
}

/// Where the expected result comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verify {
    /// A reference of [`gpubench_reference`], by name.
    Reference(String, Comparison),
    /// A file with the bytes of every written buffer, one after the other.
    File(std::path::PathBuf, Comparison),
    /// What another device computes.
    Device(Comparison),
    /// What [`gpubench_emulator`] computes from the kernel's WGSL source.
    Emulator(Comparison),
    /// Nothing: the result is flagged unverified and never ranked.
    Nothing,
}
