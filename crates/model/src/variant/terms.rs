//! The terms, and what a variant does of each.

use super::{Effect, Masking, Sheet, Variant};

/// A term: its effect, and its prices for predicating warps, branching warps of 64 and branching warps of 32. A price is 0
/// where least squares leave a term nothing.
type Term = (Effect, [f64; 3]);

/// In the order of [`Sheet::amounts`].
const TERMS: [Term; TERM_COUNT] = [
    // Multiply-adds, conversions, and the loop over a work-item's outputs after its first.
    (Effect::Rates, [0.897, 0.0, 0.0]),
    (Effect::Rates, [1.04, 1.58, 3.9]),
    (Effect::Unrolling, [0.044, 0.895, 0.0227]),
    // Local memory: words read, what conflicts add, and waiting for it.
    (Effect::Rates, [1.28, 4.42, 4.42]),
    (Effect::Conflicts, [1.55, 2.6, 2.6]),
    (Effect::Occupancy, [0.0, 153.0, 153.0]),
    // Input brought into it: its steps, waited for, and its bytes.
    (Effect::Occupancy, [260.0, 0.0, 0.0]),
    (Effect::Rates, [7.65, 0.0, 0.0]),
    // Loads in the inner loop: to issue, the addresses of those that the text marks as only read, waiting for
    // those that nothing guards, and repeating those whose words registers have no room for.
    (Effect::Rates, [0.76, 5.33, 5.33]),
    (Effect::Rates, [1.16, 0.0, 0.0]),
    (Effect::Occupancy, [7.7, 0.0, 0.0]),
    (Effect::Spills, [20.8, 15.5, 15.5]),
    // A condition around them: to wait for, to issue, and around what local memory holds.
    (Effect::Guards, [7.66, 1020.0, 1020.0]),
    (Effect::Guards, [0.876, 55.9, 55.9]),
    (Effect::Guards, [0.0577, 12.3, 12.3]),
    // Multiply-adds of few outputs behind a condition.
    (Effect::Unrolling, [0.0, 19.2, 19.2]),
    // Loads that may not pass a write.
    (Effect::Coalescing, [0.874, 2.63, 2.63]),
    // Sectors of small samples that the shared cache has lost, and waiting for samples.
    (Effect::SharedCache, [0.0451, 0.601, 0.22]),
    (Effect::Occupancy, [0.0, 95.5, 37.2]),
    // What each output's pass brings.
    (Effect::Passes, [0.281, 2.48, 0.0988]),
    // Warps begun: their indices, and writing what they found.
    (Effect::Rates, [57.3, 0.0, 0.0]),
    // Outputs that are neighbours along x and along y.
    (Effect::Coalescing, [0.0124, 10.3, 0.0]),
    (Effect::Coalescing, [0.0332, 0.333, 0.235]),
];
/// How many terms there are.
pub const TERM_COUNT: usize = 23;

/// Bytes that a unit takes from a cache in a cycle.
const CACHE_BYTES: f64 = 128.0;
/// Banks of local memory.
const BANKS: f64 = 32.0;
/// Behind a condition a compiler unrolls the loop over outputs only where there are fewer.
const MANY_OUTPUTS: f64 = 12.0;
/// Instructions by which CUDA 11.7 to 12.1 computes the address of a load marked as only read: of each place, and
/// behind a condition of each load of the text (`docs/results/2026-11-29-compilers.md`). Other loads add an offset.
const ADDRESS: [f64; 2] = [4.2, 5.4];
/// Integer instructions of single work-items that a unit of NVIDIA's starts in a cycle.
const INTEGER_LANES: f64 = 64.0;
/// Bytes of a sector.
const SECTOR: f64 = 32.0;
/// With fewer outputs, a pass each, only a part counts: groups side by side seem to drift apart over several passes.
const PASSES_APART: f64 = 12.0;

impl Sheet {
    /// The seconds of each term.
    pub(super) fn terms(&self, variant: &Variant) -> [(Effect, f64); TERM_COUNT] {
        let (prices, seconds) = (self.prices(), self.unpriced(variant));
        std::array::from_fn(|i| (TERMS[i].0, prices[i] * seconds[i]))
    }

    /// The price of each term.
    pub fn prices(&self) -> [f64; TERM_COUNT] {
        let column = match (self.masking, self.warp > 32.0) {
            (Masking::Predicated, _) => 0,
            (Masking::Branched, true) => 1,
            (Masking::Branched, false) => 2,
        };
        TERMS.map(|(_, prices)| prices[column])
    }

    /// The seconds that each term would take at a price of 1.
    pub fn unpriced(&self, variant: &Variant) -> [f64; TERM_COUNT] {
        let cycle = 1.0 / (self.units * self.clock);
        let amounts = self.amounts(variant);
        std::array::from_fn(|i| match TERMS[i].0 {
            // Bytes over bandwidth are seconds already.
            Effect::SharedCache => amounts[i],
            _ => amounts[i] * cycle,
        })
    }

    /// What each term would take at a price of 1: cycles of one unit, or seconds where bytes over bandwidth set it.
    pub(super) fn amounts(&self, v: &Variant) -> [f64; TERM_COUNT] {
        let when = |holds: bool, amount: f64| if holds { amount } else { 0.0 };
        let resident = self.resident_warps(v);
        let (staged, few) = (v.staging > 0.0, v.outputs < MANY_OUTPUTS);
        let multiply_adds = v.multiply_adds;
        let small = v.sectors > 0.0;
        // Behind a condition every load of the text is left, with an address of its own.
        let (loads, addresses) = match v.overhangs {
            false => (v.distinct, ADDRESS[0] * v.distinct),
            true => (v.loads, ADDRESS[1] * v.loads),
        };
        [
            multiply_adds * self.warp / self.lanes,
            v.conversions / self.conversions,
            v.instructions / self.lanes * (1.0 - 1.0 / v.outputs.max(1.0)),
            v.local_reads * self.warp / BANKS,
            v.conflicts * self.warp / BANKS,
            v.local_reads / resident,
            v.staging / resident,
            v.staged_bytes / CACHE_BYTES,
            when(!small, loads),
            when(!small && v.read_only, addresses * self.warp / INTEGER_LANES),
            when(!v.overhangs, v.distinct / resident),
            when(!small && !v.overhangs, (v.loads - v.distinct).max(0.0) * self.spilled(v)),
            when(!small && v.overhangs, v.loads / resident),
            when(!small && v.overhangs, v.loads),
            when(v.overhangs && staged, multiply_adds),
            when(v.overhangs && staged && few && v.outputs > 1.0, multiply_adds),
            // Behind a condition they cost as much as those that may pass.
            when(!v.read_only && !v.overhangs, v.distinct),
            v.sectors * SECTOR / self.bandwidth
                * (v.outputs / PASSES_APART).min(1.0)
                * self.lost(v),
            when(small, v.loads / resident),
            v.passes,
            v.groups * v.group_warps,
            when(v.adjacent_x, v.loads),
            when(v.adjacent_y, v.loads),
        ]
    }
}
