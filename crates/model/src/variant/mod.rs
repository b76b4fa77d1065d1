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
//! terms there are was found by the residuals of these and the A4000, and by what real compilers make of the text
//! (`docs/results/2026-11-29-compilers.md`).
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
    /// Global loads of the inner loop, by warps, each place once for every work-item.
    pub distinct: f64,
    /// The most words that a work-item has read in the inner loop at any time and reads again later.
    pub held: f64,
    /// Global loads of the inner loop, by warps, as the text has them.
    pub loads: f64,
    /// Warps' steps of bringing input into local memory.
    pub staging: f64,
    /// Bytes brought.
    pub staged_bytes: f64,
    /// Sectors of 32 bytes that the loads of the inner loop touch, where samples are smaller than a word.
    pub sectors: f64,
    /// Transactions that the groups of such a kernel ask memory for, each output's pass over the input by itself.
    pub passes: f64,
    /// Bytes of input, once for each row of groups, of such a kernel.
    pub sweeps: f64,
    /// Whether groups reach beyond the outputs.
    pub overhangs: bool,
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
    /// Loads repeated because registers have no room for what they read.
    Spills,
    /// Conditions around loads where groups overhang.
    Guards,
    /// Loops over outputs, which a compiler unrolls differently.
    Unrolling,
    /// Bank conflicts.
    Conflicts,
    /// Loads by how they lie and what the text says of them: scattered, neighbours of each other, or behind a
    /// write that they may not pass.
    Coalescing,
    /// Input brought again for each row of groups.
    Reuse,
    /// Input brought for each output of a work-item by itself.
    Passes,
}

impl Effect {
    /// All, in the order in which they are left out.
    pub const ALL: [Self; 9] = [
        Self::Rates,
        Self::Occupancy,
        Self::Spills,
        Self::Guards,
        Self::Unrolling,
        Self::Conflicts,
        Self::Coalescing,
        Self::Reuse,
        Self::Passes,
    ];

    /// In words.
    pub fn label(self) -> &'static str {
        match self {
            Self::Rates => "rates",
            Self::Occupancy => "occupancy",
            Self::Spills => "spills",
            Self::Guards => "guards",
            Self::Unrolling => "unrolling",
            Self::Conflicts => "bank conflicts",
            Self::Coalescing => "coalescing",
            Self::Reuse => "reuse between groups",
            Self::Passes => "passes over the input",
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
        let registers = self.wanted_registers(variant).min(self.max_registers());
        let by_registers = self.registers / (registers * variant.group_warps * self.warp);
        let by_local = self.local / variant.local_bytes.max(1.0);
        let groups = self.groups.min(self.warps / variant.group_warps);
        groups.min(by_registers).min(by_local).floor().max(1.0) * variant.group_warps
    }

    /// Registers of a work-item, if there were no limit.
    fn wanted_registers(&self, variant: &Variant) -> f64 {
        // What compilers take for such loops: addresses and weights, and an accumulator with its operand an output.
        let few = if variant.outputs > 8.0 { 40.0 } else { 24.0 } + 4.0 * variant.outputs;
        few + self.kept(variant)
    }

    /// Words of memory that the compiler keeps in registers because they are read again. Unless a condition gives each load
    /// a block or a predicate of its own, LLVM 16 keeps them for AMD's GPUs, and CUDA 12.1 those of loads marked as only
    /// read; other loads it moves to the uses of what they read (`docs/results/2026-11-29-compilers.md`).
    fn kept(&self, variant: &Variant) -> f64 {
        let keeps = variant.read_only || self.masking == Masking::Branched;
        let direct = variant.distinct > 0.0 && !variant.overhangs;
        if keeps && direct { variant.held } else { 0.0 }
    }

    /// Share of these words that registers have no room for.
    fn spilled(&self, variant: &Variant) -> f64 {
        let too_many = self.wanted_registers(variant) - self.max_registers();
        (too_many.max(0.0) / self.kept(variant).max(1.0)).min(1.0)
    }

    /// Registers that a compiler gives to a work-item: CUDA's as many as an instruction can name, HIP's as many as groups of
    /// 1,024 leave room for, whatever the group.
    fn max_registers(&self) -> f64 {
        match self.masking {
            Masking::Predicated => 255.0,
            Masking::Branched => 128.0,
        }
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
    fn what_is_read_again_takes_registers_where_compilers_keep_it() {
        let v = Variant {
            outputs: 4.0,
            group_warps: 4.0,
            distinct: 1.0,
            held: 60.0,
            ..Variant::default()
        };
        let branched = Sheet { masking: Masking::Branched, ..SHEET };
        let wanted = |sheet: &Sheet, v: Variant| sheet.wanted_registers(&v);
        assert_eq!(wanted(&SHEET, v), 40.0, "the loads move to their uses");
        assert_eq!(wanted(&SHEET, Variant { read_only: true, ..v }), 100.0);
        assert_eq!(wanted(&SHEET, Variant { read_only: true, overhangs: true, ..v }), 40.0);
        assert_eq!(wanted(&branched, v), 100.0);
        assert_eq!(wanted(&branched, Variant { overhangs: true, ..v }), 40.0);
        assert_eq!(wanted(&branched, Variant { distinct: 0.0, ..v }), 40.0, "local memory");
        assert_eq!((branched.spilled(&v), SHEET.spilled(&v)), (0.0, 0.0));
        // 40 + 176 registers, of which there are 128: half of the 176 words have no room. 40 + 1,000 of 255: all but 215.
        assert_eq!(branched.spilled(&Variant { held: 176.0, ..v }), 0.5);
        let read_only = Variant { held: 1000.0, read_only: true, ..v };
        assert_eq!(SHEET.spilled(&read_only), 0.785);
    }

    #[test]
    fn effects_add_up_and_each_can_be_excluded() {
        let variant = Variant {
            groups: 1e4,
            group_warps: 4.0,
            outputs: 4.0,
            multiply_adds: 1e8,
            distinct: 1e7,
            loads: 2e7,
            overhangs: true,
            read_only: true,
            ..Variant::default()
        };
        let all = SHEET.seconds(&variant);
        let sum: f64 = SHEET.effects(&variant).iter().sum();
        assert!((all / sum - 1.0).abs() < 1e-12);
        // Cycles of 10 units at 1 GHz: 1.01·1e8·32/64, 0.784·2e7 and 1.21·5.4·2e7·32/64.
        let rates = SHEET.effects(&variant)[Effect::Rates as usize];
        assert!((rates - (5.05e7 + 1.568e7 + 6.534e7) / 1e10).abs() < 1e-12, "{rates}");
        let unguarded = SHEET.seconds_without(&variant, Effect::Guards);
        // 40 registers: 12 groups, 48 warps.
        let guards = (6.2 * 2e7 / 48.0 + 0.869 * 2e7) / 1e10;
        assert!((unguarded + guards - all).abs() < 1e-12, "{unguarded} of {all}");
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
        (v.local_reads, v.conflicts, v.distinct, v.loads) = (3.0, 2.0, 7.0, 72.0);
        (v.staging, v.staged_bytes, v.sweeps, v.passes) = (48.0, 1280.0, 5e11, 9.0);
        (v.overhangs, v.adjacent_x) = (true, true);
        let usual = [
            12.0, 20.0, 30.0, 6.0, 4.0, 0.125, 2.0, 10.0, 72.0, 0.0, 0.0, 0.0, 3.0, 72.0, 3.0, 3.0,
            0.0, 0.0, 0.0, 5.0, 9.0, 72.0, 0.0, 0.0,
        ];
        assert_eq!((sheet.amounts(&v), sheet.occupancy(&v)), (usual, 0.375));
        let inside = Variant { overhangs: false, ..v };
        let unguarded = [(12, 0.0), (13, 0.0), (14, 0.0), (15, 0.0)];
        for (other, different) in [
            (
                Variant { sectors: 6.0, ..v },
                &[(8, 0.0), (12, 0.0), (13, 0.0), (17, 2.0), (18, 3.0)][..],
            ),
            (
                Variant { sectors: 6.0, read_only: true, ..v },
                &[(8, 0.0), (12, 0.0), (13, 0.0), (17, 2.0), (18, 3.0)],
            ),
            (inside, &[&[(8, 7.0), (10, 7.0 / 24.0), (16, 7.0)], &unguarded[..]].concat()),
            // 5.4 instructions for each load, and 4.2 for each place.
            (Variant { read_only: true, ..v }, &[(9, 5.4 * 72.0)]),
            (
                Variant { read_only: true, ..inside },
                &[&[(8, 7.0), (9, 4.2 * 7.0), (10, 7.0 / 24.0)], &unguarded[..]].concat(),
            ),
            // Of 40 + 430 registers 255: one group, and half of the 65 loads of what is read again.
            (
                Variant { read_only: true, held: 430.0, ..inside },
                &[
                    &[(5, 0.75), (6, 12.0), (8, 7.0), (9, 4.2 * 7.0), (10, 1.75), (11, 32.5)],
                    &unguarded[..],
                ]
                .concat(),
            ),
            (Variant { staging: 0.0, ..v }, &[(6, 0.0), (14, 0.0), (15, 0.0)]),
            (Variant { adjacent_x: false, adjacent_y: true, ..v }, &[(21, 0.0), (22, 72.0)]),
            (Variant { adjacent_x: false, strided_y: true, ..v }, &[(21, 0.0), (23, 72.0)]),
            // 56, 104 and 28 registers: 4, 2 and 9 groups.
            (Variant { outputs: 8.0, ..v }, &[(2, 35.0), (5, 0.1875), (6, 3.0), (12, 4.5)]),
            (
                Variant { outputs: 16.0, ..v },
                &[(2, 37.5), (5, 0.375), (6, 6.0), (12, 9.0), (15, 0.0)],
            ),
            (
                Variant { outputs: 1.0, ..v },
                &[(2, 0.0), (5, 3.0 / 36.0), (6, 48.0 / 36.0), (12, 2.0), (15, 0.0)],
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
            (Masking::Predicated, 32.0, 1.04),
            (Masking::Predicated, 64.0, 1.04),
            (Masking::Branched, 64.0, 3.27),
            (Masking::Branched, 32.0, 4.0),
        ] {
            let found = Sheet { masking, warp, ..SHEET }.seconds(&v);
            assert!((found - price).abs() < 1e-12, "{masking:?} {warp}: {found}");
        }
        let swept = SHEET.effects(&Variant { sweeps: 2e11, ..v })[Effect::Reuse as usize];
        assert!((swept - 2.0 * 1.17).abs() < 1e-12, "{swept}");
        let labels: std::collections::BTreeSet<_> = Effect::ALL.map(Effect::label).into();
        assert!(labels.len() == 9 && labels.contains("reuse between groups"), "{labels:?}");
    }
}
