//! Counts of every variant of a space, each different one emulated once.

use super::kernels::{GroupCounts, Workload};
use gpubench_core::error::{Error, Result};
use gpubench_emulator::{Counts, Emulator, Rules, middle};
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
pub fn count(workload: &Workload, space: &Space, rules: Rules) -> Result<Vec<Arc<GroupCounts>>> {
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

fn one(workload: &Workload, space: &Space, at: usize, rules: Rules) -> Result<GroupCounts> {
    let values = workload.values(space, at);
    let emulator = Emulator::new(&workload.kernel(&values)?)?;
    let both = [rules, Rules { transaction: SECTOR, ..rules }];
    let mut samples: Vec<[Counts; 2]> = vec![];
    for &channels in workload.samples {
        let mut launch = workload.launch(&values, channels);
        let group = middle(launch.groups);
        let counts = emulator.count(&mut launch, group, &both)?;
        let pair: [Counts; 2] = counts
            .try_into()
            .map_err(|_| Error::Unsupported("the emulator counted by other rules".into()))?;
        samples.push(pair);
    }
    let last = samples.pop().ok_or_else(|| Error::Unsupported("nothing was counted".into()))?;
    let [counts, sectors] = last;
    Ok(GroupCounts { counts, sectors, fewer: samples.pop().map(|[a, b]| (a, b)) })
}

#[cfg(test)]
mod tests {
    use super::super::kernels::{CONVOLUTION, DEDISPERSION};
    use super::*;
    use gpubench_emulator::Reuse;

    /// A space of these variants, values in the order of the workload's parameters, and their counts.
    fn counted<const N: usize, const PARAMETERS: usize>(
        workload: &Workload,
        variants: [[u32; PARAMETERS]; N],
    ) -> (Space, Vec<Arc<GroupCounts>>) {
        let names = workload.parameters().map(str::to_owned).collect();
        let variants = variants.map(|values| values.map(f64::from).to_vec()).to_vec();
        let space = Space::new(names, variants).unwrap();
        let counted = count(workload, &space, Rules::default()).unwrap();
        (space, counted)
    }

    /// Of 2048 measures the second of two groups of 1984 computes 64: the first is counted.
    #[test]
    fn a_whole_group_is_counted() {
        let workload = &DEDISPERSION;
        let variants = [[4, 248, 1, 1, 0, 0], [4, 248, 1, 8, 0, 1], [4, 8, 3, 1, 1, 0]];
        let (space, counted) = counted(workload, variants);
        let variant = |at: usize| workload.variant(&workload.values(&space, at), &counted[at]);
        let loads = |at: usize| variant(at).loads;
        // Each output once, by full warps of 32 work-items, in each of the channels.
        let each = 25_000.0 * 2048.0 / 32.0 * 1536.0;
        for at in [0, 1] {
            assert!((loads(at) / each - 1.0).abs() < 0.01, "{at}: {} of {each}", loads(at));
        }
        // Outputs come one after the other; 4 work-items of 1 or 3 outputs along x read as many samples a channel.
        assert_eq!((variant(1).outputs, variant(1).accumulators), (8.0, 1.0));
        let channels = 1536.0;
        let bytes = [0, 1, 2].map(|at| variant(at).pass_bytes);
        assert_eq!(bytes, [4.0 * channels, 4.0 * channels, 12.0 * channels]);
    }

    /// Of groups of 64×4, 2×4 outputs lie 64 apart along x, so that none shares a pixel with another, and 4 apart along
    /// y: of 27 rows 19 are read again, and at most 12 wait for that at one time. Of groups of 64×16 none is.
    #[test]
    fn what_a_filter_reads_again_is_held() {
        let workload = &CONVOLUTION;
        let variants = [[64, 4, 2, 4, 0, 0, 0], [64, 16, 2, 4, 0, 0, 0], [64, 4, 2, 4, 0, 0, 1]];
        let (space, counted) = counted(workload, variants);
        let reuse = |at: usize, name: &str| counted[at].counts.reuse[name];
        let direct = Reuse { places: 2 * 27 * 15, held: 2 * 12 * 15 };
        assert_eq!(reuse(0, "image"), direct);
        assert_eq!(reuse(1, "image"), Reuse { places: 8 * 225, held: 0 });
        assert_eq!(reuse(2, "staged"), direct);
        let variant = |at: usize| workload.variant(&workload.values(&space, at), &counted[at]);
        let warps = 4096.0 * 4096.0 / 8.0 / 32.0;
        assert_eq!((variant(0).distinct, variant(0).held), (810.0 * warps, 360.0));
        assert_eq!((variant(2).distinct, variant(2).local_reads), (0.0, 810.0 * warps));
    }
}
