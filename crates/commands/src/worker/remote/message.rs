//! What a run and the relay in another machine say to each other: JSON, one framed line a message.

use super::super::deadlines::Deadlines;
use super::super::protocol::{Reply, Request};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::{Host, Outcome};
use gpubench_device::device_choice::Selector;
use gpubench_experiments::Stage;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use std::time::Duration;

/// After so long without a byte the other side is taken for gone, where the hosts file says nothing else.
pub const SILENCE: Duration = Duration::from_secs(20);
/// Seconds that it may say.
pub const SILENCES: RangeInclusive<f64> = 1.0..=3600.0;
/// The longest line: a case with its kernels, a record with its samples, a part of a file.
pub(super) const LONGEST_LINE: usize = 64 << 20;
/// Bytes of a file in one line.
pub(super) const CHUNK: usize = 64 << 10;

/// How often each side says that it lives where `silence` shows that it does not.
pub(super) fn pulse(silence: Duration) -> Duration {
    silence / 6
}

/// The relay's first line. Every version reads every other's: what is new in it, or in a [`Host`], has a default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Greeting {
    /// Version and commit.
    pub gpubench: String,
    /// The machine.
    pub host: Host,
    /// What tells it from others of the same name and kind; none where its system does not say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub identities: Vec<String>,
}

/// What a run asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ask {
    /// Nothing: the run lives.
    Pulse,
    /// SHA-256 of the binary that runs there; answered by `Hash`.
    Hash,
    /// The devices; answered by `Listed` or `Failed`.
    List(Selector),
    /// The right to measure these devices until the link ends; answered by `Locked` or `HeldBy`.
    Lock(Vec<DeviceInfo>),
    /// The end of that right; answered by `Unlocked`.
    Unlock,
    /// A request for the worker that owns these devices; answered by stages, then `Reply` or `Failed`.
    Work {
        devices: Vec<DeviceInfo>,
        /// Simulated devices: what scatters their times, and shipped descriptions by name.
        sim_seed: u64,
        sim_files: Vec<String>,
        request: Box<Request>,
        deadlines: Deadlines,
        /// Whether the user trusts the kernels of the suite.
        trusted: bool,
    },
    /// The end of the worker; answered by `Left`.
    Leave,
    /// A part of a file that a later request names by its hash; answered by `Stored` or `Failed`.
    Put { hash: String, offset: u64, data: String, is_last: bool },
    /// A part of what a case computed; answered by `Data` or `Failed`.
    Get { offset: u64 },
}

/// What the relay answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Answer {
    /// Nothing: the relay lives.
    Pulse,
    Hash(String),
    Listed {
        devices: Vec<DeviceInfo>,
        /// Backends that failed.
        notes: Vec<String>,
    },
    Locked,
    /// Another run has one of them: its process, where it is known, and the device.
    HeldBy(Option<u32>, String),
    Unlocked,
    Stage(Stage),
    Reply(Box<Reply>),
    Left,
    Stored,
    Data {
        data: String,
        is_last: bool,
    },
    Failed(Outcome),
}
