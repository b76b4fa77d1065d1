//! Prices a kernel by what one of its groups does, as the emulator counts it.

use super::{Counted, Description, Grid, Launched, Needs, Pricing};
use gpubench_core::class::Class;
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::KernelId;
use gpubench_emulator::{Buffer, Coalescing, Counts, Emulator, Launch, Rules, middle};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// A launch by what its groups do; what lies in its buffers is left out.
type Key = (KernelId, [u32; 3], Vec<u8>);

/// The launches whose group in the middle was counted; `None` for kernels that the emulator does not know.
#[derive(Default)]
pub(super) struct CountedLaunches(HashMap<Key, Option<Counts>>);

impl CountedLaunches {
    pub fn forget(&mut self, kernel: KernelId) {
        self.0.retain(|(id, ..), _| *id != kernel);
    }

    /// What the group in the middle of a launch does, on the `contents` that its buffers have when it is first counted.
    ///
    /// # Errors
    /// Where the group takes longer than the emulator's limit.
    pub fn of<'m>(
        &mut self,
        gpu: &Description,
        id: KernelId,
        launched: &Launched<'_>,
        contents: impl FnOnce() -> Result<Vec<&'m [u8]>>,
    ) -> Result<Option<&Counts>> {
        let key = (id, launched.groups, launched.params.to_vec());
        Ok(match self.0.entry(key) {
            Entry::Occupied(known) => known.into_mut().as_ref(),
            Entry::Vacant(new) => new.insert(count(gpu, launched, contents)?).as_ref(),
        })
    }
}

fn count<'m>(
    gpu: &Description,
    launched: &Launched<'_>,
    contents: impl FnOnce() -> Result<Vec<&'m [u8]>>,
) -> Result<Option<Counts>> {
    let emulator = match Emulator::new(launched.kernel) {
        Err(Error::Unsupported(_)) => return Ok(None),
        other => other?,
    };
    let buffers = contents()?.into_iter().map(|bytes| Buffer::from(words(bytes))).collect();
    let params = words(launched.params);
    let mut launch = Launch { groups: launched.groups, buffers, params };
    Ok(emulator.count(&mut launch, middle(launched.groups), &[rules(gpu)])?.pop())
}

/// A torn last word is filled up.
fn words(bytes: &[u8]) -> Vec<u32> {
    let mut words = vec![0; bytes.len().div_ceil(4)];
    bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
    words
}

fn rules(gpu: &Description) -> Rules {
    let half_warps = gpu.counted.as_ref().is_some_and(|counted| counted.half_warps);
    Rules {
        warp: gpu.warp,
        transaction: gpu.memory.transaction,
        coalescing: if half_warps { Coalescing::HalfWarp } else { Coalescing::Warp },
        banks: gpu.unit.banks,
    }
}

/// Why no kernel can be counted on a device that is described so; `None` where one can, or need not.
pub(super) fn wrong(gpu: &Description) -> Option<String> {
    if gpu.kernels == Pricing::Declared {
        return None;
    }
    gpubench_emulator::check_rules(&rules(gpu)).err().map(|error| error.to_string())
}

impl Grid {
    /// `groups` groups that each do what `counts` says of one.
    ///
    /// Instructions and rounds of local memory's banks are done side by side: the longer counts. A group alone waits for
    /// each of its instructions and loads.
    pub fn counted(gpu: &Description, groups: u64, needs: Needs, counts: &Counts) -> Self {
        let (cycle, warp) = (1.0 / gpu.clock, f64::from(gpu.warp));
        let own = gpu.counted.clone().unwrap_or_default();
        let usual = gpu.usual_price();
        let per_cycle = own.per_cycle.unwrap_or(usual.per_cycle);
        let instructions = instructions(&own, per_cycle, counts);
        let issue = instructions.iter().map(|(count, per_cycle)| count * warp / per_cycle);
        let rounds = counts.local_reads.rounds + counts.local_writes.rounds;
        let unit = issue.sum::<f64>().max(rounds as f64 * own.round.unwrap_or(1.0));
        let warps = needs.threads as f64 / warp;
        let chain = instructions.iter().map(|(count, _)| count / warps * usual.latency);
        let moved = counts.global_reads.transactions + counts.global_writes.transactions;
        let requested = counts.global_reads.bytes + counts.global_writes.bytes;
        let loads = (requested as f64 / needs.threads as f64 / gpu.memory.in_flight).ceil();
        let barriers = counts.barriers as f64 * gpu.barrier();
        Self {
            groups,
            needs,
            seconds: chain.sum::<f64>() * cycle + loads * gpu.memory.latency + barriers,
            flops: unit * gpu.compute.flops_per_cycle,
            bytes: moved as f64 * f64::from(gpu.memory.transaction),
        }
    }
}

/// Instructions of warps: how many, and how many of single work-items a unit runs in one cycle.
fn instructions(own: &Counted, per_cycle: f64, counts: &Counts) -> Vec<(f64, f64)> {
    if own.vliw {
        let branches = counts.compiled.get(&Class::Branch).copied().unwrap_or_default();
        return vec![(counts.bundles + branches as f64, per_cycle)];
    }
    let rate = |class| own.instructions.get(class).copied().unwrap_or(per_cycle);
    counts.compiled.iter().map(|(class, count)| (*count as f64, rate(class))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::Sim;
    use std::path::PathBuf;

    /// A shipped description, changed.
    fn described(change: impl Fn(String) -> String) -> Result<Description> {
        Description::parse("c.yaml", &change(include_str!("devices/tesla-c1060.yaml").to_owned()))
    }

    #[test]
    fn what_cannot_be_counted_is_an_error() {
        let counted = |text: String| text + "kernels: counted\n";
        assert!(described(counted).is_ok());
        for (good, bad, what) in [
            ("warp: 32", "warp: 24", "a warp of 24 lanes"),
            ("transaction: 32", "transaction: 48", "transactions of 48 bytes"),
            ("banks: 16", "banks: 2000", "2000 banks"),
            ("float_exp: 2", "float_exp: 0", "0 instructions of `float_exp` a cycle"),
        ] {
            let changed = |text: String| counted(text.replace(good, bad));
            let error = described(changed).unwrap_err().to_string();
            assert!(error.contains("c.yaml") && error.contains(what), "{error}");
        }
        assert!(described(|text| text.replace("warp: 32", "warp: 24")).is_ok());
    }

    #[test]
    fn a_machine_says_how_its_kernels_are_priced() {
        let machine = Sim::new(vec![PathBuf::from("shoc")], 0).descriptions().unwrap();
        let (shipped, six) = machine.split_at(Sim::shipped());
        assert_eq!(six.len(), 6);
        assert!(six.iter().all(|gpu| gpu.kernels == Pricing::Counted && gpu.counted.is_some()));
        assert!(shipped.iter().all(|gpu| gpu.kernels == Pricing::Declared));
    }
}
