//! What is requested of the loop and what it found.

use crate::plan::Case;
use gpubench_core::error::Error;
use gpubench_core::record::{
    Built, Detail, ErrorNorms, Flag, Measured, Mismatch, Monitor, Outcome, Record, Wall,
};
use gpubench_stats::{Sampling, converged};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// How long and how well to measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// Fewest samples.
    pub min_samples: usize,
    /// Most samples.
    pub max_samples: usize,
    /// Relative half-width of the median's 95 % interval at which sampling stops.
    pub target: f64,
    /// Seconds after which warm-up gives up.
    pub warmup: f64,
    /// Seconds of sampling (warm-up apart).
    pub seconds: f64,
    /// Longest single launch, in seconds: a longer one could trip a display's watchdog.
    pub longest_launch: f64,
    /// Check the result only.
    pub verify_only: bool,
    /// A folder for inputs and expected results, which several rounds and devices share.
    pub cache: Option<PathBuf>,
    /// A folder on the disk that states are saved to; without one, the system's for temporary files.
    pub disk: Option<PathBuf>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            min_samples: 15,
            max_samples: 200,
            target: 0.005,
            warmup: 5.0,
            seconds: 5.0,
            longest_launch: 2.0,
            verify_only: false,
            cache: None,
            disk: None,
        }
    }
}

impl Policy {
    /// Seconds that one launch may take: all samples must fit the time, and where nothing is measured
    /// there is one launch.
    pub fn affordable_launch(&self) -> f64 {
        match self.verify_only {
            true => self.longest_launch,
            false => self.longest_launch.min(self.seconds * 2.0 / self.min_samples as f64),
        }
    }

    /// Sampling that takes up to so many seconds.
    pub(super) fn sampling(&self, seconds: f64) -> Sampling {
        Sampling::new(self.target, self.min_samples, self.max_samples, seconds)
    }
}

/// What the loop is about to do; each has a deadline of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Making inputs and allocating.
    Prepare,
    /// Compiling.
    Build,
    /// Launching a variant for the first time.
    Launch,
    /// Launching once, computing the reference, comparing.
    Verify,
    /// Warm-up and samples.
    Measure,
}

/// What came of measuring a case: a record without its place in the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measurement {
    /// What was concluded before any error.
    pub outcome: Option<Outcome>,
    /// The samples.
    pub measured: Option<Measured>,
    /// Raw times of a measure that runs several recordings.
    pub detail: Option<Detail>,
    /// The kernel as built.
    pub kernel: Option<Built>,
    /// How far the result was from the expected one.
    pub norms: Option<ErrorNorms>,
    /// What the reader should know.
    pub flags: Vec<Flag>,
    /// The device around the case.
    pub monitor: Monitor,
    /// Where the time went.
    pub wall: Wall,
}

impl Measurement {
    /// Notes a flag once.
    pub fn flag(&mut self, flag: Flag) {
        if !self.flags.contains(&flag) {
            self.flags.push(flag);
        }
    }

    /// Concludes a wrong result: no figure is kept.
    pub fn mismatch(&mut self, mismatch: Mismatch) {
        self.outcome = Some(Outcome::Unverified(mismatch));
    }

    /// Forgets that another variant of the kernel was wrong.
    pub(super) fn forgive(&mut self) {
        (self.outcome, self.norms) = (None, None);
    }

    /// Flags samples whose median's interval is wider than `policy` asks, for measures that
    /// share their time over several recordings.
    pub(super) fn flag_if_not_converged(&mut self, policy: &Policy) {
        let samples = self.measured.as_ref().map(|measured| measured.samples.as_slice());
        if samples.is_some_and(|samples| !converged(samples, policy.target)) {
            self.flag(Flag::NotConverged);
        }
    }

    /// Settles the outcome; figures stay only where the result is right or was not to be checked.
    pub(super) fn conclude(mut self, result: Result<(), Error>) -> Self {
        if let Err(error) = result {
            self.outcome = Some(outcome_of(error));
        }
        let outcome = self.outcome.get_or_insert(Outcome::Ok);
        if !matches!(outcome, Outcome::Ok | Outcome::Unchecked) {
            self.measured = None;
            self.detail = None;
        }
        self
    }

    /// The record of `case` on the run's device number `device` in `round`.
    pub fn into_record(self, case: &Case, device: usize, round: u32) -> Record {
        Record {
            key: case.key.clone(),
            tags: case.tags.clone(),
            family: case.family.clone(),
            ceiling: case.ceiling,
            working_set: Some(case.working_set().0),
            device,
            round,
            simulated: false,
            outcome: self.outcome.unwrap_or(Outcome::Ok),
            measured: self.measured,
            detail: self.detail,
            kernel: self.kernel,
            norms: self.norms,
            flags: self.flags,
            monitor: self.monitor,
            wall: self.wall,
        }
    }
}

/// The outcome that an error stands for.
pub fn outcome_of(error: Error) -> Outcome {
    match error {
        Error::Unsupported(reason) => Outcome::Unsupported(reason.into()),
        Error::Build { log, .. } => Outcome::BuildError(log),
        Error::DeviceLost(text) => Outcome::DeviceLost(text),
        Error::OutOfMemory(text) => Outcome::OutOfMemory(text),
        Error::OverBudget(reason) => Outcome::Skipped(reason),
        other => Outcome::Failed(other.to_string()),
    }
}
