//! What a variant of a kernel takes on a device of which only the data sheet is known.
//!
//! ```text
//! T = Σ price_i · amount_i
//! ```
//!
//! Each amount is something that slows a variant down, counted by emulating one of its groups and turned into
//! seconds by the data sheet: instructions over lanes, rounds of local memory, loads that wait, bytes over bandwidth.
//! A price says how many cycles of a unit one of it costs, or how many times the seconds at full bandwidth; prices are
//! the architecture's, not the card's. They were chosen by non-negative least squares of relative errors on the A100
//! (those of warps that predicate) and the MI250X (those that branch), and for branching warps of 32 those that only
//! the dedispersion pays on the W6600 (`crates/commands/src/cmd/evaluate/prices.rs` seeks them again). Where terms grow
//! alike, a price alone means little; NVIDIA's mix two clocks (`docs/results/2026-11-30-clock.md`).
//!
//! Which terms there are was found by the residuals of these and the A4000, and by what real compilers make of the
//! text (`docs/results/2026-11-29-compilers.md`). `docs/results/real-gpus.md` evaluates them, effect by effect.

mod terms;
#[cfg(test)]
mod tests;

pub use terms::TERM_COUNT;

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
    /// Bytes of the first cache that all units share.
    pub shared_cache: f64,
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
    /// How many of them it computes at once, an accumulator each.
    pub accumulators: f64,
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
    /// Bytes that all of a group's outputs along x read in all channels, of such a kernel.
    pub pass_bytes: f64,
    /// Whether groups reach beyond the outputs.
    pub overhangs: bool,
    /// Whether the text lets a load pass a write to memory.
    pub read_only: bool,
    /// Whether a work-item's outputs are neighbours along x, and a row of the group is wider than a word.
    pub adjacent_x: bool,
    /// Whether they are along y.
    pub adjacent_y: bool,
}

/// Something that slows variants down, which can be left out to see what it explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Instructions, conversions, local memory and loads at the data sheet's rates, and what it takes to begin a warp.
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
    /// Loads by how they lie and what the text says of them: neighbours of each other, or behind a write that they
    /// may not pass.
    Coalescing,
    /// Input brought for each output of a work-item by itself.
    Passes,
    /// Input that the units' shared cache has lost when the next output asks for it.
    SharedCache,
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
        Self::Passes,
        Self::SharedCache,
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
            Self::Passes => "passes over the input",
            Self::SharedCache => "shared cache",
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

    /// Share of a pass over the input that the shared cache has lost when the next pass begins: little where the
    /// passes of all groups at once fit, nearly all where they are several times as large.
    fn lost(&self, variant: &Variant) -> f64 {
        let groups = self.units * self.resident_warps(variant) / variant.group_warps;
        let passes = (groups * variant.pass_bytes).powi(2);
        passes / (passes + self.shared_cache.powi(2))
    }

    /// Registers of a work-item, if there were no limit.
    fn wanted_registers(&self, variant: &Variant) -> f64 {
        // What compilers take for such loops: addresses and weights, and an accumulator with its operand an output.
        let at_once = variant.accumulators;
        let few = if at_once > 8.0 { 40.0 } else { 24.0 } + 4.0 * at_once;
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
