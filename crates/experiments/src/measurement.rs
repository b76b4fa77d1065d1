//! What the loop is about to do, and what it found.

use crate::Policy;
use crate::plan::Case;
use gpubench_core::error::Error;
use gpubench_core::gpu::group_label;
use gpubench_core::record::{
    Built, Detail, ErrorNorms, Flag, Measured, Mismatch, Monitor, Outcome, Record, Wall,
};
use gpubench_stats::converged;
use serde::{Deserialize, Serialize};

/// What the loop is about to do; each has a deadline of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Waiting until the device has cooled down.
    CoolDown,
    /// Making inputs and allocating.
    Prepare,
    /// Compiling.
    Build,
    /// Compiling one of several variants, by its position among the case's.
    BuildVariant(u32),
    /// Launching for the first time.
    Launch,
    /// The same of one of several variants.
    LaunchVariant(u32),
    /// Launching once, computing the reference, comparing.
    Verify,
    /// Warm-up and samples.
    Measure,
}

impl Stage {
    /// The variant that is built or launched, of several.
    pub fn variant(self) -> Option<usize> {
        match self {
            Self::BuildVariant(position) | Self::LaunchVariant(position) => {
                usize::try_from(position).ok()
            }
            _ => None,
        }
    }
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

    /// Flags samples that miss the target of `policy`, for measures that share their time over
    /// several recordings.
    pub(super) fn flag_if_not_converged(&mut self, policy: &Policy) {
        let samples = self.measured.as_ref().map(|measured| measured.samples.as_slice());
        if samples.is_some_and(|samples| !converged(samples, policy.target)) {
            self.flag(Flag::NotConverged);
        }
    }

    /// Flags fewer samples of each recording than `wanted`: one alone would count as converged.
    pub(super) fn flag_if_few(&mut self, samples: usize, wanted: usize) {
        if samples < wanted {
            self.flag(Flag::FewSamples);
        }
    }

    /// Settles the outcome; figures stay only where the result is right or was not to be checked.
    pub(super) fn conclude(mut self, result: Result<(), Error>) -> Self {
        if let Err(error) = result {
            self.outcome = Some(error.into());
        }
        let outcome = self.outcome.get_or_insert(Outcome::Ok);
        if !outcome.ran() {
            self.measured = None;
            self.detail = None;
        }
        self
    }

    /// The record of `case` on the run's device number `device` in `round`.
    pub fn into_record(mut self, case: &Case, device: usize, round: u32) -> Record {
        if let (Some(preferred), Some(built)) = (case.preferred_group, &self.kernel) {
            let [ran, preferred] = [built.group, preferred].map(group_label);
            self.flag(Flag::OtherGroup(format!("{ran} instead of {preferred}")));
        }
        if let Some(which) = case.profile.as_ref().filter(|_| self.norms.is_some()) {
            self.flag(Flag::ProfileTolerance(which.clone()));
        }
        Record {
            key: case.key.clone(),
            tags: case.tags.clone(),
            family: case.family.clone(),
            ceiling: case.ceiling,
            working_set: Some(case.touched.unwrap_or(case.working_set().0)),
            device,
            round,
            simulated: false,
            outcome: self.outcome.unwrap_or(Outcome::Ok),
            measured: self.measured,
            detail: self.detail,
            kernel: self.kernel,
            norms: self.norms,
            against: case.verify.against(),
            flags: self.flags,
            monitor: self.monitor,
            wall: self.wall,
        }
    }
}

#[test]
fn one_turn_is_flagged_though_it_counts_as_converged() {
    let flags = |turns| {
        let mut measurement = Measurement::default();
        measurement.flag_if_few(turns, 9);
        measurement.flags
    };
    assert_eq!([flags(1), flags(9)], [vec![Flag::FewSamples], vec![]]);
}
