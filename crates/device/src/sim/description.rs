//! A simulated GPU's description: what the YAML says, checked.

use super::valid::{
    clock_rate, consistent, not_negative, positive, scatter, some_positive, some_text, tick,
    up_to_two, whole, without_f64,
};
use gpubench_core::class::Class;
use gpubench_core::error::{Error, Located, Result};
use gpubench_core::gpu::MemoryKind;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Declares what a description's maps hold; behind `as` stands the check of a value.
macro_rules! described {
    ($($(#[$about:meta])* $name:ident {
        $($(#[$doc:meta])* $field:ident: $type:ty $(as $check:literal)?,)*
    })*) => { $(
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$doc])* $(#[serde(deserialize_with = $check)])? pub $field: $type,)*
        }
    )* };
}

described! {
    /// A simulated GPU. Times are seconds, sizes bytes, rates per second.
    Description {
        /// The device's name.
        name: String as "some_text",
        /// The vendor's name.
        vendor: String,
        /// Compute units.
        units: u32 as "whole",
        /// Work-items that a unit runs in lock-step.
        warp: u32 as "whole",
        /// Core clock in hertz.
        clock: f64 as "clock_rate",
        /// In-order queues that the host may use.
        queues: u32 as "whole",
        /// Most kernels that run at once.
        concurrent_kernels: u32 as "whole",
        /// How kernels are priced that have no price of their own.
        #[serde(default)]
        kernels: Pricing,
        /// What only kernels that are counted are priced by.
        #[serde(default)]
        counted: Option<Counted>,
        /// What one unit holds.
        unit: Unit as "consistent",
        /// What one unit computes.
        compute: Compute,
        /// Local memory and what work-items do together.
        #[serde(default)]
        local: Local,
        /// The device's memory.
        memory: Memory as "consistent",
        /// The way to the host's memory.
        link: Link,
        /// What commands cost beside their work.
        costs: Costs,
        /// How far times scatter.
        #[serde(default)]
        noise: Noise,
        /// Resolution of the timestamps.
        #[serde(default = "nanosecond")]
        resolution: f64 as "tick",
        /// Optional features, by the names that suites use; `f64` follows from its rate.
        #[serde(default)]
        features: Vec<String> as "without_f64",
        /// Storage buffers of a kernel; where they are not described, 16 as large as any buffer.
        #[serde(default)]
        bindings: Option<Bindings>,
    }

    /// What only kernels that are counted are priced by.
    #[derive(Default)]
    Counted {
        /// Whether an instruction holds up to five operations of one work-item that do not need each other.
        #[serde(default)]
        vliw: bool,
        /// Whether the halves of a warp have transactions of their own.
        #[serde(default)]
        half_warps: bool,
        /// Cycles in which every bank of local memory serves one word; where it is not described, one.
        #[serde(default)]
        round: Option<f64> as "some_positive",
        /// Instructions of single work-items that a unit runs in one cycle, where that is not as computing says.
        #[serde(default)]
        per_cycle: Option<f64> as "some_positive",
        /// The same of single classes.
        #[serde(default)]
        instructions: BTreeMap<Class, f64> as "consistent",
    }

    /// Storage buffers of a kernel.
    #[derive(Copy)]
    Bindings {
        /// Most of them.
        count: u32 as "whole",
        /// Bytes that a kernel sees of one.
        bytes: u64 as "whole",
    }

    /// What one unit holds at once, and the largest group.
    Unit {
        /// Most resident groups.
        groups: u32 as "whole",
        /// Most resident work-items.
        threads: u32 as "whole",
        /// Registers of 32 bits.
        registers: u32 as "whole",
        /// Local memory.
        local: u32 as "whole",
        /// Most local memory of one group.
        group_local: u32 as "whole",
        /// Local memory is handed out in multiples of this.
        local_piece: u32 as "whole",
        /// Banks of the local memory.
        banks: u32 as "whole",
        /// Most work-items in a group.
        group_threads: u32 as "whole",
        /// Most groups along each dimension of a dispatch.
        max_groups: [u32; 3],
    }

    /// What one unit computes.
    Compute {
        /// Single-precision operations of one unit in one cycle, a fused multiply-add being two.
        flops_per_cycle: f64 as "positive",
        /// The same in double precision; a device for which it is not described has no `f64`.
        #[serde(default)]
        f64_flops_per_cycle: Option<f64> as "some_positive",
        /// Single-precision operations in one instruction of one work-item.
        flops_per_instruction: f64 as "positive",
        /// Cycles until an instruction's result can be used.
        latency: f64 as "positive",
        /// Classes of instructions that cost something else.
        #[serde(default)]
        instructions: BTreeMap<Class, Price> as "consistent",
    }

    /// What an instruction costs.
    #[derive(Copy)]
    Price {
        /// Cycles until its result can be used.
        latency: f64 as "positive",
        /// Instructions of single work-items that a unit runs in one cycle.
        per_cycle: f64 as "positive",
    }

    /// Local memory and what the work-items of a group do together, in cycles; what is not described
    /// takes as long as an instruction.
    #[derive(Copy, Default)]
    Local {
        /// From a load's address to its value, without conflicts.
        #[serde(default)]
        latency: Option<f64> as "some_positive",
        /// Passing a barrier.
        #[serde(default)]
        barrier: Option<f64> as "some_positive",
    }

    /// The device's memory.
    Memory {
        /// Its size.
        size: u64 as "whole",
        /// Largest buffer.
        largest_buffer: u64 as "whole",
        /// Bytes a second.
        bandwidth: f64 as "positive",
        /// Seconds from a load to its value.
        latency: f64 as "positive",
        /// Memory is moved in multiples of this.
        transaction: u32 as "whole",
        /// Bytes that one work-item has under way at once.
        in_flight: f64 as "positive",
        /// Caches in front of it, the smallest first. Only a chase is priced by them.
        #[serde(default)]
        caches: Vec<Cache>,
        /// Atomic additions a second to one place, and to many; where they are not described, one a
        /// cycle, and one a transaction.
        #[serde(default)]
        atomics: Option<[f64; 2]>,
        /// Whether it is the host's memory too: zero-copy buffers are read at full speed.
        #[serde(default)]
        unified: bool,
    }

    /// A cache.
    #[derive(Copy)]
    Cache {
        /// Its size.
        size: u64 as "whole",
        /// Seconds from a load to its value.
        latency: f64 as "positive",
    }

    /// The way to the host's memory.
    Link {
        /// Copy engines: with none, copies wait for kernels and kernels for copies; one does either
        /// direction in turn; two do one each.
        engines: u8 as "up_to_two",
        /// Rates by the kind of host memory.
        host: BTreeMap<MemoryKind, Rates> as "consistent",
    }

    /// Rates of the link for one kind of host memory.
    #[derive(Copy)]
    Rates {
        /// Seconds before the first byte.
        latency: f64 as "not_negative",
        /// Bytes a second to the device, alone.
        upload: f64 as "positive",
        /// Bytes a second to the host, alone.
        download: f64 as "positive",
        /// Bytes a second to the device while a download runs.
        upload_bidirectional: f64 as "positive",
        /// Bytes a second to the host while an upload runs.
        download_bidirectional: f64 as "positive",
    }

    /// What commands cost beside their work.
    Costs {
        /// Host seconds to queue one command; the host queues one after the other.
        submit: f64 as "not_negative",
        /// Seconds from a kernel being ready to its start.
        launch: f64 as "not_negative",
        /// Seconds until a queue sees that a step of another has ended.
        sync: f64 as "not_negative",
    }

    /// How far times scatter.
    #[derive(Default)]
    Noise {
        /// Standard deviation of the logarithm of a time: 0.01 scatters by one per cent.
        relative: f64 as "scatter",
        /// Where the random numbers begin.
        #[serde(default)]
        seed: u64,
    }
}

/// How a kernel is priced that has no price of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pricing {
    /// By the operations and bytes that its suite declares.
    #[default]
    Declared,
    /// By the instructions, transactions and rounds of banks that the emulator counts in one of its groups.
    Counted,
}

impl Description {
    /// Reads the description `text` of the file called `file`.
    ///
    /// # Errors
    /// [`Error::Suite`] with the place of the mistake.
    pub fn parse(file: &str, text: &str) -> Result<Self> {
        let gpu: Self = gpubench_core::yaml::parse(file, text).map_err(|diagnostic| {
            let help = "see the descriptions shipped with gpubench".to_owned();
            Error::Suite(vec![Located { help: Some(help), ..diagnostic }])
        })?;
        match super::counted::wrong(&gpu) {
            Some(wrong) => Err(Error::Usage(format!("{file}: {wrong}"))),
            None => Ok(gpu),
        }
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
        assert_eq!(read.rates(MemoryKind::ZeroCopy).unwrap().latency, 10e-6);
        assert!((read.zero_copy_slowdown() - 100.0 / 6.0).abs() < 1e-9);
        let unified = GOOD.replace("in_flight: 4", "in_flight: 4, unified: true");
        let unified = Description::parse("unified.yaml", &unified).unwrap();
        assert_eq!(unified.zero_copy_slowdown(), 1.0);
    }

    /// What is replaced in `GOOD`, by what, and the error's line and message.
    const MISTAKES: &[(&str, &str, usize, &str)] = &[
        ("units: 4", "units: 0", 3, "0 is too small"),
        ("units: 4", "units: -4", 3, "-4 is too small"),
        ("warp: 32", "wrap: 32", 4, "unknown field `wrap`"),
        ("clock: 1.0e9", "clock: .nan", 5, "finite number"),
        ("clock: 1.0e9", "clock: 2e13", 5, "no device's clock runs at 20000000000000 Hz"),
        ("units: 4", "resolution: 1e-13\nunits: 4", 3, "no clock has ticks of"),
        ("bandwidth: 100e9", "bandwidth: -1", 10, "-1 is no positive number"),
        ("bandwidth: 100e9", "bandwidth: 1e308", 10, "1e308 is no positive number"),
        ("launch: 5e-6", "launch: 1e308", 15, "1e308 is not zero"),
        (
            "units: 4",
            "noise: { relative: 1e15 }\nunits: 4",
            3,
            "by 0 to 1, not by 1000000000000000",
        ),
        ("units: 4", "units: 1e308", 3, "number `1e308`"),
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
        (
            "in_flight: 4",
            "in_flight: 4, caches: [{ size: 8, latency: 1 }]",
            10,
            "no slower than what is behind it",
        ),
        ("in_flight: 4", "in_flight: 4, atomics: [0, 1]", 10, "positive number"),
        ("in_flight: 4", "in_flight: 4, atomics: [1e-300, 1]", 10, "from 1e-100"),
        ("costs:", "local: { latency: -1 }\ncosts:", 15, "positive"),
        ("[65535, 65535, 1]", "[65535, 65535]", 8, "3"),
        ("[65535, 65535, 1]", "[65535, 0, 1]", 8, "no dispatch"),
        ("units: 4", "units: 4\nunits: 4", 4, "twice"),
        ("vendor: none\n", "", 14, "missing field `vendor`"),
    ];

    #[test]
    fn every_mistake_has_its_line() {
        for &(good, bad, line, message) in MISTAKES {
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
