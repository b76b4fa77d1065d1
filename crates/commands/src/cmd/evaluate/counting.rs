//! Counts of every variant of a space, each different one emulated once.

use super::kernels::{GroupCounts, Workload};
use gpubench_core::error::{Error, Result};
use gpubench_emulator::{Counts, Emulator, Rules};
use gpubench_tune::Space;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes that caches hand to units at least.
const SECTOR: u32 = 32;

/// The counts of each variant's middle group, on all cores.
///
/// # Errors
/// Where a variant cannot be emulated.
pub fn count(workload: Workload, space: &Space, rules: Rules) -> Result<Vec<Arc<GroupCounts>>> {
    let key = |variant: usize| workload.key(&workload.values(space, variant));
    let mut first: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
    for variant in 0..space.len() {
        first.entry(key(variant)).or_insert(variant);
    }
    let counted: Vec<(Vec<u32>, Result<GroupCounts>)> =
        first.into_par_iter().map(|(key, at)| (key, one(workload, space, at, rules))).collect();
    let mut all: BTreeMap<Vec<u32>, Arc<GroupCounts>> = BTreeMap::new();
    for (key, counts) in counted {
        all.insert(key, Arc::new(counts?));
    }
    let missing = || Error::Unsupported("a variant was not counted".into());
    (0..space.len()).map(|at| all.get(&key(at)).cloned().ok_or_else(missing)).collect()
}

fn one(workload: Workload, space: &Space, at: usize, rules: Rules) -> Result<GroupCounts> {
    let values = workload.values(space, at);
    let emulator = Emulator::new(&workload.kernel(&values)?)?;
    let both = [rules, Rules { transaction: SECTOR, ..rules }];
    let mut samples: Vec<[Counts; 2]> = vec![];
    for &channels in workload.samples() {
        let mut launch = workload.launch(&values, channels);
        let middle = launch.groups.map(|groups| groups / 2);
        let counts = emulator.count(&mut launch, middle, &both)?;
        let pair: [Counts; 2] = counts
            .try_into()
            .map_err(|_| Error::Unsupported("the emulator counted by other rules".into()))?;
        samples.push(pair);
    }
    let last = samples.pop().ok_or_else(|| Error::Unsupported("nothing was counted".into()))?;
    let [counts, sectors] = last;
    Ok(GroupCounts { counts, sectors, fewer: samples.pop().map(|[a, b]| (a, b)) })
}
