//! The terms, and what a variant does of each.

use super::{Effect, Masking, Sheet, Variant};

/// A term: its effect, and its prices for predicating warps, branching warps of 64 and branching warps of 32. A price is 0
/// where least squares leave a term nothing.
type Term = (Effect, [f64; 3]);

/// In the order of [`Sheet::amounts`].
const TERMS: [Term; TERM_COUNT] = [
    // Multiply-adds, conversions, and the loop over a work-item's outputs after its first.
    (Effect::Rates, [0.615, 1.2, 1.2]),
    (Effect::Rates, [1.01, 3.13, 4.14]),
    (Effect::Unrolling, [0.031, 0.675, 0.017]),
    // Local memory: words read, and what conflicts add.
    (Effect::Rates, [1.5, 7.61, 7.61]),
    (Effect::Conflicts, [1.33, 1.78, 1.78]),
    // Loads in the inner loop, and input brought into local memory: its steps and its bytes.
    (Effect::Rates, [0.0, 2.68, 2.68]),
    (Effect::Occupancy, [242.0, 382.0, 382.0]),
    (Effect::Rates, [6.41, 1.18, 1.18]),
    // A condition around them: to wait for, to issue, and around what local memory holds.
    (Effect::Guards, [0.398, 815.0, 815.0]),
    (Effect::Guards, [1.97, 64.6, 64.6]),
    (Effect::Guards, [0.0, 9.44, 9.44]),
    // Multiply-adds of few outputs behind a condition, and of many.
    (Effect::Unrolling, [0.08, 23.1, 23.1]),
    (Effect::Unrolling, [0.249, 8.37, 8.37]),
    // Loads that are misaligned, and that may not pass a write.
    (Effect::Coalescing, [0.121, 0.0, 0.0]),
    (Effect::Coalescing, [1.97, 1.63, 1.63]),
    // Sectors of small samples; waiting; input brought again.
    (Effect::Coalescing, [0.079, 2.78, 0.96]),
    (Effect::Occupancy, [0.413, 2.43, 2.43]),
    (Effect::Reuse, [2.31, 13.2, 7.78]),
    // Segments written, and groups started.
    (Effect::Groups, [9.96, 19.3, 0.0]),
    (Effect::Groups, [78.3, 0.0, 0.0]),
    // Outputs that are neighbours along x and along y, and that lie a group apart along y.
    (Effect::Coalescing, [0.0, 10.0, 0.0]),
    (Effect::Coalescing, [0.108, 0.396, 0.478]),
    (Effect::Coalescing, [0.0, 0.044, 0.333]),
    // Loads that the text marks as only read. Why NVIDIA's cost more is not known.
    (Effect::Coalescing, [2.82, 0.0, 0.0]),
];
pub(super) const TERM_COUNT: usize = 24;

/// Bytes that a unit takes from a cache in a cycle.
const CACHE_BYTES: f64 = 128.0;
/// Banks of local memory.
const BANKS: f64 = 32.0;
/// From so many outputs on a compiler's limit for unrolled loops is reached.
const MANY_OUTPUTS: f64 = 12.0;
/// Sectors cost in full from so many outputs on.
const SECTOR_OUTPUTS: f64 = 12.0;

impl Sheet {
    /// The seconds of each term.
    pub(super) fn terms(&self, variant: &Variant) -> [(Effect, f64); TERM_COUNT] {
        let column = match (self.masking, self.warp > 32.0) {
            (Masking::Predicated, _) => 0,
            (Masking::Branched, true) => 1,
            (Masking::Branched, false) => 2,
        };
        let cycle = 1.0 / (self.units * self.clock);
        let amounts = self.amounts(variant);
        std::array::from_fn(|i| {
            let (effect, prices) = TERMS[i];
            // Sweeps are seconds already.
            let scale = if effect == Effect::Reuse { 1.0 } else { cycle };
            (effect, prices[column] * amounts[i] * scale)
        })
    }

    /// Cycles of one unit that each term would take at a price of 1.
    pub(super) fn amounts(&self, v: &Variant) -> [f64; TERM_COUNT] {
        let when = |holds: bool, amount: f64| if holds { amount } else { 0.0 };
        let resident = self.resident_warps(v);
        let (staged, few) = (v.staging > 0.0, v.outputs < MANY_OUTPUTS);
        let multiply_adds = v.multiply_adds;
        let small = v.sectors > 0.0;
        [
            multiply_adds * self.warp / self.lanes,
            v.conversions / self.conversions,
            v.instructions / self.lanes * (1.0 - 1.0 / v.outputs.max(1.0)),
            v.local_reads * self.warp / BANKS,
            v.conflicts * self.warp / BANKS,
            v.direct,
            v.staging / resident,
            v.staged_bytes / CACHE_BYTES,
            when(v.overhangs && !small, v.loads / resident),
            when(v.overhangs && !small, v.loads),
            when(v.overhangs && staged, multiply_adds),
            when(v.overhangs && staged && few && v.outputs > 1.0, multiply_adds),
            when(!few, multiply_adds),
            when(v.misaligned, v.loads),
            // Behind a condition they cost as much as those that may pass.
            when(!v.read_only && !v.overhangs, v.direct),
            // As if loads of few outputs were issued before the first of them is waited for.
            v.sectors * v.outputs.min(SECTOR_OUTPUTS) / SECTOR_OUTPUTS,
            v.loads / resident,
            v.sweeps / self.bandwidth,
            v.writes,
            when(small, v.groups),
            when(v.adjacent_x, v.loads),
            when(v.adjacent_y, v.loads),
            when(v.strided_y, v.loads),
            // Small samples are always only read: what that costs is in the others.
            when(v.read_only && !small, v.loads),
        ]
    }
}
