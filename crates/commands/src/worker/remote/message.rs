//! What a run and the relay in another machine say to each other: JSON, one framed line a message.

use super::super::deadlines::Deadlines;
use super::super::protocol::{Reply, Request};
use gpubench_core::gpu::DeviceInfo;
use gpubench_core::record::{Host, Outcome};
use gpubench_device::device_choice::Selector;
use gpubench_experiments::Stage;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How often each side says that it lives.
pub(super) const PULSE: Duration = Duration::from_secs(3);
/// After so long without a line the other side is taken for gone.
pub(super) const SILENCE: Duration = Duration::from_secs(20);
/// The longest line: a case with its kernels, a record with its samples, a part of a file.
pub(super) const LONGEST_LINE: usize = 64 << 20;
/// Bytes of a file in one line.
pub(super) const CHUNK: usize = 1 << 20;

/// The relay's first line. It stays as it is, so that every version can read every other's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Greeting {
    /// Version and commit.
    pub gpubench: String,
    /// The machine.
    pub host: Host,
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
    Put { hash: String, data: String, is_last: bool },
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

/// Bytes as hexadecimal digits.
pub(super) fn to_hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

/// The bytes; `None` where they are none.
pub(super) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| char::from(c).to_digit(16);
    let byte = |pair: &[u8]| match pair {
        &[high, low] => u8::try_from(digit(high)? << 4 | digit(low)?).ok(),
        _ => None,
    };
    text.as_bytes().chunks(2).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive_as_digits() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(from_hex(&to_hex(&bytes)), Some(bytes));
        assert_eq!(from_hex("0g"), None);
        assert_eq!(from_hex("123"), None);
    }
}
