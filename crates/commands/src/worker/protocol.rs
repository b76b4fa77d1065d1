//! What parent and worker say to each other: JSON, one line a message.

use gpubench_core::gpu::{DeviceInfo, KernelSource, Signature};
use gpubench_core::record::{Outcome, Record};
use gpubench_experiments::plan::Case;
use gpubench_experiments::{Policy, Stage};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What the parent asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Measure a case; answered by stages and a record.
    Measure {
        /// The case.
        case: Box<Case>,
        /// How long and how well.
        policy: Policy,
        /// What the reference kernel took when the run began; `None` where this is when it begins.
        reference_kernel: Option<f64>,
    },
    /// Measure a case over all devices that the worker opened; answered by stages and a record.
    MultiDevice {
        /// Each device's variant of the case.
        cases: Vec<Case>,
        /// How long and how well.
        policy: Policy,
    },
    /// Build a case's first variant and launch nothing; answered by stages and `Built` or `Failed`.
    Build {
        /// The case.
        case: Box<Case>,
    },
    /// Launch a case once and keep what it writes, as another device's expected result;
    /// answered by stages and `Computed` or `Failed`.
    Compute {
        /// The case.
        case: Box<Case>,
        /// The file for the bytes of every written buffer, one after the other.
        file: PathBuf,
    },
    /// Run the iteration that a case is, its states kept in a file, from which it goes on where there is
    /// one; answered by stages and `Iterated` or `Failed`.
    Iterate {
        /// The case.
        case: Box<Case>,
        /// On how many queues.
        queues: u32,
        /// The file of its states.
        states: PathBuf,
        /// The file for the state that it ends in.
        file: PathBuf,
    },
    /// Compile a kernel for a device of the backend that the worker listed; answered by `Signatures` or
    /// `Failed`.
    Signatures {
        /// The device's position.
        device: usize,
        /// The kernel.
        source: Box<KernelSource>,
    },
}

impl Request {
    /// A folder of its run's own for what drivers compile. A run that only verifies times no builds, and is faster with an older
    /// cache.
    pub fn compiled_in(&self) -> Option<&Path> {
        match self {
            Self::Measure { policy, .. } if !policy.verify_only => policy.cache.as_deref(),
            _ => None,
        }
    }
}

/// What the worker answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// The backend's devices, where no device was requested.
    Devices(Vec<DeviceInfo>),
    /// The requested devices are open.
    Ready(Vec<DeviceInfo>),
    /// A stage begins, and with it its deadline.
    Stage(Stage),
    /// The result of a case; device and round are the parent's to fill in.
    Record(Box<Record>),
    /// The kernel is built.
    Built,
    /// The file is written.
    Computed,
    /// The iteration has ended, gone on from this pass; the file is written.
    Iterated(u64),
    /// What each entry point of the kernel takes.
    Signatures(Vec<Signature>),
    /// The request cannot be fulfilled.
    Failed(Outcome),
}

/// Stands before every message of the worker: whatever else appears on its stdout is chatter
/// of a driver.
const MARK: &str = "gpubench\u{1}";

impl Reply {
    /// What it means where another reply was expected.
    pub fn failure(self) -> Outcome {
        match self {
            Self::Failed(outcome) => outcome,
            other => Outcome::Failed(format!("unexpected reply {other:?}")),
        }
    }

    /// The message as a line, its break included.
    pub fn to_line(&self) -> serde_json::Result<String> {
        Ok(format!("{MARK}{}\n", serde_json::to_string(self)?))
    }

    /// Reads a line; `None` when it is no message.
    pub fn from_line(line: &str) -> Option<Self> {
        let (_, json) = line.split_once(MARK)?;
        serde_json::from_str(json).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_distinguished_from_other_output() {
        let line = Reply::Stage(Stage::Build).to_line().expect("serialises");
        assert!(line.ends_with("{\"stage\":\"build\"}\n"));
        assert_eq!(Reply::from_line(&line), Some(Reply::Stage(Stage::Build)));
        let glued = format!("driver says hello {line}");
        assert_eq!(Reply::from_line(&glued), Some(Reply::Stage(Stage::Build)));
        assert_eq!(Reply::from_line("{\"stage\":\"build\"}"), None);
        assert_eq!(Reply::from_line("gpubench\u{1}{"), None);
    }
}
