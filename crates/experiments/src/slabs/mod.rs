//! Elastic waves over several ranks, each with a device: a slab of the domain each, which exchanges its
//! halos with the slabs behind and ahead after velocities and after stresses.
//!
//! Faces are packed on the device and copied to the host, travel to the neighbour's host, and are copied
//! and unpacked there (`domain`). What several ranks compute is held against the reference of the
//! undivided domain.

mod rank;
#[cfg(test)]
mod tests;

use super::ranks::Neighbours;
use gpubench_core::error::{Error, Result};
use gpubench_core::workload::share;
use gpubench_device::Remote;
use gpubench_suite::Suite;
use rank::Rank;

/// What slabs took. Seconds are the middle of several samples, of the slowest rank each.
#[derive(Clone, Debug, PartialEq)]
pub struct Slabbed {
    /// A step's kernels, alone.
    pub computation: f64,
    /// A step with its exchanges.
    pub step: f64,
    /// Bytes that a rank between two others sends in a step.
    pub bytes: u64,
    /// SHA-256 of all fields after the last step that is compared, in the order of the undivided
    /// domain's array; on rank 0.
    pub hash: Option<String>,
}

/// Cells of each of `ranks` slabs, of a domain of `cells`.
///
/// # Errors
/// `Usage` where they are not equal, with the nearest numbers that would be.
pub fn slab(cells: [u64; 3], ranks: usize) -> Result<[u64; 3]> {
    share(cells, [1, 1, ranks as u64]).map_err(|why| Error::Usage(format!("{ranks} ranks: {why}")))
}

/// Computes a seeded domain of `cells` cells over all ranks; `suite` holds the kernels.
///
/// # Errors
/// As [`slab`]; whatever the device says; `Mismatch` where a result is wrong.
pub fn slabs(
    device: &Remote,
    neighbours: &dyn Neighbours,
    suite: &Suite,
    cells: [u64; 3],
    seed: u64,
) -> Result<Slabbed> {
    slab(cells, neighbours.size())?;
    let rank = Rank::new(device, neighbours, suite, cells, seed)?;
    rank.restore()?;
    let hash = rank.compared()?;
    let computation = rank.timed(Rank::compute_alone)?;
    rank.restore()?;
    let step = rank.timed(Rank::step)?;
    rank.restore()?;
    rank.compared()?;
    Ok(Slabbed { computation, step, bytes: rank.bytes(), hash })
}
