//! What can come of a case.

use crate::error::Error;
use crate::reason::Reason;
use serde::{Deserialize, Serialize};

/// What came of a case. Only `Ok` shows a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Verified (and measured, unless only verification was requested).
    Ok,
    /// Ran, but nothing says that the result is right: the suite asks for no verification.
    Unchecked,
    /// The result is wrong.
    Unverified(Mismatch),
    /// The device, the API or the plan refuses it; the reason.
    Unsupported(Reason),
    /// Left out by the time or memory budget, by a filter that the user set, or in a race that it lost by its launches; the
    /// reason.
    Skipped(Reason),
    /// The kernel does not build; the compiler's log.
    BuildError(String),
    /// A deadline passed; what was being done.
    Timeout(String),
    /// The worker died.
    Crash {
        /// Signal or exit status.
        how: String,
        /// The last lines it wrote to stderr.
        stderr: Vec<String>,
    },
    /// Not enough memory, on the device or the host.
    OutOfMemory(String),
    /// The device is gone.
    DeviceLost(String),
    /// The link to the machine that the device is in was lost; how.
    LinkLost(String),
    /// Any other failure.
    Failed(String),
}

impl From<Error> for Outcome {
    fn from(error: Error) -> Self {
        match error {
            Error::Unsupported(reason) => Self::Unsupported(reason.into()),
            Error::Build { log, .. } => Self::BuildError(log),
            Error::DeviceLost(text) => Self::DeviceLost(text),
            Error::OutOfMemory(text) => Self::OutOfMemory(text),
            Error::OverBudget(reason) => Self::Skipped(reason),
            other => Self::Failed(other.to_string()),
        }
    }
}

impl Outcome {
    /// What is known of a failure, in a few lines.
    pub fn details(&self) -> Vec<String> {
        const LINES: usize = 8;
        let first_lines = |text: &str| -> Vec<String> {
            let mut lines: Vec<_> = text.lines().take(LINES).map(str::to_owned).collect();
            if text.lines().count() > LINES {
                lines.push("…".into());
            }
            lines
        };
        match self {
            Self::Unverified(wrong) if wrong.expected == Mismatch::GUARDS => {
                vec![format!("{}: {}", wrong.when, wrong.found)]
            }
            Self::Unverified(wrong) => vec![format!(
                "{}: buffer `{}` at {}: found {}, expected {} ({} of {} wrong)",
                wrong.when,
                wrong.buffer,
                wrong.index,
                wrong.found,
                wrong.expected,
                wrong.wrong,
                wrong.of
            )],
            Self::Crash { how, stderr } => {
                let mut lines = vec![how.clone()];
                lines.extend(stderr.iter().rev().take(4).rev().map(|line| format!("| {line}")));
                lines
            }
            Self::BuildError(text)
            | Self::Timeout(text)
            | Self::OutOfMemory(text)
            | Self::DeviceLost(text)
            | Self::LinkLost(text)
            | Self::Failed(text) => first_lines(text),
            Self::Unsupported(reason) | Self::Skipped(reason) => first_lines(&reason.to_string()),
            Self::Ok | Self::Unchecked => vec![],
        }
    }

    /// Whether a figure may be shown, compared and ranked.
    pub fn is_ok(&self) -> bool {
        *self == Self::Ok
    }

    /// Whether the case ran to its end and nothing is known to be wrong, whether anything was compared or not.
    pub fn ran(&self) -> bool {
        matches!(self, Self::Ok | Self::Unchecked)
    }

    /// How bad it is beside the outcomes of a case's other rounds.
    pub fn severity(&self) -> Severity {
        match self {
            Self::Skipped(_) => Severity::Skipped,
            Self::Unsupported(_) => Severity::Unsupported,
            Self::Ok => Severity::Ok,
            Self::Unchecked => Severity::Unchecked,
            Self::BuildError(_) => Severity::BuildError,
            Self::OutOfMemory(_) => Severity::OutOfMemory,
            Self::Failed(_) => Severity::Failed,
            Self::LinkLost(_) => Severity::LinkLost,
            Self::Timeout(_) => Severity::Timeout,
            Self::Crash { .. } => Severity::Crash,
            Self::DeviceLost(_) => Severity::DeviceLost,
            Self::Unverified(_) => Severity::Unverified,
        }
    }

    /// Whether the case failed (rather than being unsupported, skipped or fine): exit code 4.
    pub fn is_failure(&self) -> bool {
        self.severity().is_failure()
    }

    /// Whether the case was unsupported or skipped, so that nothing is known of it.
    pub fn is_skipped(&self) -> bool {
        self.severity().is_skipped()
    }

    /// Whether it counts against the device: `None` where nothing ran, which says nothing of it.
    pub fn blames_device(&self) -> Option<bool> {
        match self {
            Self::Skipped(_) | Self::Unsupported(_) => None,
            Self::Crash { .. } | Self::Timeout(_) | Self::DeviceLost(_) | Self::LinkLost(_) => {
                Some(true)
            }
            Self::Ok
            | Self::Unchecked
            | Self::Unverified(_)
            | Self::BuildError(_)
            | Self::OutOfMemory(_)
            | Self::Failed(_) => Some(false),
        }
    }

    /// Whether the process that it happened in can run another case: nothing of this one has gone
    /// wrong on the device.
    pub fn leaves_worker_reusable(&self) -> bool {
        let fine = matches!(self, Self::Ok | Self::Unchecked | Self::BuildError(_));
        fine || self.is_skipped()
    }

    /// One word for tables.
    pub fn label(&self) -> &'static str {
        self.severity().label()
    }
}

/// Outcomes without their texts, from best to worst: the worst round's is the case's.
///
/// A round that was left out says nothing, so the others decide. A failure is the worse the further
/// it reaches: a build error, too little memory or an error of the API end the case before or at its
/// launch; a lost link, a timeout and a crash take the worker with them; a lost device takes every case behind
/// it. A wrong result is worst, since it alone looks like a success: only the comparison with the
/// reference tells it from one, and then the times of the other rounds are not to be believed either.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Left out by a budget or filter.
    Skipped,
    /// The device, the API or the plan refuses it.
    Unsupported,
    /// Verified.
    Ok,
    /// Ran, but nothing says that the result is right.
    Unchecked,
    /// The kernel does not build.
    BuildError,
    /// Not enough memory.
    OutOfMemory,
    /// Any other failure that ended the case alone.
    Failed,
    /// The link to the device's machine was lost.
    LinkLost,
    /// A deadline passed, and the worker was killed.
    Timeout,
    /// The worker died.
    Crash,
    /// The device is gone.
    DeviceLost,
    /// The result is wrong.
    Unverified,
}

impl Severity {
    /// Whether the case failed.
    pub fn is_failure(self) -> bool {
        self > Self::Unchecked
    }

    /// Whether nothing is known of the case.
    pub fn is_skipped(self) -> bool {
        self < Self::Ok
    }

    /// One word for tables.
    pub fn label(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Unchecked => "unchecked",
            Self::Unverified => "unverified",
            Self::Unsupported => "unsupported",
            Self::Skipped => "skipped",
            Self::BuildError => "build error",
            Self::Timeout => "timeout",
            Self::Crash => "crash",
            Self::OutOfMemory => "out of memory",
            Self::DeviceLost => "device lost",
            Self::LinkLost => "link lost",
            Self::Failed => "failed",
        }
    }
}

/// The first wrong scalar, and how many there are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mismatch {
    /// The buffer.
    pub buffer: String,
    /// Position of the first wrong scalar.
    pub index: u64,
    /// What the device computed (as text, since it may be NaN).
    pub found: String,
    /// What was expected.
    pub expected: String,
    /// Wrong scalars.
    pub wrong: u64,
    /// Scalars compared.
    pub of: u64,
    /// Which launch: `first launch` or `timed launches`.
    pub when: String,
}

impl Mismatch {
    /// What is expected of the bytes around a buffer; what was found is then a sentence.
    pub const GUARDS: &str = "untouched guards";
}

/// How far a result is from the expected one, over all scalars compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ErrorNorms {
    /// Largest absolute difference.
    #[serde(with = "super::number")]
    pub max_absolute: f64,
    /// Largest difference relative to the expected value's magnitude.
    #[serde(with = "super::number")]
    pub max_relative: f64,
    /// Euclidean norm of the difference over that of the expected result.
    #[serde(with = "super::number")]
    pub l2: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What each outcome means for a figure, for the exit code, for the device and for its worker.
    #[test]
    fn every_outcome_has_its_consequences() {
        let mismatch = Mismatch {
            buffer: "out".into(),
            index: 7,
            found: "1".into(),
            expected: "2".into(),
            wrong: 3,
            of: 9,
            when: "first launch".into(),
        };
        let text = String::new;
        let crash = Outcome::Crash { how: text(), stderr: vec![] };
        // Shown, ran, failed, left out, blames the device, leaves its worker.
        for (outcome, meaning, blames, label) in [
            (Outcome::Ok, "shown ran reusable", Some(false), "ok"),
            (Outcome::Unchecked, "ran reusable", Some(false), "unchecked"),
            (Outcome::Skipped("".into()), "skipped reusable", None, "skipped"),
            (Outcome::Unsupported("".into()), "skipped reusable", None, "unsupported"),
            (Outcome::BuildError(text()), "failed reusable", Some(false), "build error"),
            (Outcome::OutOfMemory(text()), "failed", Some(false), "out of memory"),
            (Outcome::Failed(text()), "failed", Some(false), "failed"),
            (Outcome::Unverified(mismatch), "failed", Some(false), "unverified"),
            (Outcome::LinkLost(text()), "failed", Some(true), "link lost"),
            (Outcome::Timeout(text()), "failed", Some(true), "timeout"),
            (crash, "failed", Some(true), "crash"),
            (Outcome::DeviceLost(text()), "failed", Some(true), "device lost"),
        ] {
            let found = [
                (outcome.is_ok(), "shown"),
                (outcome.ran(), "ran"),
                (outcome.is_failure(), "failed"),
                (outcome.is_skipped(), "skipped"),
                (outcome.leaves_worker_reusable(), "reusable"),
            ];
            let found: Vec<_> = found.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect();
            assert_eq!(found.join(" "), meaning, "{outcome:?}");
            assert_eq!((outcome.blames_device(), outcome.label()), (blames, label));
        }
    }

    #[test]
    fn details_are_a_few_lines() {
        let lines = |n: u32| (0..n).map(|i| i.to_string()).collect::<Vec<_>>();
        let of = |n| Outcome::Failed(lines(n).join("\n")).details();
        assert_eq!((of(1), of(8)), (lines(1), lines(8)));
        assert_eq!(of(9), [lines(8), vec!["…".to_owned()]].concat());
        let crash = Outcome::Crash { how: "SIGSEGV".into(), stderr: lines(6) };
        assert_eq!(crash.details(), ["SIGSEGV", "| 2", "| 3", "| 4", "| 5"]);
        assert!(Outcome::Ok.details().is_empty());
    }
}
