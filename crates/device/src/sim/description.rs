//! A simulated GPU's description: what the YAML says, checked.

use super::valid::{
    consistent, not_negative, positive, some_positive, some_text, up_to_two, whole,
};
use gpubench_core::class::Class;
use gpubench_core::error::{Error, Located, Result};
use gpubench_core::gpu::MemoryKind;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A simulated GPU. Times are seconds, sizes bytes, rates per second.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// The device's name.
    #[serde(deserialize_with = "some_text")]
    pub name: String,
    /// The vendor's name.
    pub vendor: String,
    /// Compute units.
    #[serde(deserialize_with = "whole")]
    pub units: u32,
    /// Work-items that a unit runs in lock-step.
    #[serde(deserialize_with = "whole")]
    pub warp: u32,
    /// Core clock in hertz.
    #[serde(deserialize_with = "positive")]
    pub clock: f64,
    /// In-order queues that the host may use.
    #[serde(deserialize_with = "whole")]
    pub queues: u32,
    /// Most kernels that run at once.
    #[serde(deserialize_with = "whole")]
    pub concurrent_kernels: u32,
    /// What one unit holds.
    #[serde(deserialize_with = "consistent")]
    pub unit: Unit,
    /// What one unit computes.
    pub compute: Compute,
    /// Local memory and what work-items do together.
    #[serde(default)]
    pub local: Local,
    /// The device's memory.
    #[serde(deserialize_with = "consistent")]
    pub memory: Memory,
    /// The way to the host's memory.
    pub link: Link,
    /// What commands cost beside their work.
    pub costs: Costs,
    /// How far times scatter.
    #[serde(default)]
    pub noise: Noise,
    /// Resolution of the timestamps.
    #[serde(default = "nanosecond", deserialize_with = "positive")]
    pub resolution: f64,
    /// Optional features, by the names that suites use.
    #[serde(default)]
    pub features: Vec<String>,
}

/// What one unit holds at once, and the largest group.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unit {
    /// Most resident groups.
    #[serde(deserialize_with = "whole")]
    pub groups: u32,
    /// Most resident work-items.
    #[serde(deserialize_with = "whole")]
    pub threads: u32,
    /// Registers of 32 bits.
    #[serde(deserialize_with = "whole")]
    pub registers: u32,
    /// Local memory.
    #[serde(deserialize_with = "whole")]
    pub local: u32,
    /// Most local memory of one group.
    #[serde(deserialize_with = "whole")]
    pub group_local: u32,
    /// Local memory is handed out in multiples of this.
    #[serde(deserialize_with = "whole")]
    pub local_piece: u32,
    /// Banks of the local memory.
    #[serde(deserialize_with = "whole")]
    pub banks: u32,
    /// Most work-items in a group.
    #[serde(deserialize_with = "whole")]
    pub group_threads: u32,
    /// Most groups along each dimension of a dispatch.
    pub max_groups: [u32; 3],
}

/// What one unit computes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compute {
    /// Single-precision operations of one unit in one cycle, a fused multiply-add being two.
    #[serde(deserialize_with = "positive")]
    pub flops_per_cycle: f64,
    /// Single-precision operations in one instruction of one work-item.
    #[serde(deserialize_with = "positive")]
    pub flops_per_instruction: f64,
    /// Cycles until an instruction's result can be used.
    #[serde(deserialize_with = "positive")]
    pub latency: f64,
    /// Classes of instructions that cost something else.
    #[serde(default, deserialize_with = "consistent")]
    pub instructions: BTreeMap<Class, Price>,
}

/// What an instruction costs.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Cycles until its result can be used.
    #[serde(deserialize_with = "positive")]
    pub latency: f64,
    /// Instructions of single work-items that a unit runs in one cycle.
    #[serde(deserialize_with = "positive")]
    pub per_cycle: f64,
}

/// Local memory and what the work-items of a group do together, in cycles; what is not described
/// takes as long as an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Local {
    /// From a load's address to its value, without conflicts.
    #[serde(default, deserialize_with = "some_positive")]
    pub latency: Option<f64>,
    /// Passing a barrier.
    #[serde(default, deserialize_with = "some_positive")]
    pub barrier: Option<f64>,
}

/// The device's memory.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Its size.
    #[serde(deserialize_with = "whole")]
    pub size: u64,
    /// Largest buffer.
    #[serde(deserialize_with = "whole")]
    pub largest_buffer: u64,
    /// Bytes a second.
    #[serde(deserialize_with = "positive")]
    pub bandwidth: f64,
    /// Seconds from a load to its value.
    #[serde(deserialize_with = "positive")]
    pub latency: f64,
    /// Memory is moved in multiples of this.
    #[serde(deserialize_with = "whole")]
    pub transaction: u32,
    /// Bytes that one work-item has under way at once.
    #[serde(deserialize_with = "positive")]
    pub in_flight: f64,
    /// Caches in front of it, the smallest first. Only a chase through a working set that fits one
    /// is priced by them.
    #[serde(default)]
    pub caches: Vec<Cache>,
    /// Atomic additions a second to one place, and to many; where they are not described, one a
    /// cycle, and one a transaction.
    #[serde(default)]
    pub atomics: Option<[f64; 2]>,
}

/// A cache.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// Its size.
    #[serde(deserialize_with = "whole")]
    pub size: u64,
    /// Seconds from a load to its value.
    #[serde(deserialize_with = "positive")]
    pub latency: f64,
}

/// The way to the host's memory.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Copy engines: with none, copies wait for kernels and kernels for copies; one does either
    /// direction in turn; two do one each.
    #[serde(deserialize_with = "up_to_two")]
    pub engines: u8,
    /// Rates by the kind of host memory.
    #[serde(deserialize_with = "consistent")]
    pub host: BTreeMap<MemoryKind, Rates>,
}

/// Rates of the link for one kind of host memory.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// Seconds before the first byte.
    #[serde(deserialize_with = "not_negative")]
    pub latency: f64,
    /// Bytes a second to the device, alone.
    #[serde(deserialize_with = "positive")]
    pub upload: f64,
    /// Bytes a second to the host, alone.
    #[serde(deserialize_with = "positive")]
    pub download: f64,
    /// Bytes a second to the device while a download runs.
    #[serde(deserialize_with = "positive")]
    pub upload_bidirectional: f64,
    /// Bytes a second to the host while an upload runs.
    #[serde(deserialize_with = "positive")]
    pub download_bidirectional: f64,
}

/// What commands cost beside their work.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Costs {
    /// Host seconds to queue one command; the host queues one after the other.
    #[serde(deserialize_with = "not_negative")]
    pub submit: f64,
    /// Seconds from a kernel being ready to its start.
    #[serde(deserialize_with = "not_negative")]
    pub launch: f64,
    /// Seconds until a queue sees that a step of another has ended.
    #[serde(deserialize_with = "not_negative")]
    pub sync: f64,
}

/// How far times scatter.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Noise {
    /// Standard deviation of the logarithm of a time: 0.01 scatters by one per cent.
    #[serde(deserialize_with = "not_negative")]
    pub relative: f64,
    /// Where the random numbers begin.
    #[serde(default)]
    pub seed: u64,
}

impl Description {
    /// Reads the description `text` of the file called `file`.
    ///
    /// # Errors
    /// [`Error::Suite`] with the place of the mistake.
    pub fn parse(file: &str, text: &str) -> Result<Self> {
        gpubench_core::yaml::parse(file, text).map_err(|diagnostic| {
            let help = "see the descriptions shipped with gpubench".to_owned();
            Error::Suite(vec![Located { help: Some(help), ..diagnostic }])
        })
    }

    /// What an instruction of `class` costs.
    pub fn price(&self, class: Class) -> Price {
        let Compute { flops_per_cycle, flops_per_instruction, latency, .. } = self.compute;
        let usual = Price { latency, per_cycle: flops_per_cycle / flops_per_instruction };
        self.compute.instructions.get(&class).copied().unwrap_or(usual)
    }

    /// Seconds from a load of local memory to its value.
    pub fn local_latency(&self) -> f64 {
        self.local.latency.unwrap_or(self.compute.latency) / self.clock
    }

    /// Seconds of a barrier.
    pub fn barrier(&self) -> f64 {
        self.local.barrier.unwrap_or(self.compute.latency) / self.clock
    }

    /// Seconds of a load that stays within `bytes` bytes.
    pub fn load_latency(&self, bytes: u64) -> f64 {
        let cache = self.memory.caches.iter().find(|cache| bytes <= cache.size);
        cache.map_or(self.memory.latency, |cache| cache.latency)
    }

    /// Atomic additions a second to one place, and to many.
    pub fn atomics(&self) -> [f64; 2] {
        let usual = [self.clock, self.memory.bandwidth / f64::from(self.memory.transaction)];
        self.memory.atomics.unwrap_or(usual)
    }

    /// The rates for host memory of this kind, if it is described.
    pub fn rates(&self, kind: MemoryKind) -> Option<&Rates> {
        self.link.host.get(&kind)
    }
}

fn nanosecond() -> f64 {
    1e-9
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "\
name: test
vendor: none
units: 4
warp: 32
clock: 1.0e9
queues: 4
concurrent_kernels: 4
unit: { groups: 8, threads: 1024, registers: 32768, local: 16384, group_local: 16384, local_piece: 256, banks: 32, group_threads: 512, max_groups: [65535, 65535, 1] }
compute: { flops_per_cycle: 64, flops_per_instruction: 2, latency: 20 }
memory: { size: 1073741824, largest_buffer: 268435456, bandwidth: 100e9, latency: 400e-9, transaction: 128, in_flight: 4 }
link:
  engines: 2
  host:
    pinned: { latency: 10e-6, upload: 6e9, download: 6e9, upload_bidirectional: 4e9, download_bidirectional: 4e9 }
costs: { submit: 1e-6, launch: 5e-6, sync: 2e-6 }
";

    #[test]
    fn a_whole_description_is_read() {
        let read = Description::parse("good.yaml", GOOD).unwrap();
        assert_eq!((read.units, read.unit.threads, read.link.engines), (4, 1024, 2));
        assert_eq!(read.resolution, 1e-9);
        assert_eq!(read.rates(MemoryKind::Pinned).unwrap().upload, 6e9);
        assert_eq!(read.rates(MemoryKind::Mapped), None);
    }

    #[test]
    fn every_mistake_has_its_line() {
        for (good, bad, line, message) in [
            ("units: 4", "units: 0", 3, "0 is too small"),
            ("units: 4", "units: -4", 3, "-4 is too small"),
            ("warp: 32", "wrap: 32", 4, "unknown field `wrap`"),
            ("clock: 1.0e9", "clock: .nan", 5, "finite number"),
            ("bandwidth: 100e9", "bandwidth: -1", 10, "-1 is no positive number"),
            ("engines: 2", "engines: 3", 12, "3 copy engines"),
            ("pinned:", "device:", 14, "no kind of host memory"),
            ("pinned:", "shared:", 14, "shared"),
            ("upload_bidirectional: 4e9", "upload_bidirectional: 7e9", 14, "faster"),
            ("group_threads: 512", "group_threads: 2048", 8, "does not fit"),
            ("launch: 5e-6", "launch: soon", 15, "expected f64"),
            ("launch: 5e-6", "launch: -1e-6", 15, "not zero or a positive"),
            ("submit: 1e-6", "submitt: 1e-6", 15, "unknown field `submitt`"),
            ("warp: 32", "warp: 31.5", 4, "expected i64"),
            ("units: 4", "units: 4294967296", 3, "too large"),
            ("size: 1073741824", "size: 1", 10, "does not fit a memory of 1"),
            ("name: test", "name: ' '", 1, "needs a name"),
            (
                "latency: 20",
                "latency: 20, instructions: { float_ad: { latency: 1, per_cycle: 1 } }",
                9,
                "float_ad",
            ),
            (
                "latency: 20",
                "latency: 20, instructions: { barrier: { latency: 1, per_cycle: 1 } }",
                9,
                "no price",
            ),
            (
                "latency: 20",
                "latency: 20, instructions: { shift: { latency: 0, per_cycle: 1 } }",
                9,
                "positive",
            ),
            (
                "in_flight: 4",
                "in_flight: 4, caches: [{ size: 8, latency: 1 }, { size: 4, latency: 1 }]",
                10,
                "smallest first",
            ),
            ("in_flight: 4", "in_flight: 4, atomics: [0, 1]", 10, "positive number"),
            ("costs:", "local: { latency: -1 }\ncosts:", 15, "positive"),
            ("[65535, 65535, 1]", "[65535, 65535]", 8, "3"),
            ("[65535, 65535, 1]", "[65535, 0, 1]", 8, "no dispatch"),
            ("units: 4", "units: 4\nunits: 4", 4, "twice"),
            ("vendor: none\n", "", 14, "missing field `vendor`"),
        ] {
            let text = GOOD.replace(good, bad);
            assert_ne!(text, GOOD);
            let Err(Error::Suite(diagnostics)) = Description::parse("bad.yaml", &text) else {
                panic!("{bad} was accepted");
            };
            assert!(diagnostics[0].message.contains(message), "{bad}: {}", diagnostics[0]);
            assert_eq!(diagnostics[0].line_column().0, line, "{bad}: {}", diagnostics[0]);
        }
    }
}
