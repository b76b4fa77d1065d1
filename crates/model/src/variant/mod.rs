//! What a variant of a kernel takes on a device of which only the data sheet is known.
//!
//! ```text
//! T = Σ price_i · amount_i
//! ```
//!
//! Each amount is something that slows a variant down, counted by emulating one of its groups and turned into
//! seconds by the data sheet: instructions over lanes, rounds of local memory, loads that wait, bytes over bandwidth.
//! A price says how many cycles of a unit one of it costs; prices are the architecture's, not the card's. They were
//! chosen by non-negative least squares of relative errors on the A100 (those of warps that predicate) and the
//! MI250X (those that branch), and for branching warps of 32 those that only the dedispersion pays on the W6600. Which
//! terms there are was found by the residuals of these and the A4000.
//! `docs/results/real-gpus.md` evaluates them, effect by effect.

mod terms;

/// What a warp does with lanes that a condition switches off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Masking {
    /// Instructions carry a predicate: loads under a condition are issued one after the other (NVIDIA).
    Predicated,
    /// The execution mask is changed by a branch around them, which loads do not pass (AMD).
    Branched,
}

/// A device as its data sheet and its architecture's documents describe it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sheet {
    /// Compute units.
    pub units: f64,
    /// Work-items of a warp.
    pub warp: f64,
    /// Cycles a second.
    pub clock: f64,
    /// Instructions of single work-items that a unit starts in a cycle.
    pub lanes: f64,
    /// Conversions likewise.
    pub conversions: f64,
    /// Bytes of memory a second.
    pub bandwidth: f64,
    /// Most groups that a unit holds.
    pub groups: f64,
    /// Most warps.
    pub warps: f64,
    /// Registers of 32 bits.
    pub registers: f64,
    /// Bytes of local memory.
    pub local: f64,
    /// What warps do with conditions.
    pub masking: Masking,
}

/// What a launch of a variant does. Warps count over the whole launch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Variant {
    /// Work-groups.
    pub groups: f64,
    /// Groups like the one that was counted that do as much: at the rim a group may do a part of it.
    pub whole_groups: f64,
    /// Warps of a group.
    pub group_warps: f64,
    /// Outputs of a work-item.
    pub outputs: f64,
    /// Bytes of local memory of a group.
    pub local_bytes: f64,
    /// Fused multiply-adds, by warps.
    pub multiply_adds: f64,
    /// Conversions of outputs that are wanted, by lanes of whole warps.
    pub conversions: f64,
    /// All instructions of outputs that are wanted, by lanes of whole warps, where conversions are many.
    pub instructions: f64,
    /// Words of local memory that the warps read, each once for every work-item, with the rounds of conflicts.
    pub local_reads: f64,
    /// The part of them that only conflicts add.
    pub conflicts: f64,
    /// Global loads of the inner loop, by warps, each place once for every work-item; times the square root of the
    /// rows that a warp spans.
    pub direct: f64,
    /// Global loads of the inner loop, by warps, as the text has them.
    pub loads: f64,
    /// Warps' steps of bringing input into local memory.
    pub staging: f64,
    /// Bytes brought.
    pub staged_bytes: f64,
    /// Sectors of 32 bytes that the loads of the inner loop touch, where samples are smaller than a word.
    pub sectors: f64,
    /// Separate segments that warps write, of such a kernel.
    pub writes: f64,
    /// Bytes of input, once for each row of groups, of such a kernel.
    pub sweeps: f64,
    /// Whether groups reach beyond the outputs.
    pub overhangs: bool,
    /// Whether a group's rows are no multiple of 32.
    pub misaligned: bool,
    /// Whether the text lets a load pass a write to memory.
    pub read_only: bool,
    /// Whether a work-item's outputs are neighbours along x, and a row of the group is wider than a word.
    pub adjacent_x: bool,
    /// Whether they are along y.
    pub adjacent_y: bool,
    /// Whether they lie a group apart along y.
    pub strided_y: bool,
}

/// Something that slows variants down, which can be left out to see what it explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Instructions, conversions, local memory and loads at the data sheet's rates.
    Rates,
    /// Waiting for loads, over the warps that registers and local memory leave room for.
    Occupancy,
    /// Conditions around loads where groups overhang.
    Guards,
    /// Loops over outputs, which a compiler unrolls differently.
    Unrolling,
    /// Bank conflicts.
    Conflicts,
    /// Loads by how they lie and what the text says of them: misaligned, scattered, neighbours of each other, only read,
    /// or behind a write that they may not pass.
    Coalescing,
    /// Input brought again for each row of groups.
    Reuse,
    /// Groups to start and segments to write.
    Groups,
}

impl Effect {
    /// All, in the order in which they are left out.
    pub const ALL: [Self; 8] = [
        Self::Rates,
        Self::Occupancy,
        Self::Guards,
        Self::Unrolling,
        Self::Conflicts,
        Self::Coalescing,
        Self::Reuse,
        Self::Groups,
    ];

    /// In words.
    pub fn label(self) -> &'static str {
        match self {
            Self::Rates => "rates",
            Self::Occupancy => "occupancy",
            Self::Guards => "guards",
            Self::Unrolling => "unrolling",
            Self::Conflicts => "bank conflicts",
            Self::Coalescing => "coalescing",
            Self::Reuse => "reuse between groups",
            Self::Groups => "groups and writes",
        }
    }
}

impl Sheet {
    /// Seconds of a launch.
    pub fn seconds(&self, variant: &Variant) -> f64 {
        self.terms(variant).iter().map(|(_, seconds)| seconds).sum()
    }

    /// Seconds of a launch as they would be without an effect.
    pub fn seconds_without(&self, variant: &Variant, effect: Effect) -> f64 {
        let kept = self.terms(variant).into_iter().filter(|(of, _)| *of != effect);
        kept.map(|(_, seconds)| seconds).sum()
    }

    /// The seconds of each effect.
    pub fn effects(&self, variant: &Variant) -> [f64; Effect::ALL.len()] {
        let mut sums = [0.0; Effect::ALL.len()];
        for (effect, seconds) in self.terms(variant) {
            sums[effect as usize] += seconds;
        }
        sums
    }

    /// Warps that a unit holds; at least one group's.
    pub fn resident_warps(&self, variant: &Variant) -> f64 {
        // What compilers take for such loops: addresses and weights, and an accumulator with its operand an output.
        let registers = if variant.outputs > 8.0 { 40.0 } else { 24.0 } + 4.0 * variant.outputs;
        let by_registers = self.registers / (registers * variant.group_warps * self.warp);
        let by_local = self.local / variant.local_bytes.max(1.0);
        let groups = self.groups.min(self.warps / variant.group_warps);
        groups.min(by_registers).min(by_local).floor().max(1.0) * variant.group_warps
    }

    /// Share of the warps that a unit could hold.
    pub fn occupancy(&self, variant: &Variant) -> f64 {
        self.resident_warps(variant) / self.warps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHEET: Sheet = Sheet {
        units: 10.0,
        warp: 32.0,
        clock: 1e9,
        lanes: 64.0,
        conversions: 16.0,
        bandwidth: 1e11,
        groups: 16.0,
        warps: 64.0,
        registers: 65536.0,
        local: 65536.0,
        masking: Masking::Predicated,
    };

    #[test]
    fn local_memory_and_registers_limit_the_warps() {
        let group = Variant { group_warps: 4.0, outputs: 1.0, ..Variant::default() };
        // 28 registers: 18 groups, more than the 16 that warps allow.
        assert_eq!(SHEET.resident_warps(&group), 64.0);
        assert_eq!(SHEET.resident_warps(&Variant { group_warps: 8.0, ..group }), 64.0);
        assert_eq!(SHEET.resident_warps(&Variant { local_bytes: 20000.0, ..group }), 12.0);
        // 40 + 64 registers · 128 work-items: four groups.
        assert_eq!(SHEET.resident_warps(&Variant { outputs: 16.0, ..group }), 16.0);
        let too_large = Variant { local_bytes: 1e6, ..group };
        assert_eq!(SHEET.resident_warps(&too_large), 4.0, "a group at least");
    }

    #[test]
    fn effects_add_up_and_each_can_be_excluded() {
        let variant = Variant {
            groups: 1e4,
            group_warps: 4.0,
            outputs: 4.0,
            multiply_adds: 1e8,
            direct: 1e7,
            loads: 2e7,
            overhangs: true,
            read_only: true,
            ..Variant::default()
        };
        let all = SHEET.seconds(&variant);
        let sum: f64 = SHEET.effects(&variant).iter().sum();
        assert!((all / sum - 1.0).abs() < 1e-12);
        // 0.615·1e8·32/64 cycles of 10 units at 1 GHz; loads cost nothing of their own.
        let rates = SHEET.effects(&variant)[Effect::Rates as usize];
        assert!((rates - 3.075e7 / 1e10).abs() < 1e-12, "{rates}");
        let inside = SHEET.seconds(&Variant { overhangs: false, ..variant });
        let unguarded = SHEET.seconds_without(&variant, Effect::Guards);
        assert!((unguarded / inside - 1.0).abs() < 1e-12 && inside < all);
        let branched = Sheet { masking: Masking::Branched, ..SHEET };
        let slower = |sheet: &Sheet| sheet.effects(&variant)[Effect::Guards as usize];
        assert!(slower(&branched) > 40.0 * slower(&SHEET), "a branch around every load");
    }

    /// By hand: 40 registers an item of 4 · 64 let 6 groups in, 24 warps.
    #[test]
    fn amounts_are_what_the_launch_does_over_what_a_unit_does_in_a_cycle() {
        let sheet = Sheet { warp: 64.0, lanes: 16.0, conversions: 8.0, ..SHEET };
        let mut v = Variant { groups: 500.0, group_warps: 4.0, outputs: 4.0, ..Variant::default() };
        (v.multiply_adds, v.conversions, v.instructions) = (3.0, 160.0, 640.0);
        (v.local_reads, v.conflicts, v.direct, v.loads) = (3.0, 2.0, 7.0, 72.0);
        (v.staging, v.staged_bytes, v.sweeps, v.writes) = (48.0, 1280.0, 5e11, 9.0);
        (v.overhangs, v.misaligned, v.adjacent_x) = (true, true, true);
        let usual = [
            12.0, 20.0, 30.0, 6.0, 4.0, 7.0, 2.0, 10.0, 3.0, 72.0, 3.0, 3.0, 0.0, 72.0, 0.0, 0.0,
            3.0, 5.0, 9.0, 0.0, 72.0, 0.0, 0.0, 0.0,
        ];
        assert_eq!((sheet.amounts(&v), sheet.occupancy(&v)), (usual, 0.375));
        for (other, different) in [
            (Variant { sectors: 6.0, ..v }, &[(8, 0.0), (9, 0.0), (15, 2.0), (19, 500.0)][..]),
            (
                Variant { overhangs: false, ..v },
                &[(8, 0.0), (9, 0.0), (10, 0.0), (11, 0.0), (14, 7.0)],
            ),
            (
                Variant { sectors: 6.0, read_only: true, ..v },
                &[(8, 0.0), (9, 0.0), (15, 2.0), (19, 500.0)],
            ),
            (Variant { staging: 0.0, ..v }, &[(6, 0.0), (10, 0.0), (11, 0.0)]),
            (Variant { misaligned: false, read_only: true, ..v }, &[(13, 0.0), (23, 72.0)]),
            (Variant { adjacent_x: false, adjacent_y: true, ..v }, &[(20, 0.0), (21, 72.0)]),
            (Variant { adjacent_x: false, strided_y: true, ..v }, &[(20, 0.0), (22, 72.0)]),
            // 56, 104 and 28 registers: 4, 2 and 9 groups.
            (Variant { outputs: 8.0, ..v }, &[(2, 35.0), (6, 3.0), (8, 4.5), (16, 4.5)]),
            (
                Variant { outputs: 16.0, ..v },
                &[(2, 37.5), (6, 6.0), (8, 9.0), (11, 0.0), (12, 3.0), (16, 9.0)],
            ),
            (
                Variant { outputs: 1.0, ..v },
                &[(2, 0.0), (6, 48.0 / 36.0), (8, 2.0), (11, 0.0), (16, 2.0)],
            ),
        ] {
            let mut expected = usual;
            different.iter().for_each(|&(i, amount)| expected[i] = amount);
            assert_eq!(sheet.amounts(&other), expected, "{different:?}");
        }
    }

    #[test]
    fn prices_are_the_architectures_and_cycles_the_devices() {
        // 1.6e11 conversions at 16 a cycle of 10 units at 1 GHz: a second at a price of 1.
        let v = Variant {
            group_warps: 1.0,
            conversions: 1.6e11,
            read_only: true,
            ..Variant::default()
        };
        for (masking, warp, price) in [
            (Masking::Predicated, 32.0, 1.01),
            (Masking::Predicated, 64.0, 1.01),
            (Masking::Branched, 64.0, 3.13),
            (Masking::Branched, 32.0, 4.14),
        ] {
            let found = Sheet { masking, warp, ..SHEET }.seconds(&v);
            assert!((found - price).abs() < 1e-12, "{masking:?} {warp}: {found}");
        }
        let swept = SHEET.effects(&Variant { sweeps: 2e11, ..v })[Effect::Reuse as usize];
        assert!((swept - 2.0 * 2.31).abs() < 1e-12, "{swept}");
        let labels: std::collections::BTreeSet<_> = Effect::ALL.map(Effect::label).into();
        assert!(labels.len() == 8 && labels.contains("reuse between groups"), "{labels:?}");
    }
}
