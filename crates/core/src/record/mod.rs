//! What a run leaves behind: a header, one record a case and round, a footer.
//!
//! A result file is JSON lines, each an externally tagged [`Line`]. Throughputs are computed
//! from work and time when they are shown, never stored.

mod checkpoint_file;
mod cool_down;
mod flag;
mod from_version_1;
mod header;
mod impossible;
mod monitor;
mod noise;
mod number;
mod outcome;
mod plain;
pub mod profile;
mod raw;
mod rounds;
#[cfg(any(test, feature = "testing"))]
pub mod sample;
mod tagged_ceiling;
mod timed;

pub use checkpoint_file::{CheckpointError, CheckpointFile, CheckpointIdentity};
pub use cool_down::{CoolDown, CooledDown};
pub use flag::{Flag, Grade};
pub use header::{Footer, Header, Host, InTurn, METHOD, RemoteHost};
pub use impossible::{is_clock_rate, is_round, is_tick, is_time, is_work};
pub use monitor::{Monitor, Sensed};
pub use noise::{Noise, Past};
pub use outcome::{ErrorNorms, Mismatch, Outcome, Severity};
pub use raw::{Data, Detail};
pub use rounds::measured_rounds;
pub use timed::{NamedStep, Recorded, Timed};

use crate::gpu::{BoundsChecks, BuildReport, Clock, Scalar};
use crate::reason::Reason;
use crate::workload::{CaseKey, Ceiling, Skip};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the format; a reader refuses a newer one and migrates an older one.
pub const VERSION: u32 = 2;

/// One line of a result file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Line {
    /// The first line.
    Header(Box<Header>),
    /// A case in a round.
    Record(Box<Record>),
    /// What repeated runs taught: in baselines.
    Noise(Noise),
    /// The last line of a run that was not cut short.
    Footer(Footer),
}

impl Line {
    /// Reads a line of a file whose header says `version`.
    ///
    /// # Errors
    /// It is no JSON, or no line of that version.
    pub fn parse(json: &[u8], version: u32) -> serde_json::Result<Self> {
        let mut line = if version >= VERSION {
            match plain::record(json) {
                Some(record) => Self::Record(Box::new(record)),
                None => serde_json::from_slice(json)?,
            }
        } else {
            let mut value = serde_json::from_slice(json)?;
            from_version_1::line(&mut value);
            // Through text, so that the binary holds one reader of lines, not two.
            serde_json::from_slice(&serde_json::to_vec(&value)?)?
        };
        if let Self::Record(record) = &mut line {
            tagged_ceiling::tagged_ceiling(record);
        }
        Ok(line)
    }
}

/// What came of one case on one device in one round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The case.
    pub key: CaseKey,
    /// Words to filter by.
    pub tags: Vec<String>,
    /// Which ranking family it counts in.
    pub family: String,
    /// What it bounds, where the suite calls it a ceiling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<Ceiling>,
    /// Bytes of all its buffers, or what the suite calls its working set; `None` in files that were written
    /// before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub working_set: Option<u64>,
    /// Position of the device in the header's list.
    pub device: usize,
    /// The round, from 0; each round is a fresh process.
    pub round: u32,
    /// Whether the device is simulated: then nothing here was measured.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub simulated: bool,
    /// What came of it.
    pub outcome: Outcome,
    /// What was measured; `None` where nothing may be shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<Measured>,
    /// Raw times of a measure that runs several recordings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Detail>,
    /// The kernel as it was built; `None` for transfers and for cases that were not built.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<Built>,
    /// How far the result was from the reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub norms: Option<ErrorNorms>,
    /// What the result is compared with: `reference matmul`, `file c.npy`, `command python3 …`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// What the reader should know before believing the figure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<Flag>,
    /// The device around the case.
    #[serde(default, skip_serializing_if = "Monitor::is_empty")]
    pub monitor: Monitor,
    /// Where the worker's wall time went.
    #[serde(default)]
    pub wall: Wall,
}

impl Record {
    /// The record of a case that was not run on the run's device number `device`.
    pub fn skipped(skip: Skip, device: usize) -> Self {
        let outcome = match skip.reason {
            reason @ Reason::OverBudget { .. } => Outcome::Skipped(reason),
            reason => Outcome::Unsupported(reason),
        };
        Self::of(skip.key, skip.tags, skip.family, device, outcome)
    }

    /// The record of a case in the first round, of which nothing but its outcome is known.
    pub fn of(
        key: CaseKey,
        tags: Vec<String>,
        family: String,
        device: usize,
        outcome: Outcome,
    ) -> Self {
        Self {
            key,
            tags,
            family,
            ceiling: None,
            working_set: None,
            device,
            round: 0,
            simulated: false,
            outcome,
            measured: None,
            detail: None,
            kernel: None,
            norms: None,
            against: None,
            flags: vec![],
            monitor: Monitor::default(),
            wall: Wall::default(),
        }
    }
}

/// The samples of a case, and what they were read from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Seconds of one operation, sample by sample, in order. Each is a batch's time over its size.
    pub samples: Vec<f64>,
    /// Operations in one sample.
    pub batch: u32,
    /// The clock the samples were read from.
    pub clock: Clock,
    /// That clock's resolution in seconds.
    pub resolution: f64,
    /// Operations (of arithmetic) of one launch.
    pub flops: f64,
    /// Bytes that one launch or copy must move.
    pub bytes: f64,
    /// How many of the operations are of which type; the others are of `f32`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<(Scalar, f64)>,
    /// Seconds of warm-up before the first sample.
    pub warmup: f64,
    /// Samples whose device timestamps were unusable, by the host's clock instead or dropped.
    #[serde(default)]
    pub dropped: u32,
}

impl Measured {
    /// Samples of one operation that is no work, without a warm-up.
    pub fn of(samples: Vec<f64>, clock: Clock, resolution: f64) -> Self {
        let (batch, flops, bytes, warmup, dropped) = (1, 0.0, 0.0, 0.0, 0);
        let types = vec![];
        Self { samples, batch, clock, resolution, flops, bytes, types, warmup, dropped }
    }
}

/// This share of a kernel's operations is as good as all.
const ALL: f64 = 0.99;

/// Whether as good as all of so many operations are on whole numbers.
pub fn is_on_whole_numbers(flops: f64, types: &[(Scalar, f64)]) -> bool {
    let whole = types.iter().filter(|(r#type, _)| !r#type.is_float()).map(|(_, count)| count);
    whole.sum::<f64>() >= ALL * flops
}

/// The type that as good as all of so many operations are of; `None` where they are of several.
pub fn sole_type(flops: f64, types: &[(Scalar, f64)]) -> Option<Scalar> {
    let typed: f64 = types.iter().map(|(_, count)| count).sum();
    let single = (Scalar::F32, flops - typed);
    let all = types.iter().copied().chain([single]);
    all.filter(|(_, count)| *count >= ALL * flops).map(|(r#type, _)| r#type).next()
}

/// A kernel as it was built.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Built {
    /// SHA-256 over language, text, entry, group and constants, in hexadecimal.
    pub hash: String,
    /// Work-items per group.
    pub group: [u32; 3],
    /// Work-groups of the launch.
    pub groups: [u32; 3],
    /// Whether the API checks accesses.
    pub bounds_checks: BoundsChecks,
    /// What sets this variant apart, where several were tried.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub variant: String,
    /// All variants tried, the winner among them: label and seconds of one launch (`None`: see `untimed`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<(String, Option<f64>)>,
    /// Variants that the search never came to.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub untried: usize,
    /// Why variants that were tried have no time: each reason with their labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub untimed: BTreeMap<String, Vec<String>>,
    /// The compiler's report.
    pub report: BuildReport,
}

/// Whether there is nothing to say.
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Whether no time was spent.
fn is_nothing(seconds: &f64) -> bool {
    *seconds == 0.0
}

impl Built {
    /// The hash by which two runs' kernels are told apart; `None` where its variant was searched for,
    /// since the search may end elsewhere the next time.
    pub fn fixed_hash(&self) -> Option<&str> {
        self.variant.is_empty().then_some(self.hash.as_str())
    }
}

/// Seconds of the worker's wall time by what it did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Wall {
    /// Making inputs and allocating.
    pub prepare: f64,
    /// Compiling.
    pub build: f64,
    /// First launches, of every variant that is tried.
    #[serde(default)]
    pub launch: f64,
    /// Reference and comparison.
    pub verify: f64,
    /// Warm-up and samples.
    pub measure: f64,
    /// Of `measure`, with the device at work.
    pub busy: f64,
    /// The reference kernel around the case.
    #[serde(default)]
    pub reference_kernel: f64,
    /// What was thrown away because the device was slower than when the run began, or since its worker ended.
    #[serde(default)]
    pub discarded: f64,
    /// The pause before the case.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub cool_down: f64,
}

impl Wall {
    /// Seconds of everything.
    pub fn total(&self) -> f64 {
        self.stages() + self.reference_kernel + self.discarded + self.cool_down
    }

    /// Seconds of all stages.
    pub fn stages(&self) -> f64 {
        self.around() + self.measure
    }

    /// Seconds of the stages before and behind measuring.
    pub fn around(&self) -> f64 {
        self.prepare + self.build + self.launch + self.verify
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_of_as_good_as_all_operations_is_theirs() {
        use Scalar::{F32, F64, I32};
        for (types, of) in [
            (&[][..], Some(F32)),
            (&[(F64, 0.05)], Some(F32)),
            (&[(F64, 5.0)], None),
            (&[(F64, 5.0), (I32, 5.0)], None),
            (&[(F64, 9.95)], Some(F64)),
            (&[(F64, 10.0)], Some(F64)),
        ] {
            assert_eq!(sole_type(10.0, types), of, "{types:?}");
        }
    }

    #[test]
    fn wall_time_is_the_sum_of_what_it_was_spent_on() {
        let wall = Wall {
            prepare: 1.0,
            build: 2.0,
            launch: 4.0,
            verify: 8.0,
            measure: 16.0,
            busy: 15.0,
            reference_kernel: 32.0,
            discarded: 64.0,
            cool_down: 128.0,
        };
        assert_eq!((wall.around(), wall.stages(), wall.total()), (15.0, 31.0, 255.0));
    }

    #[test]
    fn only_older_lines_are_migrated() {
        let mut record = sample::record(sample::key("a", 1), 1.0);
        record.tags = vec!["rearrange".into()];
        let json = serde_json::to_vec(&Line::Record(Box::new(record))).unwrap();
        let tags = |version| match Line::parse(&json, version).unwrap() {
            Line::Record(record) => record.tags,
            other => panic!("{other:?}"),
        };
        assert_eq!([tags(1), tags(2), tags(3)], [["layout"], ["rearrange"], ["rearrange"]]);
    }

    #[test]
    fn what_says_nothing_is_not_written_and_a_searched_variant_has_no_hash_of_its_own() {
        let wall = |cool_down| serde_json::to_value(Wall { cool_down, ..Wall::default() }).unwrap();
        assert_eq!((wall(0.0).get("cool_down"), &wall(2.0)["cool_down"]), (None, &2.0.into()));
        let built = |variant: &str, untried| Built {
            hash: "00ff".into(),
            group: [1; 3],
            groups: [1; 3],
            bounds_checks: BoundsChecks::Off,
            variant: variant.into(),
            tried: vec![],
            untried,
            untimed: Default::default(),
            report: BuildReport::default(),
        };
        let untried = |n| serde_json::to_value(built("", n)).unwrap().get("untried").cloned();
        assert_eq!((untried(0), untried(2)), (None, Some(2.into())));
        assert_eq!(built("", 0).fixed_hash(), Some("00ff"));
        assert_eq!(built("64", 0).fixed_hash(), None);
    }
}
