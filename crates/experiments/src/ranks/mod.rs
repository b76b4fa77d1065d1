//! The ranks of a job: processes on one machine or many, or, in tests, threads of one process.

#[cfg(any(test, feature = "testing"))]
pub mod threads;

use crate::compare;
use gpubench_core::error::{Error, Result};
use gpubench_core::record::Mismatch;
use gpubench_core::workload::Comparison;
use gpubench_reference::Data;

/// This rank and the others. A message is bytes: whoever sends numbers knows their type.
pub trait Neighbours {
    /// Which rank this is, from 0.
    fn rank(&self) -> usize;
    /// How many there are.
    fn size(&self) -> usize;
    /// Sends a strip to the rank before, and receives that of the rank behind, round the ring.
    fn exchange(&self, strip: &[u8], into: &mut [u8]);
    /// The same without blocking: both messages are posted, then `work` is done, then both are waited for.
    fn exchange_during(&self, strip: &[u8], into: &mut [u8], work: &mut dyn FnMut());
    /// Sends something to one rank, and receives what that one sends here, which need not be as long.
    fn swap(&self, with: usize, mine: &[u8], theirs: &mut [u8]);
    /// Waits for all ranks.
    fn barrier(&self);
    /// The largest of all ranks' values.
    fn largest(&self, value: f64) -> f64;
    /// What all ranks have, as long on each, that of rank 0 first; on rank 0 only.
    fn gather(&self, mine: &[u8]) -> Option<Vec<u8>>;
    /// The first `count` ranks among themselves; `None` on the others. All ranks call it.
    fn first(&self, count: usize) -> Option<Box<dyn Neighbours + '_>>;
}

/// Numbers of ranks whose scaling is reported: 1, 2, 4 … and all, of those that fit.
pub fn counts(ranks: usize, fits: impl Fn(usize) -> bool) -> Vec<usize> {
    let doubled = std::iter::successors(Some(1usize), |count| count.checked_mul(2));
    doubled.take_while(|count| *count < ranks).chain([ranks]).filter(|count| fits(*count)).collect()
}

/// Compares what ranks computed with the reference's; `who` did.
pub(crate) fn check(
    who: &str,
    name: &str,
    [wanted, found]: [&Data; 2],
    allowed: Comparison,
) -> Result<()> {
    let (_, mismatch) = compare(name, wanted, found, allowed, who);
    let Some(Mismatch { index, found, expected, wrong, of, .. }) = mismatch else { return Ok(()) };
    let why = format!("{name}[{index}] is {found}, not {expected}; {wrong} of {of} are wrong");
    Err(Error::Mismatch(format!("{who}: {why}")))
}

#[cfg(test)]
mod tests {
    #[test]
    fn ranks_are_doubled_until_all() {
        assert_eq!(super::counts(1, |_| true), [1]);
        assert_eq!(super::counts(6, |_| true), [1, 2, 4, 6]);
        assert_eq!(super::counts(6, |n| 12 % n == 0), [1, 2, 4, 6]);
        assert_eq!(super::counts(6, |n| 6 % n == 0), [1, 2, 6]);
    }
}
