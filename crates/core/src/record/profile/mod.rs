//! What a device costs, put together from the records of the suite `characterise`: the input of
//! the models that predict times. `docs/reference/PROFILE.md` says how each number is come by.

mod valid;
mod value;

use crate::class::Class;
use crate::error::{Error, Located, Result};
use crate::gpu::DeviceInfo;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use valid::{at_work, known_version, priced, some, transaction};
pub use value::Value;

/// Version of the format; a newer profile is refused, version 1 is read as this one.
pub const VERSION: u32 = 2;

/// A device's profile. What was not measured, or not significantly different from zero, is missing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Version of the format; what is read is of [`VERSION`].
    #[serde(deserialize_with = "known_version")]
    pub version: u32,
    /// The device as its API describes it.
    #[serde(deserialize_with = "at_work")]
    pub device: DeviceInfo,
    /// gpubench's version that measured it.
    pub gpubench: String,
    /// When the run began, RFC 3339 in UTC.
    pub started: String,
    /// What a launch costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch: Option<Launch>,
    /// What instructions cost, by class, each class at most once.
    #[serde(default)]
    pub instructions: Vec<Instruction>,
    /// Global memory: reads, writes and copies, each with several widths of access.
    #[serde(default)]
    pub streams: Vec<Stream>,
    /// Seconds of one dependent load from global memory, by working set.
    #[serde(default)]
    pub chase: Vec<Footprint>,
    /// Reads of global memory that lie apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strides: Option<Strides>,
    /// Local memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local: Option<Local>,
    /// What a barrier costs, by size of the group.
    #[serde(default)]
    pub barriers: Vec<Barrier>,
    /// Additions to memory that nothing can come between.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub atomics: Option<Atomics>,
    /// Units and what each holds, where occupancy sweeps show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub residency: Option<Residency>,
}

/// What a launch costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// Seconds from asking for a launch on an idle device to its start (with the clock of the
    /// device; else to its end).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Value>,
    /// Seconds of each of many empty launches in a row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub each: Option<Value>,
}

/// What instructions of a class cost. An instruction works on one scalar of one work-item.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Instruction {
    /// The class, one that devices price.
    #[serde(deserialize_with = "priced")]
    pub class: Class,
    /// Seconds from one to the next that needs its result, with one group on the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Value>,
    /// Instructions per second of the whole device, from independent chains of many groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput: Option<Value>,
}

/// Which way a stream goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Traffic {
    /// From memory.
    Read,
    /// To memory.
    Write,
    /// Both, as many bytes each way; both are counted.
    Copy,
}

/// Bandwidth of global memory against the number of groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// Which way.
    pub traffic: Traffic,
    /// Bytes of one access of a work-item.
    pub width: u32,
    /// Work-items per group.
    pub group_size: u32,
    /// Number of groups and bytes per second, in ascending order.
    pub points: Vec<Bandwidth>,
}

/// A bandwidth with so many groups.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bandwidth {
    /// Groups in the launch.
    pub groups: u32,
    /// Bytes per second.
    pub bandwidth: Value,
}

/// Latency of loads that stay within a working set.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Footprint {
    /// The working set.
    pub bytes: u64,
    /// Seconds from a load's address to its value.
    pub latency: Value,
}

/// What reads cost whose neighbours lie apart, or begin beyond an aligned place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Strides {
    /// Bytes between neighbours, and seconds of one work-item's read in a full device.
    pub strides: Vec<Apart>,
    /// Bytes beyond an aligned place, and seconds of one work-item's read in a full device.
    #[serde(default)]
    pub offsets: Vec<Apart>,
    /// Bytes of a transaction, as inferred from the strides: where neighbours so far apart take no longer
    /// than those half as far.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "transaction")]
    pub transaction: Option<u32>,
}

/// Reads by neighbours so far apart.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Apart {
    /// How far, in bytes.
    pub bytes: u32,
    /// Seconds of one read of one work-item, many at work.
    pub each: Value,
}

/// Local memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Local {
    /// Seconds from a load's address to its value, without conflicts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Value>,
    /// Bytes per second of the whole device, without conflicts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Value>,
    /// Bytes between neighbours, and seconds of one work-item's read in a full device.
    pub strides: Vec<Apart>,
    /// Banks of four bytes, as inferred from the strides; 1 where none makes a difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub banks: Option<u32>,
}

/// What passing a barrier costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Barrier {
    /// Work-items per group.
    pub group_size: u32,
    /// Seconds of writing to local memory, the barrier, and reading what another has written, with
    /// one group on the device.
    pub exchange: Value,
}

/// Additions to memory that nothing can come between, by many groups.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Atomics {
    /// Additions per second of the whole device, all to one place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contended: Option<Value>,
    /// Additions per second of the whole device, each work-item to a place of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart: Option<Value>,
}

/// Units and what one holds at once, as far as occupancy sweeps show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Residency {
    /// Units.
    #[serde(deserialize_with = "some")]
    pub units: u32,
    /// Most groups seen on a unit.
    #[serde(deserialize_with = "some")]
    pub groups: u32,
    /// Most work-items seen on a unit.
    #[serde(deserialize_with = "some")]
    pub work_items: u32,
    /// Most bytes of local memory seen on a unit.
    pub local_memory: u64,
}

impl Profile {
    /// Reads the profile `text` of the file called `file`, as `gpubench profile --json` writes it.
    ///
    /// # Errors
    /// [`Error::Suite`] with the place of the mistake: not a profile, one of another version, or
    /// a number that cannot be (a bandwidth of zero).
    pub fn parse(file: &str, text: &str) -> Result<Self> {
        #[derive(Deserialize)]
        struct Any {
            version: u32,
        }
        // In the text, so that every mistake keeps its line. Within a string this would have backslashes.
        let text = match crate::yaml::parse(file, text) {
            Ok(Any { version: 1 }) => text.replace("\"lanes\":", "\"queues\":").into(),
            _ => Cow::Borrowed(text),
        };
        crate::yaml::parse(file, &text).map_err(|diagnostic| {
            let help =
                "make it anew: `gpubench run characterise`, then `gpubench profile RUN --json`";
            let help = diagnostic.help.clone().or(Some(help.to_owned()));
            Error::Suite(vec![Located { help, ..diagnostic }])
        })
    }

    /// What instructions of a class cost.
    pub fn instruction(&self, class: Class) -> Option<&Instruction> {
        self.instructions.iter().find(|instruction| instruction.class == class)
    }

    /// The bandwidth of a kind of traffic in a full device: the highest of all widths of access,
    /// each with the most groups.
    pub fn bandwidth(&self, traffic: Traffic) -> Option<Value> {
        let streams = self.streams.iter().filter(|stream| stream.traffic == traffic);
        let all = streams.filter_map(|stream| Some(stream.points.last()?.bandwidth));
        all.max_by(|a, b| a.value.total_cmp(&b.value))
    }

    /// Whether nothing was characterised: occupancy sweeps and launches are other suites' too.
    pub fn is_bare(&self) -> bool {
        self.instructions.is_empty()
            && self.streams.is_empty()
            && self.chase.is_empty()
            && self.strides.is_none()
            && self.local.is_none()
            && self.barriers.is_empty()
            && self.atomics.is_none()
    }

    /// Seconds of a barrier alone: an exchange without the write and the read of local memory and
    /// the addition that it consists of besides. `None` where they are not known, or take as long.
    pub fn barrier(&self, barrier: &Barrier) -> Option<Value> {
        let local = self.local.as_ref()?.latency?;
        let add = self.instruction(Class::IntAdd)?.latency?;
        let all = barrier.exchange;
        let value = all.value - 2.0 * local.value - add.value;
        let off = |end: usize, other: usize| {
            let parts = [
                all.interval[end] - all.value,
                2.0 * (local.interval[other] - local.value),
                add.interval[other] - add.value,
            ];
            parts.iter().map(|part| part * part).sum::<f64>().sqrt()
        };
        let interval = [value - off(0, 1), value + off(1, 0)];
        (interval[0] > 0.0).then_some(Value { value, interval })
    }

    /// Units: as inferred from occupancy sweeps, else as the driver reports.
    pub fn units(&self) -> Option<u32> {
        self.residency.map(|held| held.units).or(self.device.compute_units)
    }
}

#[cfg(test)]
mod tests;
