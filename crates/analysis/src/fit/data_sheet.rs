//! A device of which only the data sheet and its architecture's documents are known.

use super::device::{Device, Prices};
use gpubench_core::class::Class;
use gpubench_core::error::{Error, Result};
use gpubench_emulator::Rules;
use gpubench_model::components::Curve;
use gpubench_model::variant::{Masking, Sheet};
use gpubench_model::warp_timeline;
use serde::Deserialize;
use std::collections::BTreeMap;

/// What a data sheet says. The keys are those of a simulated device's description, of which those that only
/// simulation needs may be missing or stay.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct DataSheet {
    /// The device's name.
    pub name: String,
    /// Its vendor.
    pub vendor: String,
    /// Compute units.
    pub units: u32,
    /// Work-items of a warp.
    pub warp: u32,
    /// Core clock in hertz, at its highest.
    pub clock: f64,
    /// What a unit holds.
    pub unit: Unit,
    /// What a unit computes.
    pub compute: Compute,
    /// The device's memory.
    pub memory: Memory,
    /// `predicated` or `branched`: what warps do with conditions; without it what the vendor's warps do.
    #[serde(default)]
    pub conditions: Option<Conditions>,
}

/// Bytes of a shared cache of which a sheet says nothing: those in `tests/data/sheets` have 2 to 40 MiB.
const SHARED_CACHE: u64 = 4 << 20;

/// What warps do with conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Conditions {
    /// Instructions carry predicates.
    Predicated,
    /// Branches change the execution mask.
    Branched,
}

/// What one unit holds at once.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct Unit {
    /// Most resident groups.
    pub groups: u32,
    /// Most resident work-items.
    pub threads: u32,
    /// Registers of 32 bits.
    pub registers: u32,
    /// Bytes of local memory.
    pub local: u32,
    /// Most local memory of one group.
    pub group_local: u32,
    /// Banks of the local memory.
    pub banks: u32,
    /// Most work-items in a group.
    pub group_threads: u32,
}

/// What one unit computes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Compute {
    /// Single-precision operations of one unit in one cycle, a fused multiply-add being two.
    pub flops_per_cycle: f64,
    /// Single-precision operations in one instruction of one work-item.
    pub flops_per_instruction: f64,
    /// Cycles until an instruction's result can be used.
    pub latency: f64,
    /// Classes of instructions that cost something else.
    #[serde(default)]
    pub instructions: BTreeMap<Class, Price>,
}

/// What an instruction costs.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct Price {
    /// Cycles until its result can be used.
    pub latency: f64,
    /// Instructions of single work-items that a unit starts in one cycle.
    pub per_cycle: f64,
}

/// The device's memory.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct Memory {
    /// Bytes a second.
    pub bandwidth: f64,
    /// Seconds from a load to its value.
    pub latency: f64,
    /// Memory is moved in multiples of this.
    pub transaction: u32,
    /// Bytes of the first cache that all units share; without it 4 MiB are assumed.
    #[serde(default)]
    pub shared_cache: Option<u64>,
}

impl DataSheet {
    /// Reads the text of `file`.
    ///
    /// # Errors
    /// [`Error::Suite`] with the place of a mistake; `Usage` for a number that no device has.
    pub fn parse(file: &str, text: &str) -> Result<Self> {
        let sheet: Self = gpubench_core::yaml::parse(file, text).map_err(|diagnostic| {
            let help = "those in tests/data/sheets have every key".to_owned();
            Error::Suite(vec![gpubench_core::error::Located { help: Some(help), ..diagnostic }])
        })?;
        let wrong = |what: &str| Err(Error::Usage(format!("{file}: {what}")));
        let rates = [sheet.clock, sheet.memory.bandwidth, sheet.memory.latency];
        let compute = [sheet.compute.flops_per_cycle, sheet.compute.flops_per_instruction];
        if rates.iter().chain(&compute).any(|rate| !(rate.is_finite() && *rate > 0.0)) {
            return wrong("clock, flops, bandwidth and latency must be above 0");
        }
        let counts = [sheet.units, sheet.unit.groups, sheet.unit.threads, sheet.unit.registers];
        if counts.contains(&0) || sheet.unit.local == 0 || sheet.unit.banks == 0 {
            return wrong(
                "units, groups, threads, registers, local memory and banks must be above 0",
            );
        }
        if sheet.memory.shared_cache == Some(0) {
            return wrong("a shared cache is above 0: leave out what is not known");
        }
        if !sheet.warp.is_power_of_two() || sheet.warp > 128 {
            return wrong("a warp is a power of two, at most 128");
        }
        if !sheet.memory.transaction.is_power_of_two() || sheet.memory.transaction < 4 {
            return wrong("a transaction is a power of two, at least 4");
        }
        Ok(sheet)
    }

    /// By what kernels are counted.
    pub fn rules(&self) -> Rules {
        Rules {
            warp: self.warp,
            transaction: self.memory.transaction,
            banks: self.unit.banks,
            ..Rules::default()
        }
    }

    /// As the model of variants takes it.
    pub fn sheet(&self) -> Sheet {
        let masking = match self.conditions {
            Some(Conditions::Predicated) => Masking::Predicated,
            Some(Conditions::Branched) => Masking::Branched,
            None if self.vendor.eq_ignore_ascii_case("nvidia") => Masking::Predicated,
            None => Masking::Branched,
        };
        Sheet {
            units: f64::from(self.units),
            warp: f64::from(self.warp),
            clock: self.clock,
            lanes: self.price(Class::FloatFma).per_cycle,
            conversions: self.price(Class::Convert).per_cycle,
            bandwidth: self.memory.bandwidth,
            groups: f64::from(self.unit.groups),
            warps: f64::from(self.unit.threads / self.warp).max(1.0),
            registers: f64::from(self.unit.registers),
            local: f64::from(self.unit.local),
            shared_cache: self.memory.shared_cache.unwrap_or(SHARED_CACHE) as f64,
            masking,
        }
    }

    /// As the published models take it: rates at their peaks.
    pub fn device(&self) -> Device {
        let per_second = f64::from(self.units) * self.clock;
        let prices: Prices = Class::ALL.map(|class| {
            let price = self.price(class);
            (price.latency / self.clock, price.per_cycle * per_second)
        });
        let bandwidth = Curve::new(vec![(1.0, self.memory.bandwidth)]);
        let unit = warp_timeline::Unit {
            units: self.units,
            warp: self.warp,
            groups: self.unit.groups,
            warps: (self.unit.threads / self.warp).max(1),
            local_memory: self.unit.local,
            registers: self.unit.registers,
        };
        Device {
            rules: self.rules(),
            unit,
            clock: self.clock,
            launch: 0.0,
            memory_latency: Some(self.memory.latency),
            read: bandwidth.clone(),
            write: bandwidth,
            // A bank gives a word of four bytes in a cycle.
            local: 4.0 * f64::from(self.unit.banks) * per_second,
            conflicts: true,
            barrier: self.compute.latency / self.clock,
            atomics: None,
            prices,
            name: self.name.clone(),
            group: (self.unit.group_threads, u64::from(self.unit.group_local)),
        }
    }

    fn price(&self, class: Class) -> Price {
        let Compute { flops_per_cycle, flops_per_instruction, latency, .. } = self.compute;
        let usual = Price { latency, per_cycle: flops_per_cycle / flops_per_instruction };
        self.compute.instructions.get(&class).copied().unwrap_or(usual)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "\
name: test
vendor: NVIDIA
units: 4
warp: 32
clock: 1.0e9
unit: { groups: 8, threads: 1024, registers: 32768, local: 16384, group_local: 16384, banks: 32, group_threads: 512 }
compute: { flops_per_cycle: 128, flops_per_instruction: 2, latency: 4, instructions: { convert: { latency: 6, per_cycle: 16 } } }
memory: { bandwidth: 100e9, latency: 400e-9, transaction: 32 }
";

    #[test]
    fn rates_follow_from_units_and_clock() {
        let sheet = DataSheet::parse("good.yaml", GOOD).unwrap();
        let (device, model) = (sheet.device(), sheet.sheet());
        assert_eq!(device.rate(Class::FloatFma), 256e9);
        assert_eq!(device.rate(Class::Convert), 64e9);
        assert_eq!((model.lanes, model.conversions, model.warps), (64.0, 16.0, 32.0));
        assert_eq!(model.masking, Masking::Predicated);
        let other = GOOD.replace("NVIDIA", "AMD");
        assert_eq!(DataSheet::parse("x", &other).unwrap().sheet().masking, Masking::Branched);
    }

    #[test]
    fn what_no_device_has_is_said() {
        let why = |from: &str, to: &str| {
            DataSheet::parse("bad.yaml", &GOOD.replace(from, to)).unwrap_err().to_string()
        };
        assert!(why("warp: 32", "warp: 33").contains("power of two"));
        assert!(why("clock: 1.0e9", "clock: 0.0").contains("above 0"));
        assert!(why("units: 4", "units: 0").contains("above 0"));
        assert!(why("units: 4\n", "").contains("units"));
        for (good, bad) in [
            ("flops_per_cycle: 128", "flops_per_cycle: -1"),
            ("flops_per_instruction: 2", "flops_per_instruction: 0"),
            ("bandwidth: 100e9", "bandwidth: 0"),
            ("latency: 400e-9", "latency: -1e-9"),
        ] {
            let why = why(good, bad);
            assert!(why.contains("flops, bandwidth and latency must be above 0"), "{bad}: {why}");
        }
        for (good, bad) in [
            ("groups: 8", "groups: 0"),
            ("threads: 1024", "threads: 0"),
            ("registers: 32768", "registers: 0"),
            (" local: 16384", " local: 0"),
            ("banks: 32", "banks: 0"),
        ] {
            assert!(why(good, bad).contains("banks must be above 0"), "{bad}: {}", why(good, bad));
        }
        assert!(why("warp: 32", "warp: 256").contains("at most 128"));
        assert!(why("transaction: 32", "transaction: 48").contains("power of two, at least 4"));
        assert!(why("transaction: 32", "transaction: 2").contains("power of two, at least 4"));
        let empty = why("transaction: 32", "transaction: 32, shared_cache: 0");
        assert!(empty.contains("leave out what is not known"), "{empty}");
        assert!(why("units: 4\n", "").contains("tests/data/sheets have every key"));
        let edge =
            GOOD.replace("warp: 32", "warp: 128").replace("transaction: 32", "transaction: 4");
        assert!(DataSheet::parse("edge.yaml", &edge).is_ok());
    }

    /// Four units of 1 GHz and 64 instructions a cycle; a warp is 32 of 1000 work-items.
    #[test]
    fn the_devices_are_as_large_as_the_sheet_says() {
        let text =
            GOOD.replace("threads: 1024", "threads: 1000").replace("clock: 1.0e9", "clock: 2.0e9");
        let sheet = DataSheet::parse("good.yaml", &text).unwrap();
        let (device, model) = (sheet.device(), sheet.sheet());
        assert_eq!(
            (model.units, model.warp, model.clock, model.bandwidth),
            (4.0, 32.0, 2e9, 100e9)
        );
        assert_eq!((model.groups, model.warps), (8.0, 31.0));
        assert_eq!((model.registers, model.local), (32768.0, 16384.0));
        assert_eq!(model.shared_cache, 4_194_304.0, "assumed");
        let cached = text.replace("transaction: 32", "transaction: 32, shared_cache: 2097152");
        let cached = DataSheet::parse("good.yaml", &cached).unwrap().sheet();
        assert_eq!(cached.shared_cache, 2_097_152.0);
        assert_eq!(device.latency(Class::FloatFma), 4.0 / 2e9);
        assert_eq!(device.latency(Class::Convert), 6.0 / 2e9);
        assert_eq!(device.rate(Class::IntAdd), 64.0 * 4.0 * 2e9);
        assert_eq!((device.clock, device.launch, device.atomics), (2e9, 0.0, None));
        assert_eq!((device.read.at(1.0), device.write.at(1e9)), (100e9, 100e9));
        assert_eq!(device.memory_latency().unwrap(), 400e-9);
        // 32 banks of four bytes on each unit.
        assert_eq!(device.local, 4.0 * 32.0 * 4.0 * 2e9);
        assert_eq!((device.barrier, device.conflicts), (4.0 / 2e9, true));
        let unit = device.unit;
        assert_eq!((unit.units, unit.warp, unit.groups, unit.warps), (4, 32, 8, 31));
        assert_eq!((unit.local_memory, unit.registers), (16384, 32768));
        let few = DataSheet::parse("x", &GOOD.replace("threads: 1024", "threads: 16")).unwrap();
        assert_eq!((few.sheet().warps, few.device().unit.warps), (1.0, 1));
    }

    #[test]
    fn conditions_are_the_sheets_before_they_are_the_vendors() {
        let masking = |conditions: &str| {
            DataSheet::parse("x", &format!("{GOOD}conditions: {conditions}\n"))
                .unwrap()
                .sheet()
                .masking
        };
        assert_eq!(masking("branched"), Masking::Branched);
        assert_eq!(masking("predicated"), Masking::Predicated);
    }

    #[test]
    fn groups_beyond_the_sheets_limits_do_not_fit() {
        let device = DataSheet::parse("good.yaml", GOOD).unwrap().device();
        let why = |size, bytes| {
            let launch = crate::fit::hand_computed::changed(8.0, |group| {
                (group.group_size, group.local_bytes) = (size, bytes);
            });
            device.resident(&launch.counted.unwrap().group, 8.0).map_err(|error| error.to_string())
        };
        assert!(why(513, 0).unwrap_err().contains("does not fit test, which takes 512"));
        assert!(why(64, 16385).unwrap_err().contains("do not fit test, which has 16384 B"));
        assert_eq!(why(512, 16384).unwrap().groups, 1);
    }

    #[test]
    fn kernels_are_counted_by_the_sheets_warps_banks_and_transactions() {
        let other = GOOD.replace("banks: 32", "banks: 16").replace("warp: 32", "warp: 64");
        let rules = DataSheet::parse("x", &other).unwrap().rules();
        assert_eq!((rules.warp, rules.banks, rules.transaction), (64, 16, 32));
    }
}
