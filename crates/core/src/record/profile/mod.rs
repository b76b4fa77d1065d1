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
mod tests {
    use super::*;
    use crate::record::sample::device;

    fn value(value: f64) -> Value {
        Value { value, interval: [0.9 * value, 1.1 * value] }
    }

    fn profile() -> Profile {
        let point = Bandwidth { groups: 64, bandwidth: value(1.5e11) };
        Profile {
            version: VERSION,
            device: device("opencl"),
            gpubench: "0.1.0".into(),
            started: "2026-01-01T00:00:00Z".into(),
            launch: Some(Launch { latency: Some(value(5e-6)), each: None }),
            instructions: vec![Instruction {
                class: Class::FloatFma,
                latency: Some(value(4e-9)),
                throughput: None,
            }],
            streams: vec![Stream {
                traffic: Traffic::Read,
                width: 16,
                group_size: 256,
                points: vec![point],
            }],
            chase: vec![],
            strides: Some(Strides { strides: vec![], offsets: vec![], transaction: Some(128) }),
            local: None,
            barriers: vec![],
            atomics: None,
            residency: Some(Residency { units: 15, groups: 16, work_items: 2048, local_memory: 0 }),
        }
    }

    #[test]
    fn a_profile_survives_its_file() {
        let text = serde_json::to_string_pretty(&profile()).unwrap();
        let back = Profile::parse("p.json", &text).unwrap();
        assert_eq!(back, profile());
        assert_eq!(back.bandwidth(Traffic::Read).unwrap().value, 1.5e11);
        assert_eq!((back.bandwidth(Traffic::Copy), back.units()), (None, Some(15)));
        assert!(back.instruction(Class::FloatFma).is_some());
        assert!(back.instruction(Class::FloatAdd).is_none());
    }

    #[test]
    fn a_barrier_is_what_an_exchange_takes_beyond_its_parts() {
        let of = |value, low, high| Value { value, interval: [low, high] };
        let latency = Some(of(10.0, 9.0, 12.0));
        let local = Local { latency, bandwidth: None, strides: vec![], banks: None };
        let add = Instruction {
            class: Class::IntAdd,
            latency: Some(of(2.0, 1.0, 4.0)),
            throughput: None,
        };
        let profile = Profile { local: Some(local), instructions: vec![add], ..profile() };
        let barrier = |exchange| profile.barrier(&Barrier { group_size: 64, exchange });
        // 40 − 2 · 10 − 2; below it √(3² + 4² + 2²), above it √(6² + 2² + 1²).
        let found = barrier(of(40.0, 37.0, 46.0)).unwrap();
        assert_eq!(found.value, 18.0);
        assert!((found.interval[0] - (18.0 - 29f64.sqrt())).abs() < 1e-12, "{found:?}");
        assert!((found.interval[1] - (18.0 + 41f64.sqrt())).abs() < 1e-12, "{found:?}");
        assert_eq!(barrier(of(26.0, 23.0, 32.0)), None, "it may be none");
    }

    #[test]
    fn a_profile_is_bare_until_something_is_characterised() {
        let bare = Profile { instructions: vec![], streams: vec![], strides: None, ..profile() };
        assert!(bare.is_bare());
        let chase = Footprint { bytes: 4096, latency: value(1e-9) };
        let local = Local { latency: None, bandwidth: None, strides: vec![], banks: None };
        let barrier = Barrier { group_size: 64, exchange: value(1e-7) };
        for one in [
            Profile { instructions: profile().instructions, ..bare.clone() },
            Profile { streams: profile().streams, ..bare.clone() },
            Profile { strides: profile().strides, ..bare.clone() },
            Profile { chase: vec![chase], ..bare.clone() },
            Profile { local: Some(local), ..bare.clone() },
            Profile { barriers: vec![barrier], ..bare.clone() },
        ] {
            assert!(!one.is_bare(), "{one:?}");
        }
    }

    #[test]
    fn a_profile_of_version_1_is_read() {
        let today = serde_json::to_string_pretty(&profile()).unwrap();
        let old =
            today.replace("\"version\": 2", "\"version\": 1").replace("\"queues\"", "\"lanes\"");
        assert!(old.contains("\"version\": 1") && old.contains("\"lanes\": 1"), "{old}");
        assert_eq!(Profile::parse("p.json", &old).unwrap(), profile());
        let bad = old.replace("\"units\": 15", "\"units\": 0");
        let Err(Error::Suite(diagnostics)) = Profile::parse("p.json", &bad) else {
            panic!("no units were accepted");
        };
        let line = bad.lines().position(|line| line.contains("\"units\"")).unwrap() + 1;
        assert_eq!(diagnostics[0].line_column().0, line, "{}", diagnostics[0]);
    }

    #[test]
    fn every_mistake_has_its_line() {
        let good = serde_json::to_string_pretty(&profile()).unwrap();
        for (from, to, message) in [
            ("\"version\": 2", "\"version\": 7", "a profile of version 7"),
            ("\"value\": 150000000000.0", "\"value\": 0.0", "0 is no positive number"),
            ("\"units\": 15", "\"units\": 0", "too small"),
            ("\"float_fma\"", "\"float_fmaa\"", "float_fmaa"),
            ("\"float_fma\"", "\"global_read\"", "no price"),
            ("\"launch\"", "\"lunch\"", "unknown field `lunch`"),
            ("\"transaction\": 128", "\"transaction\": 100", "a power of two from 4"),
            ("135000000000.0", "0.0", "no interval above zero"),
        ] {
            let bad = good.replace(from, to);
            assert_ne!(bad, good, "{from}");
            let line = good.lines().position(|line| line.contains(from)).unwrap() + 1;
            let Err(Error::Suite(diagnostics)) = Profile::parse("p.json", &bad) else {
                panic!("{to} was accepted");
            };
            assert!(diagnostics[0].message.contains(message), "{}", diagnostics[0]);
            // An interval is reported where it begins, a line above its first number.
            let reported_line = diagnostics[0].line_column().0;
            assert!((line - 1..=line).contains(&reported_line), "{}", diagnostics[0]);
        }
    }

    #[test]
    fn numbers_that_no_model_can_take_are_rejected() {
        let refused = |change: &dyn Fn(&mut Profile), message: &str| {
            let mut profile = profile();
            change(&mut profile);
            let text = serde_json::to_string_pretty(&profile).unwrap();
            let Err(Error::Suite(diagnostics)) = Profile::parse("p.json", &text) else {
                panic!("{message}: it was accepted");
            };
            assert!(diagnostics[0].message.contains(message), "{}", diagnostics[0]);
        };
        refused(&|p| p.device.clock_hz = Some(0.0), "clock runs at 0 Hz");
        refused(&|p| p.device.compute_units = Some(0), "0 compute units");
        let outside = |p: &mut Profile| p.streams[0].points[0].bandwidth.interval = [1.0, 2.0];
        refused(&outside, "not within its interval 1 to 2");
    }
}
