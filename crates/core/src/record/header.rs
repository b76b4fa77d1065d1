//! A run's first and last line.

use super::CoolDown;
use crate::gpu::DeviceInfo;
use crate::text::counted;
use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// By which rules times are taken now. 1: a kernel's time held the gaps in which its driver submitted the next launch,
/// and another reference kernel ran between cases. 2: the host's times of a GPU by Vulkan included the wake-up. 3: no
/// blocking kernel ran ahead of a GPU's short launches, and Vulkan's kernels ran on queues that draw, too.
pub const METHOD: u32 = 4;

fn first_method() -> u32 {
    1
}

fn is_first_method(method: &u32) -> bool {
    *method == first_method()
}

/// Everything that holds for the whole run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the format, [`super::VERSION`].
    pub version: u32,
    /// By which rules times were taken, [`METHOD`].
    #[serde(default = "first_method", skip_serializing_if = "is_first_method")]
    pub method: u32,
    /// gpubench's version and commit.
    pub gpubench: String,
    /// When the run began, RFC 3339 in UTC.
    pub started: String,
    /// The suite's name.
    pub suite: String,
    /// The suite's hash.
    pub suite_hash: String,
    /// Seed of inputs and of the order of cases.
    pub seed: u64,
    /// Rounds planned.
    pub rounds: u32,
    /// Whether the user set their number: then no others follow.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exact_rounds: bool,
    /// Seconds for each device that the user set; else they are the suite's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<f64>,
    /// How the devices cool down between cases, where the user asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cool_down: Option<CoolDown>,
    /// Whether only correctness is checked.
    #[serde(default)]
    pub verify_only: bool,
    /// SHA-256 of the tries in the file of tuned variants, where the run took its variants from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuned: Option<String>,
    /// Filters that the user set: cases that none of them takes are not in the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<String>,
    /// Where it was measured in turn with another run, case by case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_turn: Option<InTurn>,
    /// Files of other programs that the run was read from, where it was: gpubench measured nothing of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub imported: Vec<String>,
    /// The machine.
    pub host: Host,
    /// Other machines that devices are in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remotes: Vec<RemoteHost>,
    /// The devices; records name them by position.
    pub devices: Vec<DeviceInfo>,
}

/// One of two runs that were measured in turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InTurn {
    /// What both have in common, and no other run has.
    pub pair: String,
    /// Whether it is the one that the other is compared with.
    pub is_old: bool,
}

/// The machine a run was made on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// Host name.
    pub name: String,
    /// Processor.
    pub cpu: String,
    /// Logical processors.
    pub cores: u32,
    /// Bytes of memory.
    pub memory: u64,
    /// Operating system and its version.
    pub os: String,
    /// Kernel version.
    pub kernel: String,
    /// Environment variables that change what drivers do, as `NAME=value`.
    #[serde(default)]
    pub environment: Vec<String>,
}

/// Another machine, in which devices of the run are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RemoteHost {
    /// As the command line names it, and the devices in it.
    pub name: String,
    /// The machine.
    pub host: Host,
}

impl Header {
    /// The machine that a device is in.
    pub fn host_of(&self, device: &DeviceInfo) -> &Host {
        let is_there = |remote: &&RemoteHost| Some(&remote.name) == device.remote.as_ref();
        self.remotes.iter().find(is_there).map_or(&self.host, |remote| &remote.host)
    }
}

impl Host {
    /// Its memory, where its system says how much it has.
    pub fn known_memory(&self) -> Option<Bytes> {
        (self.memory > 0).then_some(Bytes(self.memory))
    }

    /// What machines of one kind have in common: the processor, and how many of it there are.
    pub fn class(&self) -> String {
        let cores = counted(self.cores as usize, "core");
        if self.cpu.is_empty() { cores } else { format!("{}, {cores}", self.cpu) }
    }
}

/// A run's last line: its absence means that the run was cut short.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Footer {
    /// When the run ended, RFC 3339 in UTC.
    pub ended: String,
    /// Seconds of wall time; of a resumed run, since it was resumed.
    pub wall: f64,
    /// Seconds that were estimated before it began, or was resumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated: Option<f64>,
    /// Records written.
    pub records: u64,
}

#[test]
fn a_device_is_in_the_machine_that_it_names() {
    let host = |cpu: &str, cores| Host { cpu: cpu.into(), cores, ..Host::default() };
    let mut header = super::sample::header(vec![]);
    header.host = host("EPYC", 2);
    header.remotes = vec![RemoteHost { name: "board".into(), host: host("", 1) }];
    let mut device = super::sample::device("opencl");
    assert_eq!(header.host_of(&device).class(), "EPYC, 2 cores");
    device.remote = Some("board".into());
    assert_eq!(header.host_of(&device).class(), "1 core");
}
